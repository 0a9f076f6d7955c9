package simulate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// stuck is a history in which the pod u1 cannot be inspected: its container dies, one
// relist times out once, the next one twice.
func stuck() []string {
	pod := func(state string) string {
		return `{"uid":"u1","name":"a","namespace":"ns","sandboxes":[],"containers":[{"id":"c1","state":"` + state + `"}]}`
	}
	hang := `,"inspect":{"u1":{"seconds":120,"error":"rpc error: code = DeadlineExceeded desc = context deadline exceeded"}}`
	return []string{
		`{"time":"2026-01-02T03:00:00Z","list_seconds":0.01,"pods":[` + pod("running") + `]}`,
		`{"time":"2026-01-02T03:00:01Z","list_seconds":0.01,"pods":[` + pod("exited") + `]` + hang + `}`,
		`{"time":"2026-01-02T03:02:02Z","list_seconds":0.01,"pods":[` + pod("exited") + `]` + hang + `}`,
		`{"time":"2026-01-02T03:06:03Z","list_seconds":0.01,"pods":[` + pod("exited") + `]}`,
	}
}

// simulate replays lines and returns the relists, the totals and the answer.
func simulate(t *testing.T, version string, lines []string, what ...string) ([]*Relist, Totals, *Answer) {
	t.Helper()
	p, err := pleg.New(version)
	if err != nil {
		t.Fatal(err)
	}
	var w WhatIf
	for _, s := range what {
		if err := w.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	sim, err := NewSimulation(p, w)
	if err != nil {
		t.Fatal(err)
	}
	var feed Feed
	var out []*Relist
	step := func(s *Snapshot) { out = append(out, sim.Step(s)...) }
	for i, l := range lines {
		feed.Line([]byte(l), parse.Pos{Line: uint32(i + 1)}, step)
	}
	feed.End(step)
	rest, totals, answer := sim.Finish()
	return append(out, rest...), totals, answer
}

// healthOf formats the unhealthy intervals, in seconds after 03:00:00.
func healthOf(t Totals) string {
	var out []string
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).UnixNano()
	for _, u := range t.Unhealthy {
		to := "open"
		if u.To != 0 {
			to = fmt.Sprintf("%.2f", float64(u.To-start)/1e9)
		}
		out = append(out, fmt.Sprintf("%.2f to %s", float64(u.From-start)/1e9, to))
	}
	return strings.Join(out, ", ")
}

func TestSimulatedHealth(t *testing.T) {
	_, totals, _ := simulate(t, "v1.28.0", stuck())
	// The relist of 03:02:02 lists at once and inspects the pod twice: the age counts
	// from its start until the next relist has listed.
	if got := healthOf(totals); got != "302.00 to 363.01" {
		t.Errorf("unhealthy %s", got)
	}
	if totals.Longest != 240*time.Second+10*time.Millisecond || totals.Duration.Sum != 360*time.Second+40*time.Millisecond ||
		totals.Interval.Sum != 363*time.Second || totals.Interval.Count != 3 {
		t.Errorf("sums %+v", totals)
	}
	_, totals, _ = simulate(t, "v1.32.0", stuck())
	if got := totals.Longest; got != 120*time.Second+10*time.Millisecond {
		t.Errorf("1.32 inspects a failed pod once: longest %v", got)
	}
}

func TestSimulatedListFailures(t *testing.T) {
	lines := []string{
		`{"time":"2026-01-02T03:00:00Z","list_error":"code = Unavailable"}`,
		`{"time":"2026-01-02T03:00:01Z","list_seconds":0.5,"pods":[]}`,
		`{"time":"2026-01-02T03:00:03Z","list_error":"code = DeadlineExceeded"}`,
		`{"time":"2026-01-02T03:02:04Z","list_error":"code = DeadlineExceeded"}`,
		`{"time":"2026-01-02T03:04:05Z","list_seconds":0.5,"pods":[]}`,
	}
	relists, totals, _ := simulate(t, "v1.28.0", lines)
	if got := healthOf(totals); got != "0.00 to 1.50, 181.00 to 245.50" || !totals.Unhealthy[0].Never || totals.Failed != 3 {
		t.Errorf("unhealthy %s, %+v", got, totals)
	}
	if d := relists[2].End - relists[2].Start; d != 120e9 {
		t.Errorf("a list that ran into its deadline took %d, want the time-out", d)
	}
	if relists[0].Healthy || !relists[1].Healthy || relists[3].Healthy {
		t.Error("health at the ends of relists")
	}
}

func TestSimulatedBlocking(t *testing.T) {
	pod := func(i int, st string) string {
		return fmt.Sprintf(`{"time":"2026-01-02T03:00:%02dZ","pods":[{"uid":"u","containers":[{"id":"c","state":%q}]}],"drained":%v}`, i, st, i > 3)
	}
	lines := []string{pod(1, "running"), pod(2, "exited"), pod(3, "running"), pod(4, "exited"), pod(5, "running")}
	relists, totals, _ := simulate(t, "v1.13.5", lines, "channel-capacity=1")
	if totals.Skipped != 1 || len(relists) != 4 || !relists[1].Blocked || totals.Discarded != 0 {
		t.Errorf("1.13: %d relists, %d skipped, %+v", len(relists), totals.Skipped, relists[1])
	}
	_, totals, _ = simulate(t, "v1.14.0", lines, "channel-capacity=1")
	if totals.Skipped != 0 || totals.Discarded != 3 {
		t.Errorf("1.14: %d skipped, %d discarded", totals.Skipped, totals.Discarded)
	}
}

func TestWhatIf(t *testing.T) {
	for _, c := range []struct{ what, healthy, sentence string }{
		{"without-pod=ns/a", "", "With pod ns/a left out, PLEG would have stayed healthy: one breach of 1m1s at 2026-01-02 03:05:02Z would not have happened; the longest relist would have taken 10 ms instead of 4m."},
		{"without-pod=u1", "", "pod u1 left out, PLEG would have stayed healthy"},
		{"threshold=5m", "", "With a threshold of 5m, PLEG would have stayed healthy: one breach of 1m1s at 2026-01-02 03:05:02Z would not have happened; the longest relist would still have taken 4m, against a threshold of 5m."},
		{"threshold=1m", "61.00 to 122.01, 182.00 to 363.01", "PLEG would still have been unhealthy: 2 breaches"},
		{"rpc-timeout=30s", "", "the longest relist would have taken 1m instead of 4m"},
		{"kubelet-version=v1.34.0", "", "the longest relist would have taken 2m instead of 4m"},
		{"pleg=evented", "", "With evented PLEG, PLEG would have stayed healthy"},
		{"parallel-inspect=8", "302.00 to 363.01", "nothing changes for PLEG's health"}, // one pod is inspected serially
		{"channel-capacity=1", "302.00 to 363.01", "nothing changes for PLEG's health"},
	} {
		_, totals, a := simulate(t, "v1.28.0", stuck(), c.what)
		if got := healthOf(totals); got != c.healthy {
			t.Errorf("%s: unhealthy %q, want %q", c.what, got, c.healthy)
		}
		if a == nil || !strings.Contains(a.Sentence, c.sentence) || len(a.Rows) == 0 || len(a.Assumptions) == 0 {
			t.Errorf("%s: answer %+v", c.what, a)
		}
	}
	var w WhatIf
	for _, bad := range []string{"threshold", "threshold=", "threshold=-1s", "threshold=soon", "channel-capacity=0", "parallel-inspect=x",
		"runtime-latency=0", "runtime-latency=NaN", "pleg=other", "kubelet-version=2", "colour=red"} {
		if w.Set(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if !w.Empty() {
		t.Error("a bad change left something behind")
	}
}

// TestUnchangedSchedule checks that a changed history runs the recorded schedule if the
// changes make no difference.
func TestUnchangedSchedule(t *testing.T) {
	was, _, _ := simulate(t, "v1.28.0", stuck())
	is, _, _ := simulate(t, "v1.28.0", stuck(), "period=1s")
	if len(was) != len(is) {
		t.Fatalf("%d relists, then %d", len(was), len(is))
	}
	for i := range was {
		if was[i].Start != is[i].Start || was[i].End != is[i].End {
			t.Errorf("relist %d: %d to %d, then %d to %d", i, was[i].Start, was[i].End, is[i].Start, is[i].End)
		}
	}
}

func TestExposition(t *testing.T) {
	for version, want := range map[string]string{
		"v1.13.0": "kubelet_pleg_relist_interval_microseconds_count",
		"v1.15.0": "kubelet_pleg_relist_duration_seconds_count",
		"v1.16.0": "kubelet_running_pod_count",
		"v1.28.0": "kubelet_pleg_last_seen_seconds",
		"v1.36.0": "kubelet_running_containers",
	} {
		p, err := pleg.New(version)
		if err != nil {
			t.Fatal(err)
		}
		sim := NewSim(p)
		var d SnapshotDecoder
		for _, l := range stuck() {
			sim.Step(d.Decode([]byte(l), parse.Pos{}))
		}
		totals := sim.Finish()
		found := false
		for _, e := range Exposition(sim.Machine, &totals) {
			found = found || e.Name == want
		}
		if !found {
			t.Errorf("%s does not expose %s", version, want)
		}
	}
}

// hungNode returns a node with one relist of 241 s in which inspecting a pod timed out
// twice.
func hungNode() (*replay.Node, []blame.Blame) {
	n := &replay.Node{Relists: []replay.Relist{
		{Start: replay.Instant{At: second(0)}, End: replay.Instant{At: second(0.05)}, Outcome: replay.OutcomeOK},
		{Start: replay.Instant{At: second(10)}, ListEnd: replay.Instant{At: second(10.5)}, End: replay.Instant{At: second(251)}, Outcome: replay.OutcomeOK},
	}}
	n.Kubelet.Version, n.Kubelet.RPCTimeout, n.Kubelet.TimeoutKnown = "v1.28.0", 2*time.Minute, true
	n.Window = replay.Window{Start: second(0), End: second(300)}
	bs := []blame.Blame{{Relist: 1, Total: 241 * time.Second, List: 500 * time.Millisecond, Inspect: 240500 * time.Millisecond,
		ByPod: []blame.Share{{What: "ns/web", ID: "u", Took: 240 * time.Second, Calls: 2, TimedOut: 2}}, Unexplained: 500 * time.Millisecond}}
	return n, bs
}

// second returns the time s seconds after 2026-01-02T03:04:05Z.
func second(s float64) int64 { return 1767323045e9 + int64(s*1e9) }

func TestCounterfactual(t *testing.T) {
	l, err := NewCounterfactual(hungNode())
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"without-pod=ns/web":      "PLEG would have stayed healthy",
		"without-pod=ns/other":    "nothing changes",
		"threshold=5m":            "PLEG would have stayed healthy",
		"kubelet-version=v1.33.0": "PLEG would have stayed healthy",
		"threshold=2m":            "PLEG would still have been unhealthy",
	} {
		var w WhatIf
		if err := w.Set(what); err != nil {
			t.Fatal(err)
		}
		_, _, a, err := l.Ask(w)
		if err != nil || a == nil || !strings.Contains(a.Sentence, want) {
			t.Errorf("%s: %+v %v, want %q", what, a, err, want)
		}
	}
}

// TestFellBack checks that evented PLEG relists every second after a fallback, also in
// the history without changes.
func TestFellBack(t *testing.T) {
	n, _ := hungNode()
	n.Kubelet.PLEG = "evented"
	for i := range n.Relists { // the stream breaks after 5s
		n.Relists[i].End = replay.Instant{At: n.Relists[i].Start.At + 5e7}
	}
	l, err := NewCounterfactual(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	var w WhatIf
	if err := w.Set("pleg=evented"); err != nil {
		t.Fatal(err)
	}
	if all := l.asItWas()[1].Duration.Count; all != 1 {
		t.Errorf("while the stream works: %d relists, want the first alone in 10s", all)
	}
	l.recorded, l.fell = nil, []replay.Span{{From: second(5), To: second(300)}}
	if all := l.asItWas()[1].Duration.Count; all < 6 {
		t.Errorf("fallen back after 5s of 10s: %d relists", all)
	}
	if _, would, _, err := l.Ask(w); err != nil || would.Duration.Count != 1 {
		t.Errorf("a stream that works: %d relists, %v", would.Duration.Count, err)
	}
}

// TestEventedByVersion checks that up to 1.36 evented PLEG sends the events of the
// stream, and that from 1.37 on a stop triggers one relist of that pod while starts
// wait for the next full relist.
func TestEventedByVersion(t *testing.T) {
	line := func(second int, state string) string {
		return fmt.Sprintf(`{"time":"2026-01-02T03:00:%02dZ","list_seconds":0.01,"pods":[{"uid":"u1","name":"a","namespace":"ns","sandboxes":[],"containers":[{"id":"c1","state":%q}]}]}`, second, state)
	}
	lines := []string{line(0, "running"), line(10, "exited"), line(20, "running"), line(30, "running")}
	for version, want := range map[string]string{
		"v1.28.0": "relist Started; stream Died; stream Started",
		"v1.36.0": "relist Started; stream Died; stream Started",
		"v1.37.0": "relist Started; stream Died; relist Started",
	} {
		relists, _, _ := simulate(t, version, lines, "pleg=evented")
		var got []string
		for _, r := range relists {
			if r.Stream && (!r.Healthy || r.Pods != -1) {
				t.Errorf("%s: a message is told as a relist of %d pods, healthy %v", version, r.Pods, r.Healthy)
			}
			for _, e := range r.Events {
				got = append(got, map[bool]string{true: "stream ", false: "relist "}[r.Stream]+strings.TrimPrefix(string(e.Type), "Container"))
			}
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s, want %s", version, s, want)
		}
	}
}

// TestUncertainStart checks that no quiet relist is assumed within the uncertainty of the start of the next one:
// it would end the time in which PLEG was unhealthy too early.
func TestUncertainStart(t *testing.T) {
	at := func(s float64) replay.Instant { return replay.Instant{At: second(s)} }
	last := at(302)
	last.Slack = 1100 * time.Millisecond
	n := &replay.Node{Relists: []replay.Relist{
		{Start: at(0), End: at(0.05), Outcome: replay.OutcomeOK},
		{Start: at(1.05), End: at(300), Outcome: replay.OutcomeListFailed},
		{Start: last, ListEnd: at(320), End: at(320), Outcome: replay.OutcomeOK},
	}}
	n.Kubelet.Version = "v1.28.0"
	n.Window = replay.Window{Start: second(0), End: second(400)}
	l, err := NewCounterfactual(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	if was := l.asItWas()[1]; was.UnhealthyTime() != 140*time.Second {
		t.Errorf("unhealthy %v, want from the threshold until the last list returned", was.Unhealthy)
	}
}
