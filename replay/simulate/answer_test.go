package simulate

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// stuckNode returns a node whose relists hang on two pods, two minutes each and twice,
// and exceed the threshold.
func stuckNode() (*replay.Node, []blame.Blame) {
	yes := true
	n := &replay.Node{Kubelet: replay.Kubelet{Version: "v1.28.0", Period: time.Second, Threshold: 3 * time.Minute, RPCTimeout: 2 * time.Minute, TimeoutKnown: true}}
	at := func(s float64) int64 { return 1772366400e9 + int64(s*1e9) }
	n.Window = replay.Window{Start: at(0), End: at(900)}
	n.Relists = []replay.Relist{
		{Start: replay.Instant{At: at(10)}, End: replay.Instant{At: at(10.1)}, Outcome: replay.OutcomeOK, Listed: &yes},
		{Start: replay.Instant{At: at(11.1)}, End: replay.Instant{At: at(251.1)}, Outcome: replay.OutcomeOK, Listed: &yes},
		{Start: replay.Instant{At: at(252.1)}, End: replay.Instant{At: at(252.2)}, Outcome: replay.OutcomeOK, Listed: &yes},
	}
	bs := []blame.Blame{{Relist: 1, Total: 240 * time.Second, List: -1, Inspect: 240 * time.Second,
		ByPod: []blame.Share{{What: "shop/a", ID: "u-a", Took: 140 * time.Second, Calls: 2, TimedOut: 1}, {What: "shop/b", ID: "u-b", Took: 28 * time.Second, Calls: 1}}}}
	n.Episodes = []replay.Episode{{ID: 1, LastStart: replay.Instant{At: at(11.1)}, Breach: at(191.1), LastReport: at(246), Recovered: replay.Instant{At: at(252.1)}}}
	n.Health = []replay.HealthSpan{{Span: replay.Span{From: at(0), To: at(191.1)}, State: replay.Healthy},
		{Span: replay.Span{From: at(191.1), To: at(252.1)}, State: replay.Unhealthy}, {Span: replay.Span{From: at(252.1), To: at(900)}, State: replay.Healthy}}
	return n, bs
}

func TestStandard(t *testing.T) {
	var asked []string
	for _, a := range Standard(stuckNode()) {
		asked = append(asked, strings.Join(a.Changes, " "))
		if a.Sentence == "" || len(a.Rows) == 0 || a.Change == "" || len(a.Assumptions) == 0 {
			t.Errorf("half an answer: %+v", a)
		}
	}
	want := "threshold=5m0s; rpc-timeout=30s; without-pod=shop/a; without-pod=shop/a without-pod=shop/b; parallel-inspect=4; kubelet-version=v1.32.0"
	if got := strings.Join(asked, "; "); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// TestUnproven checks that a question that the input leaves open is not answered.
func TestUnproven(t *testing.T) {
	for _, c := range []struct {
		name, what, why string
		change          func(*replay.Node, []blame.Blame)
	}{
		{"all is known", "rpc-timeout=1m", "", func(*replay.Node, []blame.Blame) {}},
		{"an assumed timeout", "rpc-timeout=1m", "neither states nor shows the timeout", func(n *replay.Node, _ []blame.Blame) { n.Kubelet.TimeoutKnown = false }},
		{"an assumed timeout, and calls that take longer", "runtime-latency=2", "neither states nor shows the timeout", func(n *replay.Node, _ []blame.Blame) { n.Kubelet.TimeoutKnown = false }},
		{"an assumed timeout, which does not matter", "without-pod=shop/a", "", func(n *replay.Node, _ []blame.Blame) { n.Kubelet.TimeoutKnown = false }},
		{"calls that were answered later than the new timeout", "rpc-timeout=20s", "answered within 28s may have run into a timeout of 20s", func(*replay.Node, []blame.Blame) {}},
		{"calls that take too long for the timeout", "runtime-latency=5", "answered within 2m20s may have run into a timeout of 2m", func(*replay.Node, []blame.Blame) {}},
		{"time that belongs to no call", "without-pod=shop/b", "of long relists the input does not show which calls", func(_ *replay.Node, bs []blame.Blame) { bs[0].ByPod = nil }},
		{"time that belongs to no call, which does not matter", "threshold=5m", "", func(_ *replay.Node, bs []blame.Blame) { bs[0].ByPod = nil }},
		{"health, but not ages", "threshold=1m", "does not show whether the last relist had begun less than 1m before", func(*replay.Node, []blame.Blame) {}},
		{"health, and ages that do not matter", "threshold=5m", "", func(*replay.Node, []blame.Blame) {}},
	} {
		n, bs := stuckNode()
		c.change(n, bs)
		l, err := NewCounterfactual(n, bs)
		var what WhatIf
		if err := cmp.Or(err, what.Set(c.what)); err != nil {
			t.Fatal(err)
		}
		if why, wanted := l.Unproven(&what); (why == "") != (c.why == "") || !strings.Contains(why, c.why) || (why == "") != (wanted == "") {
			t.Errorf("%s, %s: %q (%s), want %q", c.name, c.what, why, wanted, c.why)
		}
	}
}

// TestStandardSilent checks that there is no answer if the log proves nothing to ask
// about.
func TestStandardSilent(t *testing.T) {
	quiet, _ := stuckNode()
	quiet.Relists = quiet.Relists[:1]
	if got := Standard(quiet, nil); got != nil {
		t.Errorf("no long relist, yet %d answers", len(got))
	}
	// The only proven long relist does not explain the episode.
	other, _ := stuckNode()
	other.Relists[1].End.At = other.Relists[1].Start.At + int64(20*time.Second)
	if got := Standard(other, nil); got != nil {
		t.Errorf("unexplained, yet %d answers", len(got))
	}
}
