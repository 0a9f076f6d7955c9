package health

import (
	"slices"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
)

// Part notes in n the holes of the log in which a kubelet may have been restarted unseen: in a container each process
// has the ID 1, and a log in JSON states none. An age that reaches back over the hole shows that it is the same one.
// A line after such a hole by which no relist has succeeded is one of an unknown process. So is one longer after another
// than a skipping loop pauses: either lines are missing, or a start stands between. The log in n is replaced, not changed.
func Part(n *relist.Known) {
	s := *n.Log
	if !slices.ContainsFunc(s.Runs, nameless) {
		return
	}
	var aged []host.Span
	for i := range s.Ages {
		if a := &s.Ages[i]; a.At != 0 && a.Run >= 0 {
			aged = append(aged, host.Span{From: a.At - int64(a.Age), To: a.At})
		}
	}
	aged = kubelet.JoinSpans(aged)
	for _, h := range n.Witness.Holes {
		for len(aged) > 0 && aged[0].To < h.To {
			aged = aged[1:]
		}
		if len(aged) == 0 || aged[0].From > h.From {
			n.Parted = append(n.Parted, h.From)
		}
	}
	apart := map[int]bool{} // by run: whether a hole was passed
	last := map[int]int64{}
	s.Nevers = slices.Clone(s.Nevers)
	for i := range s.Nevers {
		t := &s.Nevers[i]
		if t.Run < 0 || !nameless(s.Runs[t.Run]) {
			continue
		}
		run, from := t.Run, s.Runs[t.Run].First
		if at, any := last[run]; any {
			from = at
		}
		if t.At-from > int64(2*kubelet.BackoffMax) {
			n.Parted = append(n.Parted, from+1)
		}
		if last[run] = t.At; apart[run] || sole(n, run, from, t.At) < t.At {
			apart[run], t.Run = true, -1
		}
	}
	slices.Sort(n.Parted)
	n.Log = &s
}

// nameless reports whether the process ID of a run does not tell it from another process.
func nameless(r kubelet.Run) bool { return r.PID <= 1 }

// sole cuts a claim about the process of a run that was there at the moment at, at the first hole after which the lines
// may be those of another one.
func (h *claims) sole(run int, at, to int64) int64 { return sole(h.n, run, at, to) }

func sole(n *relist.Known, run int, at, to int64) int64 {
	if i, _ := slices.BinarySearch(n.Parted, at); i < len(n.Parted) && run >= 0 && nameless(n.Log.Runs[run]) {
		return min(to, n.Parted[i])
	}
	return to
}
