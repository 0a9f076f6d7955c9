package health

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
)

// stepUnseen is the largest step of the clock that may leave no trace in a log without a hole: it hides in a
// silence as long, and no silence of a minute and a half is usual for a log.
const stepUnseen = int64(90 * time.Second)

// Dispute drops from the log the reports that relists of the same kubelet contradict: a relist with a line
// of its own, younger than the one that the report takes for the last, had listed pods before the report was
// made. The kubelet sets the time of the last relist as soon as a list call returns. It notes in n when those
// reports were made; of very many, it returns the first. The log in n is replaced, not changed.
func Dispute(n *relist.Known, all []relist.Relist) (against []relist.Contradiction) {
	var listed []*relist.Relist // in the order in which their lists returned, since relists are serial
	for i := range all {
		if r := &all[i]; r.Own() && r.HasListed() && r.Returned().Known() {
			listed = append(listed, r)
		}
	}
	if len(listed) == 0 || len(n.Log.Backs) > 0 {
		return nil
	}
	refuted := func(t kubelet.Saying, last int64) bool { // last: when the relist began, at the latest, that it takes for the last one
		k, _ := slices.BinarySearchFunc(listed, t.At, func(r *relist.Relist, at int64) int { return cmp.Compare(r.Returned().Latest(), at) })
		if t.At == 0 || k == 0 || t.Run >= 0 && listed[k-1].Run != t.Run {
			return false
		}
		r := listed[k-1]
		if r.Start.Earliest()-last < stepUnseen || !n.Witness.Whole(r.Start.Earliest(), t.At) {
			return false
		}
		if n.Disputed = append(n.Disputed, t.At); len(n.Disputed) <= parse.Many {
			against = append(against, relist.Contradiction{What: "PLEG is reported unhealthy where the kubelet's own lines show that a newer relist had listed pods",
				Evidence: []host.Evidence{{Record: t.Line}}, Against: r.Evidence})
		}
		return true
	}
	s := *n.Log
	s.Ages = slices.DeleteFunc(slices.Clone(s.Ages), func(a kubelet.Age) bool {
		_, hi := a.Bounds()
		if a.Outside {
			a.Run = -1 // only its time tells of which process it is
		}
		return refuted(kubelet.Saying{At: a.At, Run: a.Run, Line: a.Record}, hi)
	})
	s.Nevers = slices.DeleteFunc(slices.Clone(s.Nevers), func(t kubelet.Saying) bool {
		return t.Run >= 0 && refuted(t, s.Runs[t.Run].First-stepUnseen)
	})
	s.Cuts = slices.DeleteFunc(slices.Clone(s.Cuts), func(t kubelet.Saying) bool {
		return refuted(t, t.At-int64(n.Kubelet.Threshold))
	})
	if len(n.Disputed) > 0 {
		n.Log = &s
	}
	return against
}
