package replay

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
)

// WellThroughout returns the interval in which PLEG is proven healthy without interruption, and whether that
// is all that the input covers. The interval is empty if any part between is unhealthy or unknown. The first
// minute of a process, in which PLEG starts, does not count.
func (n *Node) WellThroughout() (Span, bool) {
	first, last := n.healthy()
	var out Span
	well := true
	for i, h := range n.Health {
		switch {
		case h.State == Healthy:
			out = Span{From: n.Health[first].From, To: h.To}
		case starting(h, n.Runs):
		case h.State == HealthUnknown && (i < first || i > last):
			well = well && n.outside(h, i < first, i > last)
		default:
			return Span{}, false
		}
	}
	return out, well && out.To > out.From
}

// healthy returns the indices of the first and the last span in which PLEG is proven healthy, -1 if there is none.
func (n *Node) healthy() (first, last int) {
	first, last = -1, -1
	for i, h := range n.Health {
		if h.State == Healthy {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	return first, last
}

// starting reports whether a span belongs to the start of a kubelet process.
func starting(h HealthSpan, runs []Run) bool {
	if h.State != NeverRelisted && h.State != HealthUnknown {
		return false
	}
	return slices.ContainsFunc(runs, func(r Run) bool {
		return r.Loop != 0 && h.To <= r.First+int64(pause.StartUp) && (h.From >= r.First || h.From >= r.First-int64(pause.StartUp) && r.First != runs[0].First)
	})
}

// outside reports whether a span before or after all proof of health may be ignored. One longer than the
// threshold may not, since PLEG can become unhealthy in it. A shorter one may if it also lies before or after
// all lines of the kubelet, allowing for the time to the first relist, or if it is only the margin at the end
// of a log, without a hole, after which a missing report would prove something. A metrics snapshot within the span shows the
// kubelet running, so then only that margin is ignored.
func (n *Node) outside(h HealthSpan, before, after bool) bool {
	runs, margin := n.Runs, h.From == n.tail && !slices.ContainsFunc(n.Holes, func(x Span) bool { return x.From < h.To && x.To > h.From })
	if len(runs) == 0 || h.To-h.From > int64(n.Kubelet.Threshold) {
		return false
	}
	if !margin && slices.ContainsFunc(n.Scrapes, func(s *parse.Scrape) bool { return s.At >= h.From && s.At <= h.To }) {
		return false
	}
	return (before || h.From >= runs[0].First) && h.To <= runs[0].First+2*int64(kubelet.TurnMax) || after && (margin || h.From >= runs[len(runs)-1].Last)
}

// Untold returns the parts of the window in which nothing proves whether PLEG was healthy. What WellThroughout
// ignores, such as the start of a process, is left out.
func (n *Node) Untold() []Span {
	first, last := n.healthy()
	var out []Span
	for i, h := range n.Health {
		if (h.State == HealthUnknown || h.State == RuntimeDown) && !starting(h, n.Runs) && !n.outside(h, i < first, i > last) {
			out = append(out, h.Span)
		}
	}
	return out
}

// ProvenUnhealthy returns for how long PLEG was proven unhealthy, or not to have relisted long after the start of
// the kubelet.
func (n *Node) ProvenUnhealthy() time.Duration {
	var sum time.Duration
	for _, h := range n.Health {
		if h.To > h.From && (h.State == Unhealthy || h.State == NeverRelisted && h.To-h.From > int64(pause.StartUp)) {
			sum += time.Duration(h.To - h.From)
		}
	}
	for i := range n.Episodes {
		sum -= n.Episodes[i].Stepped // the clock was set forward: so much time did not pass
	}
	return max(sum, 0)
}
