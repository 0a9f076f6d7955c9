package relist

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// mostFailed limits how many failed relists are dated: as many as one per second yields in five days.
const mostFailed = 50 * parse.Many

// fold drops the oldest failed lists, and all marks between them, if more than most failed. The dropped
// interval is added to the holes of the log.
func (l *ledger) fold(marks []kubelet.Mark, most int) []kubelet.Mark {
	failed := func(m kubelet.Mark) bool { return m.Kind == host.KindListFail }
	all, from, to := 0, slices.IndexFunc(marks, failed), len(marks)
	for i := len(marks) - 1; i >= 0; i-- {
		if failed(marks[i]) {
			if all++; all == most {
				to = i
			}
		}
	}
	if all <= most {
		return marks
	}
	l.folded = append(l.folded, parse.Counted(marks[from].Line.Where(), all, "failed relist", most, "the newest, and the log over the others counts as a hole"))
	holes := append(slices.Clone(l.w.Holes), host.Span{From: marks[from].At, To: marks[to].At})
	slices.SortFunc(holes, func(a, b host.Span) int { return cmp.Compare(a.From, b.From) })
	l.w.Holes = kubelet.JoinSpans(holes)
	return slices.Concat(marks[:from], marks[to:])
}
