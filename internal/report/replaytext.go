package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// replayText prints relists that did something; quiet ones are counted.
type replayText struct {
	w        *bufio.Writer
	filtered bool
	quiet    int
	healthy  bool
}

func newReplayText(w io.Writer, p model.Profile, showFiltered bool) ReplayWriter {
	t := &replayText{w: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered, healthy: true}
	version := "of unknown version"
	if p.Version != nil {
		version = *p.Version
	}
	if p.Rules != "" {
		version += ", " + p.Rules
	}
	t.para("Replay with the %s PLEG of kubelet %s: period %s, threshold %s, channel for %d events",
		p.PLEG, version, span(&p.Period), span(&p.Threshold), p.Capacity)
	t.printf("\n")
	return t
}

// printf writes; a bufio.Writer keeps the first error for Flush.
func (t *replayText) printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

// para writes prose, wrapped.
func (t *replayText) para(format string, args ...any) { t.hang("", fmt.Sprintf(format, args...)) }

// hang writes words behind a head, wrapped beside it.
func (t *replayText) hang(head, words string) {
	for _, l := range strings.Split(text.WrapSoft(words, replayWidth-len(head)), "\n") {
		t.printf("%s\n", strings.TrimRight(head+strings.TrimRight(l, " "), " "))
		head = strings.Repeat(" ", len(head))
	}
}

// replayWidth is that of the narrowest terminal: a recording is written as it is
// read.
const replayWidth = 80

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
	t.hang(fmt.Sprintf("%s  %s  %8.3fs  ", clockText(r.Start), what, r.Took), t.note(&r))
	for _, e := range r.Events {
		if e.Filtered && !t.filtered {
			continue
		}
		t.printf("    %-16s  %s  %s%s\n", e.Type, shortID(e.Pod), shortID(e.Data), eventNote(e))
	}
}

func listedOK(r *model.SimRelist) bool { return r.Outcome == "ok" }

func (t *replayText) note(r *model.SimRelist) string {
	var parts []string
	switch {
	case listedOK(r) && r.Pods < 0:
		parts = append(parts, "pods listed")
	case listedOK(r):
		parts = append(parts, model.Plural(r.Pods, "pod")+" listed")
	default:
		parts = append(parts, "list failed: "+model.Cut(r.ListError, 120))
	}
	if n := len(r.Inspected); n > 0 {
		parts = append(parts, model.Plural(n, "inspection"))
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
		t.printf("    … %s without events\n", model.Plural(t.quiet, "relist"))
		t.quiet = 0
	}
}

// End implements ReplayWriter.
func (t *replayText) End(end model.ReplayEnd) error {
	t.flushQuiet()
	if m := &end.Metrics; m.Relists > 0 {
		t.printf("\n")
		t.para("%s, %d of them could not list, %s in all, longest %s at %s", model.Plural(m.Relists, "relist"), m.Failed,
			span(&m.Duration), span(&end.Longest), clockText(end.LongestAt))
		t.printf("%s sent, %d discarded\n", model.Plural(end.Sent, "event"), m.Discarded)
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
		t.para("Assumed: %s.", a)
	}
	return t.w.Flush()
}

func (t *replayText) health(unhealthy []model.SimUnhealthy) {
	if len(unhealthy) == 0 {
		t.printf("PLEG stayed healthy\n")
	}
	for _, u := range unhealthy {
		to, why := "the end of the input", ""
		if u.To != 0 {
			to = clockText(u.To)
		}
		if u.Never {
			why = ", no relist having succeeded yet"
		}
		t.printf("PLEG unhealthy from %s to %s%s\n", clockText(u.From), to, why)
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
		switch {
		case e.Recovered != 0:
			slack := ""
			if e.RecoveredSlack != nil {
				slack = " (±" + span(e.RecoveredSlack) + ")"
			}
			t.printf("PLEG unhealthy from %s to %s%s\n", from, clockText(e.Recovered), slack)
		default:
			t.para("PLEG unhealthy from %s on, at least to %s: the input does not show it recover", from, clockText(max(e.LastReport, e.Breach)))
		}
	}
	var all, healthy float64
	for _, h := range end.Health {
		d := h.To.Sub(h.From).Seconds()
		all += d
		switch h.State {
		case "healthy":
			healthy += d
		case "unknown":
			if d >= 10 {
				t.printf("PLEG unknown from %s to %s\n", clockText(h.From), clockText(h.To))
			}
		}
	}
	t.printf("PLEG proven healthy for %s of %s\n", span(&healthy), span(&all))
}

func (t *replayText) answer(a *model.SimAnswer) {
	t.printf("\n")
	t.para("%s", a.Sentence)
	t.printf("\n")
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.Style().Format.Header = text.FormatDefault
	tw.AppendHeader(table.Row{"", "as it was", "what if"})
	for _, r := range a.Table {
		tw.AppendRow(table.Row{r.Measure, amount(r.Was, r.Unit), amount(r.Would, r.Unit)})
	}
	t.printf("%s\n\n", tw.Render())
}

// amount is quantity without the word for counts.
func amount(v float64, unit string) string {
	if unit == "count" {
		unit = ""
	}
	return quantity(v, unit)
}

// clockText is a moment as the replay text prints it.
func clockText(at model.Time) string {
	if at == 0 {
		return "an unknown time"
	}
	return at.UTC().Format("2006-01-02 15:04:05.000Z")
}
