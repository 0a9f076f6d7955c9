package replay

import (
	"strings"
	"testing"
)

// TestClipKeepsRuns checks that after a cut relists still name the process that they belong to.
func TestClipKeepsRuns(t *testing.T) {
	process := func(from, relist, to string) string {
		return ticking([]string{`I1120 ` + from + `.000000    4242 kubelet.go:2327] "Starting kubelet main sync loop"`, relisting(relist + ".000000")}, from, to)
	}
	second := process("13:10:00", "13:11:00", "13:14:00")
	n := buildOne(t, process("13:00:00", "13:01:00", "13:04:00")+"\n"+strings.ReplaceAll(second, " 4242 ", " 5151 "))
	if len(n.Runs) != 2 || len(n.Relists) != 2 || n.Relists[1].Run != 1 {
		t.Fatalf("%d runs, relists %+v", len(n.Runs), n.Relists)
	}
	took, _ := n.Lasted(1)
	n.Clip(at(t, "13:08:00"), 0)
	if len(n.Runs) != 1 || len(n.Relists) != 1 || n.Relists[0].Run != 0 {
		t.Fatalf("%d runs and %d relists, the first of run %d", len(n.Runs), len(n.Relists), n.Relists[0].Run)
	}
	if got, _ := n.Lasted(0); got != took {
		t.Errorf("it took %v, before the cut %v", got, took)
	}
}
