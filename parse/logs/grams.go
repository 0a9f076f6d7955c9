package logs

import "encoding/binary"

// newFilter builds the filter of the literals, each at least MinLiteral long.
// By the samples and, above all, by the lines that make up most of a log, it
// learns which grams are rare.
func newFilter(lits []literal, samples, quiet []string) *filter {
	f := &filter{}
	common := &gramCount{}
	common.count(samples, 1)
	common.count(quiet, quietWeight)
	for i := range lits {
		for at := range filterStep {
			f.addOne(&lits[i], at, common)
		}
	}
	f.sort()
	return f
}

// only returns a filter of the literals whose entries are kept.
func (f *filter) only(kept func(entry int32) bool) *filter {
	part := &filter{places: make([]place, 0, len(f.places))}
	for _, p := range f.places {
		if kept(p.entry) {
			part.places = append(part.places, p)
		}
	}
	part.sort()
	return part
}

// sort puts the places in the order of their slots, and the grams in the table.
func (f *filter) sort() {
	for _, p := range f.places {
		f.slots[slotOf(p.gram)+1]++
		k := spread(p.gram >> gramShift)
		f.bits[k>>(64-gramBits+6)] |= 1 << (k >> (64 - gramBits) & 63)
	}
	for i := range f.slots[1:] {
		f.slots[i+1] += f.slots[i]
	}
	next, sorted := f.slots, make([]place, len(f.places))
	for _, p := range f.places {
		at := &next[slotOf(p.gram)]
		sorted[*at] = p
		*at++
	}
	f.places = sorted
}

// addOne adds a gram of the literal at at, at+filterStep, and so on. Where there
// is none, or all are common, one that reaches a byte over an end of it will do,
// whatever that byte is.
func (f *filter) addOne(l *literal, at int, common *gramCount) {
	n := len(l.text) - filterGram + 1 // grams of the literal
	best, cost := common.rarest(l.text, at)
	switch {
	case best >= 0 && cost < commonGram:
		f.add(l, best, gram(l.text, best))
	case n%filterStep == at && (best < 0 || common.beyond(l.text) < cost):
		for c := range uint64(1 << 7) {
			f.add(l, n, beyondEnd(l.text)|anyByte(c)<<56)
		}
	case best < 0:
		for c := range uint64(1 << 7) {
			f.add(l, -1, gram(l.text, 0)<<8|anyByte(c)<<gramShift)
		}
	default:
		f.add(l, best, gram(l.text, best))
	}
}

// anyByte returns one after the other all folded bytes.
func anyByte(c uint64) uint64 { return c<<1&0xC0 | c&0x1F | 0x20 }

func (f *filter) add(l *literal, at int, g uint64) { f.places = append(f.places, place{g, l, at}) }

// gram returns the folded gram at i; s holds all of it.
func gram(s string, i int) uint64 {
	var b [8]byte
	copy(b[:filterGram], s[i:i+filterGram])
	return gramOf(binary.LittleEndian.Uint64(b[:]))
}

// gramCount counts folded grams, and all but their last bytes. Some share a
// count: only a wrong choice of what is rare comes of it.
type gramCount [1 << countBits]int32

const countBits = 17

func countKey(g uint64) uint64 { return (g ^ g>>31) * 0x9E3779B97F4A7C15 >> (64 - countBits) }

const (
	quietWeight = 100             // what a line that matches nothing counts for
	commonGram  = 8 * quietWeight // from this count on a gram is common
)

func (n *gramCount) count(lines []string, weight int32) {
	for _, s := range lines {
		g := uint64(0)
		for i := range len(s) {
			g = g>>8&^(1<<gramShift-1) | uint64(s[i]|0x20)<<56
			if i+1 >= filterGram {
				n[countKey(g)] += weight
				n[countKey(g&^lastByte)] += weight
			}
		}
	}
}

// rarest returns the offset of the rarest gram of text at at, at+filterStep, and
// so on, and its count; -1 if there is none. The first wins ties, so that the
// choice does not depend on map order.
func (n *gramCount) rarest(text string, at int) (best int, least int32) {
	best = -1
	for i := at; i+filterGram <= len(text); i += filterStep {
		if c := n[countKey(gram(text, i))]; best < 0 || c < least {
			best, least = i, c
		}
	}
	return best, least
}

// beyond counts the grams that begin with the last bytes of text.
func (n *gramCount) beyond(text string) int32 { return n[countKey(beyondEnd(text))] }

// beyondEnd is a gram that lacks its last byte: the last bytes of text.
func beyondEnd(text string) uint64 {
	return gram(text, len(text)-filterGram) >> 8 &^ (0xFF << (gramShift - 8))
}
