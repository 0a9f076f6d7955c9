package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// healthOf prints the spans of health of a log.
func healthOf(t *testing.T, lines ...string) string {
	n := buildOne(t, strings.Join(lines, "\n"))
	checkSane(t, n)
	var out []string
	for _, h := range n.Health {
		at := func(ns int64) string { return time.Unix(0, ns).UTC().Round(time.Second).Format("15:04:05") }
		out = append(out, fmt.Sprintf("%s-%s %s", at(h.From), at(h.To), h.State))
	}
	return strings.Join(out, ", ")
}

// Few lines prove what they say, at their moment and as far back as it reaches.
func TestHealthOfFewLines(t *testing.T) {
	const never = `E1120 10:00:0%d.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`
	const start = `I1120 10:00:00.000000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`
	const add = `I1120 10:%s.000000    4242 kubelet.go:2391] "SyncLoop ADD" source="api" pods=["a/b"]`
	const cut = `E1120 10:%s.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last s`
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"one age tells of the time before it", []string{skipLine("10:10:00.000000", 200*time.Second)}, "10:09:40-10:10:00 unhealthy"},
		{"reports that were cut before the age", []string{fmt.Sprintf(cut, "00:00"), fmt.Sprintf(cut, "00:05"), fmt.Sprintf(add, "00:20")}, "10:00:00-10:00:05 unhealthy, 10:00:05-10:00:20 unknown"},
		{"a single one", []string{fmt.Sprintf(cut, "00:00")}, "10:00:00-10:00:00 unhealthy"},
		{"a start, and work within the first threshold", []string{start, fmt.Sprintf(never, 1), fmt.Sprintf(add, "00:03"), fmt.Sprintf(add, "05:00")},
			"10:00:00-10:00:01 never-relisted, 10:00:01-10:00:03 unknown, 10:00:03-10:03:00 healthy, 10:03:00-10:05:00 unknown"},
		{"a restart within an incident", []string{skipLine("10:10:00.000000", 200*time.Second), strings.Replace(start, "10:00:00.000000    4242", "10:10:30.000000    4300", 1)},
			"10:09:40-10:10:00 unhealthy, 10:10:00-10:10:30 unknown"},
	} {
		if got := healthOf(t, c.lines...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// The last relist of a log of verbosity 5 runs until the next one begins: where none
// does, it had not ended by the last line.
func TestRelistOpenAtTheEnd(t *testing.T) {
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`I1120 10:00:%02d.000000    4242 generic.go:225] "GenericPLEG: Relisting"`, i))
	}
	for i := range 75 {
		lines = append(lines, fmt.Sprintf(`I1120 10:%02d:%02d.500000    4242 kubelet.go:1] "something else"`, i/60, i%60))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	n := buildOne(t, strings.Join(lines, "\n"))
	last := len(n.Relists) - 1
	took, ended := n.Lasted(last)
	if n.Relists[last].Outcome != OutcomeHung || ended || took < 58*time.Second {
		t.Errorf("the last relist: %s, %v, ended %v", n.Relists[last].Outcome, took, ended)
	}
	// Of relists that are not seen to follow each other by a period some lines may be missing.
	few := slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "Relisting") && l[12:14] > "01" })
	if r := buildOne(t, strings.Join(few, "\n")).Relists; r[len(r)-1].Outcome == OutcomeHung {
		t.Error("the last of two relists is told to hang")
	}
}
