package rules

import (
	"testing"

	"github.com/plegforensics/plegforensics/replay"
)

// TestNotReadyLasts: a NotReady without an end lasted to the last word about it, and
// no time at all where there is but one.
func TestNotReadyLasts(t *testing.T) {
	for _, c := range []struct {
		until int64 // s after the change
		want  float64
	}{{0, 0}, {3600, 3600}} {
		n := node()
		n.Ready = []replay.ReadyChange{{At: base, Until: base + c.until*second, Evidence: n.Episodes[0].Evidence[0]}}
		found := false
		for _, b := range breaches(newView(n), nil) {
			if b.Rule != "node-not-ready" {
				continue
			}
			if found = true; b.Value != c.want || b.End != 0 {
				t.Errorf("until %d s: %v s, end %d", c.until, b.Value, b.End)
			}
		}
		if !found {
			t.Errorf("until %d s: not found", c.until)
		}
	}
}
