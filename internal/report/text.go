package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/rules"
)

// printer writes the text formats: one place for width, colour and cutting.
type printer struct {
	*bufio.Writer
	opt  Options
	date string // layout of moments: with the day only where a node's records span several
}

func newPrinter(w io.Writer, opt Options) *printer {
	if opt.Width <= 0 {
		opt.Width = 80
	}
	return &printer{bufio.NewWriter(w), opt, dayAndTime}
}

// writeText answers in the first screen: verdict, episodes, causes with quoted
// lines; then the numbers; then a block to paste into a ticket.
func writeText(w io.Writer, r *Report, opt Options) error {
	p := newPrinter(w, opt)
	p.inputs(r)
	for i := range r.Nodes {
		p.node(&r.Nodes[i])
	}
	p.correlations(r.Correlations)
	p.alerts(r)
	p.ticket(r)
	p.warnings(r)
	return p.Flush()
}

// setDay drops the day from moments where all records are of one day, which the
// line about the window names.
func (p *printer) setDay(w replay.Window) {
	p.date = dayAndTime
	if w.Start != 0 && layout(w.Start, time.DateOnly) == layout(w.End, time.DateOnly) {
		p.date = timeOnly
	}
}

// second is a moment without its fraction, for tables that are wide already.
func (p *printer) second(at int64) string { return layout(at, strings.TrimSuffix(p.date, ".000")) }

func (p *printer) clock(at int64) string { return layout(at, p.date) }

// instant is a moment with its uncertainty where that is worth saying.
func (p *printer) instant(i replay.Instant) string { return instantAs(i, p.date) }

func (p *printer) paint(c text.Colors, s string) string {
	if !p.opt.Color {
		return s
	}
	return c.EscapeSeq() + s + text.Reset.EscapeSeq()
}

var (
	bold   = text.Colors{text.Bold}
	faint  = text.Colors{text.Faint}
	red    = text.Colors{text.FgRed, text.Bold}
	yellow = text.Colors{text.FgYellow}
	green  = text.Colors{text.FgGreen}
)

func statusColor(status string) text.Colors {
	switch status {
	case "unhealthy":
		return red
	case "degraded":
		return yellow
	case "healthy":
		return green
	}
	return faint
}

func (p *printer) heading(s string) { fmt.Fprintf(p, "\n%s\n", p.paint(bold, s)) }

// para prints s wrapped to the width, each line after indent.
func (p *printer) para(indent, s string) {
	hang := strings.Repeat(" ", text.StringWidthWithoutEscSequences(indent))
	wrapped := text.WrapSoft(Visible(s), max(p.opt.Width-len(hang), 20))
	for i, line := range strings.Split(wrapped, "\n") {
		if i > 0 {
			indent = hang
		}
		fmt.Fprintln(p, strings.TrimRight(indent+strings.TrimRight(line, " "), " "))
	}
}

func (p *printer) inputs(r *Report) {
	for _, in := range r.Inputs {
		part := ""
		if in.Partial {
			part = p.paint(yellow, "  read in part, see warnings")
		}
		fmt.Fprintf(p, "%s  %s, %s in %s used of %d%s\n", p.paint(bold, Visible(in.Path)), in.Kind, Bytes(in.Bytes),
			plural(in.FilesUsed, "file"), in.Files, part)
	}
}

func (p *printer) node(n *Node) {
	p.setDay(n.Window)
	fmt.Fprintf(p, "\n%s\n", p.paint(statusColor(n.Status), Visible(n.Name)+": "+n.Status))
	p.para("  ", n.Summary)
	p.para("  ", kubeletLine(n.Kubelet))
	p.para("  ", windowLine(n.Window))
	p.timeline(n)
	p.episodes(n)
	p.causes(causesHeading(n.Causes), n.Causes)
	p.causes("Looks like PLEG trouble, is not", otherLookAlikes(n))
	p.whatIf(n)
	p.breaches(n)
	p.relists(n)
	p.blame(n)
	p.operations(n)
	p.events(n)
	p.gaps(n)
}

func kubeletLine(k replay.Kubelet) string {
	version := kubeletVersion(&k)
	if version == "" {
		version = "version unknown"
	}
	s := "kubelet " + version + ", runtime " + orUnknown(k.Runtime) + ", PLEG " + orUnknown(k.PLEG)
	if k.Threshold > 0 {
		s += fmt.Sprintf(", relist every %s, threshold %s", k.Period, k.Threshold)
	}
	if k.RPCTimeout > 0 {
		s += fmt.Sprintf(", CRI time-out %s", k.RPCTimeout)
	}
	if k.Basis != "" {
		s += " (" + Visible(k.Basis) + ")"
	}
	return s
}

func windowLine(w replay.Window) string {
	if w.Start == 0 {
		return "no dated line"
	}
	s := fmt.Sprintf("%s to %s UTC, %s", Date(w.Start), Date(w.End), Span(time.Duration(w.End-w.Start)))
	switch {
	case w.Timezone == "stated":
		s += "; every stamp states its zone"
	case w.TimezoneBasis != "":
		s += fmt.Sprintf("; stamps in %s (%s)", orUnknown(w.Timezone), Visible(w.TimezoneBasis))
	}
	return s
}

func (p *printer) episodes(n *Node) {
	if len(n.Episodes) == 0 {
		return
	}
	p.heading("PLEG unhealthy")
	g := p.table("#", "last relist began", "breach", "recovered", "for", "peak age", "stuck in", "lines", "node NotReady")
	for i := range n.Episodes {
		e := &n.Episodes[i]
		began := p.instant(e.LastStart)
		if e.Never {
			began = "never since start"
		}
		g.AppendRow(table.Row{e.ID, began, p.clock(e.Breach), p.instant(e.Recovered), episodeLength(e),
			age(e), e.StuckStep, e.Reports, p.notReady(e.NotReady)})
	}
	p.render(g)
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.RecoveredBasis != "" {
			p.para(fmt.Sprintf("  %d: ", e.ID), "recovery: "+e.RecoveredBasis)
		}
		if e.StepBasis != "" {
			p.para(fmt.Sprintf("  %d: ", e.ID), fmt.Sprintf("stuck in %s: %s", e.StuckStep, e.StepBasis))
		}
		p.quotes("     ", pick(e.Evidence, p.few(3)))
	}
}

func episodeLength(e *replay.Episode) string {
	switch {
	case e.Breach == 0:
		return "?"
	case e.Recovered.Known():
		return Span(time.Duration(e.Recovered.At - e.Breach))
	case e.LastReport > e.Breach:
		return "≥ " + Span(time.Duration(e.LastReport-e.Breach))
	}
	return "?"
}

func age(e *replay.Episode) string {
	if e.PeakAge <= 0 {
		return "?"
	}
	return Span(e.PeakAge)
}

func (p *printer) notReady(s *replay.Span) string { return notReady(s, p.date) }

func notReady(s *replay.Span, date string) string {
	if s == nil {
		return ""
	}
	if s.To == 0 {
		return layout(s.From, date) + " → ?"
	}
	return layout(s.From, date) + " → " + layout(s.To, date)
}

func (p *printer) causes(title string, cs []rules.Cause) {
	if len(cs) == 0 {
		return
	}
	p.heading(title)
	if cs[0].Kind != rules.KindLookAlike {
		p.para("", rules.Legend)
	}
	for i, c := range cs {
		if i == 3 && !p.opt.Verbose {
			fmt.Fprintf(p, "  and %s less likely, in the JSON report or with --verbose\n", plural(len(cs)-i, "cause"))
			break
		}
		p.cause(i+1, c)
	}
}

// causesHeading says whether any of the causes is more than possible.
func causesHeading(cs []rules.Cause) string {
	if len(cs) > 0 && cs[0].Level == rules.Possible {
		return "Cause unknown; these are possible"
	}
	return "Probable causes"
}

// otherLookAlikes are those that the causes do not already name.
func otherLookAlikes(n *Node) []rules.Cause {
	return slices.DeleteFunc(slices.Clone(n.LookAlikes), func(l rules.Cause) bool {
		return slices.ContainsFunc(n.Causes, func(c rules.Cause) bool { return c.ID == l.ID })
	})
}

func (p *printer) cause(rank int, c rules.Cause) {
	head := fmt.Sprintf("%d. %s: %s", rank, c.ID, c.Title)
	fmt.Fprintf(p, "%s\n", p.paint(bold, head))
	level := fmt.Sprintf("%s %s, confidence %.0f%%", c.Level, c.Kind, 100*c.Confidence)
	if len(c.Episodes) > 0 {
		level += ", explains episode " + numbers(c.Episodes)
	}
	fmt.Fprintf(p, "   %s\n", p.paint(faint, level))
	p.para("   ", c.Explanation)
	p.labelled("for", c.For, p.few(3))
	p.labelled("against", c.Against, p.few(2))
	for _, m := range c.Missing[:min(len(c.Missing), p.few(2))] {
		p.para("   missing  ", m)
	}
	for _, m := range c.Remediation[:min(len(c.Remediation), p.few(3))] {
		p.para("   do       ", m)
	}
	for _, m := range c.Commands[:min(len(c.Commands), p.few(2))] {
		p.para("   run      ", m)
	}
}

func (p *printer) labelled(label string, es []replay.Evidence, most int) {
	for i, e := range pick(es, most) {
		l := ""
		if i == 0 {
			l = label
		}
		p.quote(fmt.Sprintf("   %-9s", l), e)
	}
	if len(es) > most {
		fmt.Fprintf(p, "   %-9s%s\n", "", p.paint(faint, "and "+plural(len(es)-most, "line")+" more"))
	}
}

// few is how much of a list to show: all of it when verbose.
func (p *printer) few(n int) int {
	if p.opt.Verbose {
		return 1 << 30
	}
	return n
}

func pick(es []replay.Evidence, most int) []replay.Evidence { return es[:min(len(es), most)] }

func (p *printer) breaches(n *Node) {
	if len(n.Breaches) == 0 {
		return
	}
	p.heading("Thresholds crossed")
	g := p.table("severity", "rule", "from", "to", "value", "threshold", "where")
	for _, b := range n.Breaches {
		var where any = ""
		if len(b.Evidence) > 0 && b.Evidence[0].Record != nil {
			at := b.Evidence[0].Where()
			where = p.linked(at, ending(Visible(at.String()), 22))
		}
		g.AppendRow(table.Row{b.Severity, Visible(b.Name()), p.second(b.Start), p.second(b.End), quantity(b.Value, b.Unit), quantity(b.Threshold, b.Unit), where})
	}
	p.render(g)
}

func (p *printer) relists(n *Node) {
	if len(n.Relists) == 0 && len(n.Bounded) == 0 {
		return
	}
	s := Durations(n.Node)
	p.heading("Relists")
	line := fmt.Sprintf("%d proven, %s between proofs", len(n.Relists), plural(len(n.Bounded), "stretch"))
	if len(s.Sorted) > 0 {
		line += fmt.Sprintf("; of %d with known length: median %s, 99%% %s, longest %s", len(s.Sorted), Span(s.P50), Span(s.P99), Span(s.Max))
	}
	p.para("  ", line)
	g := p.table("start (UTC)", "±", "length", "outcome", "listed", "proof")
	rows := 0
	for _, i := range s.Longest {
		r := &n.Relists[i]
		if d, ok := r.Duration(); ok && d < 2*time.Second || rows == p.few(5) {
			break
		}
		rows++
		g.AppendRow(p.relistRow(r))
	}
	if rows > 0 {
		p.render(g)
	}
}

func (p *printer) relistRow(r *replay.Relist) table.Row { return relistRow(r, p.date) }

func relistRow(r *replay.Relist, date string) table.Row {
	length := "?"
	if d, ok := r.Duration(); ok {
		length = Span(d)
	}
	listed := "?"
	if r.Listed != nil {
		listed = map[bool]string{true: "yes", false: "no"}[*r.Listed]
	}
	return table.Row{layout(r.Start.At, date), slack(r.Start), length, r.Outcome, listed, strings.Join(r.Basis, ", ")}
}

func (p *printer) blame(n *Node) {
	if len(n.Blame) == 0 {
		return
	}
	p.heading("Where the relist seconds went")
	g := p.table("relist", "total", "list", "inspect", "charged to", "seconds", "unexplained")
	for i, b := range n.Blame {
		if i == p.few(5) {
			break
		}
		start := "?"
		if b.Relist >= 0 && b.Relist < len(n.Relists) {
			start = p.clock(n.Relists[b.Relist].Start.At)
		}
		what, secs := "", ""
		if s := firstShare(b); s != nil {
			what, secs = Visible(s.What), Span(s.Took)
		}
		g.AppendRow(table.Row{start, Span(b.Total), maybe(b.List), maybe(b.Inspect), what, secs, Span(b.Unexplained)})
	}
	p.render(g)
}

func firstShare(b blame.Blame) *blame.Share {
	switch {
	case len(b.ByPod) > 0:
		return &b.ByPod[0]
	case len(b.ByOperation) > 0:
		return &b.ByOperation[0]
	}
	return nil
}

func (p *printer) operations(n *Node) {
	if len(n.Ops) == 0 {
		return
	}
	p.heading("CRI operations")
	g := p.table("operation", "calls", "errors", "median", "99%", "total", "share of relist")
	for _, o := range n.Ops {
		if o.Calls == 0 && o.Errors == 0 && !p.opt.Verbose {
			continue
		}
		calls, share := "?", "?"
		if o.Calls >= 0 {
			calls = fmt.Sprint(o.Calls)
		}
		if o.ShareOfRelist >= 0 {
			share = fmt.Sprintf("%.0f%%", 100*o.ShareOfRelist)
		}
		g.AppendRow(table.Row{o.Name, calls, o.Errors, maybe(o.P50), maybe(o.P99), maybe(o.Total), share})
	}
	p.render(g)
}

func (p *printer) events(n *Node) {
	a := n.Audit
	if n.Observed.Len() == 0 && !a.Audited && a.Discarded == 0 {
		return
	}
	p.heading("Pod lifecycle events")
	line := fmt.Sprintf("%s observed", plural(n.Observed.Len(), "event"))
	if a.Audited {
		line += fmt.Sprintf(", %d replayed, %d missing, %d late, %d unexpected", a.Replayed, a.Missing, a.Late, a.Unexpected)
	}
	if a.Discarded > 0 {
		line += fmt.Sprintf(", %d discarded", a.Discarded)
	}
	if len(a.ShortLived) > 0 {
		line += ", " + plural(len(a.ShortLived), "container") + " too short-lived for any relist to see"
	}
	p.para("  ", line)
	for _, note := range a.Notes {
		p.para("  ", note)
	}
}

func (p *printer) gaps(n *Node) {
	if len(n.Gaps) == 0 {
		return
	}
	p.heading("What the log does not cover")
	for i, g := range n.Gaps {
		if i == p.few(5) {
			fmt.Fprintf(p, "  and %s more\n", plural(len(n.Gaps)-i, "gap"))
			break
		}
		length := ""
		if g.To > g.From && g.From > 0 {
			length = " (" + Span(time.Duration(g.To-g.From)) + ")"
		}
		p.para("  ", fmt.Sprintf("%s to %s%s: %s", p.clock(g.From), p.clock(g.To), length, g.Why))
	}
}

func (p *printer) correlations(cs []Correlation) {
	if len(cs) == 0 {
		return
	}
	p.heading("Across nodes")
	for _, c := range cs {
		p.para("  ", c.Summary)
	}
}

// ticket is the block to paste: at most fifteen lines, no colour, no table.
func (p *printer) ticket(r *Report) {
	if len(r.Nodes) == 0 {
		return
	}
	p.heading("For the ticket")
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if i == 12 {
			fmt.Fprintf(p, "  and %s more\n", plural(len(r.Nodes)-i, "node"))
			break
		}
		p.para("  ", n.Summary)
	}
	fmt.Fprintf(p, "  plegforensics %s\n", r.Version)
}

func (p *printer) warnings(r *Report) {
	if len(r.Warnings) == 0 {
		return
	}
	p.heading("Read with trouble")
	for i, w := range r.Warnings {
		if i == p.few(10) {
			fmt.Fprintf(p, "  and %s more\n", plural(len(r.Warnings)-i, "warning"))
			break
		}
		p.para("  ", w.String())
	}
}

// grid is a table before it is known whether it fits.
type grid struct {
	columns []string
	rows    []table.Row
}

func (p *printer) table(columns ...string) *grid { return &grid{columns: columns} }

func (g *grid) AppendRow(r table.Row) { g.rows = append(g.rows, r) }

// render prints the table or, where it is wider than the terminal, each row as
// a paragraph that names its columns: nothing is cut.
func (p *printer) render(g *grid) {
	lines := strings.Split(p.layOut(g), "\n")
	for _, l := range lines {
		if text.StringWidthWithoutEscSequences(strings.TrimRight(l, " ")) > p.opt.Width {
			p.paragraphs(g)
			return
		}
	}
	for _, l := range lines {
		fmt.Fprintln(p, strings.TrimRight(l, " "))
	}
}

// layOut sets the rows in the one style that the text formats use.
func (p *printer) layOut(g *grid) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	if p.opt.Color {
		style.Color.Header = faint
	}
	t.SetStyle(style)
	var head table.Row
	for _, c := range g.columns {
		head = append(head, c)
	}
	t.AppendHeader(head)
	for _, r := range g.rows {
		row := slices.Clone(r)
		for i := range row {
			if c, ok := row[i].(linkCell); ok {
				row[i] = c.link()
			}
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func (p *printer) paragraphs(g *grid) {
	for _, r := range g.rows {
		var parts []string
		for i, c := range r {
			if s := fmt.Sprint(c); s != "" {
				parts = append(parts, g.columns[i]+" "+s)
			}
		}
		p.para("  - ", strings.Join(parts, ", "))
	}
}
