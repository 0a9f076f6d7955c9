package replay

import (
	"slices"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Clip leaves of a node what a stretch of time holds: since and until are Unix
// ns, 0 leaves that side open. Records, findings and totals are cut alike, so
// that everything said of the node is said of that stretch. What was concluded
// about a moment inside keeps the proof that lies outside: a line from before
// the window may date an episode in it.
func (n *Node) Clip(since, until int64) {
	f := host.Frame{Since: since, Until: until}
	n.Records.Clip(f)
	n.clipRelists(f)
	n.Episodes = slices.DeleteFunc(n.Episodes, func(e Episode) bool {
		return f.Out(max(e.Breach, e.LastStart.At), max(e.Recovered.At, e.LastReport))
	})
	n.Runs = slices.DeleteFunc(n.Runs, func(r Run) bool { return f.Out(r.First, max(r.Last, r.End.At)) })
	n.Bounded = slices.DeleteFunc(n.Bounded, func(b Bounded) bool { return f.Out(b.From, b.To) })
	n.Health = slices.DeleteFunc(n.Health, func(h HealthSpan) bool { return f.Out(h.From, h.To) })
	for i := range n.Health {
		cut(&n.Health[i].Span, f)
	}
	n.Ready = slices.DeleteFunc(n.Ready, func(r ReadyChange) bool { return f.Out(r.At, r.At) })
	n.Gaps = slices.DeleteFunc(n.Gaps, func(g LogGap) bool { return f.Out(g.From, g.To) })
	n.Lags = slices.DeleteFunc(n.Lags, func(l LogLag) bool { return f.Out(l.At, l.At) })
	n.Failures = slices.DeleteFunc(n.Failures, func(x Failure) bool { return f.Out(x.Start.At, x.End) })
	n.Requests = n.Requests.Without(func(r Request) bool { return f.Out(r.Start, r.End) })
	n.Observed = n.Observed.Without(func(e PodEvent) bool { return f.Out(e.At, e.At) })
	n.clipAudit(f)
	// Totals are those of the samples that are left.
	n.Proofs, n.Calls = MetricProofs(n.Series, n.Scrapes), CallSteps(n.Series)
	n.Ops = operations(n)
	n.Window.Start = max(n.Window.Start, since)
	if until != 0 {
		n.Window.End = min(n.Window.End, until)
	}
}

// cut ends a span at the sides of the frame.
func cut(s *Span, f host.Frame) {
	s.From = max(s.From, f.Since)
	if f.Until != 0 && (s.To == 0 || s.To > f.Until) {
		s.To = f.Until
	}
}

// clipRelists drops relists, and what was said of the seconds of those.
func (n *Node) clipRelists(f host.Frame) {
	var relists []Relist
	index := map[int]int{} // old to new
	for i := range n.Relists {
		if r := &n.Relists[i]; !f.Out(r.Start.At, r.End.At) {
			index[i] = len(relists)
			relists = append(relists, *r)
		}
	}
	n.Relists = relists
	n.Blame = slices.DeleteFunc(n.Blame, func(b Blame) bool { _, kept := index[b.Relist]; return !kept })
	for i := range n.Blame {
		n.Blame[i].Relist = index[n.Blame[i].Relist]
	}
}

// clipAudit drops events, and counts those that are left.
func (n *Node) clipAudit(f host.Frame) {
	a := &n.Audit
	a.Events = a.Events.Without(func(e PodEvent) bool { return f.Out(e.At, e.At) })
	a.ShortLived = slices.DeleteFunc(a.ShortLived, func(s ShortLived) bool { return f.Out(s.Started, s.Ended) })
	a.Observed, a.Missing, a.Late, a.Unexpected, a.Discarded = n.Observed.Len(), 0, 0, 0, 0
	matched := 0
	for _, e := range a.Events.All() {
		switch e.Status {
		case StatusMatched:
			matched++
		case StatusMissing:
			a.Missing++
		case StatusLate:
			a.Late++
		case StatusUnexpected:
			a.Unexpected++
		case StatusDiscarded:
			a.Discarded++
		}
	}
	a.Replayed = matched + a.Late + a.Missing
}
