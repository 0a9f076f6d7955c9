package host

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
		for _, table := range []*ByString[int]{&many, &few} {
			if got := table.Get(s); got != 0 {
				t.Fatalf("%d at a place that nobody wrote", got)
			}
			if i%3 == 0 {
				*table.At(s) += i
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

// TestByPod checks that pods of the same name in several namespaces, or in none, stay
// apart.
func TestByPod(t *testing.T) {
	interned := parse.NewStringTable()
	table := NewByPod[int](interned, 1)
	names := []string{"web", "a/web", "b/web", "a/db", "c/web"}
	for i, name := range names {
		p := PodOfText(interned, name)
		if got := p.Text(interned); got != name {
			t.Errorf("%q became %q", name, got)
		}
		if got := table.Get(p); got != 0 {
			t.Errorf("%s has %d before it was written", name, got)
		}
		*table.At(p) = i + 1
	}
	for i, name := range names {
		if got := table.Get(PodOfText(interned, name)); got != i+1 {
			t.Errorf("%s has %d, want %d", name, got, i+1)
		}
	}
}
