package replay

import (
	"os"
	"slices"
	"testing"
	"time"
)

// want is the true course of one episode in a capture, as recorded by the simulated runtime and a hook in the
// kubelet.
type want struct {
	start, breach   string // start: of the last relist that listed pods
	after, before   string // bounds of the recovery, "" if unknown
	step            Step
	reports         int
	peak            time.Duration
	first, last     string
	never           bool
	notReady, ready string
}

// captures are logs of real kubelets 1.15.5 and 1.28.0, with the truth recorded by the kubelet and the runtime.
var captures = []struct {
	file     string
	episodes []want
	starts   []string // true relist starts that the ledger must contain
	runs     int
}{
	{file: "list-hang", runs: 1, episodes: []want{{start: "23:31:19.242922", after: "23:36:09.609797", before: "23:36:12.5",
		step: StepList, reports: 16, first: "23:34:27.440541", last: "23:36:07.024651", peak: 4*time.Minute + 47781615484,
		notReady: "23:34:27.439733", ready: "23:36:19.467482"}},
		starts: []string{"23:31:20.257", "23:33:21.312"}},
	{file: "slow-lists", runs: 1, episodes: []want{{start: "23:32:17.192162", after: "23:41:49.2", before: "23:41:49.9",
		step: StepList, reports: 56, peak: 6*time.Minute + 31267293613, notReady: "23:35:23.646123", ready: "23:46:38.156966"}},
		starts: []string{"23:35:29.660"}},
	{file: "stuck-two-pods", runs: 1, episodes: []want{
		{start: "23:42:02.104651", after: "23:46:02.197", before: "23:46:03.5", step: StepInspect, reports: 18},
		{start: "23:46:03.199274", after: "23:49:52.4", before: "23:49:55.3", step: StepInspect, reports: 16}}},
	{file: "stuck-pod", runs: 1, episodes: []want{{start: "23:32:35.393774", after: "23:36:36.2", before: "23:36:37.5", step: StepInspect, reports: 18}}},
	{file: "slow-status", runs: 1, episodes: []want{{start: "23:30:28.492075", after: "23:34:40.4", before: "23:34:45", step: StepInspect, reports: 21}}},
	{file: "frozen", runs: 1, episodes: []want{{start: "23:58:24.276034", after: "00:02:24.412267", before: "00:02:25.6", step: StepUnknown, reports: 2}}},
	{file: "long-timeout", runs: 1, episodes: []want{{start: "23:58:06.905561", after: "00:03:37.932319", before: "00:03:38.8", step: StepList, reports: 5}}},
	{file: "one-late-line", runs: 1, episodes: []want{{start: "23:42:56.282632", after: "23:46:56.430540", before: "23:46:59", step: StepList, reports: 1}},
		starts: []string{"23:42:57.310"}},
	{file: "socket-down", runs: 1, episodes: []want{{start: "23:30:47.397969", after: "23:34:57.9", before: "23:35:02", step: StepList, reports: 14}}},
	{file: "short-timeout", runs: 1, episodes: []want{{start: "23:58:17.331829", after: "00:03:18.1", before: "00:03:20", step: StepList, reports: 28}},
		starts: []string{"23:58:18.338", "00:00:22.352", "00:02:26.359"}},
	{file: "restart-in-hang", runs: 2, episodes: []want{
		{start: "23:42:32.664195", step: StepList, reports: 1},
		{breach: "23:46:14.022512", after: "23:48:50.7", before: "23:48:54.6", step: StepList, never: true}}},
	{file: "restarts", runs: 3},
	{file: "relisting", runs: 1, episodes: []want{{start: "23:42:10.529700", after: "23:48:50.845", before: "23:48:52", step: StepList, reports: 44}},
		starts: []string{"23:42:11.557", "23:44:12.561", "23:46:13.577", "23:48:14.605768"}},
}

func TestCaptures(t *testing.T) {
	for _, c := range captures {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + c.file + ".log")
			if err != nil {
				t.Fatal(err)
			}
			n := buildOne(t, string(text))
			if len(n.Runs) != c.runs {
				t.Errorf("%d runs of the kubelet, want %d", len(n.Runs), c.runs)
			}
			if len(n.Episodes) != len(c.episodes) {
				t.Fatalf("%d episodes, want %d: %+v", len(n.Episodes), len(c.episodes), n.Episodes)
			}
			for i, w := range c.episodes {
				w.check(t, &n.Episodes[i])
			}
			for _, s := range c.starts {
				if !slices.ContainsFunc(n.Relists, func(r Relist) bool { return within(r.Start, at(t, s), 5*time.Millisecond) }) {
					t.Errorf("no relist at %s in the ledger", s)
				}
			}
			checkSane(t, n)
		})
	}
}

func (w *want) check(t *testing.T, e *Episode) {
	t.Helper()
	if w.start != "" && !within(e.LastStart, at(t, w.start), time.Millisecond) {
		t.Errorf("episode %d: last relist %v ±%v, want %s", e.ID, e.LastStart.Time(), e.LastStart.Slack, w.start)
	}
	if w.start != "" && e.Breach != e.LastStart.At+int64(3*time.Minute) {
		t.Errorf("episode %d: breach %d is not three minutes after the last relist", e.ID, e.Breach)
	}
	if w.breach != "" && e.Breach != at(t, w.breach) {
		t.Errorf("episode %d: breach %s, want %s", e.ID, clock(e.Breach), w.breach)
	}
	switch {
	case w.after == "" && e.Recovered.Known():
		t.Errorf("episode %d: recovered %v (%s), want unknown", e.ID, e.Recovered.Time(), e.RecoveredBasis)
	case w.after != "" && (e.Recovered.At < at(t, w.after) || e.Recovered.At-int64(e.Recovered.Slack) > at(t, w.before)):
		t.Errorf("episode %d: recovered %v (%s), want %s to %s", e.ID, e.Recovered.Time(), e.RecoveredBasis, w.after, w.before)
	}
	if e.StuckStep != w.step || e.StepBasis == "" {
		t.Errorf("episode %d: stuck in %s (%s), want %s", e.ID, e.StuckStep, e.StepBasis, w.step)
	}
	if e.Reports != w.reports || e.Never != w.never {
		t.Errorf("episode %d: %d reports, never %v; want %d, %v", e.ID, e.Reports, e.Never, w.reports, w.never)
	}
	if w.peak != 0 && e.PeakAge != w.peak {
		t.Errorf("episode %d: peak age %v, want %v", e.ID, e.PeakAge, w.peak)
	}
	if w.first != "" && (e.FirstReport != at(t, w.first) || e.LastReport != at(t, w.last)) {
		t.Errorf("episode %d: reports from %s to %s, want %s to %s", e.ID, clock(e.FirstReport), clock(e.LastReport), w.first, w.last)
	}
	if w.notReady != "" && (e.NotReady == nil || e.NotReady.From != at(t, w.notReady) || e.NotReady.To != at(t, w.ready)) {
		t.Errorf("episode %d: not ready %+v, want %s to %s", e.ID, e.NotReady, w.notReady, w.ready)
	}
}

// within reports whether the moment lies within the stated uncertainty of i, plus or minus tol.
func within(i Instant, moment int64, tol time.Duration) bool {
	d := time.Duration(i.At - moment)
	return i.Known() && d.Abs() <= i.Slack+tol
}

// checkSane checks invariants that hold for any log.
func checkSane(t *testing.T, n *Node) {
	t.Helper()
	for i := range n.Relists {
		r := &n.Relists[i]
		if r.Start.Slack < 0 || r.End.Slack < 0 || r.ListEnd.Slack < 0 || len(r.Basis) == 0 || len(r.Evidence) == 0 {
			t.Errorf("relist %d: negative slack, no basis or no evidence: %+v", i, r)
		}
		if r.End.Known() && r.End.At < r.Start.At {
			t.Errorf("relist %d ends before it starts: %+v", i, r)
		}
		if i > 0 && r.Start.At < n.Relists[i-1].Start.At {
			t.Errorf("relists out of order at %d", i)
		}
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.ID != i+1 || len(e.Evidence) == 0 || e.StepBasis == "" {
			t.Errorf("episode %d: bad id, no evidence or no basis: %+v", i, e)
		}
		if e.Recovered.Known() && e.Recovered.At < e.Breach {
			t.Errorf("episode %d recovered before its breach", e.ID)
		}
		if e.Recovered.Known() && e.Recovered.Slack < 0 {
			t.Errorf("episode %d: negative slack", e.ID)
		}
		if i > 0 && n.Episodes[i-1].Recovered.Known() && n.Episodes[i-1].Recovered.At > e.Breach && e.Breach != 0 {
			t.Errorf("episode %d begins before the one before is over", e.ID)
		}
	}
	for i := range n.Health {
		if h := n.Health[i]; h.From >= h.To && n.Window.Start != n.Window.End || i > 0 && h.From != n.Health[i-1].To {
			t.Errorf("health spans overlap or leave holes at %d: %+v", i, n.Health)
		}
	}
	for _, b := range n.Bounded {
		if b.CountMin < 1 || b.CountMax < b.CountMin || b.To <= b.From {
			t.Errorf("senseless bound %+v", b)
		}
	}
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000 UTC") }
