package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// replayText prints relists that did something; quiet ones are counted.
type replayText struct {
	w        *bufio.Writer
	filtered bool
	quiet    int
	healthy  bool
}

func newReplayText(w io.Writer, p pleg.Profile, showFiltered bool) ReplayWriter {
	t := &replayText{w: bufio.NewWriterSize(w, 1<<16), filtered: showFiltered, healthy: true}
	version, kind := "of unknown version", "generic"
	if p.Version != "" {
		version = Visible(p.Version)
	}
	if p.Evented {
		kind = "evented"
	}
	t.printf("Replay with the %s PLEG of kubelet %s: period %v, threshold %v, channel for %d events\n\n",
		kind, version, p.Period, p.Threshold, p.Capacity)
	return t
}

// printf writes; a bufio.Writer keeps the first error for Flush.
func (t *replayText) printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

// Relist implements ReplayWriter.
func (t *replayText) Relist(r *simulate.Relist) {
	if len(r.Events) == 0 && r.OK() && len(r.Failed) == 0 && r.Healthy == t.healthy && !r.Blocked {
		t.quiet++
		return
	}
	t.flushQuiet()
	t.healthy = r.Healthy
	what := "relist"
	if r.Stream {
		what = "stream"
	}
	t.printf("%s  %s  %8.3fs  %s\n", clockText(r.Start), what, float64(r.End-r.Start)/1e9, t.note(r))
	for _, e := range r.Events {
		if e.Filtered() && !t.filtered {
			continue
		}
		t.printf("    %-16s  %s  %s%s\n", e.Type, Visible(e.Pod), Visible(e.Data), eventNote(e))
	}
}

func (t *replayText) note(r *simulate.Relist) string {
	var parts []string
	switch {
	case r.OK() && r.Pods < 0:
		parts = append(parts, "pods listed")
	case r.OK():
		parts = append(parts, plural(r.Pods, "pod")+" listed")
	default:
		parts = append(parts, "list failed: "+cut(Visible(r.ListErr), 120))
	}
	if n := len(r.Inspected); n > 0 {
		parts = append(parts, plural(n, "inspection"))
	}
	if len(r.Failed) > 0 {
		parts = append(parts, "inspection failed: "+cut(Visible(strings.Join(r.Failed, ", ")), 200))
	}
	if r.Discarded > 0 {
		parts = append(parts, fmt.Sprintf("%d events discarded", r.Discarded))
	}
	if r.Blocked {
		parts = append(parts, "blocked: the event channel is full and nobody drains it")
	}
	if !r.Healthy {
		parts = append(parts, "PLEG unhealthy at its end")
	}
	return strings.Join(parts, "; ")
}

func eventNote(e pleg.Event) string {
	var s string
	if e.ExitCode != nil {
		s = fmt.Sprintf("  exit code %d", *e.ExitCode)
	}
	switch {
	case e.Filtered():
		s += "  (filtered)"
	case !e.Delivered:
		s += "  DISCARDED"
	}
	return s
}

func (t *replayText) flushQuiet() {
	if t.quiet > 0 {
		t.printf("    … %s without events\n", plural(t.quiet, "relist"))
		t.quiet = 0
	}
}

// End implements ReplayWriter.
func (t *replayText) End(end *ReplayEnd) error {
	t.flushQuiet()
	if s := &end.Totals; s.Duration.Count > 0 {
		t.printf("\n%s, %d of them could not list, %s in all, longest %s at %s\n", plural(s.Duration.Count, "relist"), s.Failed,
			Span(s.Duration.Sum), Span(s.Longest), clockText(s.LongestAt))
		t.printf("%d events sent, %d discarded\n", s.Events, s.Discarded)
	}
	t.health(&end.Totals)
	assumptions := end.Assumptions
	if end.Answer != nil {
		t.answer(end.Answer)
		assumptions = end.Answer.Assumptions
	}
	for _, a := range assumptions {
		t.printf("Assumed: %s.\n", Visible(a))
	}
	return t.w.Flush()
}

func (t *replayText) health(s *simulate.Totals) {
	if len(s.Unhealthy) == 0 {
		t.printf("PLEG stayed healthy\n")
	}
	for _, u := range s.Unhealthy {
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

func (t *replayText) answer(a *simulate.Answer) {
	t.printf("\n%s\n\n", Visible(a.Sentence))
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.Style().Format.Header = text.FormatDefault
	tw.AppendHeader(table.Row{"", "as it was", "what if"})
	for _, r := range a.Rows {
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
