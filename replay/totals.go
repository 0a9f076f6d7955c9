package replay

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// sampleSlack is how far the time of a snapshot may be from the moment at which the
// kubelet counted, by the clock of its lines.
const sampleSlack = int64(time.Second)

// tally is a stretch over which the counter of relists goes on without a break.
type tally struct {
	Span
	ended int
}

// RelistTotal bounds how many relists ran, at least in part, from the first to the last
// moment that lines or snapshots speak of, which it returns. Between two snapshots as many ended as the counter
// grew; elsewhere at least those that lines prove, and at most as many as the pause
// after each leaves room for. most is -1 where nothing bounds them: under the evented
// PLEG, which relists at will, and where nothing is dated.
func (n *Node) RelistTotal() (all Span, least, most int) {
	tallies := n.tallies()
	ends := n.relistEnds()
	all = Span{From: n.Window.Start, To: n.Window.End}
	for _, t := range tallies {
		all = Span{From: min(all.From, t.From), To: max(all.To, t.To)}
	}
	if len(ends) > 0 {
		all = Span{From: min(all.From, n.Relists[0].Start.At), To: max(all.To, ends[len(ends)-1].From)}
	}
	in := func(s Span) bool {
		return slices.ContainsFunc(tallies, func(t tally) bool { return s.To > t.From-sampleSlack && s.From < t.To+sampleSlack })
	}
	counted, outside, lines := 0, 0, 0
	for _, t := range tallies {
		counted += t.ended
	}
	for _, i := range n.distinct(ends) {
		if lines++; !in(ends[i]) {
			outside++
		}
	}
	for _, b := range n.Bounded {
		if b.Counted || b.From < all.From || b.To > all.To {
			continue
		}
		lines += b.CountMin
		if !in(Span{From: b.From, To: b.To}) {
			outside += b.CountMin
		}
	}
	least = max(lines, counted+outside)
	if n.Window.Start == 0 || n.Kubelet.EventedSends() {
		return all, least, -1
	}
	most = counted
	from := all.From
	for _, t := range tallies {
		most += n.room(ends, Span{From: from, To: max(from, t.From+sampleSlack)})
		from = t.To - sampleSlack
	}
	return all, least, max(least, most+n.room(ends, Span{From: from, To: max(from, all.To)}))
}

// tallies joins the steps of the counter that follow each other.
func (n *Node) tallies() []tally {
	var out []tally
	for i := range n.Proofs {
		p := &n.Proofs[i]
		switch last := len(out) - 1; {
		case p.Kind != ProofCount || p.Count < 0:
		case last >= 0 && out[last].To == p.From:
			out[last].To, out[last].ended = p.To, out[last].ended+p.Count
		case last < 0 || p.From > out[last].To:
			out = append(out, tally{Span{From: p.From, To: p.To}, p.Count})
		}
	}
	return out
}

// MayGoOn reports whether the relist after the one with index i may be that one: nothing
// tells that it had ended, and the starts of both may be the same moment.
func (n *Node) MayGoOn(i int) bool {
	if i+1 >= len(n.Relists) {
		return false
	}
	r, next := &n.Relists[i], &n.Relists[i+1]
	return !r.End.Known() && (r.Run == next.Run || r.Run < 0 || next.Run < 0) && next.Start.Earliest() < r.Start.Latest()
}

// ByLength are the relists by index: those that hung, of a length that is not known, and
// then those of a known one, the longest first. There may be a million.
func (n *Node) ByLength() (all []int, hung int) {
	var known []int
	for i := range n.Relists {
		if _, ok := n.Relists[i].Duration(); ok {
			known = append(known, i)
		} else if n.Relists[i].Outcome == OutcomeHung {
			all = append(all, i)
		}
	}
	length := func(i int) time.Duration { d, _ := n.Relists[i].Duration(); return d }
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(length(b), length(a)) })
	return append(all, known...), len(all)
}

// Distinct are the relists, by index, of which no two can be one and the same: of several
// that may be, as where a gauge tells that one began and counters that one ran, it holds
// one.
func (n *Node) Distinct() []int { return n.distinct(n.relistEnds()) }

// overlapMost is with how many others a relist is held against; one that may overlap more
// is taken for one of them.
const overlapMost = 1000

func (n *Node) distinct(ends []Span) []int {
	out := make([]int, 0, len(n.Relists))
	var of [2][]int           // of these: those of which the start is known to a second, others
	var late [2]time.Duration // and how far off it may be
	for i := range n.Relists {
		r := &n.Relists[i].Start
		one := false
		for c := range of {
			for k := len(of[c]) - 1; k >= 0 && !one && n.Relists[of[c][k]].Start.At+int64(late[c]+r.Slack) >= r.At; k-- {
				one = len(of[c])-k > overlapMost || n.mayBeOne(of[c][k], i, ends)
			}
		}
		if !one {
			c := min(int(r.Slack/time.Second), 1)
			out, of[c], late[c] = append(out, i), append(of[c], i), max(late[c], r.Slack)
		}
	}
	return out
}

// mayBeOne reports whether nothing parts two relists: neither when they began and ended,
// nor whether they listed pods.
func (n *Node) mayBeOne(i, k int, ends []Span) bool {
	a, b := &n.Relists[i], &n.Relists[k]
	over := func(x, y int) bool { // the one was over before the other began, or ended
		r := &n.Relists[x]
		return r.End.Known() && r.End.Latest() < max(ends[y].From, n.Relists[y].Start.Earliest())
	}
	return max(a.Start.At-b.Start.At, b.Start.At-a.Start.At) < max(int64(a.Start.Slack+b.Start.Slack), 1) && !over(i, k) && !over(k, i) &&
		(a.Run == b.Run || a.Run < 0 || b.Run < 0) && (a.Listed == nil || b.Listed == nil || *a.Listed == *b.Listed)
}

// relistEnds is within what each proven relist ended: not before its start, nor after
// the start of the next one of its process.
func (n *Node) relistEnds() []Span {
	out := make([]Span, len(n.Relists))
	for i := range n.Relists {
		r := &n.Relists[i]
		took, _ := n.Lasted(i)
		s := Span{From: r.Start.Earliest() + int64(took), To: math.MaxInt64}
		switch {
		case r.End.Known():
			s.From, s.To = max(r.End.Earliest(), r.Start.Earliest()), r.End.Latest()
		case i+1 < len(n.Relists) && n.Relists[i+1].Run == r.Run && !n.MayGoOn(i):
			next := &n.Relists[i+1].Start
			s.To = max(s.From, next.Latest())
		}
		out[i] = s
	}
	return out
}

// room is how many relists there may have been in a stretch, those included that began
// before it or went on after it: each process pauses after each of them.
func (n *Node) room(ends []Span, in Span) int {
	period := int64(cmp.Or(n.Kubelet.Period, kubelet.GenericPeriod))
	most, from, run := 0, in.From, -2
	for i := range n.Runs {
		if f := n.Runs[i].First; i > 0 && f >= in.From && f <= in.To {
			most++ // it does not wait for the one before
		}
	}
	for i, e := range ends {
		r := &n.Relists[i]
		if e.To < in.From || r.Start.Earliest() > in.To {
			continue
		}
		between := int((r.Start.Latest() - from) / period)
		if run == r.Run {
			between-- // a pause on either side
		}
		most += max(between, 0) + 1
		from, run = max(from, e.From), r.Run
	}
	if run == -2 {
		return most + int((in.To-in.From)/period) + 1
	}
	return most + max(int((in.To-from)/period), 0)
}
