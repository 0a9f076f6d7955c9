package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// writeVerbose tells everything: verdict, episodes, causes with all their quoted
// lines; then the numbers; then the block to paste into a ticket.
func writeVerbose(w io.Writer, r *model.Report, opt Options) error {
	p := newPrinter(w, opt)
	p.inputs(r)
	for _, n := range r.Nodes {
		p.node(n)
	}
	p.correlations(r.Correlations)
	p.alerts(r)
	p.heading("For the ticket")
	if err := writeTicket(p, r, opt); err != nil {
		return err
	}
	p.warnings(r.Warnings)
	return p.Flush()
}

func (p *printer) inputs(r *model.Report) {
	for _, in := range r.Inputs {
		part := ""
		if in.Partial {
			part = p.paint(yellow, "  partially read, see Input problems")
		}
		fmt.Fprintf(p, "%s  %s, %s in %s used of %d%s\n", p.paint(bold, in.Path), in.Kind, Bytes(in.Bytes),
			model.Plural(in.FilesUsed, "file"), in.Files, part)
	}
}

func (p *printer) node(n *model.Node) {
	p.setDay(n.Window)
	fmt.Fprintf(p, "\n%s\n", p.paint(statusColor(n.Status), n.Name+": "+n.Status))
	p.para("  ", sentenceCase(plainSummary(n)))
	p.para("  ", kubeletLine(&n.Kubelet))
	p.para("  ", windowLine(n.Window))
	p.timeline(n)
	p.episodes(n)
	p.causes(causesHeading(n.Causes), n.Causes)
	p.causes("Look-alikes (not PLEG)", otherLookAlikes(n))
	p.whatIf(n)
	p.breaches(n)
	p.relists(n)
	p.blame(n)
	p.operations(n)
	p.events(n)
	p.gaps(n.History)
}

// plainSummary is the summary without the name of the node, which stands above
// it.
func plainSummary(n *model.Node) string {
	return strings.TrimPrefix(strings.TrimPrefix(n.Summary, n.Name+": "), "the node: ")
}

func kubeletLine(k *model.Kubelet) string {
	version := k.Known()
	if version == "" {
		version = "version unknown"
	}
	s := "kubelet " + version + ", runtime " + orUnknown(orEmpty(k.Runtime)) + ", PLEG " + orUnknown(k.PLEG)
	if k.Threshold != nil {
		s += fmt.Sprintf(", relist every %s, threshold %s", span(k.Period), span(k.Threshold))
	}
	if k.RPCTimeout != nil {
		s += ", CRI timeout " + span(k.RPCTimeout)
	}
	if k.Basis != "" {
		s += " (" + k.Basis + ")"
	}
	return s
}

func windowLine(w model.Window) string {
	if w.Start == 0 {
		return "no dated line"
	}
	s := fmt.Sprintf("%s to %s UTC, %s", date(w.Start), date(w.End), Span(w.End.Sub(w.Start)))
	switch {
	case w.Timezone == "stated":
		s += "; every timestamp states its zone"
	case w.TimezoneBasis != "":
		s += fmt.Sprintf("; timestamps in %s (%s)", orUnknown(w.Timezone), w.TimezoneBasis)
	}
	return s
}

func (p *printer) episodes(n *model.Node) {
	if len(n.Episodes) == 0 {
		return
	}
	p.heading("PLEG unhealthy")
	g := p.table("#", "last relist began", "breach", "recovered", "for", "peak age", "stuck in", "lines", "node NotReady")
	for i := range n.Episodes {
		e := &n.Episodes[i]
		began := p.instant(e.LastRelistStart, e.Uncertainty)
		if e.NeverRelisted {
			began = "never since start"
		}
		g.AppendRow(table.Row{e.ID, began, p.clock(e.Breach), p.instant(e.Recovered, e.RecoveredSlack), episodeLength(e),
			span(e.PeakAge), e.StuckStep, e.Reports, notReady(e.NotReady, p.date)})
	}
	p.render(g)
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.RecoveredBasis != "" {
			p.para(fmt.Sprintf("  %d: ", e.ID), "recovery: "+e.RecoveredBasis)
		}
		if e.StuckStepBasis != "" {
			p.para(fmt.Sprintf("  %d: ", e.ID), fmt.Sprintf("stuck in %s: %s", e.StuckStep, e.StuckStepBasis))
		}
		p.quotes("     ", e.Evidence.First(p.few(3)))
	}
}

// episodeLength is from breach to recovery, or what is certain of it.
func episodeLength(e *model.Episode) string {
	switch {
	case e.Breach == 0:
		return "?"
	case e.Recovered != 0:
		return Span(e.Recovered.Sub(e.Breach))
	case e.LastReport > e.Breach:
		return "≥ " + Span(e.LastReport.Sub(e.Breach))
	}
	return "?"
}

func notReady(s *model.Span, date string) string {
	if s == nil {
		return ""
	}
	return layout(s.From, date) + " → " + layout(s.To, date)
}

func (p *printer) causes(title string, cs []model.Cause) {
	if len(cs) == 0 {
		return
	}
	p.heading(title)
	if cs[0].Kind != string(rules.KindLookAlike) {
		p.para("", rules.Legend)
	}
	for i := range cs {
		p.cause(i+1, &cs[i])
	}
}

// causesHeading says whether any of the causes is more than possible.
func causesHeading(cs []model.Cause) string {
	if len(cs) > 0 && cs[0].Level == string(rules.Possible) {
		return "Cause unknown; these are possible"
	}
	return "Probable causes"
}

// otherLookAlikes are those that the causes do not already name.
func otherLookAlikes(n *model.Node) []model.Cause {
	return slices.DeleteFunc(slices.Clone(n.LookAlikes), func(l model.Cause) bool {
		return slices.ContainsFunc(n.Causes, func(c model.Cause) bool { return c.ID == l.ID })
	})
}

func levelLine(c *model.Cause) string {
	return fmt.Sprintf("%s %s, confidence %.0f%%", c.Level, c.Kind, 100*c.Confidence)
}

func (p *printer) cause(rank int, c *model.Cause) {
	fmt.Fprintf(p, "%s\n", p.paint(bold, fmt.Sprintf("%d. %s: %s", rank, c.ID, c.Title)))
	level := levelLine(c)
	if len(c.Episodes) > 0 {
		level += ", explains episode " + numbers(c.Episodes)
	}
	fmt.Fprintf(p, "   %s\n", p.paint(faint, level))
	p.para("   ", c.Explanation)
	p.labelled("for", c.For)
	p.labelled("against", c.Against)
	for _, m := range c.Missing {
		p.para("   missing  ", m)
	}
	for _, m := range c.Remediation {
		p.para("   do       ", m)
	}
	for _, m := range c.Commands {
		p.para("   run      ", m)
	}
}

func (p *printer) labelled(label string, proof model.Proof) {
	for i := range proof.Len() {
		e := proof.At(i)
		p.quote(fmt.Sprintf("   %-9s", label), &e)
		label = ""
	}
}

func (p *printer) breaches(n *model.Node) {
	if len(n.Breaches) == 0 {
		return
	}
	p.heading("Thresholds crossed")
	g := p.table("severity", "rule", "from", "to", "value", "threshold", "where")
	for i := range n.Breaches {
		b := &n.Breaches[i]
		var where any = ""
		if b.Evidence.Len() > 0 {
			e := b.Evidence.At(0)
			where = p.linked(&e, shortPath(e.Where(), 30))
		}
		g.AppendRow(table.Row{b.Severity, b.Name(), p.second(b.Start), p.second(b.End), amountOf(b.Value, b.Unit), amountOf(b.Threshold, b.Unit), where})
	}
	p.render(g)
}

// relistsLine says how many relists are known, and what of their length.
func relistsLine(s *model.RelistStats) string {
	line := fmt.Sprintf("%d proven, %s without evidence of each", s.Proven, model.Plural(s.Bounded, "interval"))
	if s.CountMax > s.Proven {
		line += fmt.Sprintf(", %d to %d relists in all", s.CountMin, s.CountMax)
	}
	if s.Max != nil {
		line += fmt.Sprintf("; length known of %d, longest %s", s.Known, span(s.Max))
	}
	if s.P50 != nil {
		line += fmt.Sprintf(", median %s, 99%% %s", span(s.P50), span(s.P99))
	}
	return line
}

var relistColumns = []string{"start (UTC)", "±", "length", "outcome", "listed", "proof"}

func (p *printer) relists(n *model.Node) {
	if n.Relists.Proven == 0 && n.Relists.Bounded == 0 {
		return
	}
	p.heading("Relists")
	p.para("  ", relistsLine(&n.Relists))
	g := p.table(relistColumns...)
	for i := range n.Relists.Longest {
		r := &n.Relists.Longest[i]
		if r.Duration != nil && *r.Duration < 2 {
			break
		}
		g.AppendRow(p.relistRow(r))
	}
	if len(g.rows) > 0 {
		p.render(g)
	}
}

func (p *printer) relistRow(r *model.Relist) table.Row {
	row := table.Row{p.clock(r.Start)}
	for _, c := range relistCells(r)[1:] {
		row = append(row, c)
	}
	return row
}

func relistCells(r *model.Relist) []string {
	listed, start, length := "?", "", span(r.Duration)
	if r.Listed != nil {
		listed = map[bool]string{true: "yes", false: "no"}[*r.Listed]
	}
	if r.StartSlack != nil {
		start = "±" + span(r.StartSlack)
	}
	switch {
	case r.Open:
		length = "not over"
	case r.Duration == nil && r.Until != 0:
		length = "≤ " + Span(r.Until.Sub(r.Start))
	case r.EndSlack != nil && *r.EndSlack >= 0.5:
		length += " ±" + span(r.EndSlack)
	}
	return []string{clockOf(r.Start), start, length, r.Outcome, listed, strings.Join(r.Basis, ", ")}
}

func (p *printer) blame(n *model.Node) {
	if len(n.Blame) == 0 {
		return
	}
	p.heading("Relist time breakdown")
	g := p.table("relist", "total", "list", "inspect", "charged to", "seconds", "unexplained")
	for i := range n.Blame {
		b := &n.Blame[i]
		what, secs := "", ""
		if s := b.First(); s != nil {
			what, secs = s.What, span(&s.Seconds)
		}
		g.AppendRow(table.Row{p.clock(b.Start), span(&b.Total), span(b.List), span(b.Inspect), what, secs, span(&b.Unexplained)})
	}
	p.render(g)
}

func (p *printer) operations(n *model.Node) {
	if len(n.Operations) == 0 {
		return
	}
	p.heading("CRI operations")
	g := p.table("operation", "calls", "errors", "median", "99%", "total", "share of relist")
	for i := range n.Operations {
		o := &n.Operations[i]
		calls, share := "?", "?"
		if o.Calls != nil {
			calls = fmt.Sprint(*o.Calls)
		}
		if o.Share != nil {
			share = fmt.Sprintf("%.0f%%", 100**o.Share)
		}
		g.AppendRow(table.Row{o.Operation, calls, o.Errors, span(o.P50), span(o.P99), span(o.Total), share})
	}
	p.render(g)
}

func eventsLine(a *model.Audit) string {
	line := model.Plural(a.Observed, "event") + " observed"
	if a.Audited {
		line += fmt.Sprintf(", %d replayed, %d missing, %d late, %d unexpected", a.Replayed, a.Missing, a.Late, a.Unexpected)
	}
	return line + fmt.Sprintf(", %d discarded", a.Discarded)
}

func (p *printer) events(n *model.Node) {
	a := &n.Audited.Audit
	if a.Observed == 0 && !a.Audited && a.Discarded == 0 {
		return
	}
	p.heading("Pod lifecycle events")
	line := eventsLine(a)
	if k := len(n.Audited.ShortLived); k > 0 {
		line += ", " + model.Plural(k, "container") + " too short-lived for any relist to see"
	}
	p.para("  ", line)
	for _, note := range a.Notes {
		p.para("  ", note)
	}
}

func (p *printer) gaps(h *model.History) {
	if len(h.Gaps) == 0 {
		return
	}
	p.heading("What the log does not cover")
	for i := range h.Gaps {
		p.para("  ", gapLine(&h.Gaps[i], p.clock))
	}
}

func gapLine(g *model.Gap, clock func(model.Time) string) string {
	length := ""
	if g.From != 0 && g.To > g.From {
		length = " (" + Span(g.To.Sub(g.From)) + ")"
	}
	return fmt.Sprintf("%s to %s%s: %s", clock(g.From), clock(g.To), length, g.Why)
}

func (p *printer) correlations(cs []model.Correlation) {
	if len(cs) == 0 {
		return
	}
	p.heading("Across nodes")
	for i := range cs {
		p.para("  ", cs[i].Summary)
	}
}

func (p *printer) warnings(ws []model.Warning) {
	if len(ws) == 0 {
		return
	}
	p.heading("Input problems")
	for i := range ws {
		if i == p.few(10) {
			fmt.Fprintf(p, "  and %s more\n", model.Plural(len(ws)-i, "problem"))
			break
		}
		p.para("  ", ws[i].String())
	}
}
