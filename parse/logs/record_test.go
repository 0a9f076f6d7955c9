package logs

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestReadStringEqualsStrconv checks the fast reading of string literals against
// strconv.
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

// TestQuotedLen checks reading eight bytes at a time against reading byte by byte.
func TestQuotedLen(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	const chars = "abcdefgh \x00\x0b!#[]~\"\\n\n\x80\xa2\xdc\x8a\xff"
	for range 200000 {
		s := []byte{'"'}
		for range rnd.IntN(40) {
			c := chars[rnd.IntN(8)]
			if rnd.IntN(12) == 0 {
				c = chars[rnd.IntN(len(chars))]
			}
			s = append(s, c)
		}
		n, escaped := quotedLen(s)
		if want, wantEscaped := plainQuoted(string(s)); n != want || n > 0 && escaped != wantEscaped {
			t.Fatalf("%q: %d %v, want %d %v", s, n, escaped, want, wantEscaped)
		}
	}
}
