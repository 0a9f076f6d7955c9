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
	"github.com/plegforensics/plegforensics/rules"
)

// writeText answers on one screen: the verdict on each node, the cause and its
// best proofs, what to do first, what to collect next. All of it is under
// --verbose.
func writeText(w io.Writer, r *model.Report, opt Options) error {
	if opt.Verbose {
		return writeVerbose(w, r, opt)
	}
	p := newPrinter(w, opt)
	p.inputLine(r)
	worst := worstNode(r.Nodes)
	for _, n := range r.Nodes {
		if n == worst {
			p.screen(n)
		}
	}
	p.others(r.Nodes, worst)
	p.footer(r, worst)
	return p.Flush()
}

// worstNode is the node that the screen is about.
func worstNode(ns []*model.Node) *model.Node {
	var worst *model.Node
	rank := func(n *model.Node) int {
		return map[string]int{"unhealthy": 3, "degraded": 2, "unknown": 1}[n.Status]*1000 + min(len(n.Episodes), 999)
	}
	for _, n := range ns {
		if worst == nil || rank(n) > rank(worst) {
			worst = n
		}
	}
	return worst
}

// inputLine says what was read, and that something of it was not.
func (p *printer) inputLine(r *model.Report) {
	var names []string
	files, used, size, partial := 0, 0, int64(0), false
	for _, in := range r.Inputs {
		names = append(names, lastElement(in.Path))
		files, used, size, partial = files+in.Files, used+in.FilesUsed, size+in.Bytes, partial || in.Partial
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	s := fmt.Sprintf("%s: %d of %s used, %s", strings.Join(names, ", "), used, parse.Plural(files, "file"), Bytes(size))
	if partial {
		s += ", partially read"
	}
	if k := len(r.Warnings); k > 0 {
		s += "; " + parse.Plural(k, "input problem")
	}
	p.para("", s)
}

func lastElement(path string) string {
	if path == "-" {
		return "standard input"
	}
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// gutter is the width of the labels.
const gutter = 12

// label prints a labelled paragraph.
func (p *printer) label(name, s string) {
	if s != "" {
		p.para(fmt.Sprintf("  %-*s", gutter, name), s)
	}
}

// line prints a labelled line, cut to the width.
func (p *printer) line(indent, s string) {
	fmt.Fprintln(p, indent+fit(s, max(p.opt.Width-breadth(indent), 20)))
}

// screen is the verdict on one node, its cause, and what to do.
func (p *printer) screen(n *model.Node) {
	p.setDay(n.Window)
	fmt.Fprintf(p, "\n%s\n", p.paint(statusColor(n.Status), orNode(n.Name)+": "+n.Status))
	if len(n.Episodes) == 0 {
		p.label("verdict", sentenceCase(plainSummary(n)))
		p.crossed(n)
	} else {
		p.incident(n)
	}
	p.label("node", kubeletShort(n))
	p.label("log", logShort(n))
	for i := range n.Conflicts {
		p.label("warning", n.Conflicts[i].Message)
	}
	p.ageLine(n)
	if p.mostLikely(n) {
		p.doFirst(n)
		return
	}
	p.collectNext(n)
}

// mainEpisode is the one with the greatest age, or the longest.
func mainEpisode(n *model.Node) *model.Episode {
	best := &n.Episodes[0]
	size := func(e *model.Episode) float64 {
		if e.PeakAge != nil {
			return *e.PeakAge
		}
		return model.Seconds(max(e.Recovered, e.LastReport).Sub(e.Start()))
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; size(e) > size(best) {
			best = e
		}
	}
	return best
}

// incident tells the episode that counts.
func (p *printer) incident(n *model.Node) {
	e := mainEpisode(n)
	p.label("PLEG", unhealthyWords(e, n.Window.End)+p.zoned(e))
	if k := len(n.Episodes); k > 1 {
		p.label("", fmt.Sprintf("the worst of %d episodes; --verbose lists all", k))
	}
	age := "not stated"
	if e.PeakAge != nil {
		age = span(e.PeakAge)
	}
	stuck := ""
	if e.StuckStep != "unknown" && e.StuckStep != "" {
		stuck = ", stuck in the " + e.StuckStep + " phase"
		if e.StuckStepBasis != "" {
			stuck += " (" + e.StuckStepBasis + ")"
		}
	}
	p.label("peak age", age+", threshold "+Span(model.Duration(&e.Threshold))+stuck)
	if e.NotReady != nil {
		to := "the end of the log"
		if e.NotReady.To != 0 {
			to = layout(e.NotReady.To, time.TimeOnly)
		}
		p.label("NotReady", fmt.Sprintf("%s to %s%s", layout(e.NotReady.From, time.TimeOnly), to, notReadyWhy(n, e)))
	}
}

// unhealthyWords is from when to when PLEG was unhealthy, and whether it is over.
func unhealthyWords(e *model.Episode, end model.Time) string {
	from := "a moment that no line dates"
	if e.Start() != 0 {
		from = layout(e.Start(), time.DateTime) + " UTC"
	}
	if e.Uncertainty != nil && *e.Uncertainty >= 0.5 {
		from += " ±" + span(e.Uncertainty)
	}
	if e.NeverRelisted {
		from += ", no relist having succeeded since the kubelet started"
	}
	if e.Recovered == 0 && e.Start() == 0 && e.LastReport == 0 {
		return "unhealthy; no line of it states a time"
	}
	if e.Recovered == 0 {
		s := "unhealthy from " + from
		if end-e.LastReport > 60*second {
			s += ", recovery not seen"
		} else {
			s += ", not recovered by the end of the log"
		}
		if e.LastReport > e.Start() {
			s += ", last reported " + layout(e.LastReport, time.TimeOnly)
		}
		return s
	}
	to := layout(e.Recovered, time.TimeOnly)
	if layout(e.Recovered, time.DateOnly) != layout(e.Start(), time.DateOnly) {
		to = layout(e.Recovered, time.DateTime)
	}
	if e.RecoveredSlack != nil && *e.RecoveredSlack >= 0.5 {
		to += " ±" + span(e.RecoveredSlack)
	}
	return fmt.Sprintf("unhealthy from %s to %s, recovered after %s", from, to, episodeLength(e))
}

// zoned is the same in local time, where that is asked for.
func (p *printer) zoned(e *model.Episode) string {
	if p.opt.Zone == nil || e.Start() == 0 {
		return ""
	}
	s := e.Start().UTC().In(p.opt.Zone).Format("2006-01-02 15:04:05")
	if e.Recovered != 0 {
		s += " to " + e.Recovered.UTC().In(p.opt.Zone).Format(time.TimeOnly)
	}
	return " (" + s + " " + p.opt.Zone.String() + ")"
}

// notReadyWhy is what the lines say of why the node became NotReady.
func notReadyWhy(n *model.Node, e *model.Episode) string {
	why := ""
	for _, c := range n.History.Ready {
		if c.Time == e.NotReady.From && !c.Ready && c.Reason != "" {
			why = ", reason " + c.Reason
		}
	}
	for _, x := range e.Evidence.First(10) { // the line with the condition, or the event beside it
		if d := x.Time - e.NotReady.From; d > -second && d < second && strings.Contains(x.Text, "PLEG is not healthy") {
			return ", because PLEG is not healthy"
		}
	}
	return why
}

const second = model.Time(1e9)

// crossed lists the gravest thresholds of a node without an episode.
func (p *printer) crossed(n *model.Node) {
	bs := slices.Clone(n.Breaches)
	slices.SortStableFunc(bs, func(a, b model.Breach) int {
		return rules.Severity(b.Severity).Rank() - rules.Severity(a.Severity).Rank()
	})
	for i := range bs[:min(len(bs), 3)] {
		b := &bs[i]
		name := "crossed"
		if i > 0 {
			name = ""
		}
		s := fmt.Sprintf("%s: %s from %s, %s", b.Severity, b.Name(), p.second(b.Start), measured(b))
		if b.Evidence.Len() > 0 {
			e := b.Evidence.At(0)
			s += "  " + shortPath(e.Where(), 40)
		}
		p.line(fmt.Sprintf("  %-*s", gutter, name), s)
	}
}

func kubeletShort(n *model.Node) string {
	k := &n.Kubelet
	s := "kubelet " + cmp.Or(k.Known(), "of unknown version") + ", " + cmp.Or(orEmpty(k.Runtime), "unknown runtime")
	if k.PLEG != "" && k.PLEG != "unknown" {
		s += ", " + k.PLEG + " PLEG"
	}
	return s
}

// logShort is what the records cover, and how their timestamps were read.
func logShort(n *model.Node) string {
	w := n.Window
	if w.Start == 0 {
		return "no dated line"
	}
	s := layout(w.Start, time.DateTime)
	switch to := layout(w.End, time.DateTime); {
	case layout(w.Start, time.DateOnly) != layout(w.End, time.DateOnly):
		s += " to " + to
	case to != s:
		s += " to " + layout(w.End, time.TimeOnly)
	}
	s += " UTC"
	if w.TimezoneBasis != "" && w.Timezone != "stated" {
		s += ", timestamps in " + orUnknown(w.Timezone) + " (" + shortPaths(w.TimezoneBasis) + ")"
	}
	if w.YearBasis != "" {
		s += ", year: " + shortPaths(w.YearBasis)
	}
	lost := 0.0
	for _, g := range n.History.Gaps {
		if g.From != 0 && g.To > g.From {
			lost += model.Seconds(g.To.Sub(g.From))
		}
	}
	if k := len(n.History.Gaps); k > 0 {
		s += fmt.Sprintf("; %s", parse.Plural(k, "gap"))
		if lost > 0 {
			s += " of " + span(&lost)
		}
	}
	return s
}

// mostLikely tells the cause with its three best proofs, and reports whether one
// is more than possible.
func (p *printer) mostLikely(n *model.Node) bool {
	if len(n.Causes) == 0 {
		if n.Status != "healthy" {
			p.heading("Cause unknown")
		}
		return n.Status == "healthy"
	}
	c := &n.Causes[0]
	known := c.Level != string(rules.Possible)
	head := fmt.Sprintf("Cause: %s (%s, %.0f%%, %s)", c.Title, c.Level, 100*c.Confidence, c.ID)
	switch {
	case n.Status == "healthy":
		head, known = "Proof", true
	case !known:
		head = fmt.Sprintf("Cause unknown; possible: %s (%.0f%%, %s)", c.Title, 100*c.Confidence, c.ID)
	}
	rest := ""
	if i := strings.LastIndex(head, " ("); i > 0 && breadth(head) > p.opt.Width {
		head, rest = head[:i], head[i+1:]
	}
	p.heading(fit(head, p.opt.Width))
	if rest != "" {
		p.line("  ", rest)
	}
	p.clipped("  ", c.Explanation, 3)
	for i, e := range c.For.First(3) {
		p.proof(i+1, &e)
	}
	if c.Against.Len() > 0 {
		e := c.Against.At(0)
		p.clipped("  against  ", cmp.Or(e.Note, flat(e.Text))+" ("+shortPath(e.Where(), 40)+")", 2)
	}
	var also []string
	for _, x := range n.Causes[1:min(len(n.Causes), 4)] {
		also = append(also, fmt.Sprintf("%s (%s, %.0f%%)", x.ID, x.Level, 100*x.Confidence))
	}
	if len(also) > 0 {
		p.clipped("  also     ", strings.Join(also, ", "), 2)
	}
	return known
}

// proof is a quoted line: where and what for, on a row of its own where that is
// long; then the text.
func (p *printer) proof(i int, e *model.Evidence) {
	where := shortPath(e.Where(), 40)
	rest := ""
	if e.Time != 0 {
		rest = "  " + layout(e.Time, time.TimeOnly)
	}
	room := p.opt.Width - 6 - breadth(where+rest)
	fits := e.Note != "" && breadth(e.Note) <= room
	if fits {
		rest += "  " + e.Note
	}
	fmt.Fprintf(p, "  %d %s%s\n", i, p.link(e, where), rest)
	if !fits && e.Note != "" {
		p.clipped("    ", e.Note, 1)
	}
	msg := flat(cmp.Or(e.Message, e.Text))
	fmt.Fprintf(p, "    %s\n", p.paint(faint, fit(msg, max(p.opt.Width-4, 20))))
}

// clipped prints at most most lines of a paragraph.
func (p *printer) clipped(indent, s string, most int) {
	lines := strings.Split(wrap(s, max(p.opt.Width-len(indent), 20)), "\n")
	for i, l := range lines[:min(len(lines), most)] {
		l = strings.TrimRight(l, " ")
		if i == most-1 && len(lines) > most {
			l = fit(l+" …", p.opt.Width-len(indent))
		}
		fmt.Fprintln(p, indent+l)
		indent = strings.Repeat(" ", breadth(indent))
	}
}

// doFirst is the first two things to do, and the commands for this node.
func (p *printer) doFirst(n *model.Node) {
	if len(n.Causes) == 0 {
		return
	}
	c := &n.Causes[0]
	if len(c.Remediation)+len(c.Commands) == 0 || n.Status == "healthy" {
		return
	}
	p.heading("Do first")
	for i, s := range c.Remediation[:min(len(c.Remediation), 2)] {
		p.clipped(fmt.Sprintf("  %d. ", i+1), s, 2)
	}
	for _, s := range c.Commands[:min(len(c.Commands), 2)] {
		fmt.Fprintf(p, "     $ %s\n", s) // whole: it is copied
	}
}

// collectNext is what would settle it.
func (p *printer) collectNext(n *model.Node) {
	var what []string
	if len(n.Causes) > 0 {
		what = n.Causes[0].Missing
	}
	if len(what)+len(n.Collect) == 0 {
		return
	}
	p.heading("Collect next")
	for _, s := range what[:min(len(what), 2)] {
		p.clipped("  - ", sentenceCase(s), 2)
	}
	for i := range n.Collect[:min(len(n.Collect), 2)] {
		x := &n.Collect[i]
		p.clipped("  - ", sentenceCase(x.What)+": "+x.Why, 2)
		fmt.Fprintf(p, "    $ %s\n", x.Command)
	}
}

// others are the nodes that the screen is not about, a line each.
func (p *printer) others(ns []*model.Node, worst *model.Node) {
	const most = 8
	shown := 0
	for _, n := range ns {
		if n == worst {
			continue
		}
		if shown == 0 {
			p.heading("Other nodes")
		}
		if shown++; shown > most {
			fmt.Fprintf(p, "  and %s more; --verbose shows all, batch compares many\n", parse.Plural(len(ns)-1-most, "node"))
			return
		}
		p.line("  ", n.Name+": "+n.Status+"; "+sentenceCase(plainSummary(n)))
	}
}

// footer is what else was found, the one legend, and the next command.
func (p *printer) footer(r *model.Report, worst *model.Node) {
	fmt.Fprintln(p)
	if worst != nil {
		p.line(fmt.Sprintf("  %-*s", gutter, "also found"), alsoFound(r, worst))
	}
	if k := len(r.Correlations); k > 0 {
		p.line(fmt.Sprintf("  %-*s", gutter, "across"), r.Correlations[0].Summary)
	}
	next := "--verbose shows all, -o html=report.html"
	if worst != nil && len(worst.Causes) > 0 && worst.Status != "healthy" {
		p.label("confidence", rules.Legend)
		next += ", explain " + worst.Causes[0].ID
	}
	p.label("next", next)
}

// alsoFound counts what the screen leaves out.
func alsoFound(r *model.Report, n *model.Node) string {
	var out []string
	if k := len(n.Breaches); k > 0 {
		out = append(out, parse.Plural(k, "threshold")+" crossed")
	}
	if k := len(n.LookAlikes); k > 0 {
		out = append(out, parse.Plural(k, "look-alike"))
	}
	if m := n.Events.Missing; m != nil && *m > 0 {
		out = append(out, parse.Plural(*m, "missing PLEG event"))
	}
	if n.Events.Discarded > 0 {
		out = append(out, parse.Plural(n.Events.Discarded, "discarded PLEG event"))
	}
	fired := 0
	for i := range r.Alerts {
		if r.Alerts[i].Outcome == "fired" {
			fired++
		}
	}
	if len(r.Alerts) > 0 {
		out = append(out, fmt.Sprintf("%d of %s would have fired", fired, parse.Plural(len(r.Alerts), "alert")))
	}
	if len(n.WhatIf) > 0 {
		out = append(out, parse.Plural(len(n.WhatIf), "what-if"))
	}
	if len(out) == 0 {
		return "nothing else"
	}
	return strings.Join(out, ", ")
}
