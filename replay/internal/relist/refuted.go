package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Well is the stretch in which a proof by the metrics shows that PLEG was healthy, empty
// where it shows none. The gauge names a relist that had listed pods by the snapshot: PLEG
// is healthy until a threshold after its start. Of a step in which no relist began late,
// it is from the first start until the age of the last one could pass the threshold. Of a
// relist that it measures, and that listed pods, it is from its end.
func (n *Known) Well(p *snapshots.Proof) host.Span {
	switch run := n.Log.RunAt(p.From); {
	case p.Kind == snapshots.ProofStart && !n.Kubelet.EventedSends():
		return host.Span{From: p.From, To: n.Fresh(run, p.Start.Earliest())}
	case p.Kind == snapshots.ProofPaced && p.From+int64(p.SumMax+p.SumMin) <= n.Fresh(run, p.From):
		last := p.From
		if !n.Kubelet.EventedSends() { // a broken stream forces relists without a period between them
			last += int64(p.Count-1) * int64(n.Kubelet.Period)
		}
		// A snapshot that had to wait is later than its stamp, by no more than what
		// the intervals leave of the step.
		from := max(snapshots.By(p.From)+int64(p.SumMin+kubelet.GenericPeriod+TimerLate), snapshots.By(p.To)-int64(p.Sum)+int64(p.SumMax))
		return host.Span{From: from, To: n.Fresh(run, last-int64(p.SumMax))}
	case p.Kind == snapshots.ProofRelist && p.Listed != nil && *p.Listed && p.End.Known():
		return host.Span{From: p.End.At + int64(p.End.Slack), To: n.Fresh(run, p.Start.Earliest())}
	}
	return host.Span{}
}

// waited is how much later than its stamp a snapshot may be.
const waited = int64(time.Second)

// Uncontradicted is what the metrics prove, less what they cannot, since within the time
// of which they show that PLEG was healthy a line reports that it was not. Lines count, and
// such a proof says nothing of the time beside them either. An age past the threshold is
// of a process that ran all the while; one without a relist may follow another process.
func (n *Known) Uncontradicted() (proofs []snapshots.Proof, against []Contradiction) {
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
				against = append(against, Contradiction{"the metrics show that PLEG was healthy where a line reports that it was not", p.Evidence, []host.Evidence{{Record: ills[k].Line}}})
				return true
			}
		}
		return false
	})
	return proofs, against
}
