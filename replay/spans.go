package replay

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/relist"
)

// UnknownTime returns for how long nothing proves the health of PLEG, and the total time that the input covers.
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

// Unreported returns the intervals outside all episodes in which PLEG is proven unhealthy: by relists or
// metrics, without any line that reports it.
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

// Earlier returns by how much the breach of an episode may be earlier than stated, 0 if by nothing and -1 if that
// is not known. Breach is when the relist last seen became too old; if its own listing took as long, PLEG may
// have been unhealthy before by the relist before it, unless something proves that it was healthy until then.
func (n *Node) Earlier(e *Episode) time.Duration {
	switch {
	case e.Breach == 0:
		return 0
	case !e.LastStart.Known():
		return -1
	}
	from := e.LastStart.Earliest()
	i := sort.Search(len(n.Health), func(i int) bool { return n.Health[i].From >= e.Breach }) - 1
	for ; i >= 0 && n.Health[i].To > from; i-- {
		if h := n.Health[i]; h.State != Healthy && h.State != RuntimeDown {
			continue
		} else if d := time.Duration(e.Breach - h.To); d > e.LastStart.Slack+earlierLeast {
			return d
		}
		return 0
	}
	return -1
}

// earlierLeast is the least distance that Earlier returns: less is within the sync loop's own pauses.
const earlierLeast = time.Second

// Over returns when episode i was over, recovered or not; 0 if unknown.
func (n *Node) Over(i int) int64 { return relist.Over(n.Episodes, i) }

// Ill is an interval in which PLEG was unhealthy. To is 0 if open.
type Ill struct {
	Span
	Never bool // no relist had succeeded yet
	Bounds
}

// Bounds are the moments between which an interval of unhealthiness began and ended: those that Health leaves room
// for. They are 0 if nothing bounds them.
type Bounds struct{ FromEarliest, ToEarliest, ToLatest int64 }

// Bounds returns those of episode i. Its recovery, if known, is dated by the moment at which something shows it: PLEG is
// proven unhealthy only until ToEarliest. An episode that nothing shows to be over is also proven until then.
func (n *Node) Bounds(i int) Bounds {
	e, from, end := &n.Episodes[i], begin(&n.Episodes[i]), int64(math.MaxInt64)
	if i+1 < len(n.Episodes) {
		end = begin(&n.Episodes[i+1])
	}
	b := n.bounds(Span{From: from, To: cmp.Or(n.Over(i), end)}, e.Never)
	switch d := n.Earlier(e); {
	case d > 0:
		b.FromEarliest = from - int64(d)
	case d < 0 || e.Breach == 0:
		b.FromEarliest = 0
	default:
		b.FromEarliest = min(from, e.LastStart.Earliest()+int64(e.Threshold))
	}
	b.ToLatest = cmp.Or(n.Over(i), b.ToLatest)
	return b
}

// RecoveredSlack returns by how much episode i may have been over before something shows it: less than the lines tell that
// report it, where other proof of unhealthiness reaches further. It is 0 if nothing shows it to be over.
func (n *Node) RecoveredSlack(i int) time.Duration {
	e := &n.Episodes[i]
	if !e.Recovered.Known() {
		return 0
	}
	return min(e.Recovered.Slack, time.Duration(e.Recovered.At-n.Bounds(i).ToEarliest))
}

// bounds returns the bounds that Health alone gives to what was unhealthy at s.From, and was over by s.To at the latest.
// A process that never relisted is another one than one that did.
func (n *Node) bounds(s Span, never bool) Bounds {
	b := Bounds{ToEarliest: s.From}
	i := sort.Search(len(n.Health), func(i int) bool { return n.Health[i].To > s.From })
	for k := i - 1; k >= 0 && b.FromEarliest == 0; k-- {
		if h := &n.Health[k]; h.State == Healthy {
			b.FromEarliest = h.To
		} else if h.State == Unhealthy || h.State == NeverRelisted {
			break
		}
	}
	for ; i < len(n.Health) && n.Health[i].From < s.To; i++ {
		switch h := &n.Health[i]; h.State {
		case Healthy:
			b.ToLatest = h.From
			return b
		case NeverRelisted:
			if !never {
				break
			}
			fallthrough
		case Unhealthy:
			b.ToEarliest = max(b.ToEarliest, min(h.To, s.To))
		}
	}
	if s.To != math.MaxInt64 {
		b.ToLatest = s.To
	}
	return b
}

// Ills returns the dated episodes and the unreported intervals, oldest first.
func (n *Node) Ills() []Ill {
	var out []Ill
	for _, s := range n.Unreported() {
		out = append(out, Ill{Span: s, Bounds: n.bounds(Span{From: s.From, To: math.MaxInt64}, false)})
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; begin(e) != 0 {
			out = append(out, Ill{Span{From: begin(e), To: n.Over(i)}, e.Never, n.Bounds(i)})
		}
	}
	slices.SortStableFunc(out, func(a, b Ill) int { return cmp.Compare(a.From, b.From) })
	return out
}

func begin(e *Episode) int64 { return cmp.Or(e.Breach, e.FirstReport) }

// UnhealthyTime returns the total duration of episodes and unreported intervals.
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

// Thresholds returns the smallest and the largest threshold that may be in force during an interval of a run.
func (n *Node) Thresholds(run int, in Span) (least, most time.Duration) {
	return n.asked.Of(run).Thresholds(&n.Kubelet, in)
}

// Fallbacks returns the proven intervals, oldest first, in which evented PLEG, as in kubelets up to 1.36, had given up
// its stream. Each ends with its process.
func (n *Node) Fallbacks() (out []Span) {
	if !n.Kubelet.EventedSends() {
		return nil
	}
	for i := range n.asked {
		if from, to := n.asked[i].Fell, int64(math.MaxInt64); from != 0 {
			if i+1 < len(n.Runs) {
				to = n.Runs[i+1].First
			}
			out = append(out, Span{From: from, To: to})
		}
	}
	return out
}
