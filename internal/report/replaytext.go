package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// replayText prints relists that did something; quiet ones are counted.
type replayText struct {
	*printer
	filtered bool
	quiet    int
	healthy  bool
}

// replayWidth is that of the narrowest terminal: a recording is written as it is
// read.
const replayWidth = 80

func newReplayText(w io.Writer, p model.Profile, showFiltered bool) ReplayWriter {
	t := &replayText{printer: newPrinter(w, Options{Width: replayWidth}), filtered: showFiltered, healthy: true}
	t.para("", fmt.Sprintf("Replay with %s, channel for %d events", profileWords(&p), p.Capacity))
	fmt.Fprintln(t)
	return t
}

func profileWords(p *model.Profile) string {
	version := cmp.Or(orEmpty(p.Version), "of unknown version")
	if p.Rules != "" {
		version += ", " + p.Rules
	}
	return fmt.Sprintf("the %s PLEG of kubelet %s: period %s, threshold %s", p.PLEG, version, span(&p.Period), span(&p.Threshold))
}

// Relist implements ReplayWriter.
func (t *replayText) Relist(r model.SimRelist) {
	if len(r.Events) == 0 && listedOK(&r) && len(r.Failed) == 0 && r.Healthy == t.healthy && !r.Blocked {
		t.quiet++
		return
	}
	t.flushQuiet()
	t.healthy = r.Healthy
	what := "relist"
	if r.Stream {
		what = "stream"
	}
	t.para(fmt.Sprintf("%s  %s  %8.3fs  ", clockText(r.Start), what, r.Took), t.note(&r))
	for _, e := range r.Events {
		if e.Filtered && !t.filtered {
			continue
		}
		fmt.Fprintf(t, "    %-16s  %s  %s%s\n", e.Type, shortID(e.Pod), shortID(e.Data), eventNote(e))
	}
}

func listedOK(r *model.SimRelist) bool { return r.Outcome == "ok" }

func (t *replayText) note(r *model.SimRelist) string {
	var parts []string
	switch {
	case r.Stream:
		parts = append(parts, "told by the runtime")
	case listedOK(r) && r.Pods < 0:
		parts = append(parts, "pods listed")
	case listedOK(r):
		parts = append(parts, parse.Plural(r.Pods, "pod")+" listed")
	default:
		parts = append(parts, "list failed: "+model.Cut(r.ListError, 120))
	}
	if n := len(r.Inspected); n > 0 {
		parts = append(parts, parse.Plural(n, "inspection"))
	}
	if len(r.Failed) > 0 {
		parts = append(parts, "inspection failed: "+model.Cut(strings.Join(r.Failed, ", "), 200))
	}
	if r.Discarded > 0 {
		parts = append(parts, fmt.Sprintf("%d events discarded", r.Discarded))
	}
	if r.Blocked {
		parts = append(parts, "blocked: the event channel is full and nobody drains it")
	}
	if r.Assumed {
		parts = append(parts, "assumed")
	}
	switch {
	case r.Health == "" && !r.Healthy, r.Health == "unhealthy", r.Health == "never-relisted":
		parts = append(parts, "PLEG unhealthy at its end")
	}
	return strings.Join(parts, "; ")
}

func eventNote(e model.SimEvent) string {
	var s string
	if e.ExitCode != nil {
		s = fmt.Sprintf("  exit code %d", *e.ExitCode)
	}
	switch {
	case e.Filtered:
		s += "  (filtered)"
	case !e.Delivered:
		s += "  DISCARDED"
	}
	return s
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
	if m := &end.Metrics; m.Relists > 0 {
		fmt.Fprintf(t, "\n")
		t.para("", relistsWords(&end, span(&m.Duration)+" in all"))
		fmt.Fprintf(t, "%s sent, %d discarded\n", parse.Plural(end.Sent, "event"), m.Discarded)
	}
	if end.Health != nil {
		t.history(&end)
	} else {
		t.health(end.Unhealthy)
	}
	if end.WhatIf != nil {
		t.answer(end.WhatIf)
	}
	for _, a := range end.Assumptions {
		t.para("", "Assumed: "+a+".")
	}
	return t.Flush()
}

// relistsWords sums up all relists.
func relistsWords(end *model.ReplayEnd, length string) string {
	return fmt.Sprintf("%s, %d of them could not list, %s, longest %s at %s", parse.Plural(end.Metrics.Relists, "relist"), end.Metrics.Failed,
		length, span(&end.Longest), clockText(end.LongestAt))
}

func (t *replayText) health(unhealthy []model.SimUnhealthy) {
	if len(unhealthy) == 0 {
		fmt.Fprintf(t, "PLEG stayed healthy\n")
	}
	for _, u := range unhealthy {
		to := "the end of the input"
		if u.To != 0 {
			to = clockText(u.To)
		}
		if u.Never {
			to += ", no relist having succeeded yet"
		}
		fmt.Fprintf(t, "PLEG unhealthy from %s to %s\n", clockText(u.From), to)
	}
}

// history tells how PLEG was, by the history of a node.
func (t *replayText) history(end *model.ReplayEnd) {
	for i := range end.Episodes {
		e := &end.Episodes[i]
		from := "a moment that no line dates"
		if at := cmp.Or(e.Breach, e.FirstReport); at != 0 {
			from = clockText(at)
		}
		words := "PLEG unhealthy from " + from
		switch {
		case e.Recovered == 0:
			words += " on, at least to " + clockText(max(e.LastReport, e.Breach)) + ": the input does not show it recover"
		case e.RecoveredSlack != nil:
			words += " to " + clockText(e.Recovered) + " (±" + span(e.RecoveredSlack) + ")"
		default:
			words += " to " + clockText(e.Recovered)
		}
		t.para("", words)
	}
	var all, healthy float64
	for _, h := range end.Health {
		d := h.To.Sub(h.From).Seconds()
		all += d
		switch {
		case h.State == "healthy":
			healthy += d
		case h.State == "unknown" && d >= 10:
			fmt.Fprintf(t, "PLEG unknown from %s to %s\n", clockText(h.From), clockText(h.To))
		}
	}
	fmt.Fprintf(t, "PLEG proven healthy for %s of %s\n", span(&healthy), span(&all))
}

func (t *replayText) answer(a *model.SimAnswer) {
	fmt.Fprintln(t)
	t.para("", a.Sentence)
	fmt.Fprintln(t)
	s := Section{Columns: []string{"", "as it was", "what if"}}
	for _, r := range a.Table {
		unit := strings.TrimPrefix(r.Unit, "count")
		s.Row(r.Measure, quantity(r.Was, unit), quantity(r.Would, unit))
	}
	t.render(&s)
	fmt.Fprintln(t)
}

// clockText is a moment as the replay text prints it.
func clockText(at model.Time) string {
	if at == 0 {
		return "an unknown time"
	}
	return at.UTC().Format("2006-01-02 15:04:05.000Z")
}
