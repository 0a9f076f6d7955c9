package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Clip reduces the node to a time window: since and until are Unix ns, 0 leaves that side open. Records,
// findings and totals are cut alike, so that everything reported about the node applies to the window.
// Conclusions about a moment inside keep their proof even if it lies outside: a line from before the window may
// date an episode in it.
//
// A relist or an episode that ends after the window is open at its end.
//
// It returns the new index of each remaining relist that ended in the window by its old one. Anything that needs the whole node, such as
// the audit, must be computed before.
func (n *Node) Clip(since, until int64) (kept map[int]int) {
	f := host.Frame{Since: since, Until: until}
	n.Records.Clip(f)
	var relists []Relist
	kept = map[int]int{}
	for i := range n.Relists {
		if r := &n.Relists[i]; !f.Out(r.Start.At, r.End.At) {
			if until != 0 && r.End.Known() && r.End.Earliest() > until {
				relists = append(relists, running(*r, until)) // where its time went is not known yet
				continue
			}
			kept[i], relists = len(relists), append(relists, *r)
		}
	}
	n.Relists = relists
	n.Episodes = slices.DeleteFunc(n.Episodes, func(e Episode) bool {
		return f.Out(max(e.Breach, e.LastStart.At), max(e.Recovered.Earliest(), e.LastReport))
	})
	n.clipEpisodes(f)
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
	n.Failures = slices.DeleteFunc(n.Failures, func(x Failure) bool { return f.Out(x.End, x.End) })
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

// running returns what was known of a relist at a moment at which it still ran.
func running(r Relist, at int64) Relist {
	if !r.ListEnd.Known() || r.ListEnd.Latest() > at {
		r.ListEnd, r.Listed = Instant{}, nil
	}
	r.End, r.Took, r.TookSlack, r.Outcome = Instant{}, 0, 0, OutcomeUnknown
	if at-r.Start.Latest() >= int64(LongRelist) {
		r.Outcome, r.Seen = OutcomeHung, at
	}
	r.Evidence = shownBy(r.Evidence, at)
	return r
}

// shownBy returns the evidence that was there at a moment; all of it if that is none, or for the moment 0.
func shownBy(all []Evidence, at int64) []Evidence {
	shown := slices.DeleteFunc(slices.Clone(all), func(x Evidence) bool { return at != 0 && x.Record != nil && x.Record.When().At > at })
	if len(shown) == 0 {
		return all
	}
	return shown
}

// clipEpisodes leaves of the episodes what is known by the end of the frame: one that recovers later is open, and its
// last report and greatest age are those inside. The clipped records tell of the reports; an episode whose only
// reports came later keeps its breach.
func (n *Node) clipEpisodes(f host.Frame) {
	late := func(at int64) bool { return f.Until != 0 && at > f.Until }
	n.Episodes = slices.Clone(n.Episodes)
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if late(e.Recovered.At) {
			e.Recovered, e.RecoveredBasis = Instant{}, "the window ends before PLEG is shown to be healthy again"
		}
		if e.NotReady != nil && late(e.NotReady.From) {
			e.NotReady = nil
		} else if e.NotReady != nil && late(e.NotReady.To) {
			e.NotReady = &Span{From: e.NotReady.From}
		}
		e.LastStarts = slices.DeleteFunc(slices.Clone(e.LastStarts), func(s Instant) bool { return late(s.Earliest()) })
		e.Evidence = shownBy(e.Evidence, f.Until)
		clipBasis(e, f)
		if e.LastReport != 0 && (late(e.LastReport) || e.FirstReport < f.Since) {
			n.clipReports(e)
		}
	}
}

// clipBasis counts only failures inside the frame. That the relist was stuck in this step stays true.
func clipBasis(e *Episode, f host.Frame) {
	inside := slices.DeleteFunc(slices.Clone(e.Counted), func(at int64) bool { return f.Out(at, at) })
	noun := "call"
	if e.StuckStep == StepList {
		noun = "relist"
	}
	switch n := len(inside); {
	case n == len(e.Counted):
	case n == 0:
		e.StepBasis = "the lines that show it are outside the window"
	default:
		e.StepBasis = strings.Replace(e.StepBasis, parse.Plural(len(e.Counted), noun), parse.Plural(n, noun), 1)
	}
	e.Counted = inside
}

// clipReports takes the reports of an episode anew from the clipped records.
func (n *Node) clipReports(e *Episode) {
	from, to := e.FirstReport, e.LastReport
	peak, reports, nevers := *e, 0, 0
	e.FirstReport, e.LastReport, e.PeakAge, e.Peak = 0, 0, 0, Evidence{}
	see := func(r parse.Record, age time.Duration) {
		at := r.When().At
		e.FirstReport, e.LastReport = min(cmp.Or(e.FirstReport, at), at), max(e.LastReport, at)
		if age > e.PeakAge {
			e.PeakAge, e.Peak = age, Evidence{Record: r, Note: "last seen active " + parse.Least(age) + " before this line, the longest age stated"}
		}
	}
	for _, x := range n.Events {
		if x.Basis == parse.NoTime || x.At < from || x.At > to {
			continue
		}
		if age, err := time.ParseDuration(x.Field("age")); err == nil && x.Is(parse.SigAge) && age <= peak.PeakAge {
			reports++
			see(x, age)
		} else if x.Is(parse.SigNever) && e.Never {
			nevers++
			see(x, 0)
		}
	}
	e.Reports, e.NeverReports = min(e.Reports, reports), min(e.NeverReports, nevers)
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
