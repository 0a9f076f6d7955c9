package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
)

// stuckNode is a node whose relists hang on two pods, two minutes each and
// twice, and are over the threshold.
func stuckNode() (*replay.Node, []blame.Blame) {
	yes := true
	n := &replay.Node{Kubelet: replay.Kubelet{Version: "v1.28.0", Period: time.Second, Threshold: 3 * time.Minute, RPCTimeout: 2 * time.Minute}}
	at := func(s float64) int64 { return 1772366400e9 + int64(s*1e9) }
	n.Window = replay.Window{Start: at(0), End: at(900)}
	n.Relists = []replay.Relist{
		{Start: replay.Instant{At: at(10)}, End: replay.Instant{At: at(10.1)}, Outcome: replay.OutcomeOK, Listed: &yes},
		{Start: replay.Instant{At: at(11.1)}, End: replay.Instant{At: at(251.1)}, Outcome: replay.OutcomeOK, Listed: &yes},
		{Start: replay.Instant{At: at(252.1)}, End: replay.Instant{At: at(252.2)}, Outcome: replay.OutcomeOK, Listed: &yes},
	}
	bs := []blame.Blame{{Relist: 1, Total: 240 * time.Second, List: -1, Inspect: 240 * time.Second,
		ByPod: []blame.Share{{What: "shop/a", ID: "u-a", Took: 200 * time.Second, Calls: 2, TimedOut: 1}, {What: "shop/b", ID: "u-b", Took: 40 * time.Second, Calls: 1}}}}
	n.Episodes = []replay.Episode{{ID: 1, LastStart: replay.Instant{At: at(11.1)}, Breach: at(191.1), LastReport: at(246), Recovered: replay.Instant{At: at(252.1)}}}
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

// TestStandardSilent: no answer where the log proves nothing that could be
// asked about.
func TestStandardSilent(t *testing.T) {
	quiet, _ := stuckNode()
	quiet.Relists = quiet.Relists[:1]
	if got := Standard(quiet, nil); got != nil {
		t.Errorf("no long relist, yet %d answers", len(got))
	}
	// The only long relist that is proven does not explain the episode.
	other, _ := stuckNode()
	other.Relists[1].End.At = other.Relists[1].Start.At + int64(20*time.Second)
	if got := Standard(other, nil); got != nil {
		t.Errorf("unexplained, yet %d answers", len(got))
	}
}
