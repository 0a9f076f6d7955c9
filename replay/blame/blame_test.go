package blame

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// blamedNode returns a node with one relist of 241 s in which inspecting a pod timed
// out twice.
func blamedNode() *replay.Node {
	n := &replay.Node{Relists: []replay.Relist{
		{Start: replay.Instant{At: blameSecond(0)}, End: replay.Instant{At: blameSecond(0.05)}, Outcome: replay.OutcomeOK},
		{Start: replay.Instant{At: blameSecond(10)}, ListEnd: replay.Instant{At: blameSecond(10.5)}, End: replay.Instant{At: blameSecond(251)}, Outcome: replay.OutcomeOK},
	}}
	n.Kubelet.Version, n.Kubelet.RPCTimeout = "v1.28.0", 2*time.Minute
	n.Window = replay.Window{Start: blameSecond(0), End: blameSecond(300)}
	n.Events = []*parse.Event{writeStatus(130.5)}
	n.Failures = []replay.Failure{
		{Call: "ContainerStatus", Code: "DeadlineExceeded", Pod: "ns/web", Details: &replay.FailureDetails{PodUID: "u"}, Start: replay.Instant{At: blameSecond(10.5), Slack: time.Millisecond}, End: blameSecond(130.5), Evidence: []replay.Evidence{{Record: n.Events[0]}}},
		{Call: "Status", Code: "DeadlineExceeded", Start: replay.Instant{At: blameSecond(20)}, End: blameSecond(140)},
		{Call: "ContainerStatus", Code: "DeadlineExceeded", Pod: "ns/web", Details: &replay.FailureDetails{PodUID: "u"}, Start: replay.Instant{At: blameSecond(130.5), Slack: time.Millisecond}, End: blameSecond(250.5), Evidence: []replay.Evidence{{Record: n.Events[0]}}},
	}
	host.Look(&n.Records)
	return n
}

func TestBlame(t *testing.T) {
	all := Of(blamedNode())
	if len(all) != 1 {
		t.Fatalf("%d relists blamed, want the long one", len(all))
	}
	b := all[0]
	if b.Relist != 1 || b.Total != 241*time.Second || b.List != 500*time.Millisecond || b.Unexplained != 500*time.Millisecond {
		t.Errorf("%+v", b)
	}
	if len(b.ByPod) != 1 || b.ByPod[0].What != "ns/web" || b.ByPod[0].Took != 240*time.Second || b.ByPod[0].TimedOut != 2 || len(b.ByPod[0].Evidence) == 0 {
		t.Errorf("by pod %+v", b.ByPod)
	}
	if len(b.ByOperation) != 2 || b.ByOperation[0].What != "container_status" || b.ByOperation[0].Took != 240*time.Second {
		t.Errorf("by operation %+v", b.ByOperation)
	}
	if !strings.Contains(strings.Join(b.Notes, "\n"), "inspects a pod whose inspection failed twice") {
		t.Errorf("notes %q", b.Notes)
	}
}

// TestBlameNeedsALongRelist checks that a relist that failed at a known time, but may
// have begun any time before, does not count as long.
func TestBlameNeedsALongRelist(t *testing.T) {
	n := blamedNode()
	r := &n.Relists[1]
	r.Outcome, r.ListEnd = replay.OutcomeListFailed, replay.Instant{}
	r.Start.Slack = 15 * time.Minute
	if all := Of(n); len(all) != 0 {
		t.Errorf("%+v, of a relist without a start", all)
	}
	r.Start.Slack = 100 * time.Second
	all := Of(n)
	if len(all) != 1 || all[0].Total != 141*time.Second || !strings.Contains(strings.Join(all[0].Notes, " "), "lower bound") {
		t.Errorf("%+v, want a lower bound", all)
	}
}

// blameSecond returns the time s seconds after 2026-01-02T03:04:05Z.
func blameSecond(s float64) int64 { return 1767323045e9 + int64(s*1e9) }

// writeStatus returns the line of an inspection of ns/web that timed out.
func writeStatus(s float64) *parse.Event {
	fields := []parse.Field{{Name: "pod_ns", Value: "ns"}, {Name: "pod_name", Value: "web"}, {Name: "err", Value: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"}}
	return parse.NewEvent(&parse.EventKind{File: &parse.File{Path: "log"}, Origin: &parse.Origin{Source: parse.SrcKubelet},
		Sigs: &parse.SigSet{Sigs: []*parse.Sig{{ID: parse.SigWriteStatus, Extract: func(_ string, dst []parse.Field) []parse.Field { return append(dst, fields...) }}}}},
		parse.PlainText("write status"), parse.Event{Line: 1, Stamp: parse.Stamp{At: blameSecond(s), Res: parse.ResolutionOf(time.Microsecond), Basis: parse.Stated}})
}

// TestBlameLeavesOnDemandOut checks that a list by pod UID is attributed to a relist
// only up to 1.35, where an inspection makes it. From 1.36 on only the on-demand relist
// of one pod does.
func TestBlameLeavesOnDemandOut(t *testing.T) {
	for version, charged := range map[string]bool{"v1.35.4": true, "v1.36.3": false} {
		n := blamedNode()
		n.Kubelet.Version, n.Records = version, replay.Records{}
		host.Look(&n.Records) // without lines of the relist goroutine
		for i := range n.Failures {
			if f := &n.Failures[i]; f.Call == "ContainerStatus" {
				f.Call, f.Scope = "ListPodSandbox", "pod"
			}
		}
		b := Of(n)[0]
		if got := len(b.ByPod) > 0; got != charged {
			t.Errorf("%s: charged to %+v", version, b.ByPod)
		}
	}
}

// TestBlameByHistogram checks that list calls are not added up, because a relist makes
// each only once, and that a share by histogram is an upper bound.
func TestBlameByHistogram(t *testing.T) {
	step := func(op string, to float64, took ...int) replay.CallStep {
		s := replay.CallStep{Operation: op, From: blameSecond(to - 15), To: blameSecond(to), Calls: len(took), Long: len(took), Edge: 10 * time.Second}
		for _, x := range took {
			s.Sum += time.Duration(x) * time.Second
		}
		s.LongMean = s.Sum / time.Duration(len(took))
		return s
	}
	n := &replay.Node{Relists: []replay.Relist{{Start: replay.Instant{At: blameSecond(10)}, End: replay.Instant{At: blameSecond(210)}, Outcome: replay.OutcomeOK}}}
	n.Calls = []replay.CallStep{step("list_podsandbox", 115, 104), step("list_podsandbox", 200, 90, 95), step("list_containers", 212, 96), step("status", 100, 80)}
	host.Look(&n.Records)
	all := Of(n)
	if len(all) != 1 || len(all[0].ByOperation) != 2 {
		t.Fatalf("%+v", all)
	}
	for i, want := range []Share{{What: "list_podsandbox", Took: 175 * time.Second}, {What: "list_containers", Took: 96 * time.Second}} {
		if x := all[0].ByOperation[i]; x.What != want.What || x.Took != want.Took || !x.AtMost || x.Calls != 1 {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
}
