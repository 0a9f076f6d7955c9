package model

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/curves"
)

func (c *Cleaner) history(n *Analyzed) *History {
	h := &History{Name: c.Name(n.Name), Relists: c.relists(n.Node), Bounded: []Bounded{}, Health: c.health(n.Health), Ready: []Ready{}, Runs: []Run{}, Gaps: []Gap{},
		Failed: []FailedCall{}, Events: c.events(n.Audit.Events), Requests: c.requests(n.Requests), Lines: c.lines(n.Events), Charts: func() []Chart { return c.charts(n.Node) }, Ages: func() []Age { return ages(n.Node) }}
	for _, b := range n.Bounded {
		x := Bounded{Span: Span{Time(b.From), Time(b.To)}, Min: b.CountMin, Max: b.CountMax, Long: b.Long, Silent: b.Silent, Evidence: c.Proof(b.Evidence)}
		if b.Sum > 0 {
			x.Sum = Long(b.Sum)
		}
		h.Bounded = append(h.Bounded, x)
	}
	for _, x := range n.Ready {
		r := Ready{Time: Time(x.At), Ready: x.Ready, Reason: c.Text(x.Reason)}
		if x.Record != nil {
			e := c.evidence(x.Evidence)
			r.Evidence = &e
		}
		h.Ready = append(h.Ready, r)
	}
	for i := range n.Runs {
		r := &n.Runs[i]
		h.Runs = append(h.Runs, Run{r.PID, Time(r.Start.At), Time(r.End.At), c.known(r.Version), Time(r.First), Time(r.Last), c.Proof(r.Evidence)})
	}
	for _, g := range n.Gaps {
		h.Gaps = append(h.Gaps, Gap{Span{Time(g.From), Time(g.To)}, c.Text(g.Why), c.Proof(g.Evidence)})
	}
	for i := range n.Failures {
		f := &n.Failures[i]
		h.Failed = append(h.Failed, FailedCall{c.Text(f.Call), c.Text(f.Code), f.Scope, c.Name(f.Pod), c.Text(f.ObjectID()), Time(f.Start.At), slack(f.Start), Time(f.End), c.Proof(f.Evidence)})
	}
	return h
}

func (c *Cleaner) health(in []replay.HealthSpan) []Health {
	out := []Health{}
	for _, x := range in {
		out = append(out, Health{Span{Time(x.From), Time(x.To)}, string(x.State)})
	}
	return out
}

// relists are the proven relists. The kubelet runs one at a time, so each is
// over by the start of the next one; the last is open if it hangs at the end of
// the input.
func (c *Cleaner) relists(n *replay.Node) []Relist {
	out := make([]Relist, 0, len(n.Relists))
	for i := range n.Relists {
		r := &n.Relists[i]
		x := Relist{Start: Time(r.Start.At), StartSlack: slack(r.Start), End: Time(r.End.At), EndSlack: slack(r.End), Outcome: string(r.Outcome),
			Listed: r.Listed, Basis: append([]string{}, r.Basis...), Evidence: c.Proof(r.Evidence), ListEnd: Time(r.ListEnd.At), Until: Time(r.End.At)}
		if d, ok := r.Duration(); ok {
			x.Duration = Long(d)
		}
		x.Least, _ = n.Lasted(i)
		out = append(out, x)
	}
	next := Time(0)
	for i := len(out) - 1; i >= 0; i-- {
		r := &out[i]
		if r.Until == 0 {
			r.Until = next
			r.Open = next == 0 && r.Outcome == string(replay.OutcomeHung) && !recoveredAfter(n, r.Start)
		}
		if r.Start != 0 {
			next = r.Start
		}
	}
	return out
}

// recoveredAfter reports whether the last episode was over after a moment.
func recoveredAfter(n *replay.Node, at Time) bool {
	k := len(n.Episodes)
	return k > 0 && n.Episodes[k-1].Recovered.Known() && n.Episodes[k-1].Recovered.At > int64(at)
}

// longestShown is how many relists "longest" lists; knownShare is the share of
// relists whose length must be known for quantiles to be told.
const (
	longestShown = 10
	knownShare   = 0.95
)

func relistStats(h *History) RelistStats {
	out := RelistStats{Proven: len(h.Relists), Bounded: len(h.Bounded), CountMin: len(h.Relists), CountMax: len(h.Relists), Longest: []Relist{}}
	for _, b := range h.Bounded {
		out.CountMin += b.Min
		out.CountMax += b.Max
	}
	length := func(r Relist) float64 {
		if r.Duration == nil {
			return math.Inf(1) // one that hung leads
		}
		return *r.Duration
	}
	all := slices.DeleteFunc(slices.Clone(h.Relists), func(r Relist) bool { return r.Duration == nil && r.Outcome != string(replay.OutcomeHung) })
	slices.SortStableFunc(all, func(a, b Relist) int { return cmp.Compare(length(b), length(a)) })
	out.Longest = append(out.Longest, all[:min(len(all), longestShown)]...)
	known := slices.DeleteFunc(all, func(r Relist) bool { return r.Duration == nil })
	slices.Reverse(known)
	if out.Known = len(known); out.Known > 0 {
		out.Max = known[out.Known-1].Duration
		if float64(out.Known) >= knownShare*float64(out.CountMax) {
			out.P50, out.P99 = known[rank(out.Known, 50)].Duration, known[rank(out.Known, 99)].Duration
		}
	}
	return out
}

// rank is the index of the p-th percentile of n ascending values: a value that
// occurred, never an interpolation.
func rank(n, p int) int { return max((n*p+99)/100-1, 0) }

func (c *Cleaner) events(es replay.PodEvents) Seq[PodEvent] {
	return Seq[PodEvent]{es.Len(), func(yield func(PodEvent) bool) {
		for _, e := range es.All() {
			x := PodEvent{Time: Time(e.At), PodUID: c.known(e.PodUID), Type: c.known(e.Type), Data: c.known(e.Data), Status: e.Status,
				RuntimeTime: Time(e.RuntimeTime), ExitCode: e.ExitCode, Evidence: c.Proof(e.Evidence())}
			if e.Pod != "" {
				pod := c.Name(e.Pod)
				x.Pod = &pod
			}
			if e.HasLag {
				x.Lag = Number(Seconds(e.Lag))
			}
			if !yield(x) {
				return
			}
		}
	}}
}

func (c *Cleaner) requests(rs replay.Requests) Seq[Request] {
	return Seq[Request]{rs.Len(), func(yield func(Request) bool) {
		for _, r := range rs.All() {
			what := " container"
			if r.Sandbox {
				what = " sandbox"
			}
			x := Request{r.Op + what, c.Name(r.Pod), c.Text(r.ID), Time(r.Start), Time(r.End), Cut(c.Text(r.Err), 200), c.Proof(r.Evidence())}
			if !yield(x) {
				return
			}
		}
	}}
}

func (c *Cleaner) charts(n *replay.Node) []Chart {
	var out []Chart
	for _, x := range curves.Of(n) {
		chart := Chart{Name: x.Name, Unit: x.Unit, Gap: Seconds(x.Gap), Evidence: func(i int) Proof { return c.record(x.Points[i].By) }}
		for _, p := range x.Points {
			chart.At, chart.Value = append(chart.At, Time(p.At)), append(chart.Value, Number(p.Value))
		}
		out = append(out, chart)
	}
	return out
}

func ages(n *replay.Node) []Age {
	var out []Age
	for _, s := range age.Of(n) {
		a := Age{Span: Span{Time(s.From), Time(s.To)}, Low: [2]float64{s.Low0.Seconds(), s.Low1.Seconds()}}
		if s.High0 != age.Unknown {
			a.High, a.Bounded = [2]float64{s.High0.Seconds(), s.High1.Seconds()}, true
		}
		out = append(out, a)
	}
	return out
}

// lines are the dated known messages.
func (c *Cleaner) lines(es []*parse.Event) Seq[Line] {
	return Seq[Line]{len(es), func(yield func(Line) bool) {
		for _, e := range es {
			if e.Basis == parse.NoTime {
				continue
			}
			x := Line{At: Time(e.At), Source: cmp.Or(c.Text(string(e.Origin.Source)), "other"), Severity: max(e.Severity, 'A'), Bulk: bulk(e)}
			if !x.Bulk {
				x.IDs, x.Evidence = ids(e.Sigs), c.record(e)
			}
			if !yield(x) {
				return
			}
		}
	}}
}

func bulk(e *parse.Event) bool {
	for _, s := range e.Sigs.Sigs {
		if !s.Bulk {
			return false
		}
	}
	return true
}

func ids(s *parse.SigSet) string {
	var names []string
	for _, g := range s.Sigs {
		names = append(names, g.ID)
	}
	return strings.Join(names, ", ")
}

func (c *Cleaner) audited(n *Analyzed) NodeEvents {
	a := &n.Audit
	out := NodeEvents{c.Name(n.Name), c.events(a.Events), Audit{a.Audited, a.Observed, a.Replayed, a.Missing, a.Late, a.Unexpected, a.Discarded, c.Texts(a.Notes)}, []ShortLived{}}
	for _, s := range a.ShortLived {
		out.ShortLived = append(out.ShortLived, ShortLived{c.Text(s.ID), c.Name(s.Pod), Time(s.Started), Time(s.Ended), c.Proof(s.Evidence)})
	}
	return out
}

// Events is the events document of a report.
func (r *Report) Events() *Events {
	out := &Events{Schema: SchemaName("events"), Nodes: []NodeEvents{}}
	for _, n := range r.Nodes {
		out.Nodes = append(out.Nodes, n.Audited)
	}
	return out
}

// Timeline is the timeline document of a report.
func (r *Report) Timeline() *Timeline {
	out := &Timeline{Schema: SchemaName("timeline"), Nodes: []*History{}}
	for _, n := range r.Nodes {
		out.Nodes = append(out.Nodes, n.History)
	}
	return out
}
