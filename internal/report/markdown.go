package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// writeMarkdown writes a post-mortem: the block for the ticket, then for each
// node a picture, the episodes, the causes with quotes, and a timeline.
func writeMarkdown(w io.Writer, r *model.Report, opt Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# PLEG report\n")
	for i, n := range r.Nodes {
		if i == ticketNodes {
			fmt.Fprintf(b, "\nand %s more\n", plural(len(r.Nodes)-i, "node"))
			break
		}
		fmt.Fprintln(b)
		for k, l := range ticketLines(n) {
			if k == 0 {
				l = "**" + md(l) + "**"
			} else {
				l = "- " + md(l)
			}
			fmt.Fprintln(b, l)
		}
	}
	for _, n := range r.Nodes {
		markdownNode(b, n, opt)
	}
	if len(r.Correlations) > 0 {
		fmt.Fprintf(b, "\n## Across nodes\n\n")
		for i := range r.Correlations {
			fmt.Fprintf(b, "- %s\n", md(r.Correlations[i].Summary))
		}
	}
	if tell, quiet := audited(r, opt.Verbose); len(r.Alerts) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n", alertsHeading)
		for _, s := range tell {
			fmt.Fprintf(b, "- %s\n", md(s))
		}
		if quiet > 0 {
			fmt.Fprintf(b, "- %s\n", quietAlerts(quiet))
		}
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintf(b, "\n## Input problems\n\n")
		for i := range r.Warnings {
			fmt.Fprintf(b, "- %s\n", md(r.Warnings[i].String()))
		}
	}
	fmt.Fprintf(b, "\nplegforensics %s\n", md(r.Tool.Version))
	return b.Flush()
}

func markdownNode(b *bufio.Writer, n *model.Node, opt Options) {
	fmt.Fprintf(b, "\n## %s: %s\n\n", md(orNode(n.Name)), n.Status)
	fmt.Fprintf(b, "- %s\n- %s\n", md(kubeletLine(&n.Kubelet)), md(windowLine(n.Window)))
	gantt(b, n)
	if len(n.Episodes) > 0 {
		fmt.Fprintf(b, "\n### PLEG unhealthy\n\n| # | last relist began | breach | recovered | for | peak age | stuck in | lines | node NotReady |\n|---|---|---|---|---|---|---|---|---|\n")
		for i := range n.Episodes {
			e := &n.Episodes[i]
			fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %d | %s |\n", e.ID, withSlack(e.LastRelistStart, e.Uncertainty, dayAndTime), clockOf(e.Breach),
				withSlack(e.Recovered, e.RecoveredSlack, dayAndTime), episodeLength(e), span(e.PeakAge), e.StuckStep, e.Reports, notReady(e.NotReady, dayAndTime))
		}
	}
	for i := range n.Causes {
		if i == 0 {
			fmt.Fprintf(b, "\n### %s\n", causesHeading(n.Causes))
		}
		if i == 3 && !opt.Verbose {
			break
		}
		markdownCause(b, i+1, &n.Causes[i], opt)
	}
	markdownWhatIf(b, n)
	markdownTimeline(b, n)
}

func markdownCause(b *bufio.Writer, rank int, c *model.Cause, opt Options) {
	fmt.Fprintf(b, "\n#### %d. %s (`%s`, %s, %.0f%%)\n\n%s\n", rank, md(c.Title), c.ID, c.Level, 100*c.Confidence, md(c.Explanation))
	most := 3
	if opt.Verbose {
		most = c.For.Len() + c.Against.Len()
	}
	markdownQuotes(b, "Evidence for", c.For, most)
	markdownQuotes(b, "Evidence against", c.Against, most)
	markdownList(b, "Do", c.Remediation)
	if len(c.Commands) > 0 {
		fmt.Fprintf(b, "\nRun:\n\n")
		for _, x := range c.Commands {
			fmt.Fprintf(b, "- %s\n", code(x))
		}
	}
	markdownList(b, "What to collect next", c.Missing)
}

func markdownQuotes(b *bufio.Writer, title string, p model.Proof, most int) {
	if p.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, e := range p.First(most) {
		note := ""
		if e.Note != "" {
			note = ", " + md(e.Note)
		}
		fmt.Fprintf(b, "- %s%s\n\n  %s\n\n", code(e.Where()), note, code(e.Text))
	}
}

func markdownList(b *bufio.Writer, title string, xs []string) {
	if len(xs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, x := range xs {
		fmt.Fprintf(b, "- %s\n", md(x))
	}
}

// moment is one line of the post-mortem timeline.
type moment struct {
	at   model.Time
	what string
	ev   model.Proof
}

// moments are the turning points of a node, oldest first: what a post-mortem
// timeline lists.
func moments(n *model.Node) []moment {
	var ms []moment
	for i := range n.Episodes {
		e := &n.Episodes[i]
		ms = append(ms, moment{e.LastRelistStart, fmt.Sprintf("last relist to list pods before episode %d begins (±%s)", e.ID, span(e.Uncertainty)), e.Evidence},
			moment{e.Breach, fmt.Sprintf("PLEG becomes unhealthy: episode %d", e.ID), model.Proof{}},
			moment{e.FirstReport, fmt.Sprintf("first line that reports episode %d", e.ID), model.Proof{}},
			moment{e.Recovered, fmt.Sprintf("PLEG healthy again: %s", e.RecoveredBasis), model.Proof{}})
	}
	for i := range n.History.Failed {
		f := &n.History.Failed[i]
		if f.Scope == "all" || f.Code == "DeadlineExceeded" {
			ms = append(ms, moment{f.End, strings.TrimSpace(fmt.Sprintf("%s fails: %s %s", f.Call, f.Code, f.Pod)), f.Evidence})
		}
	}
	for m := range timeline.Readies(n.History) {
		ms = append(ms, moment{m.Start, map[string]string{"true": "node Ready", "false": "node NotReady"}[m.State], m.Proof})
	}
	for i := range n.History.Runs {
		if r := &n.History.Runs[i]; r.Start != 0 {
			ms = append(ms, moment{r.Start, fmt.Sprintf("kubelet starts, pid %d", r.PID), r.Evidence})
		}
	}
	ms = slices.DeleteFunc(ms, func(m moment) bool { return m.at == 0 })
	slices.SortStableFunc(ms, func(a, b moment) int { return int(max(min(a.at-b.at, 1), -1)) })
	return ms
}

// momentsShown bounds the timeline table: a ticket is read by people.
const momentsShown = 200

func markdownTimeline(b *bufio.Writer, n *model.Node) {
	ms := moments(n)
	if len(ms) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Timeline (UTC)\n\n| time | what | evidence |\n|---|---|---|\n")
	for i, m := range ms {
		if i == momentsShown {
			fmt.Fprintf(b, "\nand %d more\n", len(ms)-i)
			return
		}
		where := ""
		if m.ev.Len() > 0 {
			e := m.ev.At(0)
			where = code(e.Where())
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", date(m.at), md(m.what), where)
	}
}

// mdEscape neutralises everything that Markdown or inline HTML would act on.
var mdEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "&", "&amp;", "~", `\~`, "@", "&#64;", "!", `\!`)

// md is s as Markdown text.
func md(s string) string { return mdEscape.Replace(s) }

// code is s as a code span that works inside tables: the fence is longer than
// any run of backticks in s, and a pipe cannot end the cell.
func code(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\t", " ")
	run, longest := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// Markdown is s as inert Markdown text.
func Markdown(s string) string { return md(s) }
