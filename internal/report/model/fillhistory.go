package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/age"
	"github.com/plegforensics/plegforensics/replay/audit"
	"github.com/plegforensics/plegforensics/replay/curves"
	"github.com/plegforensics/plegforensics/rules"
)

func (n *Analyzed) ages() []age.Span { return age.Of(n.Node) }

func (c *Cleaner) history(n *Analyzed) *History {
	ages := n.ages
	if len(n.Episodes) > 0 { // they need them at once
		all := n.ages()
		ages = func() []age.Span { return all }
	}
	return &History{Name: c.name(n.Name), Told: c.episodes(n, ages), Relists: c.relists(n.Node), Bounded: list(n.Bounded, c.bounded), Health: list(n.Health, healthOf),
		Ready: list(n.Ready, func(x replay.ReadyChange) Ready { return c.ready(x, n.Unready) }), Runs: list(n.Runs, c.run), Gaps: list(n.Gaps, c.gap), Failed: seqOf(slices.All(n.Failures), c.failed), OnDemand: c.onDemand(n.Node),
		Events: seqOf(n.Audit.Events.All(), c.event), Requests: seqOf(n.Requests.All(), c.request), Lines: c.lines(n.Events),
		Curves: func() []curves.Curve { return curves.Of(n.Node) }, Ages: ages, Cite: c.record}
}

func (c *Cleaner) bounded(b replay.Bounded) Bounded {
	return Bounded{Span{Time(b.From), Time(b.To)}, b.CountMin, b.CountMax, Longer(b.Sum), b.Long, b.Silent, c.Proof(b.Evidence)}
}

func healthOf(x replay.HealthSpan) Health {
	return Health{Span{Time(x.From), Time(x.To)}, string(x.State)}
}

func (c *Cleaner) ready(x replay.ReadyChange, down []rules.Unready) Ready {
	out := Ready{Time: Time(x.At), Ready: x.Ready, Reason: c.text(x.Reason), Evidence: c.Proof([]replay.Evidence{x.Evidence}).Best()}
	for _, u := range down {
		if !x.Ready && u.From == x.At {
			out.Why = c.text(u.Why)
		}
	}
	return out
}

func (c *Cleaner) run(r replay.Run) Run {
	return Run{r.PID, Time(r.Start.At), Time(r.End.At), c.known(r.Version), Time(r.First), Time(r.Last), c.Proof(r.Evidence)}
}

func (c *Cleaner) gap(g replay.LogGap) Gap {
	return Gap{Span{Time(g.From), Time(g.To)}, c.text(g.Why), c.Proof(g.Evidence)}
}

func (c *Cleaner) failed(f replay.Failure) FailedCall {
	return FailedCall{c.text(f.Call), c.text(f.Code), f.Scope, c.name(f.Pod), c.text(f.ObjectID()), Time(f.Start.At), slack(f.Start), Time(f.End), c.Proof(f.Evidence)}
}

// relists returns the proven relists. There may be a million, so they are made on demand.
func (c *Cleaner) relists(n *replay.Node) Seq[Relist] {
	return func(yield func(Relist) bool) {
		for i, one := 0, n.Distinct(); i < len(n.Relists) && yield(c.relist(n, one, i)); i++ {
		}
	}
}

// relist converts the i-th relist; distinct holds the sorted indexes of those known to be separate
// relists. The kubelet runs one relist at a time, so each is over when the next starts; the last is
// open if it still hangs at the end of the input.
func (c *Cleaner) relist(n *replay.Node, distinct []int, i int) Relist {
	r := &n.Relists[i]
	x := Relist{Start: Time(r.Start.At), StartSlack: slack(r.Start), End: Time(r.End.At), EndSlack: slack(r.End), Outcome: string(r.Outcome),
		Listed: r.Listed, Basis: append([]string{}, r.Basis...), Evidence: c.Proof(r.Evidence), ListEnd: Time(r.ListEnd.At), Until: Time(r.End.At + int64(r.End.Slack)), By: strings.Join(r.Basis, ", ")}
	if _, sole := slices.BinarySearch(distinct, i); !sole {
		x.May, x.By = true, x.By+", may be another row"
	}
	if d, ok := r.Duration(); ok {
		x.Duration, x.LongSlack = Long(d), Long(r.Slack())
	}
	if x.Least, _ = n.Lasted(i); x.Duration == nil && x.Least > 0 {
		x.AtLeast = Long(x.Least)
	}
	if x.Until == 0 {
		next := Time(0)
		if j := slices.IndexFunc(n.Relists[i+1:], func(r replay.Relist) bool { return r.Start.Known() }); j >= 0 {
			next = Time(n.Relists[i+1+j].Start.Latest())
		}
		if x.Open = next == 0 && n.StillRuns(i); !n.MayGoOn(i) {
			x.Until = next
		}
	}
	return x
}

// longestShown is the length of RelistStats.Longest. knownShare is the share of relists whose
// duration must be known before quantiles are given.
const (
	longestShown = 10
	knownShare   = 0.95
)

func (c *Cleaner) relistStats(n *replay.Node) RelistStats {
	one, out := n.Distinct(), RelistStats{Bounded: len(n.Bounded), Longest: []Relist{}}
	_, least, most := n.RelistTotal()
	out.Proven, out.CountMin, out.CountMax = len(one), least, count(most)
	all, hung := n.ByLength()
	for _, i := range all[:min(len(all), longestShown)] {
		out.Longest = append(out.Longest, c.relist(n, one, i))
	}
	if known := all[hung:]; len(known) > 0 {
		longest := c.relist(n, one, known[0])
		out.Known, out.MaxOf, out.Max = len(known), &longest, longest.Duration
		if slices.Reverse(known); most >= 0 && float64(out.Known) >= knownShare*float64(most) {
			out.P50, out.P99 = c.relist(n, one, known[rank(out.Known, 50)]).Duration, c.relist(n, one, known[rank(out.Known, 99)]).Duration
		}
	}
	return out
}

// rank returns the index of the p-th percentile in n ascending values. It is nearest-rank: the
// percentile is a value that occurred, never an interpolation.
func rank(n, p int) int { return max((n*p+99)/100-1, 0) }

func (c *Cleaner) event(e replay.PodEvent) PodEvent {
	return PodEvent{Time: Time(e.At), PodUID: c.known(e.PodUID), Pod: c.knownName(e.Pod), Type: c.known(e.Type), Data: c.known(e.Data), Status: e.Status,
		RuntimeTime: Time(e.RuntimeTime), ExitCode: e.ExitCode, Lag: Given(e.HasLag, Seconds(e.Lag)), Evidence: c.Proof(e.Evidence())}
}

func (c *Cleaner) request(r replay.Request) Request {
	what := map[bool]string{false: " container", true: " sandbox"}[r.Sandbox]
	return Request{r.Op + what, c.name(r.Pod), c.text(r.ID), Time(r.Start), Time(r.End), Cut(c.text(r.Err), 200), c.Proof(r.Evidence())}
}

// lines returns the dated known messages.
func (c *Cleaner) lines(es []*parse.Event) Seq[Line] {
	return func(yield func(Line) bool) {
		for _, e := range es {
			if e.Basis == parse.NoTime {
				continue
			}
			x := Line{At: Time(e.At), Source: cmp.Or(c.text(string(e.Origin.Source)), "other"), Severity: max(e.Severity, 'A'), Bulk: bulk(e)}
			if !x.Bulk {
				x.IDs, x.Evidence = ids(e.Sigs), c.record(e)
			}
			if !yield(x) {
				return
			}
		}
	}
}

func bulk(e *parse.Event) bool {
	return !slices.ContainsFunc(e.Sigs.Sigs, func(s *parse.Sig) bool { return !s.Bulk })
}

func ids(s *parse.SigSet) string {
	return strings.Join(list(s.Sigs, func(g *parse.Sig) string { return g.ID }), ", ")
}

func (c *Cleaner) audited(n *Analyzed) NodeEvents {
	counts := n.Audit.Counts
	counts.Notes = c.texts(counts.Notes)
	return NodeEvents{Name: c.name(n.Name), Events: seqOf(n.Audit.Events.All(), c.event), Audit: Audit(counts), ShortLived: list(n.Audit.ShortLived, c.shortLived)}
}

func (c *Cleaner) shortLived(s audit.ShortLived) ShortLived {
	return ShortLived{c.text(s.ID), c.name(s.Pod), Time(s.Started), Time(s.Ended), c.Proof(s.Evidence)}
}

// Events returns the events document of the report.
func (r *Report) Events() *Events {
	return &Events{SchemaName("events"), list(r.Nodes, func(n *Node) NodeEvents { return n.Audited })}
}

// Timeline returns the timeline document of the report.
func (r *Report) Timeline() *Timeline {
	return &Timeline{SchemaName("timeline"), list(r.Nodes, func(n *Node) *History { return n.History })}
}
