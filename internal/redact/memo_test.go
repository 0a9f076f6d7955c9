package redact

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPatterns: texts with the same pattern have their names in the same positions, so that the
// result can be cached.
func TestPatterns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]string{}
	hits := 0
	for _, l := range lines {
		for range 40 {
			s := []byte(l.text)
			for i, c := range s { // change digits and hexadecimal letters
				switch {
				case i > 0 && s[i-1] == '%' || i > 1 && s[i-2] == '%':
				case c >= '0' && c <= '9':
					s[i] = '0' + byte(rng.IntN(10))
				case c >= 'a' && c <= 'f' && rng.IntN(4) == 0:
					s[i] = 'a' + byte(rng.IntN(6))
				}
			}
			pattern := string(appendPattern(nil, string(s)))
			first, known := seen[pattern]
			if !known {
				seen[pattern] = string(s)
				continue
			}
			hits++
			if a, b := positionsOf(first), positionsOf(string(s)); !slices.Equal(a, b) {
				t.Errorf("%q and %q are of one pattern, but names stand at %v and %v", first, s, a, b)
			}
		}
	}
	if hits < 200 {
		t.Errorf("only %d texts were of a pattern that was seen", hits)
	}
}

func positionsOf(s string) []span {
	has := pairsOf(s)
	return positions(s, &has)
}
