package replay

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/relist"
)

// UnknownTime is for how long nothing proves how PLEG was, and for how long the
// input speaks of the node.
func (n *Node) UnknownTime() (blind, all time.Duration) {
	for _, h := range n.Health {
		d := time.Duration(max(h.To-h.From, 0))
		all += d
		if h.State == HealthUnknown {
			blind += d
		}
	}
	return blind, all
}

// Unreported are the stretches in which PLEG is proven unhealthy and that no episode holds:
// relists or metrics prove them, no line says so.
func (n *Node) Unreported() []Span {
	var out []Span
	for _, h := range n.Health {
		i := sort.Search(len(n.Episodes), func(i int) bool { return n.Episodes[i].Breach >= h.To }) - 1
		if h.State == Unhealthy && (i < 0 || n.Over(i) != 0 && n.Over(i) <= h.From) {
			out = append(out, h.Span)
		}
	}
	return out
}

// Over is by when the episode with an index was over, recovered or not; 0 unknown.
func (n *Node) Over(i int) int64 { return relist.Over(n.Episodes, i) }

// Ill is a stretch in which PLEG was unhealthy. To is 0 while open.
type Ill struct {
	Span
	Never bool // no relist had succeeded yet
}

// Ills are the episodes that are dated, and what no line reports, oldest first.
func (n *Node) Ills() []Ill {
	var out []Ill
	for _, s := range n.Unreported() {
		out = append(out, Ill{Span: s})
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Breach != 0 || e.FirstReport != 0 {
			out = append(out, Ill{Span{From: cmp.Or(e.Breach, e.FirstReport), To: n.Over(i)}, e.Never})
		}
	}
	slices.SortStableFunc(out, func(a, b Ill) int { return cmp.Compare(a.From, b.From) })
	return out
}

// UnhealthyTime is how long the episodes of a node lasted, and what no line reports.
func (n *Node) UnhealthyTime() time.Duration {
	var sum time.Duration
	for _, s := range n.Unreported() {
		sum += time.Duration(s.To - s.From)
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		to := cmp.Or(e.Recovered.At, e.LastReport)
		if e.Breach != 0 && to > e.Breach {
			sum += max(time.Duration(to-e.Breach)-e.Stepped, 0)
		}
	}
	return sum
}

// Thresholds are the least and the greatest that may be in force in a stretch of the life
// of a process.
func (n *Node) Thresholds(run int, in Span) (least, most time.Duration) {
	return n.Kubelet.Thresholds(n.asked.Of(run), in)
}

// Fallback is a time in which the evented PLEG of up to 1.36 had given its stream up.
type Fallback struct{ From, To int64 } // Unix ns; it ends with the process

// Fallbacks lists those that are proven, oldest first.
func (n *Node) Fallbacks() (out []Fallback) {
	if !n.Kubelet.EventedSends() {
		return nil
	}
	for i := range n.asked {
		if from, to := n.asked[i].Fell, int64(math.MaxInt64); from != 0 {
			if i+1 < len(n.Runs) {
				to = n.Runs[i+1].First
			}
			out = append(out, Fallback{from, to})
		}
	}
	return out
}
