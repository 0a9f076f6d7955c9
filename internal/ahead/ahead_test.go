package ahead

import "testing"

// TestStart wants what the program brings read ahead only where it is needed.
func TestStart(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"plegforensics"}, false},
		{[]string{"plegforensics", "analyze"}, false},
		{[]string{"plegforensics", "analyze", "--help"}, false},
		{[]string{"plegforensics", "explain", "runtime-down"}, false},
		{[]string{"plegforensics", "analyze", "kubelet.log"}, true},
		{[]string{"plegforensics", "batch", "-o", "json", "bundles"}, true},
	} {
		if got := start(c.args); got != nil && !c.want {
			t.Errorf("%q: read ahead", c.args)
		} else if c.want && got != nil && len((<-got).Causes) == 0 {
			t.Errorf("%q: no causes", c.args)
		}
	}
}

// TestCauses wants a pack of its own for each caller, the one read ahead and those
// after it.
func TestCauses(t *testing.T) {
	causes = start([]string{"plegforensics", "analyze", "kubelet.log"})
	defer func() { causes = nil }()
	a, b := Causes(), Causes()
	if a == b || len(a.Causes) == 0 || len(a.Causes) != len(b.Causes) {
		t.Errorf("got %d and %d causes, one pack: %v", len(a.Causes), len(b.Causes), a == b)
	}
}
