package logs

import "encoding/binary"

// filter finds the literals of all signatures in one pass over a message, by
// sampling: at every filterStep-th position it looks at the five bytes there, a
// gram. A literal of filterWindow or more bytes in the message has a gram at one of
// these positions. Which of its grams depends only on the literal's position modulo
// filterStep, so one gram per remainder is enough for each literal, and the rarest
// is chosen. A bit table rejects nearly all other grams. Those that pass are looked
// up, and the literals with that gram are compared in full. For the lookup, letters
// are folded by setting bit 5 of every byte. This merges some other bytes too; only
// the comparison decides.
//
// The filter keeps no state between lines, unlike a cache of source lines that
// never matched: whether a line is found does not depend on earlier lines.
type filter struct {
	bits   [1 << gramBits / 64]uint64
	places []place                 // grouped by slot
	slots  [1<<slotBits + 1]uint32 // start of each slot in places
}

// literal is a string to search for and the entry it belongs to.
type literal struct {
	text  string
	fold  bool // ignore ASCII case
	entry int32
}

// place is a gram of a literal and its offset there. The offset is at least -1: one
// byte before the start of the literal.
type place struct {
	gram uint64
	*literal
	at int
}

const (
	filterGram   = 5
	filterStep   = 4
	filterWindow = filterGram + filterStep - 1 // shorter literals need many more grams
	gramBits     = 18                          // table of 32 KiB: half of it stays in a small L1 cache, and a false positive costs more than a cache miss
	slotBits     = 13
	gramShift    = 64 - 8*filterGram
	foldGram     = 0x2020202020
	lastByte     = 0xFF << 56
	gramFactor   = 0x9E3779B97F4A7C15 << gramShift & (1<<64 - 1)
)

// gramOf returns the folded gram in the low bytes of v, moved to the upper bytes.
func gramOf(v uint64) uint64 { return (v | foldGram) << gramShift }

// spread hashes the gram in the low bytes of v to 64 bits, of which the upper ones
// are the best mixed. The multiplication drops the bytes after the gram.
func spread(v uint64) uint64 { return (v | foldGram) * gramFactor }

// slotOf returns the slot of a gram.
func slotOf(g uint64) uint64 { return (g ^ g>>29) * 0xC2B2AE3D27D4EB4F >> (64 - slotBits) }

// passes reports whether the gram in the low bytes of v may be one of a literal.
func (f *filter) passes(v uint64) bool {
	k := (v | foldGram) * gramFactor // spread, inlined by hand to avoid the inline mark of a nested call
	return f.bits[k>>(64-gramBits+6)]>>(k>>(64-gramBits)&63)&1 != 0
}

// finds reports whether msg holds a literal.
func (f *filter) finds(msg []byte) bool { return f.pick(msg, nil) }

// pick reports whether msg contains a literal and sets in picked the entries of all
// literals it contains. If picked is nil, the first literal ends the search. Bytes
// beyond len(msg), up to its capacity, may be read but do not affect the result.
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

// filterBlock is the number of bytes that next examines per step.
const filterBlock = 8 * filterStep

// next returns the first of the positions i, i+filterStep, … whose gram passes the
// bit table, or -1. The last gram may extend one byte past the end. Blocks are
// examined whole, including bytes beyond len(msg), because that is cheaper than
// examining the last bytes one by one.
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

// eightAt returns the eight bytes at i, with zeros beyond the end of b.
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

// compare looks for the literals whose gram is at i.
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

// containsFold reports whether b contains s, ignoring ASCII case. Only the slow
// paths use it.
func containsFold(b []byte, s string) bool {
	for i := 0; i+len(s) <= len(b); i++ {
		if equalFold(b[i:i+len(s)], s) {
			return true
		}
	}
	return false
}
