package rules

import (
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestNotReadyLasts tests that a NotReady condition without an end lasts until the last
// statement of it, and for no time if there is only one statement.
func TestNotReadyLasts(t *testing.T) {
	for _, c := range []struct {
		until int64 // s after the change
		want  float64
	}{{0, 0}, {3600, 3600}} {
		n := node()
		n.Ready = []replay.ReadyChange{{At: base, Until: base + c.until*second, Evidence: n.Episodes[0].Evidence[0]}}
		found := false
		for _, b := range breaches(newView(n), nil) {
			if b.Rule != "node-not-ready" {
				continue
			}
			if found = true; b.Value != c.want || b.End != 0 {
				t.Errorf("until %d s: %v s, end %d", c.until, b.Value, b.End)
			}
		}
		if !found {
			t.Errorf("until %d s: not found", c.until)
		}
	}
}

// TestReadyAfter tests that the event with the least age came last, since kubectl counts
// ages back from one moment, and that nothing follows unless all ages are known.
func TestReadyAfter(t *testing.T) {
	for _, c := range []struct {
		not, ready string
		want       bool
	}{{"43s", "21s", true}, {"21s", "43s", false}, {"2d4h", "59m3s", true}, {"59m3s", "2d4h", false}, {"43s", "", false}, {"43s", "<unknown>", false}, {"1m", "1m", false}} {
		n := node(line(0, parse.SrcKubelet, parse.SigNodeEvent, parse.Field{Name: "event", Value: "NodeNotReady"}, parse.Field{Name: "ago", Value: c.not}),
			line(0, parse.SrcKubelet, parse.SigNodeEvent, parse.Field{Name: "event", Value: "NodeReady"}, parse.Field{Name: "ago", Value: c.ready}))
		if got := nodeSubject(newView(n)).readyAfter(); got != c.want {
			t.Errorf("NotReady %s ago, Ready %s ago: %v", c.not, c.ready, got)
		}
	}
}

// TestStartExplainsItsOwnTime tests that a start of the kubelet is named as the possible
// cause of a NotReady node only if the node turned NotReady within a minute of it.
func TestStartExplainsItsOwnTime(t *testing.T) {
	pack, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for sec, want := range map[int64]bool{1: true, 330: false} {
		n := node(line(0, parse.SrcKubelet, parse.SigStarting), line(1, parse.SrcKubelet, parse.SigNever))
		n.Events, n.Episodes = n.Events[:2], nil
		n.Ready = []replay.ReadyChange{{At: base + sec*second, Until: base + (sec+10)*second, Evidence: replay.Evidence{Record: n.Events[1]}}}
		res := Eval(n, pack)
		if got := slices.ContainsFunc(res.Causes, func(c Cause) bool { return c.ID == "startup-transient" }); got != want {
			t.Errorf("NotReady %d s after the start: named %v", sec, got)
		}
	}
}

// TestUnready tests that a NotReady period has one reason: what the condition states,
// possibly in a later line, never an event that only names the change.
func TestUnready(t *testing.T) {
	said := func(at int64, id string, fields ...parse.Field) *parse.Event {
		return line(int(at), parse.SrcKubelet, id, fields...)
	}
	message := func(s string) parse.Field { return parse.Field{Name: "message", Value: s} }
	event := &parse.Object{Fields: []parse.Field{message("Node n1 status is now: NodeNotReady")}}
	for _, c := range []struct {
		name, reason, want string
		first              parse.Record
		more               []*parse.Event
	}{
		{"an event", "NodeNotReady", "", event, nil},
		{"an event, then the line", "NodeNotReady", "container runtime is down", event,
			[]*parse.Event{said(190, parse.SigNotReady, message("container runtime is down"))}},
		{"the line", "KubeletNotReady", "PLEG is not healthy",
			said(188, parse.SigNotReady, message("[PLEG is not healthy: pleg was last seen active 3m8.1s ago; threshold is 3m0s]")), nil},
		{"an event, then the controller", "NodeNotReady", "the node controller counts no heartbeat", event,
			[]*parse.Event{said(190, parse.SigUnresponsive, parse.Field{Name: "node", Value: "n1"})}},
		{"an event, then the controller of another node", "NodeNotReady", "", event,
			[]*parse.Event{said(190, parse.SigUnresponsive, parse.Field{Name: "node", Value: "n2"})}},
		{"a word alone", "NodeStatusUnknown", "NodeStatusUnknown", &parse.Object{}, nil},
	} {
		n := node(c.more...)
		at := base + 188*second
		n.Ready = []replay.ReadyChange{{At: at, Reason: c.reason, Evidence: replay.Evidence{Record: c.first}}, {At: base + 200*second, Ready: true}}
		n.Episodes[0].NotReady = &replay.Span{From: at, To: base + 200*second}
		res := Result{Unready: unready(newView(n))}
		u := res.UnreadyIn(&n.Episodes[0])
		if u == nil || u.Why != c.want || u.To != base+200*second {
			t.Errorf("%s: %+v, want %q", c.name, u, c.want)
		}
	}
}
