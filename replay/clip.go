package replay

import (
	"fmt"
	"slices"

	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Clip reduces the node to a time window: since and until are Unix ns, 0 leaves that side open. Records,
// findings and totals are cut alike, so that everything reported about the node applies to the window.
// Conclusions about a moment inside keep their proof even if it lies outside: a line from before the window may
// date an episode in it.
//
// It returns the new index of each remaining relist by its old one. Anything that needs the whole node, such as
// the audit, must be computed before.
func (n *Node) Clip(since, until int64) (kept map[int]int) {
	f := host.Frame{Since: since, Until: until}
	n.Records.Clip(f)
	var relists []Relist
	kept = map[int]int{}
	for i := range n.Relists {
		if r := &n.Relists[i]; !f.Out(r.Start.At, r.End.At) {
			kept[i], relists = len(relists), append(relists, *r)
		}
	}
	n.Relists = relists
	n.Episodes = slices.DeleteFunc(n.Episodes, func(e Episode) bool {
		return f.Out(max(e.Breach, e.LastStart.At), max(e.Recovered.At, e.LastReport))
	})
	n.clipRuns(f)
	n.Bounded = slices.DeleteFunc(n.Bounded, func(b Bounded) bool { return f.Out(b.From, b.To) })
	n.Health = slices.DeleteFunc(n.Health, func(h HealthSpan) bool { return f.Out(h.From, h.To) })
	n.Claims = slices.DeleteFunc(slices.Clone(n.Claims), func(c Claim) bool { return f.Out(c.From, c.To) })
	for i := range n.Health {
		cut(&n.Health[i].Span, f)
	}
	n.Ready = slices.DeleteFunc(n.Ready, func(r ReadyChange) bool { return f.Out(r.At, r.At) })
	n.Gaps = slices.DeleteFunc(n.Gaps, func(g LogGap) bool { return f.Out(g.From, g.To) })
	n.Lags = slices.DeleteFunc(n.Lags, func(l LogLag) bool { return f.Out(l.At, l.At) })
	n.Failures = slices.DeleteFunc(n.Failures, func(x Failure) bool { return f.Out(x.Start.At, x.End) })
	n.Requests = n.Requests.Without(func(r Request) bool { return f.Out(r.Start, r.End) })
	n.Observed = n.Observed.Without(func(e PodEvent) bool { return f.Out(e.At, e.At) })
	// Recompute the totals from the remaining samples. What a process had counted before its first remaining
	// sample may be from before the window.
	series := snapshots.OfKubelet(n.Series)
	had := map[string]bool{} // proofs before the cut: those that a line contradicts must not reappear
	key := func(p *MetricProof) string { return fmt.Sprint(p.Kind, p.From, p.To) }
	for i := range n.Proofs {
		had[key(&n.Proofs[i])] = true
	}
	n.Proofs = slices.DeleteFunc(MetricProofs(series, n.Scrapes), func(p MetricProof) bool {
		return p.Whole && p.From < since || (p.Kind == ProofStart || p.Kind == ProofPaced) && !had[key(&p)]
	})
	n.Calls = slices.DeleteFunc(CallSteps(series), func(s CallStep) bool { return s.Whole && s.From < since })
	n.Ops = snapshots.Operations(series, n.Calls, n.Failures)
	n.Window.Start = max(n.Window.Start, since)
	if n.Window.Lines.To != 0 {
		cut(&n.Window.Lines, f)
	}
	if until != 0 {
		n.Window.End = min(n.Window.End, until)
	}
	return kept
}

// clipRuns removes the runs outside the frame. Relists and episodes keep the index of their run, or get -1 if it
// was removed.
func (n *Node) clipRuns(f host.Frame) {
	now := make([]int, len(n.Runs))
	var runs []Run
	var asked generator.All
	for i, r := range n.Runs {
		if now[i] = -1; f.Out(r.First, max(r.Last, r.End.At)) {
			continue
		}
		now[i], runs = len(runs), append(runs, r)
		if i < len(n.asked) {
			asked = append(asked, n.asked[i])
		}
	}
	n.Runs, n.asked = runs, asked
	move := func(run *int) {
		if *run >= 0 && *run < len(now) {
			*run = now[*run]
		}
	}
	for i := range n.Relists {
		move(&n.Relists[i].Run)
	}
	for i := range n.Episodes {
		move(&n.Episodes[i].Run)
	}
}

// cut limits a span to the frame.
func cut(s *Span, f host.Frame) {
	s.From = max(s.From, f.Since)
	if f.Until != 0 && (s.To == 0 || s.To > f.Until) {
		s.To = f.Until
	}
}
