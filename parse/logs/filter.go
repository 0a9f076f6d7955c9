package logs

import "encoding/binary"

// filter finds the literals of all signatures in one pass over a message, by
// sampling. Of each literal one window of filterWindow bytes
// counts. If a message holds the window, then one of every filterStep positions
// of the message lies at one of the first filterStep bytes of it, and the four
// bytes there are in the table grams. Where they are, the windows around are
// looked up, and the literals that have them are compared in full. Letters are
// folded for the lookup by setting bit 5 of every byte, which merges some other
// bytes too: only the comparison decides.
//
// There is no state from line to line, unlike with a memo of source lines that
// never matched: whether a line is seen does not depend on those before it.
type filter struct {
	grams    [filterBits / 64]uint64
	windows  [filterBits / 64]uint64
	literals map[uint64][]windowed // by folded window
}

// literal is one byte string to look for, and the entry that it stands for.
type literal struct {
	text  string
	fold  bool // ASCII letters of either case
	entry int32
}

// windowed is a literal and where in it the window lies.
type windowed struct {
	*literal
	at int
}

const (
	filterBits   = 1 << 16
	filterWindow = MinLiteral
	filterStep   = filterWindow - 3
	fold4        = 0x20202020
	fold6        = 0x202020202020
	mask6        = 1<<48 - 1
)

func hashGram(v uint32) uint32   { return v * 0x9E3779B1 >> 16 }
func hashWindow(v uint64) uint32 { return uint32(v * 0x9E3779B97F4A7C15 >> 48) }

// newFilter builds the filter of the literals, each at least MinLiteral long.
// By the samples and, above all, by the lines that make up most of a log, it
// learns which windows are rare.
func newFilter(lits []literal, samples, quiet []string) *filter {
	f := &filter{literals: make(map[uint64][]windowed, len(lits))}
	common := gramCount{}
	common.count(samples, 1)
	common.count(quiet, 20)
	for i := range lits {
		f.add(&lits[i], common.rarestWindow([]byte(lits[i].text)))
	}
	return f
}

func (f *filter) add(l *literal, at int) {
	v := window([]byte(l.text), at)
	f.literals[v] = append(f.literals[v], windowed{l, at})
	h := hashWindow(v)
	f.windows[h>>6] |= 1 << (h & 63)
	for i := range filterStep {
		h := hashGram(uint32(v >> (8 * i)))
		f.grams[h>>6] |= 1 << (h & 63)
	}
}

// window returns the folded window at i; b holds all of it.
func window(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return (binary.LittleEndian.Uint64(b[i:]) | fold6) & mask6
	}
	var tail [8]byte
	copy(tail[:], b[i:])
	return (binary.LittleEndian.Uint64(tail[:]) | fold6) & mask6
}

// gramCount counts folded runs of four bytes.
type gramCount map[uint32]int

func (n gramCount) count(lines []string, weight int) {
	for _, s := range lines {
		for i := 0; i+4 <= len(s); i++ {
			n[binary.LittleEndian.Uint32([]byte(s[i:i+4]))|fold4] += weight
		}
	}
}

// rarestWindow chooses the window of a literal whose grams are the rarest. The
// first window wins ties, so that the choice does not depend on map order.
func (n gramCount) rarestWindow(text []byte) int {
	best, at := -1, 0
	for i := 0; i+filterWindow <= len(text); i++ {
		v, cost := window(text, i), 0
		for k := range filterStep {
			cost += n[uint32(v>>(8*k))]
		}
		if best < 0 || cost < best {
			best, at = cost, i
		}
	}
	return at
}

// finds reports whether msg holds a literal.
func (f *filter) finds(msg []byte) bool { return f.pick(msg, nil) }

// pick reports whether msg holds a literal, and sets in picked the entries of
// all that it holds. Without picked the first literal ends the search.
func (f *filter) pick(msg []byte, picked []uint64) bool {
	found := false
	n := len(msg) - 4
	for i := 0; i <= n; i += filterStep {
		h := hashGram(binary.LittleEndian.Uint32(msg[i:]) | fold4)
		if f.grams[h>>6]>>(h&63)&1 == 0 || !f.around(msg, i, picked) {
			continue
		}
		if found = true; picked == nil {
			return true
		}
	}
	return found
}

// around looks at the windows that hold the four bytes at i.
func (f *filter) around(msg []byte, i int, picked []uint64) bool {
	found := false
	for at := i; at >= 0 && at > i-filterStep; at-- {
		if at+filterWindow > len(msg) {
			continue
		}
		v := window(msg, at)
		h := hashWindow(v)
		if f.windows[h>>6]>>(h&63)&1 != 0 && f.compare(msg, at, v, picked) {
			found = true
		}
	}
	return found
}

// compare looks for the literals whose window stands at at.
func (f *filter) compare(msg []byte, at int, v uint64, picked []uint64) bool {
	found := false
	for _, w := range f.literals[v] {
		from := at - w.at
		if from < 0 || from+len(w.text) > len(msg) || !w.equals(msg[from:from+len(w.text)]) {
			continue
		}
		if found = true; picked == nil {
			return true
		}
		picked[w.entry>>6] |= 1 << (w.entry & 63)
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
