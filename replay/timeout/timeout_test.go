package timeout

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

func second(s float64) int64 { return 1772366400e9 + int64(s*1e9) }

// slowNode returns a node with one relist of 240 s that causes an episode. Nothing
// shows what took the time.
func slowNode() *replay.Node {
	yes := true
	n := &replay.Node{Kubelet: replay.Kubelet{Version: "v1.28.0", Period: time.Second, Threshold: 3 * time.Minute}}
	n.Window = replay.Window{Start: second(0), End: second(900)}
	n.Relists = []replay.Relist{{Start: replay.Instant{At: second(10)}, ListEnd: replay.Instant{At: second(10.1)}, End: replay.Instant{At: second(250)}, Outcome: replay.OutcomeOK, Listed: &yes}}
	n.Episodes = []replay.Episode{{LastStart: replay.Instant{At: second(10)}, LastStarts: []replay.Instant{{At: second(10)}}, Breach: second(190), LastReport: second(248),
		Recovered: replay.Instant{At: second(252)}, Threshold: 3 * time.Minute, StuckStep: replay.StepInspect}}
	return n
}

// TestBound checks that what the input leaves open is bounded, and that the sentence
// says what the bounds decide.
func TestBound(t *testing.T) {
	stuck := func(times int, took time.Duration) []blame.Blame {
		return []blame.Blame{{ByPod: []blame.Share{{What: "shop/a", Took: took, Calls: times, TimedOut: times}}}}
	}
	hung := func(n *replay.Node) { // its list is quick, those after it fail
		n.Relists[0].End = replay.Instant{At: second(10.1)}
		n.Episodes[0].StuckStep = replay.StepList
	}
	for _, c := range []struct {
		name, what string
		was        time.Duration
		bs         []blame.Blame
		change     func(*replay.Node)
		want       []string
	}{
		{"calls that nothing tells of", "rpc-timeout=30s", 2 * time.Minute, nil, nil, []string{"cannot be decided", "between 30s and 4m instead of 4m"}},
		{"a longer one changes nothing", "rpc-timeout=5m", 2 * time.Minute, nil, nil, []string{"would certainly have passed its threshold of 3m", "taken 4m, as it did"}},
		{"one that is not known", "rpc-timeout=5m", 0, nil, nil, []string{"would certainly have passed", "taken 4m, as it did"}},
		{"two calls that hang, and a minute that nothing explains", "rpc-timeout=20s", 90 * time.Second, stuck(2, 3*time.Minute), nil, []string{"certainly not have passed", "between 40s and 1m40s instead of 4m"}},
		{"the same, of a longer one", "rpc-timeout=4m", 90 * time.Second, stuck(2, 3*time.Minute), nil, []string{"cannot be decided", "between 2m30s and 9m instead of 4m"}},
		{"and of a longer one from 1.32 on", "rpc-timeout=4m", 90 * time.Second, stuck(2, 3*time.Minute), func(n *replay.Node) { n.Kubelet.Version = "v1.33.0" }, []string{"would certainly have passed", "between 4m and 9m instead of 4m"}},
		{"a higher threshold too", "rpc-timeout=30s threshold=5m", 2 * time.Minute, nil, nil, []string{"certainly not have passed its threshold of 5m"}},
		{"lists that fail", "rpc-timeout=30s", 2 * time.Minute, nil, hung, []string{"certainly have passed", "for at least 4m2s from the relist of 2026-03-01 12:00:10Z on no later list was answered"}},
		{"lists that may not have failed", "rpc-timeout=10m", 2 * time.Minute, nil, hung, []string{"cannot be decided"}},
		{"a list that took all the time", "rpc-timeout=30s", 5 * time.Minute, nil, func(n *replay.Node) { n.Relists[0].ListEnd = n.Relists[0].End }, []string{"cannot be decided", "between 30s and 4m"}},
		{"another question", "rpc-timeout=30s period=5s", 2 * time.Minute, nil, nil, nil},
		{"nothing that took long", "rpc-timeout=30s", 2 * time.Minute, nil, func(n *replay.Node) { n.Relists, n.Episodes = nil, nil }, nil},
	} {
		n := slowNode()
		if c.change != nil {
			c.change(n)
		}
		was, _ := pleg.New(n.Kubelet.Version)
		was.RPCTimeout = c.was
		var what simulate.WhatIf
		for _, change := range strings.Fields(c.what) {
			if err := what.Set(change); err != nil {
				t.Fatal(err)
			}
		}
		a := Bound(n, c.bs, was, &what, "a reason")
		if (a == nil) != (c.want == nil) {
			t.Errorf("%s: %+v", c.name, a)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(a.Sentence, want) {
				t.Errorf("%s: %q, want %q", c.name, a.Sentence, want)
			}
		}
	}
}
