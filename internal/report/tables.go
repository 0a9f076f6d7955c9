package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// times formats times.
type times struct {
	date string // layout, with the day only if a node's records span several
	zone *time.Location
}

// clock formats a time, followed by the local time if requested.
func (t times) clock(at model.Time) string { return layout(at, t.date) + t.local(at) }

// second is clock without milliseconds, for wide tables.
func (t times) second(at model.Time) string {
	return layout(at, strings.TrimSuffix(t.date, ".000")) + t.local(at)
}

// local returns the local time in parentheses, with the day if it differs from UTC; "" if not
// requested.
func (t times) local(at model.Time) string {
	if t.zone == nil || at == 0 {
		return ""
	}
	there, l := at.UTC().In(t.zone), "15:04:05 MST"
	if there.Day() != at.UTC().Day() {
		l = time.DateOnly + " " + l
	}
	return there.Format(" (" + l + ")")
}

var utcWords = regexp.MustCompile(`(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)((?:\.\d+)?(?: UTC)?)(?:( to )(\d{4}-\d\d-\d\d )?(\d\d:\d\d:\d\d)( UTC)?)?`)

// prose inserts the local time after each UTC time in a sentence.
func (t times) prose(s string) string {
	return utcWords.ReplaceAllStringFunc(s, func(m string) string {
		g := utcWords.FindStringSubmatch(m)
		local := func(day, clock string) string {
			at, err := time.Parse(time.DateTime, day+" "+clock)
			if err != nil || !strings.HasSuffix(g[3]+g[7], "UTC") {
				return ""
			}
			return t.local(model.Time(at.UnixNano()))
		}
		return g[1] + " " + g[2] + g[3] + local(g[1], g[2]) + g[4] + g[5] + g[6] + g[7] + local(cmp.Or(strings.TrimSpace(g[5]), g[1]), g[6])
	})
}

// instant formats a time with its uncertainty, if that is significant.
func (t times) instant(at model.Time, slack *float64) string {
	return layout(at, t.date) + about(at, slack, time.Millisecond) + t.local(at)
}

// about formats the uncertainty of a time that is printed truncated to digit, including the error
// of truncation, rounded up. It is "" if the uncertainty is below half a digit or unknown.
func about(at model.Time, slack *float64, digit time.Duration) string {
	if slack == nil || model.Duration(slack) < digit/2 {
		return ""
	}
	return " ±" + parse.Slack(model.Duration(slack)+time.Duration(at)%digit, digit)
}

func (t times) episodes(n *model.Node) Section {
	s := Section{Title: "PLEG unhealthy", Columns: []string{"#", "last relist began", "breach", "recovered", "for", "peak age", "stuck in", "lines", "node NotReady"}}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		began, notReady := t.instant(e.LastRelistStart, e.Uncertainty), ""
		if e.NeverRelisted {
			began = "never since start"
		}
		if e.NotReady != nil {
			notReady = t.clock(e.NotReady.From) + " → " + t.clock(e.NotReady.To)
		}
		s.Row(e.ID, began, t.clock(e.Breach)+atLatest(e), by(e)+t.clock(e.Recovered), episodeLength(e), oldest(e), e.StuckStep, e.Reports, notReady)
	}
	return s
}

// episodeLength formats the time from breach to recovery, or a lower bound of it.
func episodeLength(e *model.Episode) string {
	less := max(model.Duration(e.RecoveredSlack), 0) + e.Skipped // how much shorter it may have been
	switch {
	case e.Breach == 0:
		return "?"
	case e.Recovered != 0 && e.AtLatest:
		return "≥ " + parse.Least(max(e.Recovered.Sub(e.Breach)-less, 0))
	case e.Recovered != 0:
		return parse.OrLess(e.Recovered.Sub(e.Breach), less)
	case e.LastReport > e.Breach:
		return "≥ " + parse.Least(max(e.LastReport.Sub(e.Breach)-e.Skipped, 0))
	}
	return "?"
}

// sections returns the tables of a node that follow its causes.
func (t times) sections(n *model.Node) []Section {
	return []Section{whatIf(n), t.breaches(n), t.longest(n), t.blame(n), operations(n), events(n), t.sources(n), t.gaps(n.History)}
}

// whatIf compares the history as it was with what it would have been.
func whatIf(n *model.Node) Section {
	s := Section{Title: "What if", Columns: []string{"what if", "PLEG", "longest relist"}}
	row := func(name, well string, a *model.WhatIf, side func(model.AnswerRow) float64) {
		measured := func(measure string) (lo, hi float64, open bool) {
			for _, r := range a.Table {
				switch strings.TrimPrefix(r.Measure, measure) {
				case "":
					lo, hi = side(r), side(r)
				case leastRow:
					lo, hi, open = side(r), side(r), true
				case mostRow:
					hi, open = side(r), false
				}
			}
			return lo, hi, open
		}
		least, most, _ := measured("stretches unhealthy")
		lo, hi, open := measured("time unhealthy")
		ill := parse.OrLess(model.Duration(&hi), model.Duration(&hi)-model.Duration(&lo))
		if open {
			ill = "at least " + parse.Least(model.Duration(&lo))
		}
		switch {
		case most == 0 && a.AtLeast:
			well = "no breach proven"
		case most == 0:
		case least == 0:
			well = "cannot be decided, unhealthy at most " + parse.Most(model.Duration(&hi))
		case most == 1:
			well = "unhealthy " + ill
		case least < most:
			well = fmt.Sprintf("unhealthy %s, %g to %g times", ill, least, most)
		default:
			well = fmt.Sprintf("unhealthy %s, %g times", ill, most)
		}
		lo, hi, _ = measured("longest relist")
		s.Row(name, well, parse.Between(model.Duration(&lo), model.Duration(&hi)))
	}
	for i := range n.WhatIf {
		a := &n.WhatIf[i]
		if i == 0 {
			row("as it was", "healthy", a, func(r model.AnswerRow) float64 { return r.Was })
		}
		row(a.Change, "stays healthy", a, func(r model.AnswerRow) float64 { return r.Would })
		for _, x := range a.Assumptions {
			if x = "assumed: " + x; !slices.Contains(s.Notes, x) {
				s.Notes = append(s.Notes, x)
			}
		}
	}
	return s
}

func (t times) breaches(n *model.Node) Section {
	s := Section{Title: "Thresholds crossed", Columns: []string{"severity", "rule", "from", "to", "value", "threshold", "where"}}
	for i := range n.Breaches {
		b := &n.Breaches[i]
		s.Row(Cell{Text: b.Severity, Class: "sev " + b.Severity}, b.Name(), t.second(b.Start)+about(b.Start, &b.StartSlack, time.Second), t.second(b.End)+about(b.End, &b.EndSlack, time.Second), valueOf(b), limitOf(b), place(b.Evidence.Best(), 30))
	}
	return s
}

// relists lists relists with what is known of each.
func (t times) relists(title string, rs model.Seq[model.Relist]) Section {
	s := Section{Title: title, Columns: []string{"start (UTC)", "±", "length", "outcome", "listed", "proof"}}
	rs.Each(func(r model.Relist) {
		listed := cmp.Or(known(r.Listed, func(l bool) string { return map[bool]string{true: "yes", false: "no"}[l] }), "?")
		s.Row(t.clock(r.Start), strings.TrimSpace(about(r.Start, r.StartSlack, time.Millisecond)), r.Length(), r.Outcome, listed, r.By)
	})
	return s
}

// shortRelist is the duration in seconds below which a relist is not listed as a long one.
const shortRelist = 2

// longest summarizes the number and durations of the relists and lists the long ones.
func (t times) longest(n *model.Node) Section {
	all := n.Relists.Longest
	if i := slices.IndexFunc(all, func(r model.Relist) bool { return r.Duration != nil && *r.Duration < shortRelist }); i >= 0 {
		all = all[:i]
	}
	s := t.relists("Relists", model.Seq[model.Relist](slices.Values(all)))
	x := &n.Relists
	if x.Proven+x.Bounded > 0 {
		var c clauses
		c.add(true, "%d proven", x.Proven)
		c.add(x.Bounded > 0, "%s with undated ones", parse.Plural(x.Bounded, "interval"))
		c.add(x.CountMax == nil, "at least %s in all", parse.Plural(x.CountMin, "relist"))
		c.add(x.CountMax != nil && *x.CountMax > x.Proven, "%d to %s relists in all", x.CountMin, integer(x.CountMax))
		c.add(x.Max != nil, "length known of %d, longest %s", x.Known, x.MaxOf.Length())
		c.add(x.P50 != nil, "median %s, 99%% %s", span(x.P50), span(x.P99))
		s.Lead = append(s.Lead, c.String())
	}
	if x.Counted != nil {
		s.Lead = append(s.Lead, countedLine("relist", x.Counted))
	}
	if x.OnDemand != nil {
		s.Lead = append(s.Lead, onDemandLine(x.OnDemand))
	}
	return s
}

// onDemandLine describes the relists of single pods.
func onDemandLine(x *model.OnDemand) string {
	var c clauses
	if x.Counted != nil {
		c.add(true, "%s", countedLine("on-demand relist", x.Counted))
	}
	c.add(x.Counted == nil, "on-demand relists")
	c.add(x.Begun != nil, "%s by lines that they begin", integer(x.Begun))
	if x.Failed > 0 {
		c.add(true, "%d could not list the pod (%s)", x.Failed, x.Evidence.Best().Where())
	}
	c.add(x.Dropped > 0, "%s dropped, since 200 waited", parse.Plural(x.Dropped, "request"))
	c.add(true, "each is of one pod and none of the relists of the node")
	return strings.Join(c, "; ")
}

// countedLine formats what the kubelet's counters say of its relists.
func countedLine(what string, x *model.Counted) string {
	var c clauses
	c.add(true, "%s counted by %s", parse.Plural(x.Count, what), x.Metric)
	if x.Total != nil && x.Count > 0 {
		mean := *x.Total / float64(x.Count)
		c.add(true, "%s on average", span(&mean))
	}
	c.add(x.P99 != nil, "median %s, 99%% %s%s", span(x.P50), span(x.P99), map[bool]string{true: " in the last minutes"}[x.Recent])
	c.add(x.Long != nil && *x.Long > 0, "%s of them longer than %s", integer(x.Long), span(x.Edge))
	if x.Rate != nil {
		c.add(true, "%.3g a second", *x.Rate)
	}
	return c.String()
}

func (t times) blame(n *model.Node) Section {
	s := Section{Title: "Relist time breakdown", Columns: []string{"relist", "total", "list", "inspect", "charged to", "seconds", "unexplained"}}
	if len(n.Blame) > 0 && n.Relists.OnDemand != nil {
		s.Lead = append(s.Lead, "on-demand relists, each of one pod, are no part of these and not divided")
	}
	for i := range n.Blame {
		b := &n.Blame[i]
		what, secs, rest := clauses{}, clauses{}, &b.Unexplained
		for k, x := range b.Told() {
			what.add(k < 3, "%s", x.What)
			secs.add(k < 3, "%s%s", map[bool]string{true: "≤ "}[x.AtMost], span(&x.Seconds))
			what.add(k == 3, "%d more", len(b.Told())-3)
			if x.AtMost { // others may have made these calls, so the remainder is unknown
				rest = nil
			}
		}
		s.Row(t.clock(b.Start), &b.Total, b.List, b.Inspect, what.String(), secs.String(), rest)
	}
	return s
}

func operations(n *model.Node) Section {
	s := Section{Title: "CRI operations", Columns: []string{"operation", "calls", "errors", "median", "99%", "total", "share of relists, at most"}}
	for i := range n.Operations {
		o := &n.Operations[i]
		errors, share := &o.Errors, "?"
		if o.ErrorsUnknown {
			errors = nil
		}
		if o.Share != nil {
			share = fmt.Sprintf("%.0f%%", 100**o.Share)
		}
		s.Row(o.Operation, o.Calls, errors, o.P50, o.P99, o.Total, share)
	}
	return s
}

func events(n *model.Node) Section {
	s := Section{Title: "Pod lifecycle events"}
	a := &n.Audited.Audit
	if a.Observed == 0 && !a.Audited && a.Discarded == 0 {
		return s
	}
	line := eventsLine(a)
	if k := len(n.Audited.ShortLived); k > 0 {
		line += ", " + parse.Plural(k, "container") + " too short-lived for any relist to see"
	}
	s.Lead = append([]string{line}, a.Notes...)
	return s
}

func eventsLine(a *model.Audit) string {
	var c clauses
	c.add(true, "%s observed", parse.Plural(a.Observed, "event"))
	c.add(a.Audited, "%d replayed, %d missing, %d late, %d unexpected", a.Replayed, a.Missing, a.Late, a.Unexpected)
	c.add(true, "%d discarded", a.Discarded)
	return c.String()
}

// sources shows what the input holds of each source. It lists missing ones too: an absence left out
// would read like a clean bill of health.
func (t times) sources(n *model.Node) Section {
	s := Section{zone: t.zone, Title: "What was looked at", Columns: []string{"source", "lines", "known messages", "first (UTC)", "last"}}
	for _, x := range n.Sources {
		s.Row(x.Name, x.Seen, x.Known, x.Span.From, x.Span.To)
	}
	return s
}

func (t times) gaps(h *model.History) Section {
	s := Section{Title: "What the log does not cover"}
	for i := range h.Gaps {
		g := &h.Gaps[i]
		length := ""
		if g.From != 0 && g.To > g.From {
			length = " (" + Span(g.To.Sub(g.From)) + ")"
		}
		s.Lead = append(s.Lead, fmt.Sprintf("%s to %s%s: %s", t.clock(g.From), t.clock(g.To), length, g.Why))
	}
	return s
}

// ledger lists all proven relists, and the intervals of undated ones.
func (t times) ledger(h *model.History) Section {
	s := t.relists("Relists proven", h.Relists)
	if h.OnDemand != nil {
		s.Lead = append(s.Lead, onDemandLine(h.OnDemand))
	}
	for i := range h.Bounded {
		b := &h.Bounded[i]
		var c clauses
		c.add(b.Min != b.Max, "between %d and %d undated relists", b.Min, b.Max)
		c.add(b.Min == b.Max, "%s", parse.Plural(b.Min, "undated relist"))
		c.add(b.Long > 0 && b.Max == 1, "it took %s", span(b.Sum))
		c.add(b.Long > 0 && b.Max != 1, "%d of them over 10s, together %s", b.Long, span(b.Sum))
		c.add(b.Silent, "no snapshot of the metrics succeeded meanwhile")
		s.Notes = append(s.Notes, fmt.Sprintf("%s to %s: %s", t.clock(b.From), t.clock(b.To), c))
	}
	return s
}

func (t times) health(h *model.History) Section {
	s := Section{Title: "Health", Columns: []string{"from", "to", "for", "PLEG"}}
	for _, x := range h.Health {
		length := "?"
		switch d := x.To.Sub(x.From); {
		case d > 0 && d < time.Microsecond: // a single line that proves the health of its moment
			length = "a moment"
		case d > 0:
			length = Span(d)
			if least := provenOf(h, &x); least < d-time.Second {
				length = parse.OrLess(d, d-least)
			}
		}
		s.Row(t.clock(x.From), t.clock(x.To), length, x.State)
	}
	return s
}

// provenOf returns how much of a span is proven to have passed: less than all of it if the
// clock was set forward in an episode within it.
func provenOf(h *model.History, x *model.Health) time.Duration {
	d := x.To.Sub(x.From)
	for i := range h.Told {
		e := &h.Told[i]
		if (x.State == "unhealthy" || x.State == "never-relisted") && e.Breach >= x.From && e.Breach < x.To {
			d = max(d-e.Skipped, 0)
		}
	}
	return d
}

func (t times) ready(h *model.History) Section {
	s := Section{Title: "Node Ready condition", Columns: []string{"at", "ready", "reason", "where"}}
	for _, c := range h.Ready {
		s.Row(t.clock(c.Time), c.Ready, cmp.Or(c.Why, c.Reason), place(c.Evidence, 40))
	}
	return s
}
