package journal

import (
	"fmt"
	"testing"
	"time"
)

// TestFraction reads fractions of any length, both at the end of a text and before
// more text.
func TestFraction(t *testing.T) {
	for digits := range 13 {
		text, want := ".", int64(0)
		for k := range digits {
			d := (7*k + digits) % 10
			text += fmt.Sprint(d)
			if k < 9 {
				want = want*10 + int64(d)
			}
		}
		length, res := len(text), time.Nanosecond
		for k := min(digits, 9); k < 9; k++ {
			want *= 10
		}
		switch {
		case digits == 0:
			length, res = 0, time.Second
		case digits <= 3:
			res = time.Millisecond
		case digits <= 6:
			res = time.Microsecond
		}
		for _, rest := range []string{"", "Z", "Z more text", "+01:00 x", ":::::::::", "/////////", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			ns, r, n := fraction([]byte(text + rest))
			if ns != want || r != res || n != length {
				t.Errorf("%q: %d ns, %v, %d bytes, want %d, %v, %d", text+rest, ns, r, n, want, res, length)
			}
		}
	}
}
