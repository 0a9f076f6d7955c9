package logs

import "encoding/binary"

// newFilter returns the filter for the given literals.
func newFilter(lits []literal, samples, quiet []string) *filter {
	return filterOf(chooseGrams(lits, samples, quiet), nil)
}

// chooseGrams chooses the places of the literals, each of which is at least
// MinLiteral bytes long. It learns which grams are rare from the samples and above
// all from quiet, lines of the kinds that make up most of a log. A place that
// extends one byte past an end of its literal stands for those with any byte there,
// which its gram leaves zero.
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

// choose returns the place of the rarest gram of the literal at offsets at,
// at+filterStep, and so on. If there is none or all are common, it may be one that
// extends one byte past an end of the literal.
func choose(l *literal, at int, common *gramCount) place {
	n := len(l.text) - filterGram + 1 // number of grams in the literal
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

// grams calls each with every gram that the place stands for.
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

// filterOf returns the filter for the literals whose entries are kept, or for all
// if kept is nil. Within a slot, places are in the order in which they were chosen.
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
				at := &f.slots[slotOf(g)] // ends up where the next slot begins
				f.places[*at] = place{g, p.literal, p.at}
				*at++
			})
		}
	}
	copy(f.slots[1:], f.slots[:])
	f.slots[0] = 0
	return f
}

// anyByte enumerates all folded bytes as c goes from 0 to 127.
func anyByte(c uint64) uint64 { return c<<1&0xC0 | c&0x1F | 0x20 }

// gram returns the folded gram at i, which must lie within s.
func gram(s string, i int) uint64 {
	var b [8]byte
	copy(b[:filterGram], s[i:i+filterGram])
	return gramOf(binary.LittleEndian.Uint64(b[:]))
}

// gramCount counts folded grams, and also their first four bytes. Colliding grams
// share a count; the worst effect is a poor choice of what is rare.
type gramCount [1 << countBits]int32

const countBits = 16

func countKey(g uint64) uint64 { return (g ^ g>>31) * 0x9E3779B97F4A7C15 >> (64 - countBits) }

const (
	quietWeight = 100             // weight of a line that matches nothing
	commonGram  = 8 * quietWeight // a gram with at least this count is common
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

// rarest returns the offset and count of the rarest gram of text at offsets at,
// at+filterStep, and so on; -1 if there is none. The first one wins ties, so the
// choice is deterministic.
func (n *gramCount) rarest(text string, at int) (best int, least int32) {
	best = -1
	for i := at; i+filterGram <= len(text); i += filterStep {
		if c := n[countKey(gram(text, i))]; best < 0 || c < least {
			best, least = i, c
		}
	}
	return best, least
}

// beyond counts the grams that begin with the last four bytes of text.
func (n *gramCount) beyond(text string) int32 { return n[countKey(beyondEnd(text))] }

// beyondEnd returns the gram made of the last four bytes of text, its fifth byte
// zero.
func beyondEnd(text string) uint64 {
	return gram(text, len(text)-filterGram) >> 8 &^ (0xFF << (gramShift - 8))
}
