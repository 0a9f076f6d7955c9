package replay

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// sampleSlack is how far the timestamp of a snapshot may be from the moment at which the kubelet counted, by
// the clock of its lines.
const sampleSlack = int64(time.Second)

// tally is an interval over which the relist counter has no break.
type tally struct {
	Span
	ended int
}

// RelistTotal bounds how many relists ran, at least partly, in all, the span that lines and snapshots cover.
// Between two snapshots as many ended as the counter grew. Elsewhere at least those ran that lines prove, and
// at most as many as fit given the pause after each. most is -1 if there is no upper bound: under evented PLEG,
// whose relists are not paced, and if nothing is dated.
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

// tallies joins consecutive steps of the counter.
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

// MayGoOn reports whether the relist after relist i may be the same one: nothing shows that relist i had ended,
// and both may have started at the same moment, or by clocks of which one was set back.
func (n *Node) MayGoOn(i int) bool {
	if i+1 >= len(n.Relists) {
		return false
	}
	r, next := &n.Relists[i], &n.Relists[i+1]
	if slices.ContainsFunc(n.backs, func(b Span) bool { return max(b.From, r.Start.Earliest()) <= min(b.To, next.Start.Latest()) }) {
		return !r.End.Known()
	}
	return !r.End.Known() && (r.Run == next.Run || r.Run < 0 || next.Run < 0) && next.Start.Earliest() < r.Start.Latest()
}

// ByLength returns relists by index: first the hung ones of unknown duration, hung in number, and then those of
// known duration, longest first. There may be a million.
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

// Distinct returns relists, by index, no two of which can be the same one. Of several that may be the same (a
// gauge shows that one began, counters that one ran), it returns one.
func (n *Node) Distinct() []int { return n.distinct(n.relistEnds()) }

// overlapMost limits how many earlier relists each one is compared with. A relist that overlaps more is assumed
// to be one of them.
const overlapMost = 1000

func (n *Node) distinct(ends []Span) []int {
	out := make([]int, 0, len(n.Relists))
	var of [2][]int           // indices by precision of the start: below a second, and others
	var late [2]time.Duration // largest slack of the starts in each class
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

// mayBeOne reports whether two relists may be the same: their starts, ends, runs and list results do not tell
// them apart.
func (n *Node) mayBeOne(i, k int, ends []Span) bool {
	a, b := &n.Relists[i], &n.Relists[k]
	over := func(x, y int) bool { // x was over before y began or ended
		r := &n.Relists[x]
		return r.End.Known() && r.End.Latest() < max(ends[y].From, n.Relists[y].Start.Earliest())
	}
	return max(a.Start.At-b.Start.At, b.Start.At-a.Start.At) < max(int64(a.Start.Slack+b.Start.Slack), 1) && !over(i, k) && !over(k, i) &&
		(a.Run == b.Run || a.Run < 0 || b.Run < 0) && (a.Listed == nil || b.Listed == nil || *a.Listed == *b.Listed)
}

// relistEnds returns bounds for the end of each relist: not before its start, nor after the start of the next
// one of its process.
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

// room returns how many relists may have run in an interval, including those that began before it or continued
// after it, given that each process pauses after each.
func (n *Node) room(ends []Span, in Span) int {
	period := int64(cmp.Or(n.Kubelet.Period, kubelet.GenericPeriod))
	most, from, run := 0, in.From, -2
	for i := range n.Runs {
		if f := n.Runs[i].First; i > 0 && f >= in.From && f <= in.To {
			most++ // a new process does not wait for the one before
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
