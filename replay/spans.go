package replay

import (
	"cmp"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
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

// UnhealthyTime is how long the episodes of a node lasted.
func (n *Node) UnhealthyTime() time.Duration {
	var sum time.Duration
	for i := range n.Episodes {
		e := &n.Episodes[i]
		to := cmp.Or(e.Recovered.At, e.LastReport)
		if e.Breach != 0 && to > e.Breach {
			sum += max(time.Duration(to-e.Breach)-e.Stepped, 0)
		}
	}
	return sum
}

// Fallback is a time in which the evented PLEG of up to 1.36 had given its stream up.
type Fallback struct{ From, To int64 } // Unix ns; it ends with the process

// Fallbacks lists those that a line of the kubelet tells, oldest first.
func (n *Node) Fallbacks() []Fallback {
	var out []Fallback
	if !n.Kubelet.EventedSends() {
		return nil
	}
	n.Census().Each(host.KindFallback, func(_ int, e *parse.Event, _ host.Kinds) {
		if e.Basis == parse.NoTime {
			return
		}
		f := Fallback{e.At, math.MaxInt64}
		for i := range n.Runs {
			if s := n.Runs[i].First; s > f.From {
				f.To = min(f.To, s)
			}
		}
		out = append(out, f)
	})
	return out
}
