package logs

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestReadStringEqualsStrconv holds the quick reading of string literals
// against the standard one.
func TestReadStringEqualsStrconv(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	quick := 0
	for range 20000 {
		s := damage(rnd, `"StopContainer for \"c0ffee\" \\ \n\t returns" level=info é`)
		want, wantLen := "", 0
		q, err := strconv.QuotedPrefix(s)
		if err == nil {
			if want, err = strconv.Unquote(q); err != nil {
				t.Fatal(err)
			}
			wantLen = len(q)
		}
		if len(s) == 0 || s[0] != '"' {
			continue
		}
		got, n, ok := readString(s)
		if got != want || n != wantLen || ok != (err == nil) {
			t.Fatalf("%q: %q %d %v, want %q %d %v", s, got, n, ok, want, wantLen, err)
		}
		if n, _ := plainQuoted(s); n > 0 {
			quick++
		}
	}
	if quick < 5000 {
		t.Errorf("only %d literals were read quickly", quick)
	}
}
