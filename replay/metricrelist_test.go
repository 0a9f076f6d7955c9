package replay

import (
	"testing"
	"time"
)

// A directory of snapshots alone gives a ledger: starts by the gauge, the hung
// relists with their bounds, and what the counters say of the rest.
func TestLedgerOfSnapshotsAlone(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	series, scrapes := table([]int{0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165},
		D+"_count 10 20 20 20 20 20 20 20 20 20 21 36", I+"_count 9 20 20 20 20 20 20 20 20 20 21 35",
		D+"_sum 1 2 2 2 2 2 2 2 2 2 122 140", I+"_sum 9 20 20 20 20 20 20 20 20 20 142.1 175",
		D+"_bucket|10 10 20 20 20 20 20 20 20 20 20 20 34", D+"_bucket|+Inf 10 20 20 20 20 20 20 20 20 20 21 36",
		"kubelet_pleg_last_seen_seconds 1795217459 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217624")
	n := &Node{Records: Records{Name: "w1", Series: series, Scrapes: scrapes}}
	rebuild(n, Options{})
	var hung *Relist
	for i := range n.Relists {
		if d, ok := n.Relists[i].Duration(); ok && d > time.Minute {
			hung = &n.Relists[i]
		}
	}
	if hung == nil {
		t.Fatalf("no long relist in %+v", n.Relists)
	}
	if hung.Outcome != OutcomeListFailed || hung.Listed == nil || *hung.Listed || hung.Basis[0] != BasisMetrics || len(hung.Evidence) == 0 {
		t.Errorf("%+v", hung)
	}
	if s := hung.Start; s.At-int64(s.Slack) < (proofBase+9)*1e9 || s.At+int64(s.Slack) > (proofBase+15)*1e9 {
		t.Errorf("starts at +%.1f ±%v", float64(s.At)/1e9-float64(proofBase), s.Slack)
	}
	if e := hung.End; e.At-int64(e.Slack) < (proofBase+135)*1e9 || e.At+int64(e.Slack) > (proofBase+150)*1e9 {
		t.Errorf("ends at +%.1f ±%v", float64(e.At)/1e9-float64(proofBase), e.Slack)
	}
	last := n.Bounded[len(n.Bounded)-1]
	if last.CountMin != 15 || last.Long != 1 || last.Sum != 18*time.Second || len(last.Evidence) == 0 {
		t.Errorf("%+v", last)
	}
}
