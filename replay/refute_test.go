package replay

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestRefutedAge checks that a node condition with an age exceeding the kubelet's run time is not a report, and
// that one that fits, or is from an earlier process, is.
func TestRefutedAge(t *testing.T) {
	const log = `I1120 10:00:00.000000    4242 server.go:484] "Kubelet version" kubeletVersion="v1.28.0"
I1120 10:00:01.000000    4242 kubelet.go:2300] "Starting kubelet main sync loop"
I1120 10:20:00.000000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"`
	for _, c := range []struct {
		heartbeat, age string
		refuted        bool
	}{
		{"10:05:00", "4m30s", false},
		{"10:05:00", "5m1s", false}, // the heartbeat is truncated to a second
		{"10:05:00", "6m", true},
		{"09:59:00", "6m", false},
		{"10:30:00", "31m", false}, // another process may be running by then
	} {
		b := bundleOf(log)
		heartbeat := b.Events[0].Time().UTC().Format("2006-01-02T") + c.heartbeat + "Z"
		b.Objects = append(b.Objects, &parse.Object{Pos: parse.Pos{File: b.Files[0], Line: 1}, Kind: "NodeCondition", Name: "w",
			Fields: []parse.Field{{Name: "type", Value: "Ready"}, {Name: "status", Value: "False"}, {Name: "reason", Value: "KubeletNotReady"}, {Name: "heartbeat", Value: heartbeat},
				{Name: "message", Value: "PLEG is not healthy: pleg was last seen active " + c.age + " ago; threshold is 3m0s"}}})
		n := Build(b, Options{})[0]
		if got := len(n.Contradictions) > 0; got != c.refuted || c.refuted == (len(n.Episodes) > 0) {
			t.Errorf("%s at %s: refuted %v, %d episodes", c.age, c.heartbeat, got, len(n.Episodes))
		}
	}
}
