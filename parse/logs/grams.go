package logs

import "encoding/binary"

// newFilter builds the filter of the literals.
func newFilter(lits []literal, samples, quiet []string) *filter {
	return filterOf(chooseGrams(lits, samples, quiet), nil)
}

// chooseGrams chooses the places of the literals, each at least MinLiteral long. By
// the samples and, above all, by the lines that make up most of a log, it learns
// which grams are rare. A place that reaches a byte over an end of its literal
// stands for those with any byte there, which its gram lacks.
func chooseGrams(lits []literal, samples, quiet []string) []place {
	common := &gramCount{}
	common.count(samples, 1)
	common.count(quiet, quietWeight)
	chosen := make([]place, 0, filterStep*len(lits))
	for i := range lits {
		for at := range filterStep {
			chosen = append(chosen, choose(&lits[i], at, common))
		}
	}
	return chosen
}

// choose returns the place of a gram of the literal at at, at+filterStep, and so on.
// Where there is none, or all are common, one that reaches a byte over an end of it
// will do, whatever that byte is.
func choose(l *literal, at int, common *gramCount) place {
	n := len(l.text) - filterGram + 1 // grams of the literal
	best, cost := common.rarest(l.text, at)
	switch {
	case best >= 0 && cost < commonGram:
		return place{gram(l.text, best), l, best}
	case n%filterStep == at && (best < 0 || common.beyond(l.text) < cost):
		return place{beyondEnd(l.text), l, n}
	case best < 0:
		return place{gram(l.text, 0) << 8, l, -1}
	default:
		return place{gram(l.text, best), l, best}
	}
}

// grams calls each with the grams that a chosen place stands for.
func (p *place) grams(each func(g uint64)) {
	shift := 56
	switch p.at {
	case -1:
		shift = gramShift
	case len(p.text) - filterGram + 1:
	default:
		each(p.gram)
		return
	}
	for c := range uint64(1 << 7) {
		each(p.gram | anyByte(c)<<shift)
	}
}

// filterOf returns a filter of the literals whose entries are kept, of all if kept is
// nil: of each slot the places, in the order in which they were chosen.
func filterOf(chosen []place, kept []bool) *filter {
	f := &filter{}
	n := 0
	for i := range chosen {
		if p := &chosen[i]; kept == nil || kept[p.entry] {
			p.grams(func(g uint64) {
				n++
				f.slots[slotOf(g)+1]++
				k := spread(g >> gramShift)
				f.bits[k>>(64-gramBits+6)] |= 1 << (k >> (64 - gramBits) & 63)
			})
		}
	}
	for i := range f.slots[1:] {
		f.slots[i+1] += f.slots[i]
	}
	f.places = make([]place, n)
	for i := range chosen {
		if p := &chosen[i]; kept == nil || kept[p.entry] {
			p.grams(func(g uint64) {
				at := &f.slots[slotOf(g)] // moves on to where the next slot begins
				f.places[*at] = place{g, p.literal, p.at}
				*at++
			})
		}
	}
	copy(f.slots[1:], f.slots[:])
	f.slots[0] = 0
	return f
}

// anyByte returns one after the other all folded bytes.
func anyByte(c uint64) uint64 { return c<<1&0xC0 | c&0x1F | 0x20 }

// gram returns the folded gram at i; s holds all of it.
func gram(s string, i int) uint64 {
	var b [8]byte
	copy(b[:filterGram], s[i:i+filterGram])
	return gramOf(binary.LittleEndian.Uint64(b[:]))
}

// gramCount counts folded grams, and all but their last bytes. Some share a
// count: only a wrong choice of what is rare comes of it.
type gramCount [1 << countBits]int32

const countBits = 16

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
