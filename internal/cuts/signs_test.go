package cuts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// ticking returns the analysis of a log of 19 minutes that has the given lines and ordinary ones
// every two seconds.
func ticking(t *testing.T, lines []string) *model.Analyzed {
	t.Helper()
	out := append(slices.Clone(lines), `E1120 10:00:00.300000    4242 remote_runtime.go:432] "ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = no such container" containerID="ab"`)
	for at := time.Date(2026, 11, 20, 10, 0, 0, 5e5, time.UTC); at.Minute() < 19; at = at.Add(2 * time.Second) {
		out = append(out, at.Format("I0102 15:04:05.000000")+`    4242 reconciler.go:1] "something"`)
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(a[6:21], b[6:21]) })
	n := (&source{}).claims(t, map[string]string{"kubelet.log": strings.Join(out, "\n") + "\n"})
	if n == nil {
		t.Fatal("no node")
	}
	return n
}

// TestSignsOfMissingLines: if there are signs that a log lacks lines, its silence proves nothing;
// without such a sign, PLEG is proven healthy for most of the time.
func TestSignsOfMissingLines(t *testing.T) {
	const (
		event   = `I1120 10:00:02.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`
		flag    = `I1120 10:00:00.000000    4242 flags.go:64] FLAG: --anonymous-auth="false"`
		call    = `E1120 10:02:00.000000    4242 remote_runtime.go:294] "ListPodSandbox with filter from runtime service failed" err="rpc error: code = Unavailable desc = dial unix /run/x.sock: connect: connection refused" filter="nil"`
		list    = `E1120 10:02:00.000100    4242 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = Unavailable desc = dial unix /run/x.sock: connect: connection refused"`
		skipped = `E1120 10:05:00.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="[conta`
		report  = `E1120 10:05:%s    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m%ss ago; threshold is 3m0s"`
		golang  = `I1120 10:00:00.000000    4242 server.go:532] "Golang settings" GOGC="" GOMAXPROCS="" GOTRACEBACK=""`
		before  = `I1120 09:59:59.000000    4141 kubelet.go:2303] "Starting kubelet main sync loop"`
		ready   = `I1120 10:12:00.000000    4242 kubelet_node_status.go:669] "Recording event message for node" node="n" event="NodeReady"`
		noAge   = `E1120 10:05:%s.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last see`
		failed  = `I1120 10:0%d:00.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"Contai`
	)
	reports := func(at ...string) (out []string) {
		for _, s := range at {
			out = append(out, fmt.Sprintf(report, s+"00000", strings.TrimLeft(s, "0")))
		}
		return append([]string{event}, out...)
	}
	relists := func(line string, pauses ...float64) []string {
		out, at := []string{event}, time.Date(2026, 11, 20, 10, 1, 0, 0, time.UTC)
		for _, p := range pauses {
			out = append(out, fmt.Sprintf(at.Format("I0102 15:04:05.000000")+"    4242 %s", line))
			at = at.Add(time.Duration(p * 1e9))
		}
		return out
	}
	quick := slices.Repeat([]float64{1.01}, 20)
	slow := []float64{12.2, 13.1, 12.6, 12.8, 12.3, 13.2, 12.4, 13.3, 12.7, 12.9}
	const begins, lists = `generic.go:189] "GenericPLEG: Relisting"`, `kuberuntime_manager.go:475] "Retrieved pods from runtime" all=true`
	start := []string{`I1120 10:00:00.010000    4242 feature_gate.go:249] feature gates: &{map[]}`, `I1120 10:00:00.500000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`,
		`E1120 10:00:00.600000    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg has yet to be successful"`, event}
	var flags []string
	for _, f := range []string{"cgroup-driver", "config", "event-qps", "feature-gates", "hostname-override", "max-pods", "root-dir", "runtime-request-timeout", "v"} {
		flags = append(flags, `I1120 10:00:00.000000    4242 flags.go:64] FLAG: --`+f+`="2"`)
	}
	for name, c := range map[string]struct {
		lines []string
		whole bool
	}{
		"nothing": {[]string{event}, true},
		"the second line of a process, and no loop": {[]string{golang, event}, false},
		"reports without an age, a pause apart":     {[]string{event, fmt.Sprintf(noAge, "00"), fmt.Sprintf(noAge, "05")}, true},
		"reports without an age, further apart":     {[]string{event, fmt.Sprintf(noAge, "00"), fmt.Sprintf(noAge, "10")}, false},
		"relists that begin at once or are slow":    {relists(begins, slices.Concat(quick, slow)...), true},
		"begins of quick ones missing beside slow":  {relists(begins, slices.Concat(quick, []float64{2.02, 1.01, 2.02, 1.01, 3.03}, slow)...), false},
		"a flag, and neither the others nor a loop": {[]string{flag, event}, false},
		"the error of a list with that of its call": {[]string{event, call, list}, true},
		"the error of a list alone":                 {[]string{event, list}, false},
		"the mark between matches of a search":      {[]string{event + "\n--", call, list}, false},
		"pauses of a skipping loop":                 {reports("00.5", "03.7", "08.7"), true},
		"a pause between those of a skipping loop":  {reports("00.5", "05.0", "09.5"), false},
		"a node that becomes ready":                 {[]string{event, ready}, false},
		"a log that begins behind the flags":        {start, true},
		"a start without its flags":                 {append([]string{before}, start...), false},
		"a start with its flags":                    {append(flags, start...), true},
		"lists of relists whose begin is missing":   {slices.Concat(relists(begins, slices.Repeat([]float64{5}, 8)...), relists(lists, slices.Repeat([]float64{1.01}, 40)...)), false},
		"lines that end at one column":              {[]string{event, fmt.Sprintf(failed, 1), fmt.Sprintf(failed, 2), fmt.Sprintf(failed, 3)}, false},
	} {
		well := time.Duration(0)
		for _, h := range ticking(t, c.lines).Health {
			if h.State == replay.Healthy {
				well += time.Duration(h.To - h.From)
			}
		}
		if c.whole != (well > 8*time.Minute) {
			t.Errorf("%s: healthy for %v", name, well)
		}
	}
	for _, h := range ticking(t, relists(lists, slices.Concat(quick, []float64{500}, quick)...)).Health {
		if h.State == replay.Healthy && h.To > time.Date(2026, 11, 20, 10, 4, 22, 0, time.UTC).UnixNano() && h.From < time.Date(2026, 11, 20, 10, 9, 35, 0, time.UTC).UnixNano() {
			t.Errorf("no list for eight minutes: healthy from %d to %d", h.From, h.To)
		}
	}
	n := ticking(t, []string{event, skipped})
	at := time.Date(2026, 11, 20, 10, 5, 0, 0, time.UTC).UnixNano()
	for _, h := range n.Health {
		if h.State == replay.Healthy && h.From <= at && h.To > at {
			t.Errorf("a loop that skips, for what was cut: healthy from %d to %d", h.From, h.To)
		}
	}
}

// TestHealthyBySnapshots: metrics alone prove PLEG healthy in a span that leaves no room for a
// relist as long as the threshold, if they cover it continuously.
func TestHealthyBySnapshots(t *testing.T) {
	for name, c := range map[string]struct {
		every, relists int // seconds; number of relists started between snapshots
		well           bool
	}{
		"quick relists":       {60, 57, true},
		"for less than that":  {30, 28, false},
		"with a hole in them": {600, 57, false},
	} {
		files := map[string]string{}
		for i := range 5 {
			at, n := time.Date(2026, 11, 20, 10, 0, i*c.every, 0, time.UTC), 100+c.relists*i
			files["metrics/"+at.Format("20060102T150405.000Z")+".prom"] = fmt.Sprintf(`# TYPE kubelet_pleg_last_seen_seconds gauge
kubelet_pleg_last_seen_seconds %d
# TYPE kubelet_pleg_relist_duration_seconds histogram
kubelet_pleg_relist_duration_seconds_sum %g
kubelet_pleg_relist_duration_seconds_count %d
# TYPE kubelet_pleg_relist_interval_seconds histogram
kubelet_pleg_relist_interval_seconds_sum %g
kubelet_pleg_relist_interval_seconds_count %d
`, at.Unix()-1, float64(n)/20, n+1, float64(n)*1.05, n)
		}
		causes := (&source{}).claims(t, files).Causes
		if got := slices.ContainsFunc(causes, func(c rules.Cause) bool { return c.ID == "no-pleg-problem" }); got != c.well {
			t.Errorf("%s: told to be healthy %v", name, got)
		}
	}
}

// TestMonotonicReadings: two monotonic clock readings of a process reveal how much the clock was
// set in between.
func TestMonotonicReadings(t *testing.T) {
	const line = `I1120 10:%02d:00.000000    4242 setters.go:73] Node became not ready: {Type:Ready Status:False LastHeartbeatTime:2026-11-20 10:%02d:00 +0000 UTC m=+%d.5 LastTransitionTime:2026-11-20 10:%02d:00 +0000 UTC m=+%d.5 Reason:KubeletNotReady Message:container runtime is down.}`
	for elapsed, want := range map[int]time.Duration{600: 0, 580: 20 * time.Second, 900: -5 * time.Minute} {
		n := (&source{}).claims(t, map[string]string{"kubelet.log": fmt.Sprintf(line, 5, 5, 1000, 5, 1000) + "\n" + fmt.Sprintf(line, 15, 15, 1000+elapsed, 15, 1000+elapsed) + "\n"})
		if n.Window.Step != want {
			t.Errorf("%d s in ten minutes: the clock stepped by %v", elapsed, n.Window.Step)
		}
	}
}
