package snapshots_test

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// TestLedgerOfSnapshotsAlone checks that snapshots alone give a ledger: starts from the
// gauge, hung relists with their bounds, and what the counters say about the others.
func TestLedgerOfSnapshotsAlone(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	series, scrapes := snapshots.Table([]int{0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165},
		D+"_count 10 20 20 20 20 20 20 20 20 20 21 36", I+"_count 9 20 20 20 20 20 20 20 20 20 21 35",
		D+"_sum 1 2 2 2 2 2 2 2 2 2 122 140", I+"_sum 9 24 24 24 24 24 24 24 24 24 146.1 179",
		D+"_bucket|10 10 20 20 20 20 20 20 20 20 20 20 34", D+"_bucket|+Inf 10 20 20 20 20 20 20 20 20 20 21 36",
		"kubelet_pleg_last_seen_seconds 1795217459 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217469 1795217624")
	rec := &host.Records{Name: "w1", Series: series, Scrapes: scrapes}
	log := kubelet.Read(rec, host.Look(rec))
	n := relist.Of(&relist.Known{Log: log, Kubelet: kubelet.ProfileOf(log, nil, kubelet.Given{}), Witness: kubelet.NewWitness(log), Proofs: snapshots.Proofs(series, scrapes)})
	var hung *relist.Relist
	for i := range n.Relists {
		if d, ok := n.Relists[i].Duration(); ok && d > time.Minute {
			hung = &n.Relists[i]
		}
	}
	if hung == nil {
		t.Fatalf("no long relist in %+v", n.Relists)
	}
	if hung.Outcome != relist.OutcomeListFailed || hung.Listed == nil || *hung.Listed || hung.Basis[0] != relist.BasisMetrics || len(hung.Evidence) == 0 {
		t.Errorf("%+v", hung)
	}
	if s := hung.Start; s.At-int64(s.Slack) < (snapshots.ProofBase+9)*1e9 || s.At+int64(s.Slack) > (snapshots.ProofBase+16)*1e9 {
		t.Errorf("starts at +%.1f ±%v", float64(s.At)/1e9-float64(snapshots.ProofBase), s.Slack)
	}
	if e := hung.End; e.At-int64(e.Slack) < (snapshots.ProofBase+135)*1e9 || e.At+int64(e.Slack) > (snapshots.ProofBase+150)*1e9 {
		t.Errorf("ends at +%.1f ±%v", float64(e.At)/1e9-float64(snapshots.ProofBase), e.Slack)
	}
	last := n.Bounded[len(n.Bounded)-1]
	if last.CountMin != 15 || last.Long != 1 || last.Sum != 18*time.Second || len(last.Evidence) == 0 {
		t.Errorf("%+v", last)
	}
}

// TestStampsInWholeSecondsAreCut checks that a snapshot time in whole seconds counts as
// truncated: the snapshot was taken up to a second later, and everything derived from it
// is as uncertain.
func TestStampsInWholeSecondsAreCut(t *testing.T) {
	const D, I = "kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds"
	// All snapshots were taken 0.9 s after their stamps; the relist began at +150.8.
	series, scrapes := snapshots.Table([]int{0, 150, 180, 300}, D+"_count 1 150 150 201", I+"_count 0 150 150 200", D+"_sum 0 .1 .1 100.1", I+"_sum 0 150.8 150.8 300.8",
		D+"_bucket|.5 1 150 150 200", D+"_bucket|10 1 150 150 200", D+"_bucket|+Inf 1 150 150 201", I+"_bucket|2.5 0 150 150 199", I+"_bucket|10 0 150 150 199", I+"_bucket|+Inf 0 150 150 200")
	rec := &host.Records{Name: "w1", Series: series, Scrapes: scrapes}
	log := kubelet.Read(rec, host.Look(rec))
	known := &relist.Known{Log: log, Kubelet: kubelet.ProfileOf(log, nil, kubelet.Given{}), Witness: kubelet.NewWitness(log), Proofs: snapshots.Proofs(series, scrapes)}
	for _, p := range known.Proofs {
		if well := known.Well(&p); p.Kind == snapshots.ProofPaced && p.From == snapshots.ProofBase*1e9 && well.From < p.From+int64(1900*time.Millisecond+p.SumMin) {
			t.Errorf("well from +%.3f, though none need have begun a period after the snapshot", float64(well.From)/1e9-float64(snapshots.ProofBase))
		}
	}
	n := relist.Of(known)
	for i := range n.Relists {
		if r := &n.Relists[i]; r.Took > time.Minute {
			if latest := r.Start.At + int64(r.Start.Slack); latest < (snapshots.ProofBase*10+1508)*1e8 {
				t.Errorf("began by +%.3f", float64(latest)/1e9-float64(snapshots.ProofBase))
			}
			return
		}
	}
	t.Errorf("no long relist in %+v", n.Relists)
}
