package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// blamedNode is a node with one relist of 240 s in which a pod was inspected
// twice in vain.
func blamedNode() *Node {
	n := &Node{Relists: []Relist{
		{Start: Instant{At: sinceStart(0)}, End: Instant{At: sinceStart(0.05)}, Outcome: OutcomeOK},
		{Start: Instant{At: sinceStart(10)}, ListEnd: Instant{At: sinceStart(10.5)}, End: Instant{At: sinceStart(251)}, Outcome: OutcomeOK},
	}}
	n.Kubelet.Version, n.Kubelet.RPCTimeout = "v1.28.0", 2*time.Minute
	n.Window = Window{Start: sinceStart(0), End: sinceStart(300)}
	n.Events = []*parse.Event{lineAt(130.5, parse.SrcKubelet, parse.SigWriteStatus, "pod_ns", "ns", "pod_name", "web", "err", "rpc error: code = DeadlineExceeded desc = context deadline exceeded")}
	n.Failures = []Failure{
		{Call: "ContainerStatus", Code: "DeadlineExceeded", Pod: "ns/web", Details: &FailureDetails{PodUID: "u"}, Start: Instant{At: sinceStart(10.5), Slack: time.Millisecond}, End: sinceStart(130.5), Evidence: []Evidence{{Record: n.Events[0]}}},
		{Call: "Status", Code: "DeadlineExceeded", Start: Instant{At: sinceStart(20)}, End: sinceStart(140)},
		{Call: "ContainerStatus", Code: "DeadlineExceeded", Pod: "ns/web", Details: &FailureDetails{PodUID: "u"}, Start: Instant{At: sinceStart(130.5), Slack: time.Millisecond}, End: sinceStart(250.5), Evidence: []Evidence{{Record: n.Events[0]}}},
	}
	n.Blame = blames(n, scan(n, host.Look(&n.Records)))
	return n
}

func TestBlame(t *testing.T) {
	n := blamedNode()
	if len(n.Blame) != 1 {
		t.Fatalf("%d relists blamed, want the long one", len(n.Blame))
	}
	b := n.Blame[0]
	if b.Relist != 1 || b.Total != 241*time.Second || b.List != 500*time.Millisecond || b.Unexplained != 500*time.Millisecond {
		t.Errorf("%+v", b)
	}
	if len(b.ByPod) != 1 || b.ByPod[0].What != "ns/web" || b.ByPod[0].Took != 240*time.Second || b.ByPod[0].TimedOut != 2 || len(b.ByPod[0].Evidence) == 0 {
		t.Errorf("by pod %+v", b.ByPod)
	}
	if len(b.ByOperation) != 2 || b.ByOperation[0].What != "container_status" || b.ByOperation[0].Took != 240*time.Second {
		t.Errorf("by operation %+v", b.ByOperation)
	}
	if !strings.Contains(strings.Join(b.Notes, "\n"), "inspect a pod whose inspection failed twice") {
		t.Errorf("notes %q", b.Notes)
	}
}
