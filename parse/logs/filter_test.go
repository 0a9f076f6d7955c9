package logs

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFilterShort searches for literals shorter than a window, and for one whose
// grams are all common, at every offset, at both ends, and with one byte cut off.
func TestFilterShort(t *testing.T) {
	texts := []string{"akswin", "opLock", "fluent#", "SystemOOM", "exactly8"}
	var lits []literal
	for i, s := range texts {
		lits = append(lits, literal{text: s, entry: int32(i), fold: i == 1})
	}
	f := newFilter(lits, nil, []string{strings.Join(texts[3:], " "), "ystem", "8akswin8"})
	for i, s := range texts {
		for before := range 3 * filterStep {
			for after := range 2 * filterStep {
				for _, fill := range []string{"x", "\xff", " "} {
					msg := strings.Repeat(fill, before) + s + strings.Repeat(fill, after)
					picked := []uint64{0}
					if !f.pick([]byte(msg), picked) || picked[0] != 1<<i {
						t.Errorf("%q: picked %b, want bit %d", msg, picked[0], i)
					}
					if cut := strings.Repeat(fill, before) + s[1:] + strings.Repeat(fill, after); f.finds([]byte(cut)) {
						t.Errorf("%q: found", cut)
					}
				}
			}
		}
	}
}

// TestFilter checks the filter against a search for each literal, for random
// literals.
func TestFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aAbB@ ")), MinLiteral, 14, -1)
		var lits []literal
		for i := range rapid.IntRange(1, 6).Draw(t, "literals") {
			lits = append(lits, literal{text: text.Draw(t, "literal"), fold: rapid.Bool().Draw(t, "fold"), entry: int32(i)})
		}
		msg := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("aAbB@ ")), 0, 30, -1).Draw(t, "before"))
		l := lits[rapid.IntRange(0, len(lits)-1).Draw(t, "which")]
		msg = append(append(msg, l.text...), rapid.StringN(0, 9, -1).Draw(t, "after")...)
		if l.fold && rapid.Bool().Draw(t, "upper") {
			msg = bytes.ToUpper(msg)
		}
		want := uint64(0)
		for i, l := range lits {
			if contains(msg, l.text, l.fold) {
				want |= 1 << i
			}
		}
		picked := []uint64{0}
		f := newFilter(lits, []string{"aaaaaaaaAAAA"}, []string{"abababababab", "bbbb"})
		// Bytes beyond the length of a message are not part of it.
		msg = append(msg, l.text+l.text...)[:len(msg)]
		if f.pick(msg, picked); picked[0] != want {
			t.Fatalf("%v in %q: picked %b, want %b", lits, msg, picked[0], want)
		}
		if f.finds(msg) != (want != 0) {
			t.Fatalf("%v in %q: finds differs", lits, msg)
		}
	})
}
