package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Well returns the interval in which a proof from the metrics shows PLEG healthy; it is empty if the proof
// shows none.
//
//   - A gauge value (ProofStart) names a relist that had listed pods by the snapshot: PLEG is healthy until a
//     threshold after its start.
//   - In a step in which no relist began late (ProofPaced), it is healthy from the first start until the age of
//     the last one could exceed the threshold.
//   - If a measured relist (ProofRelist) listed pods, it is healthy from the end of that relist until a
//     threshold after its start.
func (n *Known) Well(p *snapshots.Proof) host.Span {
	switch run := n.Log.RunAt(p.From); {
	case p.Kind == snapshots.ProofStart && !n.Kubelet.EventedSends():
		return host.Span{From: p.From, To: n.Fresh(run, p.Start.Earliest())}
	case p.Kind == snapshots.ProofPaced && p.From+int64(p.SumMax+p.SumMin) <= n.Fresh(run, p.From):
		last := p.From
		if !n.Kubelet.EventedSends() { // a broken event stream forces relists without a pause
			last += int64(p.Count-1) * int64(n.Kubelet.Period)
		}
		// A delayed snapshot is later than its timestamp, by no more than what the relist intervals leave of
		// the step.
		from := max(snapshots.By(p.From)+int64(p.SumMin+kubelet.GenericPeriod+TimerLate), snapshots.By(p.To)-int64(p.Sum)+int64(p.SumMax))
		return host.Span{From: from, To: n.Fresh(run, last-int64(p.SumMax))}
	case p.Kind == snapshots.ProofRelist && p.Listed != nil && *p.Listed && p.End.Known():
		return host.Span{From: p.End.At + int64(p.End.Slack), To: n.Fresh(run, p.Start.Earliest())}
	}
	return host.Span{}
}

// waited is how much later than its timestamp a snapshot may have been taken.
const waited = int64(time.Second)

// Uncontradicted returns the proofs from the metrics, without those that a log line contradicts: within the
// interval for which the proof shows PLEG healthy, the line reports it unhealthy. Lines count more, and a
// contradicted proof says nothing about the time around it either. An age above the threshold always
// contradicts, since its process ran all the while; "yet to be successful" may come from a later process, so
// its run must match.
func (n *Known) Uncontradicted() (proofs []snapshots.Proof, against []Contradiction) {
	if len(n.Proofs) == 0 {
		return nil, nil // there may be a million ages
	}
	var ills []kubelet.Saying
	for i := range n.Log.Ages {
		if a := &n.Log.Ages[i]; a.At != 0 && a.Age > n.Kubelet.Threshold {
			ills = append(ills, kubelet.Saying{At: a.At, Run: -1, Line: a.Record})
		}
	}
	ills = append(ills, n.Log.Nevers...)
	slices.SortStableFunc(ills, func(a, b kubelet.Saying) int { return cmp.Compare(a.At, b.At) })
	proofs = slices.DeleteFunc(slices.Clone(n.Proofs), func(p snapshots.Proof) bool {
		well := n.Well(&p)
		well.From, well.To = max(well.From, p.Start.At+int64(p.Start.Slack))+waited, well.To-waited
		k, _ := slices.BinarySearchFunc(ills, well.From, func(x kubelet.Saying, t int64) int { return cmp.Compare(x.At, t) })
		for ; k < len(ills) && ills[k].At < well.To; k++ {
			if ills[k].Run < 0 || ills[k].Run == n.Log.RunAt(p.From) {
				against = append(against, Contradiction{What: "the metrics show that PLEG was healthy where a line reports that it was not", Evidence: p.Evidence, Against: []host.Evidence{{Record: ills[k].Line}}})
				return true
			}
		}
		return false
	})
	return proofs, against
}
