package replay

import (
	"testing"
	"time"
)

// TestGatesByProcess checks that the feature gate of evented PLEG holds for the process that states it: where it was
// switched off or on by a restart, only generic PLEG's process has the threshold of three minutes for certain.
func TestGatesByProcess(t *testing.T) {
	const on, off = "feature gates: {map[EventedPLEG:true]}", "feature gates: {map[]}"
	for _, c := range []struct {
		first, second string
		pleg          string
		generic       []bool // the runs of which generic PLEG is known
	}{
		{on, off, "unknown", []bool{false, true}},
		{off, on, "unknown", []bool{true, false}},
		{on, on, "evented", []bool{false, false}},
		{off, off, "generic", []bool{false, false}}, // nothing need be known by run
		{off + "\nI1120 10:00:00.100000    4242 feature_gate.go:1] " + on, off, "unknown", []bool{false, true}},
	} {
		n := buildOne(t, "I1120 10:00:00.000000    4242 feature_gate.go:1] "+c.first+"\nI1120 10:20:00.000000    5353 feature_gate.go:1] "+c.second+
			"\nI1120 10:25:00.000000    5353 reconciler.go:1] \"something\"")
		if n.Kubelet.PLEG != c.pleg || len(n.Runs) != 2 {
			t.Errorf("%s, then %s: %s PLEG, %d runs", c.first, c.second, n.Kubelet.PLEG, len(n.Runs))
		}
		for run, want := range c.generic {
			if fell := n.asked.Of(run).Fell; (fell != 0) != want {
				t.Errorf("%s, then %s: run %d relists by generic PLEG from %v", c.first, c.second, run, time.Unix(0, fell).UTC())
			}
		}
	}
}
