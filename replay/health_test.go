package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// healthOf formats the health spans of a log.
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

// TestHealthOfFewLines checks that even a few lines prove what they state, at their time and as far back as
// they reach.
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

// TestGaugeAgainstReport checks a snapshot that names a later relist as the last one to list pods than a
// subsequent line of the process does. The line takes precedence, also for the time after it, and the gauge
// yields no relist. A gauge value that no line contradicts still proves health.
func TestGaugeAgainstReport(t *testing.T) {
	for name, c := range map[string]struct {
		at, seen string
		want     string
		relists  int
	}{
		"newer than the line's": {"10:10:12", "10:10:08", "unknown unhealthy unknown", 1},
		"after the last report": {"10:10:32", "10:10:28", "unknown unhealthy unknown healthy unknown", 2},
		"of the line's":         {"10:10:12", "10:06:39", "unknown unhealthy unknown", 1},
	} {
		const other = `I1120 10:%s:00.000000    4242 kubelet.go:1] "something else"`
		b := bundleOf(fmt.Sprintf(other, "05") + "\n" + skipLine("10:10:00.000000", 200*time.Second) + "\n" + skipLine("10:10:20.000000", 220*time.Second) + "\n" + fmt.Sprintf(other, "19"))
		at := func(clock string) int64 {
			t, _ := time.Parse(time.DateOnly+" "+time.TimeOnly, b.Events[0].Time().UTC().Format(time.DateOnly+" ")+clock)
			return t.UnixNano()
		}
		shot := &parse.Scrape{File: &parse.File{Path: "m.prom"}, Job: "kubelet", Stamp: parse.Stamp{At: at(c.at), Basis: parse.Stated}}
		b.Scrapes = append(b.Scrapes, shot)
		b.Series = append(b.Series, &parse.Series{Name: "kubelet_pleg_last_seen_seconds", Job: "kubelet", Points: []parse.Point{{At: shot.At, V: float64(at(c.seen) / 1e9), Src: shot, Line: 1}}})
		n := Build(b, Options{})[0]
		var states []string
		for _, h := range n.Health {
			states = append(states, string(h.State))
		}
		if got := strings.Join(states, " "); got != c.want || len(n.Relists) != c.relists || (name == "newer than the line's") != (len(n.Contradictions) == 1) {
			t.Errorf("%s: %s, %d relists, %d contradictions", name, got, len(n.Relists), len(n.Contradictions))
		}
		if n.Clip(0, n.Window.End); name == "newer than the line's" && slices.ContainsFunc(n.Proofs, func(p MetricProof) bool { return p.Kind == ProofStart }) {
			t.Errorf("%s: what was contradicted is there again in a window", name)
		}
	}
}

// TestRelistOpenAtTheEnd checks the last relist of a log. At verbosity 5 a relist without a next one had not
// ended by the last line; at lower verbosity the list of the next one may hang instead.
func TestRelistOpenAtTheEnd(t *testing.T) {
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`I1120 10:00:%02d.000000    4242 generic.go:225] "GenericPLEG: Relisting"`, i))
	}
	for i := range 75 {
		lines = append(lines, fmt.Sprintf(`I1120 10:%02d:%02d.500000    4242 kubelet.go:1] "something else"`, i/60, i%60))
	}
	for i := 3; i < 75; i += 10 {
		lines = append(lines, fmt.Sprintf(`I1120 10:%02d:%02d.600000    4242 kubelet_node_status.go:1] "Updating node status"`, i/60, i%60))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	n := buildOne(t, strings.Join(lines, "\n"))
	last := len(n.Relists) - 1
	took, ended := n.Lasted(last)
	if n.Relists[last].Outcome != OutcomeHung || ended || took < 58*time.Second {
		t.Errorf("the last relist: %s, %v, ended %v", n.Relists[last].Outcome, took, ended)
	}
	lists := strings.ReplaceAll(strings.Join(lines, "\n"), `generic.go:225] "GenericPLEG: Relisting"`, `kuberuntime_manager.go:475] "Retrieved pods from runtime" all=true`)
	if r := buildOne(t, lists).Relists; len(r) < 7 || r[len(r)-1].Outcome == OutcomeHung {
		t.Errorf("the last of %d lists is told to be of a relist that hangs", len(r))
	}
	// If relists are not seen one period apart, some lines may be missing.
	few := slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "Relisting") && l[12:14] > "01" })
	if r := buildOne(t, strings.Join(few, "\n")).Relists; r[len(r)-1].Outcome == OutcomeHung {
		t.Error("the last of two relists is told to hang")
	}
}
