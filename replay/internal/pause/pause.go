// Package pause says what a pause between lines proves: between those of two relists, and between those by which no
// relist has succeeded yet. At verbosity 5 each relist begins with its
// own line. But the verbosity of a running kubelet can be lowered, and lines can be lost without a trace, so the
// missing line of a relist proves nothing by itself.
package pause

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// Most is the longest time between two lines of the node status loop at verbosity 5: it begins every 10 s, up to 4 %
// later since 1.23. Without any line at that verbosity for longer, nothing shows that the verbosity was in force.
const Most = 11 * time.Second

// Shown reports whether the log of a run was at verbosity 5 from one moment to another, both in Unix ns, so that each
// relist that began there has its line. known are spans in which a line shows without verbosity that none began; Shown
// reorders them.
func Shown(s *kubelet.Log, run int, from, to int64, known []host.Span) bool {
	if to-from <= int64(Most) {
		return true
	}
	i, _ := slices.BinarySearchFunc(s.Verbose, from, func(v kubelet.Saying, at int64) int { return cmp.Compare(v.At, at) })
	for ; i < len(s.Verbose) && s.Verbose[i].At < to; i++ {
		if v := &s.Verbose[i]; v.Run == run {
			known = append(known, host.Span{From: v.At, To: v.At})
		}
	}
	for _, x := range kubelet.JoinSpans(known) {
		if x.From-from > int64(Most) {
			return false
		}
		from = max(from, x.To)
	}
	return to-from <= int64(Most)
}

// Worked reports whether the sync loop of a run worked later than ill, and before to, both in Unix ns. From ill on it
// would have skipped its iterations for want of a newer relist; an iteration that began just before may still work.
func Worked(s *kubelet.Log, run int, ill, to int64) bool {
	return s.TurnIn(run, ill+int64(kubelet.TurnMax)+1, to, host.KindWork) != 0
}

// Unannounced reports whether the sync loop of a run received a pod event between two moments, in Unix ns, that no relist
// announced: at verbosity 4 each event has a line of the relist goroutine before it. A loop that was blocked may receive
// events of earlier relists at first, so one counts only after the loop has worked for TurnMax.
func Unannounced(s *kubelet.Log, run int, from, to int64) bool {
	free := s.TurnIn(run, from+int64(kubelet.TurnMax), to, host.KindWork)
	if free == 0 {
		return false
	}
	event := s.TurnIn(run, free+int64(kubelet.TurnMax), to, host.KindEvent)
	i, _ := slices.BinarySearchFunc(s.Marks, from, func(m kubelet.Mark, at int64) int { return cmp.Compare(m.At, at) })
	for ; i < len(s.Marks) && s.Marks[i].At <= event; i++ {
		if m := &s.Marks[i]; m.Run == run && m.Kind&host.KindInside != 0 {
			return false
		}
	}
	return event != 0
}
