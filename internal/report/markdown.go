package report

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// writeMarkdown writes a post-mortem: verdict, episodes, causes with quotes, and
// one timeline table a node.
func writeMarkdown(w io.Writer, r *Report, opt Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# PLEG report\n")
	for i := range r.Nodes {
		markdownNode(b, &r.Nodes[i], opt)
	}
	if len(r.Correlations) > 0 {
		fmt.Fprintf(b, "\n## Across nodes\n\n")
		for _, c := range r.Correlations {
			fmt.Fprintf(b, "- %s\n", md(c.Summary))
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
		fmt.Fprintf(b, "\n## Read with trouble\n\n")
		for _, x := range r.Warnings {
			fmt.Fprintf(b, "- %s\n", md(x.String()))
		}
	}
	fmt.Fprintf(b, "\nplegforensics %s\n", md(r.Version))
	return b.Flush()
}

func markdownNode(b *bufio.Writer, n *Node, opt Options) {
	fmt.Fprintf(b, "\n## %s: %s\n\n%s\n\n", md(n.Name), n.Status, md(n.Summary))
	fmt.Fprintf(b, "- %s\n- %s\n", md(kubeletLine(n.Kubelet)), md(windowLine(n.Window)))
	if len(n.Episodes) > 0 {
		fmt.Fprintf(b, "\n### PLEG unhealthy\n\n| # | last relist began | breach | recovered | for | peak age | stuck in | lines | node NotReady |\n|---|---|---|---|---|---|---|---|---|\n")
		for i := range n.Episodes {
			e := &n.Episodes[i]
			fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %d | %s |\n", e.ID, instant(e.LastStart), clockOf(e.Breach),
				instant(e.Recovered), episodeLength(e), age(e), e.StuckStep, e.Reports, notReady(e.NotReady, dayAndTime))
		}
	}
	for i, c := range n.Causes {
		if i == 0 {
			fmt.Fprintf(b, "\n### %s\n", causesHeading(n.Causes))
		}
		if i == 3 && !opt.Verbose {
			break
		}
		markdownCause(b, i+1, c, opt)
	}
	markdownWhatIf(b, n)
	markdownTimeline(b, n)
}

func markdownCause(b *bufio.Writer, rank int, c rules.Cause, opt Options) {
	fmt.Fprintf(b, "\n#### %d. %s (`%s`, %s, %.0f%%)\n\n%s\n", rank, md(c.Title), c.ID, c.Level, 100*c.Confidence, md(c.Explanation))
	most := 3
	if opt.Verbose {
		most = len(c.For) + len(c.Against)
	}
	markdownQuotes(b, "For", c.For, most)
	markdownQuotes(b, "Against", c.Against, most)
	markdownList(b, "Do", c.Remediation)
	markdownList(b, "Would settle it", c.Missing)
}

func markdownQuotes(b *bufio.Writer, title string, es []replay.Evidence, most int) {
	if len(es) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, e := range pick(es, most) {
		note := ""
		if e.Note != "" {
			note = ", " + md(e.Note)
		}
		fmt.Fprintf(b, "- %s%s\n\n  %s\n\n", code(e.Where().String()), note, code(Quote(e.Quote())))
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
	at   int64
	what string
	ev   []replay.Evidence
}

// moments are the turning points of a node, oldest first: what a post-mortem
// timeline lists.
func moments(n *Node) []moment {
	var ms []moment
	for i := range n.Episodes {
		e := &n.Episodes[i]
		ms = append(ms, moment{e.LastStart.At, fmt.Sprintf("last relist to list pods before episode %d begins (±%s)", e.ID, Span(e.LastStart.Slack)), pick(e.Evidence, 1)},
			moment{e.Breach, fmt.Sprintf("PLEG becomes unhealthy: episode %d", e.ID), nil},
			moment{e.FirstReport, fmt.Sprintf("first line that reports episode %d", e.ID), nil},
			moment{e.Recovered.At, fmt.Sprintf("PLEG healthy again: %s", e.RecoveredBasis), nil})
	}
	for _, f := range n.Failures {
		if f.Scope == "all" || f.Code == "DeadlineExceeded" {
			ms = append(ms, moment{f.End, strings.TrimSpace(fmt.Sprintf("%s fails: %s %s", f.Call, f.Code, f.Pod)), pick(f.Evidence, 1)})
		}
	}
	for _, c := range n.Ready {
		what := "node NotReady"
		if c.Ready {
			what = "node Ready"
		}
		ms = append(ms, moment{c.At, what, []replay.Evidence{c.Evidence}})
	}
	for _, r := range n.Runs {
		if r.Start.Known() {
			ms = append(ms, moment{r.Start.At, fmt.Sprintf("kubelet starts, pid %d", r.PID), pick(r.Evidence, 1)})
		}
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].at < ms[j].at })
	return ms
}

// momentsShown bounds the timeline table: a ticket is read by people.
const momentsShown = 200

func markdownTimeline(b *bufio.Writer, n *Node) {
	ms := moments(n)
	shown := 0
	for _, m := range ms {
		if m.at == 0 {
			continue
		}
		if shown == 0 {
			fmt.Fprintf(b, "\n### Timeline (UTC)\n\n| time | what | evidence |\n|---|---|---|\n")
		}
		if shown == momentsShown {
			fmt.Fprintf(b, "\nand %d more\n", len(ms)-shown)
			return
		}
		shown++
		where := ""
		if len(m.ev) > 0 && m.ev[0].Record != nil {
			where = code(m.ev[0].Where().String())
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", Date(m.at), md(m.what), where)
	}
}

// mdEscape neutralises everything that Markdown or inline HTML would act on.
var mdEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "&", "&amp;", "~", `\~`, "@", "&#64;", "!", `\!`)

// md is s as Markdown text.
func md(s string) string { return mdEscape.Replace(Visible(s)) }

// code is s as a code span that works inside tables: the fence is longer than
// any run of backticks in s, and a pipe cannot end the cell.
func code(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(Visible(s), "|", `\|`), "\t", " ")
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
