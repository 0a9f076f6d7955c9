package host

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

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
