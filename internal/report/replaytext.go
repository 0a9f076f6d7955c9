package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// replayText prints the relists in which something happened and counts the quiet ones. Of a
// scenario it prints only the longest relists, at the end.
type replayText struct {
	*printer
	filtered bool
	quiet    int
	healthy  bool
	made     bool // a scenario is simulated
	least    bool // some relist has no known end, so the total is a lower bound
	longest  []model.SimRelist
	capacity int // of the event channel
}

// replayWidth is the width of the narrowest terminal. The output is written while the input is
// read.
const replayWidth = 80

// longestShown is the number of relists of a scenario that are listed.
const longestShown = 5

func newReplayText(w io.Writer, p model.Profile, showFiltered, made bool) ReplayWriter {
	t := &replayText{printer: newPrinter(w, Options{Width: replayWidth}), filtered: showFiltered, healthy: true, made: made, capacity: p.Capacity}
	if !made {
		t.para("", fmt.Sprintf("Replay with %s, channel for %d events", profileWords(&p), p.Capacity))
		fmt.Fprintln(t)
		return t
	}
	if p.Assumed {
		p.Version = nil
	}
	t.para("", fmt.Sprintf("Scenario with %s, CRI timeout %s", profileWords(&p), span(p.RPCTimeout)))
	return t
}

func profileWords(p *model.Profile) string {
	version := cmp.Or(model.Known(p.Version), "(version not recognized)")
	if p.Rules != "" {
		version += ", " + p.Rules
	}
	return fmt.Sprintf("the %s PLEG of kubelet %s: period %s, threshold %s", p.PLEG, version, span(&p.Period), span(&p.Threshold))
}

// Relist implements ReplayWriter.
func (t *replayText) Relist(r model.SimRelist) {
	open := r.End == 0 && r.Start != 0 && !r.Blocked && !r.Assumed
	t.least = t.least || open
	switch {
	case t.made: // keep the longest; ties keep the earliest
		r.Events = nil
		t.longest = append(t.longest, r)
		slices.SortStableFunc(t.longest, func(a, b model.SimRelist) int { return cmp.Compare(b.Took, a.Took) })
		t.longest = t.longest[:min(len(t.longest), longestShown)]
		return
	case len(r.Events) == 0 && r.Outcome == "ok" && len(r.Failed) == 0 && r.Healthy == t.healthy && !r.Blocked && !(open && r.Took > 0):
		if !r.Part {
			t.quiet++
		}
		return
	}
	t.flushQuiet()
	t.healthy = r.Healthy
	what := map[bool]string{false: "relist", true: "stream"}[r.Stream]
	took := r.Length()
	switch {
	case r.Took == 0 && (r.Assumed || open):
		took = "–" // unknown
	case open:
		took = "≥ " + parse.Least(model.Duration(&r.Took))
	}
	t.para(fmt.Sprintf("%s  %s  %9s  ", clockText(r.Start), what, took), t.note(&r))
	for _, e := range r.Events {
		if !e.Filtered || t.filtered {
			fmt.Fprintf(t, "    %-16s  %s  %s%s\n", e.Type, shortID(e.Pod), shortID(e.Data), eventNote(e))
		}
	}
}

func (t *replayText) note(r *model.SimRelist) string {
	var c clauses
	listed := !r.Stream && r.Outcome == "ok"
	c.add(r.Stream, "told by the runtime")
	c.add(listed && r.Pods < 0, "pods listed")
	c.add(listed && r.Pods >= 0, "%s listed", parse.Plural(r.Pods, "pod"))
	c.add(r.Outcome == "hung" || r.Outcome == "unknown", "whether it listed pods is not known")
	c.add(r.Outcome == "list-failed", "list failed: %s", model.Cut(r.ListError, 120))
	c.add(len(r.Inspected) > 0, "%s", parse.Plural(len(r.Inspected), "inspection"))
	c.add(len(r.Failed) > 0, "inspection failed: %s", model.Cut(strings.Join(r.Failed, ", "), 200))
	c.add(r.Discarded > 0, "%s discarded", parse.Plural(r.Discarded, "event"))
	c.add(r.Blocked, "blocked: the event channel is full and nobody drains it")
	c.add(r.Assumed, "assumed")
	c.add(r.Health == "" && !r.Healthy || r.Health == "unhealthy" || r.Health == "never-relisted", "PLEG unhealthy at its end")
	return strings.Join(c, "; ")
}

func eventNote(e model.SimEvent) string {
	var c clauses
	c.add(e.ExitCode != nil, "  exit code %s", integer(e.ExitCode))
	c.add(e.Filtered, "  (filtered)")
	c.add(!e.Filtered && !e.Delivered, "  DISCARDED")
	return strings.Join(c, "")
}

func (t *replayText) flushQuiet() {
	if t.quiet > 0 {
		fmt.Fprintf(t, "    … %s without events\n", parse.Plural(t.quiet, "relist"))
		t.quiet = 0
	}
}

// End implements ReplayWriter.
func (t *replayText) End(end model.ReplayEnd) error {
	t.flushQuiet()
	m := &end.Metrics
	length := span(&m.Duration) + " in all"
	if t.least {
		length = atLeast(&m.Duration) + " in all"
	}
	if t.made {
		t.calibrated(end.Scenario)
		mean := m.Duration / float64(max(m.Relists, 1))
		length = span(&mean) + " on average"
	}
	if m.Relists > 0 && !end.Some {
		var c clauses
		if x := end.Stats; x != nil {
			c.add(true, "%s shown", parse.Plural(m.Relists, "relist"))
			c.add(x.CountMax == nil, "at least %d in all", x.CountMin)
			c.add(x.CountMax != nil && *x.CountMax > x.CountMin, "%d to %s in all", x.CountMin, integer(x.CountMax))
			c.add(m.Failed > 0, "at least %d could not list", m.Failed)
			if x.Max != nil {
				c.add(true, "longest known %s at %s", x.MaxOf.Length(), clockText(x.MaxOf.Start))
			}
		} else {
			c.add(true, "%s, %d of them could not list", parse.Plural(m.Relists, "relist"), m.Failed)
			c.add(m.Duration > 0, "%s, longest %s at %s", length, span(&end.Longest), clockText(end.LongestAt))
		}
		fmt.Fprintln(t)
		t.para("", strings.Join(c, ", "))
	}
	switch {
	case end.Some:
	case end.Stats != nil && m.Discarded > 0: // the channel was full before the first was discarded
		t.para("", fmt.Sprintf("%s shown, at least %d sent and %d discarded", parse.Plural(end.Sent, "event"), max(end.Sent, t.capacity), m.Discarded))
	case end.Stats != nil:
		fmt.Fprintf(t, "%s shown\n", parse.Plural(end.Sent, "event"))
	case m.Relists > 0 || t.made:
		fmt.Fprintf(t, "%s sent, %d discarded\n", parse.Plural(end.Sent, "event"), m.Discarded)
	}
	t.health(&end)
	if t.made {
		t.scenario(&end)
	}
	if end.WhatIf != nil {
		t.answer(end.WhatIf)
	}
	for _, a := range end.Assumptions {
		t.para("", "Assumed: "+a+".")
	}
	return t.Flush()
}

// health describes the health of PLEG: as simulated, or from the history of a node.
func (t *replayText) health(end *model.ReplayEnd) {
	episodes := end.Episodes
	if end.Health == nil {
		for _, u := range end.Unhealthy {
			episodes = append(episodes, model.Episode{Breach: u.From, Recovered: u.To, NeverRelisted: u.Never})
		}
	}
	for i := range episodes {
		e := &episodes[i]
		to := "the end of the input"
		switch {
		case e.Recovered != 0 && end.AtLeast:
			to = clockText(e.Recovered) + " at least"
		case e.Recovered != 0:
			to = clockText(e.Recovered) + upTo(e.RecoveredSlack)
		case end.Health != nil:
			to = clockText(max(e.LastReport, e.Breach)) + " at least: the input does not show it recover"
		}
		if e.NeverRelisted {
			to += ", no relist having succeeded yet"
		}
		t.para("", "PLEG unhealthy from "+clockText(e.Start())+atLatest(e)+" to "+to)
	}
	for _, u := range end.Unhealthy {
		if end.Health != nil && !slices.ContainsFunc(episodes, func(e model.Episode) bool { return e.Start() == u.From }) {
			t.para("", "PLEG unhealthy from "+clockText(u.From)+" to "+clockText(u.To)+" at least, though no line was recognized that says so")
		}
	}
	switch {
	case end.Health != nil || len(episodes) > 0:
	case end.AtLeast:
		fmt.Fprintf(t, "PLEG is not proven unhealthy\n")
	default:
		fmt.Fprintf(t, "PLEG stayed healthy\n")
	}
	var all, healthy time.Duration
	for _, h := range end.Health {
		d := h.To.Sub(h.From)
		all += d
		switch {
		case h.State == "healthy":
			healthy += d
		case h.State == "unknown" && d >= 10*time.Second:
			fmt.Fprintf(t, "PLEG unknown from %s to %s\n", clockText(h.From), clockText(h.To))
		}
	}
	if all > 0 {
		fmt.Fprintf(t, "PLEG proven healthy for %s of %s\n", Span(healthy), Span(all))
	}
}

// Ends of the names of measures that are bounded.
const (
	leastRow = ", at least"
	mostRow  = ", at most"
)

func (t *replayText) answer(a *model.SimAnswer) {
	fmt.Fprintln(t)
	t.para("", a.Sentence)
	fmt.Fprintln(t)
	s := Section{Columns: []string{"", "as it was", "what if"}}
	for _, r := range a.Table {
		unit := strings.TrimPrefix(r.Unit, "count")
		words := func(v float64) string {
			switch d := model.Duration(&v); {
			case unit == "seconds" && strings.HasSuffix(r.Measure, leastRow):
				return parse.Least(d)
			case unit == "seconds" && strings.HasSuffix(r.Measure, mostRow):
				return parse.Most(d)
			}
			return quantity(v, unit)
		}
		s.Row(r.Measure, words(r.Was), words(r.Would))
	}
	t.render(&s)
	fmt.Fprintln(t)
}

// clockText formats a time for the replay text.
func clockText(at model.Time) string {
	if at == 0 {
		return "an unknown time"
	}
	return at.UTC().Format("2006-01-02 15:04:05.000Z")
}
