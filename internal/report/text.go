package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// writeText answers on one screen: the verdict on the worst node, its cause with the best evidence,
// what to do first, what to collect next. With --verbose it writes everything.
func writeText(w io.Writer, r *model.Report, opt Options) error {
	if opt.Verbose {
		return writeVerbose(w, r, opt)
	}
	var b bytes.Buffer
	worst := worstNode(r.Nodes)
	for cut := range 8 {
		b.Reset()
		p := newPrinter(&b, opt)
		p.cut = cut
		p.inputLine(r)
		if worst != nil {
			p.screen(worst)
		}
		p.others(r.Nodes, worst)
		p.footer(r, worst)
		_ = p.Flush() // to memory, cannot fail
		if rows := bytes.Count(b.Bytes(), []byte("\n")) + 1; rows <= screenRows || p.opt.Width < 100 && rows <= narrowRows {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Maximum rows of a screen, including the Mark: at 100 columns and more, and at fewer.
const screenRows, narrowRows = 40, 48

// most returns how many of n rows or items of lesser importance to show: fewer, the more the screen
// has to be shortened.
func (p *printer) most(n int) int { return max(1, n-p.cut) }

// worstNode returns the node to show on the screen, nil if there is none. Of nodes of which little is
// known it is the first one with more than that to tell.
func worstNode(ns []*model.Node) *model.Node {
	if len(ns) == 0 {
		return nil
	}
	rank := func(n *model.Node) int {
		told := min(len(n.Causes)+len(n.LookAlikes), 1)
		if !n.Silent {
			told += 2
		}
		return (slices.Index([]string{"unknown", "degraded", "unhealthy"}, n.Status)*1000+min(len(n.Episodes), 999))*4 + told
	}
	return slices.MaxFunc(ns, func(a, b *model.Node) int { return rank(a) - rank(b) })
}

// inputLine says what was read, and whether it was read only in part.
func (p *printer) inputLine(r *model.Report) {
	var names []string
	files, used, size, partial := 0, 0, int64(0), ""
	for _, in := range r.Inputs {
		name := path.Base(in.Path)
		if name == "-" {
			name = "standard input"
		}
		names = append(names, name)
		files, used, size = files+in.Files, used+in.FilesUsed, size+in.Bytes
		if in.Partial && in.FilesUsed > 0 { // else nothing was read
			partial = ", partially read"
		}
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	s := fmt.Sprintf("%s: %d of %s used, %s%s", strings.Join(names, ", "), used, parse.Plural(files, "file"), Bytes(size), partial)
	if k := len(r.Warnings); k > 0 {
		s += "; " + parse.Plural(k, "input problem")
	}
	p.para("", s)
}

// gutter is the width of the labels.
const gutter = 12

// whole is the limit for text that must not be cut.
const whole = math.MaxInt

// label prints a labeled paragraph of at most most lines.
func (p *printer) label(name, s string, most int) {
	if s != "" {
		p.clipped(fmt.Sprintf("  %-*s", gutter, name), s, most)
	}
}

// screen prints the verdict on one node, its cause, and what to do.
func (p *printer) screen(n *model.Node) {
	p.setDay(n.Window)
	p.status(orNode(n.Name), n.Status)
	if len(n.Episodes) == 0 {
		p.label("verdict", sentenceCase(plainSummary(n)), whole)
		p.crossed(n)
	} else {
		p.incident(n)
	}
	p.label("node", kubeletShort(&n.Kubelet), whole)
	p.label("log", shortPaths(windowLine(n.Window, false))+gapsShort(n.History.Gaps), whole)
	p.conflicts(n)
	p.ageLine(n)
	c, sure := leading(n)
	p.mostLikely(n, c, sure)
	switch {
	case !sure:
		p.collectNext(n)
	case n.Status != "healthy":
		p.doFirst(c)
	}
}

// leading returns the cause to show first, nil if there is none, and whether it settles the matter:
// its level is above possible, or the node is healthy and there is nothing to explain. For a
// healthy node it is the look-alike finding that proves the health, never a suspected cause.
func leading(n *model.Node) (c *model.Cause, sure bool) {
	if n.Status == "healthy" {
		for _, cs := range [][]model.Cause{n.Causes, n.LookAlikes} {
			if i := slices.IndexFunc(cs, func(c model.Cause) bool { return c.Kind == string(rules.KindLookAlike) }); i >= 0 {
				return &cs[i], true
			}
		}
		return nil, true
	}
	if len(n.Causes) > 0 {
		c = &n.Causes[0]
	}
	return c, c != nil && c.Level != string(rules.Possible)
}

// claim says what kind of claim the leading entry makes: a symptom says what failed, not why.
func claim(c *model.Cause) string {
	if c.Kind == string(rules.KindSymptom) {
		return "What failed"
	}
	return "Cause"
}

// incident prints the worst episode.
func (p *printer) incident(n *model.Node) {
	e := &n.Episodes[n.Worst]
	said := p.unhealthy(e, n)
	if k := len(n.Episodes); k > 1 {
		if said += fmt.Sprintf("; the worst of %d episodes", k); n.Worst < k-1 && n.Episodes[k-1].Recovered == 0 {
			said += ", the last of them " + rules.Unrecovered(int64(n.Episodes[k-1].LastReport), int64(n.Window.End), false)
		}
		said += ", --verbose lists all"
	}
	p.label("PLEG", said, whole)
	told := map[model.Time]bool{} // by the episodes
	for i := range n.Episodes {
		told[n.Episodes[i].Breach] = true
	}
	for i := range n.Breaches {
		if b := &n.Breaches[i]; b.Rule == "relist-threshold-exceeded" && !told[b.Start] {
			p.label("", "past the threshold also"+strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf(" from %s to %s", p.second(b.Start), p.second(b.End)), " to ?"), " from ?")+", though no line was recognized that reports it; age "+valueOf(b), whole)
		}
	}
	age := clauses{oldest(e)}
	age.add(e.PeakAge != nil && atLeast(e.PeakAge) != age[0] && "at least "+span(e.PeakAge) != age[0], "%s stated by its lines", span(e.PeakAge))
	age[0] += model.InBrackets(map[bool]string{true: "no relist had succeeded since the kubelet started"}[e.NeverRelisted])
	age.add(true, "threshold %s", span(&e.Threshold))
	age.add(e.StuckStep != "unknown" && e.StuckStep != "", "stuck in the %s phase%s", e.StuckStep, model.InBrackets(e.StuckStepBasis))
	age.add(elsewhere(n) != "", "%s", elsewhere(n))
	p.label("peak age", age.String(), whole)
	if x := e.NotReady; x != nil {
		p.label("NotReady", untilWords(e.Start(), x.From)+p.local(x.From)+" to "+untilWords(x.From, x.To)+p.local(x.To)+model.InBrackets(x.Why), whole)
	}
}

// atLatest qualifies the beginning of an episode.
func atLatest(e *model.Episode) string {
	if e.AtLatest {
		return " at the latest"
	}
	return ""
}

// unhealthy says from when to when PLEG was unhealthy, and whether it recovered.
func (t times) unhealthy(e *model.Episode, n *model.Node) string {
	if e.Recovered == 0 && e.Start() == 0 && e.LastReport == 0 {
		return "unhealthy; since when is not known"
	}
	var c clauses
	from := "a moment that is not dated"
	if e.Start() != 0 {
		from = layout(e.Start(), time.DateTime) + " UTC"
	}
	c.add(true, "unhealthy from %s%s%s", from, about(e.Start(), e.Uncertainty, time.Second), atLatest(e))
	if e.Recovered != 0 {
		c.add(true, "recovered %s%s%s, after %s", cmp.Or(by(e), "at "), untilWords(e.Start(), e.Recovered), t.local(e.Recovered), strings.Replace(episodeLength(e), "≥", "at least", 1))
	} else {
		c.add(true, "%s", rules.Unrecovered(int64(e.LastReport), int64(n.Window.End), e != &n.Episodes[len(n.Episodes)-1]))
		c.add(e.LastReport > e.Start(), "last reported %s", untilWords(e.Start(), e.LastReport)+t.local(e.LastReport))
	}
	return c.String()
}

// by returns "by " if the recovery may have been earlier than stated.
func by(e *model.Episode) string { return map[bool]string{true: "by "}[upTo(e.RecoveredSlack) != ""] }

// upTo says how much earlier something may have happened than proven; "" if less than half a
// second.
func upTo(slack *float64) string {
	if slack == nil || *slack < 0.5 {
		return ""
	}
	return ", or up to " + parse.Slack(model.Duration(slack), time.Second) + " earlier"
}

// untilWords formats the end of a span, with the day if that differs from the start's.
func untilWords(from, to model.Time) string {
	if to == 0 {
		return "an end that is not seen"
	}
	if layout(from, time.DateOnly) == layout(to, time.DateOnly) {
		return layout(to, time.TimeOnly)
	}
	return layout(to, time.DateTime)
}

// crossed lists the most severe breaches of a node without an episode.
func (p *printer) crossed(n *model.Node) {
	bs := slices.Clone(n.Breaches)
	slices.SortStableFunc(bs, func(a, b model.Breach) int {
		return rules.Severity(b.Severity).Rank() - rules.Severity(a.Severity).Rank()
	})
	for i := range bs[:min(len(bs), 3)] {
		b := &bs[i]
		c, m := clauses{strings.TrimSuffix(fmt.Sprintf("%s: %s from %s", b.Severity, b.Name(), p.second(b.Start)), " from ?")}, measured(b)
		c.add(m != "", "%s", m)
		if e := b.Evidence.Best(); e != nil {
			c.add(true, "%s", shortPath(e.Where(), 40))
		}
		p.label(map[int]string{0: "crossed"}[i], c.String(), p.most(2))
	}
}

// gapsShort says how much of the log is missing.
func gapsShort(gaps []model.Gap) string {
	gaps = slices.DeleteFunc(slices.Clone(gaps), func(g model.Gap) bool { return g.Why == "search" })
	if len(gaps) == 0 {
		return ""
	}
	lost, dated := time.Duration(0), 0
	for _, g := range gaps {
		if g.From != 0 && g.To > g.From {
			lost, dated = lost+g.To.Sub(g.From), dated+1
		}
	}
	c := clauses{"; " + parse.Plural(len(gaps), "gap")}
	c.add(dated > 0, "%s%s %s", map[bool]string{true: "at least "}[dated < len(gaps)], Span(lost), map[bool]string{true: "long", false: "together"}[len(gaps) == 1])
	return c.String()
}

// mostLikely prints the cause with its three best pieces of evidence.
func (p *printer) mostLikely(n *model.Node, c *model.Cause, sure bool) {
	head, well := "", n.Status == "healthy"
	switch {
	case c == nil && !sure:
		head = "Cause unknown"
	case c == nil && len(n.Causes) == 0:
		return
	case c == nil:
		head = "Other findings"
	case well:
		head = "Proof"
	case !sure:
		head = fmt.Sprintf("Cause unknown; possible: %s (%.0f%%, %s)", c.Title, 100*c.Confidence, c.ID)
	default:
		head = fmt.Sprintf("%s: %s (%s, %.0f%%, %s)", claim(c), c.Title, c.Level, 100*c.Confidence, c.ID)
	}
	p.heading(head)
	var also []string
	for i := range n.Causes {
		if x := &n.Causes[i]; x != c && len(also) < 3 {
			also = append(also, fmt.Sprintf("%s (%s, %.0f%%)", x.ID, x.Level, 100*x.Confidence))
		}
	}
	if c != nil {
		p.clipped("  ", c.Explanation, p.most(3))
		for i, e := range c.For.Told(3) {
			p.quote(fmt.Sprintf("  %d ", i+1), &e)
		}
		if e := c.Against.Best(); e != nil {
			p.clipped("  against  ", cmp.Or(gist(e.Note), flat(e.Message()))+" ("+shortPath(e.Where(), 40)+")", p.most(2))
		}
	}
	if around := map[bool][2]string{true: {"signs of ", ", though PLEG was well"}}[well]; len(also) > 0 {
		p.clipped("  also     ", around[0]+strings.Join(also, ", ")+around[1], p.most(2))
	}
}

// doFirst prints the first two actions and commands.
func (p *printer) doFirst(c *model.Cause) {
	if len(c.Remediation)+len(c.Commands) > 0 {
		p.heading("Do first")
	}
	for i, s := range c.Remediation[:min(len(c.Remediation), 2)] {
		p.clipped(fmt.Sprintf("  %d. ", i+1), s, 2)
	}
	for _, s := range c.Commands[:min(len(c.Commands), 2)] {
		fmt.Fprintf(p, "     $ %s\n", s) // never cut: it is copied
	}
}

// collectNext prints what to collect to settle the cause.
func (p *printer) collectNext(n *model.Node) {
	for i := range n.Collect[:min(len(n.Collect), 4)] {
		if i == 0 {
			p.heading(collectNext)
		}
		p.need(&n.Collect[i], p.most(2))
	}
}

// need prints something to collect, and its command in full, since that is copied.
func (p *printer) need(x *model.Need, most int) {
	p.clipped("  - ", sentenceCase(x.What)+": "+x.Why, most)
	if x.Command != "" {
		fmt.Fprintf(p, "    $ %s\n", x.Command)
	}
}

// others prints a line for each of the remaining nodes.
func (p *printer) others(ns []*model.Node, worst *model.Node) {
	most := p.most(8)
	ns = slices.DeleteFunc(slices.Clone(ns), func(n *model.Node) bool { return n == worst })
	for i, n := range ns {
		if i == 0 {
			p.heading("Other nodes")
		}
		if i == most {
			fmt.Fprintf(p, "  and %s; --verbose shows all, batch compares many\n", parse.Plural(len(ns)-most, "more node"))
			break
		}
		p.clipped("  ", orNode(n.Name)+": "+n.Status+"; "+sentenceCase(plainSummary(n)), 1)
	}
}

// footer prints what else was found, the legend of confidence levels, and the next commands.
func (p *printer) footer(r *model.Report, worst *model.Node) {
	fmt.Fprintln(p)
	if worst != nil {
		p.label("also found", alsoFound(r, worst), 1)
	}
	if len(r.Correlations) > 0 {
		p.label("across", r.Correlations[0].Summary, 1)
	}
	next := "--verbose shows all, -o html=report.html"
	if worst != nil && len(worst.Causes) > 0 && worst.Status != "healthy" {
		p.label("confidence", rules.Legend, whole)
		next += ", explain " + worst.Causes[0].ID
	}
	p.label("next", next, whole)
}

// alsoFound counts what the screen leaves out.
func alsoFound(r *model.Report, n *model.Node) string {
	var c clauses
	count := func(k int, noun, after string) { c.add(k > 0, "%s%s", parse.Plural(k, noun), after) }
	count(n.Crossed.Sum(), "threshold", " crossed")
	count(len(n.LookAlikes), "look-alike", "")
	count(n.Audited.Audit.Missing, "missing PLEG event", "")
	count(n.Events.Discarded, "discarded PLEG event", "")
	fired, judged := 0, 0
	for _, a := range r.Alerts {
		switch alerts.Outcome(a.Outcome) {
		case alerts.Fired:
			fired, judged = fired+1, judged+1
		case alerts.Never:
			judged++
		}
	}
	c.add(judged > 0, "%d of %s would have fired", fired, parse.Plural(judged, "alert"))
	count(len(n.WhatIf), "what-if answer", "")
	return cmp.Or(c.String(), "nothing else")
}
