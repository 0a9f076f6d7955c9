package table

import (
	"fmt"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestByString checks that the slice and the map form agree, also on strings interned
// after the table was made.
func TestByString(t *testing.T) {
	interned := parse.NewStringTable()
	for i := range 1000 {
		interned.OfString(fmt.Sprint("early ", i))
	}
	many, few := NewByString[int](interned, 1000), NewByString[int](interned, 1)
	if many.sparse != nil || few.sparse == nil {
		t.Fatal("a table for 1000 of 1000 strings should be a slice, one for a single string a map")
	}
	for i := range 2000 {
		s := interned.OfString(fmt.Sprint("early ", i))
		for _, c := range []*ByString[int]{&many, &few} {
			if got := c.Get(s); got != 0 {
				t.Fatalf("%d at a place that nobody wrote", got)
			}
			if i%3 == 0 {
				*c.At(s) += i
			}
		}
	}
	for i := range 2000 {
		s, want := interned.OfString(fmt.Sprint("early ", i)), 0
		if i%3 == 0 {
			want = i
		}
		if a, b := many.Get(s), few.Get(s); a != want || b != want {
			t.Fatalf("%d in the slice, %d in the map, want %d", a, b, want)
		}
	}
}
