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

// TestFallbackIsLate checks that PLEG is not called unhealthy by the threshold of three minutes before it was in
// force: the evented PLEG, whose threshold is ten minutes, relisted until it fell back.
func TestFallbackIsLate(t *testing.T) {
	const head = "I1120 10:00:00.000000    4242 feature_gate.go:1] feature gates: {map[EventedPLEG:true]}\n"
	const report = "E1120 10:09:00.000000    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg was last seen active 5m0s ago; threshold is 3m0s\""
	for name, c := range map[string]struct {
		fell, want string
	}{
		"it fell back before":            {"10:01:00", "10:07:00"},
		"it fell back when it was older": {"10:08:30", "10:08:30"},
	} {
		n := buildOne(t, head+"I1120 "+c.fell+".000000    4242 evented.go:182] \"Fall back to Generic PLEG relisting since Evented PLEG is not working\"\n"+report)
		if len(n.Episodes) != 1 {
			t.Fatalf("%s: %d episodes", name, len(n.Episodes))
		}
		if got := time.Unix(0, n.Episodes[0].Breach).UTC().Round(time.Second).Format("15:04:05"); got != c.want {
			t.Errorf("%s: breach at %s, want %s", name, got, c.want)
		}
	}
}
