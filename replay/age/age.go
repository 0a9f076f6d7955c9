// Package age bounds how old the last relist that listed pods was, at every moment
// about which there is evidence. It is a function of a node's history and does no I/O.
//
// The kubelet keeps the start of the last relist whose list calls returned without
// error, and reports PLEG unhealthy once that is older than the threshold
// (pkg/kubelet/pleg/generic.go, Healthy and Relist, v1.11 to v1.37).
package age

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Span says that from From to To (Unix ns) the lower bound of the age goes linearly
// from Low0 to Low1, and the upper bound from High0 to High1. Both High are Unknown if
// nothing bounds the age from above.
type Span struct {
	From, To     int64
	Low0, Low1   time.Duration
	High0, High1 time.Duration
}

// Unknown is an upper bound for which there is no evidence.
const Unknown time.Duration = -1

// Of returns the bounds over the window of a node, oldest first, without overlap. While
// a process has not listed pods yet there is no age, and no Span.
func Of(n *replay.Node) []Span {
	b := bounds{n: n, to: n.Window.End}
	b.relists()
	b.reports()
	b.health()
	b.paces()
	b.restarts()
	return b.merge(n.Window.Start, n.Window.End)
}

// Peaks returns, for each episode of a node, a lower bound of the greatest age that the
// last relist reached, 0 if there was none. It uses the kubelet's reports and all other
// bounds until the recovery: ages returns what Of does, and is called only if needed.
func Peaks(n *replay.Node, ages func() []Span) []time.Duration {
	out := make([]time.Duration, len(n.Episodes))
	if len(out) == 0 {
		return out
	}
	spans := ages()
	for i := range n.Episodes {
		e := &n.Episodes[i]
		out[i] = e.PeakAge
		from, to := cmp.Or(e.Breach, e.FirstReport), cmp.Or(n.Over(i), n.Window.End)
		k, _ := slices.BinarySearchFunc(spans, from, func(s Span, t int64) int { return cmp.Compare(s.To, t+1) })
		for ; k < len(spans) && spans[k].From < to && !e.Never && from != 0; k++ { // spans do not overlap
			s := &spans[k]
			out[i] = max(out[i], s.Low0+time.Duration(float64(s.Low1-s.Low0)*float64(min(s.To, to)-s.From)/float64(s.To-s.From)))
		}
	}
	return out
}

// bound is valid between from and to: the age is at least (or at most) the time elapsed
// since the moment since, or flat if that is set.
type bound struct {
	from, to int64
	since    int64
	flat     time.Duration
}

func (c *bound) at(t int64) time.Duration {
	if c.flat > 0 {
		return c.flat
	}
	return max(time.Duration(t-c.since), 0)
}

// bounds collects the bounds of a node's age.
type bounds struct {
	n         *replay.Node
	to        int64
	low, high []bound
	none      []bound // intervals without an age
}

// atLeast adds a lower bound.
func (b *bounds) atLeast(from, to, since int64) {
	from = max(from, since)
	if k := len(b.low) - 1; k >= 0 && b.low[k].since == since && b.low[k].from <= from && from <= b.low[k].to {
		b.low[k].to = max(b.low[k].to, to) // consecutive failed lists form one bound
		return
	}
	if to > from {
		b.low = append(b.low, bound{from: from, to: to, since: since})
	}
}

// atMost adds an upper bound that holds until the process ends: no later relist makes
// the age greater.
func (b *bounds) atMost(run int, from, since int64) {
	to := b.to
	if run >= 0 && run+1 < len(b.n.Runs) {
		to = min(to, b.n.Runs[run].Last)
	}
	if to > from {
		b.high = append(b.high, bound{from: from, to: to, since: since})
	}
}

// relists adds the bounds from dated relists. Relists are serial: until a relist has
// listed, the age is that of the one before, and afterwards its own.
func (b *bounds) relists() {
	since := int64(0) // latest possible start of the last relist that listed
	for i := range b.n.Relists {
		r := &b.n.Relists[i]
		if !r.Start.Known() {
			continue
		}
		late, early := r.Start.Latest(), r.Start.Earliest()
		if i == 0 || !r.Follows(&b.n.Relists[i-1]) || since == 0 {
			since = late
		} else {
			b.atLeast(b.n.Relists[i-1].End.Earliest(), early, since)
		}
		end := early
		switch {
		case r.End.Known():
			end = max(end, r.End.Earliest())
		case r.ListEnd.Known():
			end = max(end, r.ListEnd.Earliest())
		case r.Took > 0:
			end = early + int64(r.Took-r.TookSlack)
		}
		switch {
		case r.FailedToList():
			b.atLeast(early, end, since)
		case r.HasListed() && r.ListEnd.Known():
			list := max(r.ListEnd.Earliest(), early)
			b.atLeast(early, list, since)
			b.atLeast(list, end, late)
			since = late
		default:
			b.atLeast(early, end, late)
			since = late
		}
		if seen := seen(b.n, i); r.HasListed() && seen != 0 {
			b.atMost(r.Run, seen, early)
		}
	}
}

// seen returns the latest time at which the list of a relist that listed can have
// returned, 0 if unknown. It relies on relists being serial.
func seen(n *replay.Node, i int) int64 {
	rs := n.Relists
	r := &rs[i]
	if at := r.Returned(); at.Known() {
		return at.Latest()
	} else if i+1 < len(rs) && rs[i+1].Start.Known() && rs[i+1].Run == r.Run && !n.MayGoOn(i) {
		return rs[i+1].Start.Latest()
	}
	return 0
}

// reports adds the bounds from the kubelet's reports, which state the age to the
// microsecond.
func (b *bounds) reports() {
	for i := range b.n.Episodes {
		e := &b.n.Episodes[i]
		starts := e.LastStarts
		if len(starts) == 0 && e.LastStart.Known() {
			starts = []replay.Instant{e.LastStart}
		}
		k := len(starts)
		if e.Never || k == 0 || e.FirstReport == 0 { // proven by relists alone
			continue
		}
		first, last := starts[0], starts[k-1]
		b.atMost(e.Run, e.FirstReport, first.Earliest())
		b.atMost(e.Run, e.LastReport, last.Earliest())
		b.atLeast(last.Earliest(), e.LastReport, last.Latest())
		if k > 1 {
			b.atLeast(first.Earliest(), e.FirstReport, first.Latest())
		}
	}
}

// health adds the bounds from health: the age is at most the threshold while healthy,
// and at least while unhealthy.
func (b *bounds) health() {
	if b.n.Kubelet.Threshold <= 0 {
		return
	}
	for _, h := range b.n.Health {
		x := bound{from: h.From, to: cmp.Or(h.To, b.to)}
		least, most := b.n.Thresholds(b.runAt(x.from), replay.Span{From: x.from, To: x.to})
		switch x.flat = least; h.State {
		case replay.Healthy:
			x.flat = most
			b.high = append(b.high, x)
		case replay.Unhealthy:
			if h.Proof != replay.ProofChannel {
				b.low = append(b.low, x)
			}
		case replay.NeverRelisted:
			b.none = append(b.none, x)
		}
	}
}

// paces adds the bounds from metrics. The interval histogram bounds how far apart
// relists began between two snapshots, and the gauge dates one that had listed. The
// gauge is set when health is checked, so a later relist may have listed too.
func (b *bounds) paces() {
	evented := b.n.Kubelet.EventedSends()
	for i := range b.n.Proofs {
		p := &b.n.Proofs[i]
		run := b.runAt(p.To)
		switch {
		case p.Kind == snapshots.ProofStart && !evented:
			b.atMost(b.runAt(p.From), snapshots.By(p.From), p.Start.Earliest())
		case p.Kind == snapshots.ProofPaced && p.Count > 0:
			last := p.From
			if !evented {
				last += int64(p.Count-1) * int64(b.n.Kubelet.Period)
			}
			// The first start of the step is at most one interval and one relist after
			// its beginning.
			from := max(snapshots.By(p.From)+int64(p.SumMin+p.SumMax), snapshots.By(p.To)-int64(p.Sum)+int64(p.SumMax))
			if from < last {
				b.high = append(b.high, bound{from: from, to: last, flat: p.SumMax + p.SumMin})
			}
			b.atMost(run, max(from, last), last-int64(p.SumMax))
		}
	}
}

// runAt returns the index of the kubelet run at a moment, -1 if unknown.
func (b *bounds) runAt(t int64) int {
	run := -1
	for i := range b.n.Runs {
		if b.n.Runs[i].First <= t {
			run = i
		}
	}
	return run
}

// restarts adds the intervals without an age: from the end of a process until the first
// relist of the next one has listed.
func (b *bounds) restarts() {
	first := make([]int64, len(b.n.Runs)) // per process: when its first relist that listed had done so
	for k := range b.n.Relists {
		if r := &b.n.Relists[k]; r.Run > 0 && r.Run < len(first) && first[r.Run] == 0 && r.HasListed() {
			first[r.Run] = seen(b.n, k)
		}
	}
	for i := 1; i < len(first); i++ {
		b.none = append(b.none, bound{from: b.n.Runs[i-1].Last, to: max(b.n.Runs[i].First, first[i])})
	}
}

// merge combines the bounds into spans.
func (b *bounds) merge(from, to int64) []Span {
	if to <= from {
		return nil
	}
	edges := append(make([]int64, 0, 2+2*(len(b.low)+len(b.high)+len(b.none))), from, to)
	for _, list := range [][]bound{b.low, b.high, b.none} {
		slices.SortStableFunc(list, func(x, y bound) int { return cmp.Compare(x.from, y.from) })
		for i := range list {
			edges = append(edges, list[i].from, list[i].to)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	low, high := active{all: b.low}, active{all: b.high, least: true}
	none, next := from, 0 // no age before
	var out []Span
	for i := 1; i < len(edges); i++ {
		f, t := max(edges[i-1], from), min(edges[i], to)
		if t <= f {
			continue
		}
		for ; next < len(b.none) && b.none[next].from <= f; next++ {
			none = max(none, b.none[next].to)
		}
		low.advance(f)
		high.advance(f)
		if none > f {
			continue
		}
		out = pieces(out, &low, &high, f, t)
	}
	return out
}

// pieces appends the spans from f to t, an interval in which the same bounds hold. It
// splits where a rising bound meets a flat one.
func pieces(out []Span, low, high *active, f, t int64) []Span {
	cuts := [4]int64{f, f, f, t}
	for i, a := range [2]*active{low, high} {
		if at := a.crossing(); at > f && at < t {
			cuts[1+i] = at
		}
	}
	slices.Sort(cuts[:])
	for i := 1; i < len(cuts); i++ {
		s := Span{From: cuts[i-1], To: cuts[i], High0: Unknown, High1: Unknown}
		if s.To == s.From {
			continue
		}
		s.Low0, s.Low1 = low.over(s.From, s.To)
		if !high.empty() {
			s.High0, s.High1 = high.over(s.From, s.To)
		}
		if k := len(out); k > 0 && out[k-1].joins(&s) {
			out[k-1].To, out[k-1].Low1, out[k-1].High1 = s.To, s.Low1, s.High1
			continue
		}
		out = append(out, s)
	}
	return out
}

// joins reports whether next continues s in a straight line.
func (s *Span) joins(next *Span) bool {
	goes := func(a0, a1, b0, b1 time.Duration) bool {
		if a0 == Unknown || b0 == Unknown {
			return a0 == b0
		}
		return a1 == b0 && (a1 > a0) == (b1 > b0)
	}
	return s.To == next.From && goes(s.Low0, s.Low1, next.Low0, next.Low1) && goes(s.High0, s.High1, next.High0, next.High1)
}

// active tracks the tightest bounds that hold at a moment.
type active struct {
	all          []bound // sorted by from
	next         int
	rising, flat heap
	least        bool // the smallest bound applies, otherwise the greatest
}

// advance moves to moment t.
func (a *active) advance(t int64) {
	for ; a.next < len(a.all) && a.all[a.next].from <= t; a.next++ {
		switch c := &a.all[a.next]; {
		case c.flat > 0 && a.least:
			a.flat.add(int64(c.flat), c)
		case c.flat > 0:
			a.flat.add(-int64(c.flat), c)
		case a.least:
			a.rising.add(-c.since, c)
		default:
			a.rising.add(c.since, c)
		}
	}
	a.rising.drop(t)
	a.flat.drop(t)
}

func (a *active) empty() bool { return len(a.rising) == 0 && len(a.flat) == 0 }

// over returns the bound at both ends of an interval in which one bound is the
// tightest.
func (a *active) over(f, t int64) (first, last time.Duration) {
	mid := f + (t-f)/2
	switch {
	case a.empty():
		return 0, 0
	case len(a.rising) == 0, len(a.flat) > 0 && a.least == (a.flat[0].at(mid) < a.rising[0].at(mid)):
		return a.flat[0].at(f), a.flat[0].at(t)
	}
	return a.rising[0].at(f), a.rising[0].at(t)
}

// crossing returns where the tightest rising bound meets the tightest flat one, 0 if
// nowhere.
func (a *active) crossing() int64 {
	if len(a.rising) == 0 || len(a.flat) == 0 {
		return 0
	}
	return a.rising[0].since + int64(a.flat[0].flat)
}

// heap holds bounds, the tightest first. Looser ones may have ended already.
type heap []ranked

type ranked struct {
	rank int64 // the tightest has the smallest
	*bound
}

func (h *heap) add(rank int64, c *bound) {
	*h = append(*h, ranked{rank, c})
	for m, i := *h, len(*h)-1; i > 0 && m[i].rank < m[(i-1)/2].rank; i = (i - 1) / 2 {
		m[i], m[(i-1)/2] = m[(i-1)/2], m[i]
	}
}

// drop removes bounds that ended by t until the first has not.
func (h *heap) drop(t int64) {
	for m := *h; len(m) > 0 && m[0].to <= t; *h = m {
		m[0] = m[len(m)-1]
		m = m[:len(m)-1]
		for i, k := 0, 1; k < len(m); i, k = k, 2*k+1 {
			if k+1 < len(m) && m[k+1].rank < m[k].rank {
				k++
			}
			if m[i].rank <= m[k].rank {
				break
			}
			m[i], m[k] = m[k], m[i]
		}
	}
}
