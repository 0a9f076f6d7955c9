package logs

import "encoding/binary"

// filter finds the literals of all signatures in one pass over a message, by
// sampling: it looks at the five bytes, a gram, at one of every filterStep
// positions. A literal of filterWindow bytes or more that stands in the message
// has a gram at one of those, and which of its grams that may be depends on
// nothing but the remainder of its position. So of each literal one gram for
// each remainder is enough, the rarest. A table of bits turns nearly all other
// grams away; what passes is looked up, and the literals that have the gram
// there are compared in full. Letters are folded for the lookup by setting bit
// 5 of every byte, which merges some other bytes too: only the comparison
// decides.
//
// There is no state from line to line, unlike with a memo of source lines that
// never matched: whether a line is seen does not depend on those before it.
type filter struct {
	bits   [1 << gramBits / 64]uint64
	places []place                 // by slot
	slots  [1<<slotBits + 1]uint32 // where in places each begins
}

// literal is one byte string to look for, and the entry that it stands for.
type literal struct {
	text  string
	fold  bool // ASCII letters of either case
	entry int32
}

// place is a literal and where in it a gram stands: one byte before its
// beginning at the least.
type place struct {
	gram uint64
	*literal
	at int
}

const (
	filterGram   = 5
	filterStep   = 4
	filterWindow = filterGram + filterStep - 1 // shorter literals take many more grams
	gramBits     = 18                          // 32 KiB: half of it stays in a small first-level cache, and a false pass costs more than a miss
	slotBits     = 13
	gramShift    = 64 - 8*filterGram
	foldGram     = 0x2020202020
	lastByte     = 0xFF << 56
	gramFactor   = 0x9E3779B97F4A7C15 << gramShift & (1<<64 - 1)
)

// gramOf returns the folded gram that eight bytes begin with, in the upper bytes.
func gramOf(v uint64) uint64 { return (v | foldGram) << gramShift }

// spread spreads the gram that eight bytes begin with over 64 bits, of which the
// upper ones are the best. The product loses the bytes behind the gram.
func spread(v uint64) uint64 { return (v | foldGram) * gramFactor }

// slotOf returns the slot of a gram.
func slotOf(g uint64) uint64 { return (g ^ g>>29) * 0xC2B2AE3D27D4EB4F >> (64 - slotBits) }

// passes reports whether the gram that eight bytes begin with may be one of a
// literal.
func (f *filter) passes(v uint64) bool {
	k := (v | foldGram) * gramFactor // spread, without the mark of a second inlined call
	return f.bits[k>>(64-gramBits+6)]>>(k>>(64-gramBits)&63)&1 != 0
}

// finds reports whether msg holds a literal.
func (f *filter) finds(msg []byte) bool { return f.pick(msg, nil) }

// pick reports whether msg holds a literal, and sets in picked the entries of
// all that it holds. Without picked the first literal ends the search. What
// lies behind msg, up to its capacity, is looked at but makes no difference.
func (f *filter) pick(msg []byte, picked []uint64) bool {
	found := false
	for i := f.next(msg, 0); i >= 0; i = f.next(msg, i+filterStep) {
		if f.compare(msg, i, picked) {
			if found = true; picked == nil {
				return true
			}
		}
	}
	return found
}

// filterBlock is how many bytes next looks at in one step.
const filterBlock = 8 * filterStep

// next returns the first of the positions i, i+filterStep, … whose gram passes
// the first table, -1 if there is none. The last gram may reach a byte over the
// end. Blocks are looked at as a whole, whatever follows msg: that is cheaper
// than to look at its last bytes one by one.
func (f *filter) next(msg []byte, i int) int {
	end := len(msg) - filterGram + 2
	for rest := msg[:cap(msg)][min(i, len(msg)):]; i < end && len(rest) >= filterBlock+4; i, rest = i+filterBlock, rest[filterBlock:] {
		w := (*[filterBlock + 4]byte)(rest)
		at := 0
		switch {
		case f.passes(binary.LittleEndian.Uint64(w[0*filterStep:])):
		case f.passes(binary.LittleEndian.Uint64(w[1*filterStep:])):
			at = 1 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[2*filterStep:])):
			at = 2 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[3*filterStep:])):
			at = 3 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[4*filterStep:])):
			at = 4 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[5*filterStep:])):
			at = 5 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[6*filterStep:])):
			at = 6 * filterStep
		case f.passes(binary.LittleEndian.Uint64(w[7*filterStep:])):
			at = 7 * filterStep
		default:
			continue
		}
		if i += at; i < end {
			return i
		}
		return -1
	}
	for ; i < end; i += filterStep {
		if f.passes(eightAt(msg, i)) {
			return i
		}
	}
	return -1
}

// eightAt returns the eight bytes at i, zeros behind the end of b.
func eightAt(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])
	}
	if n := len(b) - 8; n >= 0 {
		return binary.LittleEndian.Uint64(b[n:]) >> (8 * (i - n) & 63)
	}
	var tail [8]byte
	copy(tail[:], b[i:])
	return binary.LittleEndian.Uint64(tail[:])
}

// compare looks for the literals that have the gram at i.
func (f *filter) compare(msg []byte, i int, picked []uint64) bool {
	g := gramOf(eightAt(msg, i))
	slot := slotOf(g)
	found := false
	for _, p := range f.places[f.slots[slot]:f.slots[slot+1]] {
		if p.gram != g {
			continue
		}
		from := i - p.at
		if from < 0 || from+len(p.text) > len(msg) || !p.equals(msg[from:from+len(p.text)]) {
			continue
		}
		if found = true; picked == nil {
			return true
		}
		picked[p.entry>>6] |= 1 << (p.entry & 63)
	}
	return found
}

func (l *literal) equals(b []byte) bool {
	return string(b) == l.text || l.fold && equalFold(b, l.text)
}

func equalFold(b []byte, s string) bool {
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// containsFold is the slow form of a folded literal, for the brute-force path.
func containsFold(b []byte, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if equalFold(b[i:i+len(s)], s) {
			return true
		}
	}
	return false
}
