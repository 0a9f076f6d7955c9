package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// boundsNode returns a node whose first relist took 100 ms from second 10 on.
func boundsNode() *replay.Node {
	n := &replay.Node{Kubelet: replay.Kubelet{Version: "v1.28.0", Period: time.Second, Threshold: 3 * time.Minute, RPCTimeout: 2 * time.Minute, TimeoutKnown: true}}
	n.Window = replay.Window{Start: second(0), End: second(900)}
	n.Relists = []replay.Relist{{Start: replay.Instant{At: second(10)}, End: replay.Instant{At: second(10.1)}, Outcome: replay.OutcomeOK}}
	return n
}

// ill adds an episode, and leaves nothing unknown.
func ill(n *replay.Node, last, to float64, slack time.Duration) {
	breach := second(last + 180)
	n.Episodes = append(n.Episodes, replay.Episode{LastStart: replay.Instant{At: second(last)}, Breach: breach, LastReport: second(to) - int64(slack), Recovered: replay.Instant{At: second(to), Slack: slack}})
	n.Health = append(n.Health, replay.HealthSpan{Span: replay.Span{From: second(0), To: breach}, State: replay.Healthy},
		replay.HealthSpan{Span: replay.Span{From: breach, To: second(to)}, State: replay.Unhealthy}, replay.HealthSpan{Span: replay.Span{From: second(to), To: second(900)}, State: replay.Healthy})
}

// stuckFor adds a relist in which inspecting pods timed out.
func stuckFor(n *replay.Node, bs []blame.Blame, from float64, pods ...string) []blame.Blame {
	to, b := from, blame.Blame{Relist: len(n.Relists), List: -1}
	calls := map[string]int{}
	for _, p := range pods {
		to += 120
		n.Failures = append(n.Failures, replay.Failure{Code: "DeadlineExceeded", Pod: p, End: second(to)})
		calls[p]++
	}
	for _, p := range []string{"shop/a", "shop/b"} {
		if k := calls[p]; k > 0 {
			b.ByPod = append(b.ByPod, blame.Share{What: p, Took: time.Duration(k) * 2 * time.Minute, Calls: k, TimedOut: k})
		}
	}
	n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: second(from)}, ListEnd: replay.Instant{At: second(from)}, End: replay.Instant{At: second(to)}, Outcome: replay.OutcomeOK})
	return append(bs, b)
}

func failedFor(n *replay.Node, from, to float64) {
	n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: second(from)}, End: replay.Instant{At: second(to)}, Outcome: replay.OutcomeListFailed})
}

func quickAt(n *replay.Node, at float64) {
	n.Relists = append(n.Relists, replay.Relist{Start: replay.Instant{At: second(at)}, ListEnd: replay.Instant{At: second(at)}, End: replay.Instant{At: second(at + 0.1)}, Outcome: replay.OutcomeOK})
}

// TestBounds checks that an answer says no more than the evidence decides: when calls
// would have been answered is known only within bounds.
func TestBounds(t *testing.T) {
	twoPods := func() (*replay.Node, []blame.Blame) {
		n := boundsNode()
		bs := stuckFor(n, nil, 11.1, "shop/a", "shop/b")
		ill(n, 11.1, 252.1, 0)
		return n, bs
	}
	flapping := func() (*replay.Node, []blame.Blame) {
		n := boundsNode()
		bs := stuckFor(n, stuckFor(n, nil, 11.1, "shop/a"), 132.1, "shop/a", "shop/a")
		ill(n, 132.1, 373.1, 0)
		return n, bs
	}
	hung := func() (*replay.Node, []blame.Blame) {
		n := boundsNode()
		failedFor(n, 11.1, 131.1)
		failedFor(n, 132.1, 252.1)
		ill(n, 10, 295, 5*time.Second)
		return n, []blame.Blame{{Relist: 1, ByOperation: []blame.Share{{TimedOut: 1}}}, {Relist: 2, ByOperation: []blame.Share{{TimedOut: 1}}}}
	}
	refused := func() (*replay.Node, []blame.Blame) {
		n := boundsNode()
		for s := 11.1; s < 280; s += 20 {
			failedFor(n, s, s+0.01)
		}
		ill(n, 10, 295, 5*time.Second)
		return n, nil
	}
	event := func(at float64) replay.PodEvents {
		return replay.PodEvents{Plain: []*replay.PodEvent{{At: second(at), Pod: "shop/a"}, {At: second(at), Pod: "shop/b"}}}
	}
	for _, c := range []struct {
		name, what string
		node       func() (*replay.Node, []blame.Blame)
		change     func(*replay.Node)
		want       string
		lo, hi     float64 // of the longest relist
	}{
		{"another pod stays stuck, who knows until when", "without-pod=shop/a", twoPods, nil, "cannot be decided", 119, 480},
		{"until its event at the latest", "without-pod=shop/a", twoPods, func(n *replay.Node) { n.Observed = event(500) }, "it cannot be decided whether PLEG would have been unhealthy, as the input only bounds when calls would have been answered: at most one breach of", 119, 241},
		{"it is inspected by a quick relist", "without-pod=shop/a", twoPods, func(n *replay.Node) { quickAt(n, 252.1) }, "PLEG would have stayed healthy", 119, 121},
		{"a call that is answered by its event", "rpc-timeout=4m", flapping, func(n *replay.Node) { n.Observed = event(400) }, "still have been unhealthy: one breach of 1m", 239, 241},
		{"a call that nothing shows answered", "rpc-timeout=4m", flapping, nil, "PLEG would still have been unhealthy: 1 to 2 breaches", 239, 481},
		{"unhealthy for certain", "threshold=4m", hung, nil, "one breach of 40s to 45s at 2026-01-02 03:08:15Z instead of one breach of 1m40s to 1m45s", 119, 121},
		{"unhealthy at the latest moment of recovery alone", "threshold=4m41s", hung, nil, "cannot be decided whether PLEG would have been unhealthy, as the input only bounds when calls would have been answered: at most one breach of 4s at", 119, 121},
		{"never unhealthy", "threshold=5m", hung, nil, "PLEG would have stayed healthy: one breach of 1m40s to 1m45s", 119, 121},
		{"relists that may miss the hang", "pleg=evented", hung, nil, "PLEG would have stayed healthy", 0, 121},
		{"refused until it recovers", "threshold=4m41s", refused, nil, "cannot be decided", 0, 0.2},
		{"refused, whatever the pause", "period=5s", refused, nil, "PLEG would still have been unhealthy: one breach of 1m4", 0, 0.2},
	} {
		n, bs := c.node()
		if c.change != nil {
			c.change(n)
		}
		l, err := NewCounterfactual(n, bs)
		if err != nil {
			t.Fatal(err)
		}
		var what WhatIf
		if err := what.Set(c.what); err != nil {
			t.Fatal(err)
		}
		_, _, a, err := l.Ask(what)
		if err != nil || !strings.Contains(a.Sentence, c.want) {
			t.Errorf("%s: %v %q, want %q", c.name, err, a.Sentence, c.want)
			continue
		}
		for _, r := range a.Rows {
			if strings.HasPrefix(r.Measure, "longest relist") && (r.Would < c.lo || r.Would > c.hi) {
				t.Errorf("%s: %s %v, want %v to %v", c.name, r.Measure, r.Would, c.lo, c.hi)
			}
			if r.Measure == "relists" || r.Measure == "time in relists" {
				t.Errorf("%s: %q, though nothing proves all relists", c.name, r.Measure)
			}
		}
	}
}
