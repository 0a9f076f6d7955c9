package facts

import (
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys {
		if seen[k.Name] {
			t.Errorf("%s stands twice in Keys", k.Name)
		}
		seen[k.Name] = true
		if k.Doc == "" {
			t.Errorf("%s has no sentence", k.Name)
		}
		if i := strings.IndexByte(k.Name, '*'); i >= 0 && i != len(k.Name)-1 {
			t.Errorf("%s: a star may only stand last", k.Name)
		}
		switch k.Unit {
		case "", "s", "bytes", "percent", "count", "bool":
		default:
			t.Errorf("%s: unknown unit %q", k.Name, k.Unit)
		}
	}
	for name, want := range map[string]bool{"psi.io.full.avg60": true, "psi.": false, "load.1": true, "load.2": false} {
		if _, got := Lookup(name); got != want {
			t.Errorf("Lookup(%q) = %v, want %v", name, got, want)
		}
	}
}
