package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTwoNodesUnderOneProcess checks that lines of two kubelets with equal process IDs, in a file without host names,
// make no history of one: nothing is healthy, nothing recovers, and no relist lasts from the one's to the other's.
func TestTwoNodesUnderOneProcess(t *testing.T) {
	log := func(other string) string {
		var lines []string
		add := func(at time.Duration, format string, args ...any) {
			stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at)
			lines = append(lines, stamp.Format("I0102 15:04:05.000000")+"    4242 "+fmt.Sprintf(format, args...))
		}
		for at := time.Duration(0); at < 15*time.Minute; at += 2 * time.Second {
			add(at, `reconciler.go:1] "something"`)
			if other == "a" && at >= 8*time.Minute && at < 9*time.Minute {
				continue // a sync loop that skips does not work
			}
			add(at+time.Millisecond, `kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerDied","Data":"ab"}`)
		}
		for _, node := range []string{"a", other, "a"} {
			add(time.Duration(len(lines)%7)*time.Minute, `kubelet_node_status.go:669] "Recording event message for node" node=%q event="NodeReady"`, node)
		}
		add(time.Minute, `kubelet_node_status.go:669] "Recording event message for node" node="a" event="NodeReady"`)
		add(14*time.Minute, `kubelet_node_status.go:669] "Recording event message for node" node="a" event="NodeReady"`)
		for at := 8 * time.Minute; at < 9*time.Minute; at += 5 * time.Second {
			add(at, `kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, at-4*time.Minute)
			if other == "a" {
				continue
			}
			add(at+time.Second, `kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, at+time.Second-4*time.Minute-40*time.Second)
		}
		slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:21], b[:21]) })
		return strings.Join(lines, "\n")
	}
	n := buildOne(t, log("b"))
	if len(n.Contradictions) == 0 || !strings.Contains(n.Contradictions[0].What, "two nodes") {
		t.Errorf("%+v", n.Contradictions)
	}
	for _, h := range n.Health {
		if h.State == Healthy {
			t.Errorf("%v", h)
		}
	}
	for i := range n.Relists {
		if d, known := n.Relists[i].Duration(); known {
			t.Errorf("a relist of %v", d)
		}
		if i+1 < len(n.Relists) && !n.MayGoOn(i) {
			t.Errorf("relist %d was over when the next one began, which may be the other node's", i)
		}
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Recovered.Known() {
			t.Errorf("recovered: %s", e.RecoveredBasis)
		}
	}
	if n := buildOne(t, log("a")); !slices.ContainsFunc(n.Health, func(h HealthSpan) bool { return h.State == Healthy }) {
		t.Errorf("one node: %+v", n.Health)
	}
}

// TestWovenReports checks that reports of two kubelets in containers, whose process IDs are equal, make no history of
// one, and that a clock that was set forward and back during a stall does not make two of one.
func TestWovenReports(t *testing.T) {
	report := func(at, age time.Duration) string {
		stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at)
		return stamp.Format("E0102 15:04:05.000000") + fmt.Sprintf(`       1 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, age)
	}
	named := func(at time.Duration, node string) string {
		stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at)
		return stamp.Format("I0102 15:04:05.000000") + fmt.Sprintf(`       1 kubelet_node_status.go:669] "Recording event message for node" node=%q event="NodeReady"`, node)
	}
	works := func(at time.Duration) string {
		stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at)
		return stamp.Format("I0102 15:04:05.000000") + `       1 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerDied","Data":"ab"}`
	}
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		name  string
		lines []string
		mixed bool
	}{
		{"one", []string{report(5*m, 200*s), report(5*m+5*s, 205*s), report(15*m, 190*s), report(15*m+5*s, 195*s)}, false},
		{"two", []string{report(5*m, 200*s), report(5*m+2*s, 250*s), report(5*m+5*s, 205*s), report(5*m+7*s, 255*s)}, true},
		{"three in turns", []string{report(5*m, 200*s), report(5*m+2*s, 250*s), report(5*m+3*s, 300*s), report(5*m+5*s, 205*s), report(5*m+7*s, 255*s)}, true},
		{"set forward and back", []string{report(5*m, 200*s), report(65*m+5*s, 205*s), report(65*m+10*s, 210*s), report(5*m+15*s, 215*s)}, false},
		{"one works while another one skips", []string{report(5*m, 200*s), works(5*m + 2*s), report(5*m+5*s, 205*s)}, true},
		{"one that skips, works and skips again", []string{report(5*m, 200*s), works(5*m + 2*s), report(10*m+5*s, 205*s)}, false},
		{"one log twice", []string{report(5*m, 200*s), report(5*m+5*s, 205*s), works(5*m + 7*s), report(5*m, 200*s), report(5*m+5*s, 205*s), works(5*m + 7*s)}, false},
		{"a line of the same moment", []string{report(5*m, 200*s), works(5*m + 5*s - time.Millisecond), report(5*m+5*s, 205*s)}, false},
		{"the clock was set back", []string{report(5*m, 200*s), works(15 * m), report(5*m+5*s, 205*s)}, false},
		{"one node's name", []string{named(5*m, "n1"), named(15*m, "n1.example.com")}, false},
		{"two nodes' names", []string{named(5*m, "n1"), named(15*m, "n2")}, true},
	} {
		n := buildOne(t, strings.Join(c.lines, "\n"))
		if mixed := slices.ContainsFunc(n.Contradictions, func(x Contradiction) bool { return strings.Contains(x.What, "two nodes") }); mixed != c.mixed {
			t.Errorf("%s: mixed is %t: %+v", c.name, mixed, n.Contradictions)
		}
	}
}
