package kubelet

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// mostFailed limits how many failed relists are dated: as many as one per second yields in five days.
const mostFailed = 50 * parse.Many

// fold drops the oldest failed lists, and all marks between them, from the marks that date relists if more than
// most failed. The dropped interval is a hole.
func (w *Witness) fold(marks []Mark, most int) {
	w.Dating = marks
	failed := func(m Mark) bool { return m.Kind == host.KindListFail }
	all, from, to := 0, slices.IndexFunc(marks, failed), len(marks)
	for i := len(marks) - 1; i >= 0; i-- {
		if failed(marks[i]) {
			if all++; all == most {
				to = i
			}
		}
	}
	if all <= most {
		return
	}
	w.Folded = append(w.Folded, parse.Counted(marks[from].Line.Where(), all, "failed relist", most, "the newest, and the log over the others counts as a hole"))
	w.Holes = JoinSpans(append(w.Holes, host.Span{From: marks[from].At, To: marks[to].At}))
	w.Dating = slices.Concat(marks[:from], marks[to:])
}

// Few limits what is cited for the profile to most records, at least 2: the first and the newest, which override the
// others. If it leaves some out, it returns a warning.
func (k *Profile) Few(most int) []parse.Warning {
	all := k.Evidence
	if len(all) <= most {
		return nil
	}
	k.Evidence = append([]host.Evidence{all[0]}, all[len(all)-most+1:]...)
	return []parse.Warning{parse.Counted(all[0].Where(), len(all), "start-up statement", most, "the first and the newest")}
}
