package rules

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestAssumedTimeout: a timeout that nothing states or shows proves nothing by itself; it
// takes times that lie so near to what it makes of them that they show it.
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
		look           func(*subject) outcome
		set            func(*replay.Node)
		known, assumed State
	}{
		{"starts two deadlines apart", func(s *subject) outcome { return lookSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 241.1) }, Found, Found},
		{"starts about two deadlines apart", func(s *subject) outcome { return lookSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 244) }, Found, CannotLook},
		{"starts apart by something else", func(s *subject) outcome { return lookSawtooth(s, nil) }, func(n *replay.Node) { apart(n, 200) }, NotThere, CannotLook},
		{"an age", func(s *subject) outcome { return lookAge(s, map[string]string{"over": "1.5T"}) }, func(*replay.Node) {}, Found, CannotLook},
		{"an age against a time", func(s *subject) outcome { return lookAge(s, map[string]string{"over": "3m"}) }, func(*replay.Node) {}, Found, Found},
		{"calls of a deadline each", func(s *subject) outcome { return lookHungCalls(s, map[string]string{"operations": "container_status"}) }, func(n *replay.Node) { calls(n, 2*time.Minute) }, Found, Found},
		{"long calls that failed", func(s *subject) outcome { return lookHungCalls(s, map[string]string{"operations": "container_status"}) }, func(n *replay.Node) { calls(n, 150*time.Second) }, Found, CannotLook},
	} {
		for known, want := range map[bool]State{true: c.known, false: c.assumed} {
			n := node()
			n.Kubelet.RPCTimeout, n.Kubelet.TimeoutKnown = 2*time.Minute, known
			c.set(n)
			if got := c.look(episodeSubject(newView(n), &n.Episodes[0])).state; got != want {
				t.Errorf("%s, timeout known %v: %v, want %v", c.name, known, got, want)
			}
		}
	}
}
