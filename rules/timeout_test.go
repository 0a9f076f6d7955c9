package rules

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestAssumedTimeout tests that a timeout that is merely assumed proves nothing, unless
// observed times match it closely.
func TestAssumedTimeout(t *testing.T) {
	at := func(sec float64) int64 { return base + int64(sec*1e9) }
	apart := func(n *replay.Node, sec float64) {
		n.Episodes[0].LastStarts = []replay.Instant{{At: at(0)}, {At: at(sec)}}
	}
	calls := func(n *replay.Node, long time.Duration) {
		n.Calls = []replay.CallStep{{Operation: "container_status", From: at(0), To: at(300), Errors: 2, Sum: 2*long + time.Second, Long: 2, LongMean: long,
			Evidence: []replay.Evidence{{Record: line(300, parse.SrcKubelet, "metrics")}}}}
	}
	for _, c := range []struct {
		name           string
		eval           func(*subject) outcome
		set            func(*replay.Node)
		known, assumed State
	}{
		{"starts two deadlines apart", func(s *subject) outcome { return evalSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 241.1) }, Found, Found},
		{"starts about two deadlines apart", func(s *subject) outcome { return evalSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 244) }, Found, CannotLook},
		{"starts apart by something else", func(s *subject) outcome { return evalSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 200) }, NotThere, CannotLook},
		{"an age", func(s *subject) outcome { return evalAge(s, map[string]string{"over": "1.5T"}) }, func(*replay.Node) {}, Found, CannotLook},
		{"an age against a time", func(s *subject) outcome { return evalAge(s, map[string]string{"over": "3m"}) }, func(*replay.Node) {}, Found, Found},
		{"calls of a deadline each", func(s *subject) outcome { return evalHungCalls(s, map[string]string{"operations": "container_status"}) }, func(n *replay.Node) { calls(n, 2*time.Minute) }, Found, Found},
		{"long calls that failed", func(s *subject) outcome { return evalHungCalls(s, map[string]string{"operations": "container_status"}) }, func(n *replay.Node) { calls(n, 150*time.Second) }, Found, CannotLook},
	} {
		for known, want := range map[bool]State{true: c.known, false: c.assumed} {
			n := node()
			n.Kubelet.RPCTimeout, n.Kubelet.TimeoutKnown = 2*time.Minute, known
			c.set(n)
			if got := c.eval(episodeSubject(newView(n), &n.Episodes[0])).state; got != want {
				t.Errorf("%s, timeout known %v: %v, want %v", c.name, known, got, want)
			}
		}
	}
}

// TestNoStallBeforeSilence tests that a silence counts as a stopped kubelet only if the
// last relist began just before it. If that relist began earlier it hung, and the silence
// is a hole in the log.
func TestNoStallBeforeSilence(t *testing.T) {
	for after, want := range map[int]bool{-90: false, 2: true, 60: false} {
		var es []*parse.Event
		for i := range 10 {
			es = append(es, line(i-100, parse.SrcKubelet, "x"), line(330+i, parse.SrcKubelet, "x"))
		}
		n := node(es...)
		e := &n.Episodes[0]
		e.PeakAge, e.FirstReport, e.LastReport = 320*time.Second, base+320*second, base+320*second
		n.Coverage = []*parse.Coverage{{Origin: &parse.Origin{Source: parse.SrcKubelet}, Lines: 100}}
		n.Gaps = []replay.LogGap{{Span: replay.Span{From: base + int64(after)*second, To: base + 320*second}, Why: "silence"}}
		if got := evalSilence(episodeSubject(newView(n), e), nil).state; (got == Found) != want {
			t.Errorf("silence %d s after the last relist: %v", after, got)
		}
	}
}

// TestUndatedKernel tests that undated kernel lines, which may be as old as the boot, count
// less beside a kubelet log or dated lines than alone, even if there is nothing to explain.
func TestUndatedKernel(t *testing.T) {
	share := func(kubelet bool, dated int64) float64 {
		e := line(10, parse.SrcKernel, "k.a")
		e.Stamp = parse.Stamp{}
		n := node()
		n.Episodes, n.Events, n.Have = nil, []*parse.Event{e}, map[parse.Source]bool{parse.SrcKubelet: kubelet, parse.SrcKernel: true}
		n.Window.Lines = replay.Span{From: dated, To: dated}
		v := newView(n)
		return judge(def("x", []*Clause{clause("k.a", 3)}), nodeSubject(v)).score
	}
	kubelet, dated, alone := share(true, 0), share(false, base), share(false, 0)
	if kubelet >= alone || dated >= alone {
		t.Errorf("beside a kubelet's log the lines count %v, beside a dated log %v, alone %v", kubelet, dated, alone)
	}
}

// TestListOfOnePod tests that from 1.36 on a failed list may be about one pod and does not
// explain a relist of the node.
func TestListOfOnePod(t *testing.T) {
	for version, want := range map[string]bool{"v1.35.0": true, "v1.36.0": false} {
		n := node()
		n.Kubelet.Version = version
		n.Calls = []replay.CallStep{{Operation: "list_podsandbox", From: base + second, To: base + 190*second, Calls: 1, Errors: 1, Sum: 180 * time.Second, Long: 1, LongMean: 180 * time.Second,
			Evidence: []replay.Evidence{{Record: line(190, parse.SrcKubelet, "metrics")}}}}
		if got := evalSlowLists(episodeSubject(newView(n), &n.Episodes[0]), nil).state; (got == Found) != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

// TestOtherClock tests that dated kernel records are still compared with failures if
// another record has a guessed clock.
func TestOtherClock(t *testing.T) {
	at := func(source parse.Source, basis parse.Basis) *parse.Event {
		e := line(10, source, "x")
		e.Basis = basis
		return e
	}
	for _, c := range []struct {
		kubelet, kernel parse.Basis
		other           bool
	}{
		{parse.Stated, parse.SinceBoot, false},
		{parse.ZoneGuessed, parse.SinceBoot, true},
		{parse.Stated, parse.ZoneGuessed, true},
	} {
		guess, e := at(parse.SrcContainerd, parse.ZoneGuessed), at(parse.SrcKernel, c.kernel)
		guess.Batch = line(10, parse.SrcContainerd, "x").Batch
		n := node(at(parse.SrcKubelet, c.kubelet), guess, e)
		n.Episodes = nil
		v := newView(n)
		v.oneClock = false
		if got := nodeSubject(v).otherClock(e); got != c.other {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestAgeReached tests that the minimum age of the last relist is not rounded up.
func TestAgeReached(t *testing.T) {
	n := node()
	n.Episodes[0].PeakAge = 27*time.Hour + 14*time.Minute + 51*time.Second
	o := evalAge(episodeSubject(newView(n), &n.Episodes[0]), map[string]string{"over": "3m"})
	if got := o.vars["age"]; got != "27h14m" {
		t.Errorf("got %q", got)
	}
}
