package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// writeMarkdown writes a post-mortem: the block for the ticket, then for each
// node a picture, the episodes, the causes with quotes, and a timeline.
func writeMarkdown(w io.Writer, r *model.Report, opt Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# PLEG report\n")
	for i, n := range r.Nodes {
		if i == ticketNodes {
			fmt.Fprintf(b, "\nand %s more\n", parse.Plural(len(r.Nodes)-i, "node"))
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
	for _, x := range []Section{across(r), alertsTold(r, opt.Verbose), problems(r, len(r.Warnings))} {
		markdownSection(b, "##", x)
	}
	fmt.Fprintf(b, "\nplegforensics %s\n", md(r.Tool.Version))
	return b.Flush()
}

func markdownNode(b *bufio.Writer, n *model.Node, opt Options) {
	fmt.Fprintf(b, "\n## %s: %s\n\n", md(orNode(n.Name)), n.Status)
	fmt.Fprintf(b, "- %s\n- %s\n", md(kubeletLine(n.Kubelet)), md(windowLine(n.Window)))
	gantt(b, n)
	markdownSection(b, "###", times{date: dayAndTime}.episodes(n))
	for i := range n.Causes {
		if i == 0 {
			fmt.Fprintf(b, "\n### %s\n", causesHeading(n))
		}
		if i == 3 && !opt.Verbose {
			break
		}
		markdownCause(b, i+1, &n.Causes[i], opt)
	}
	markdownSection(b, "###", whatIf(n))
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

// momentsShown bounds the timeline table: a ticket is read by people.
const momentsShown = 200

func markdownTimeline(b *bufio.Writer, n *model.Node) {
	s := Section{Title: "Timeline (UTC)", Columns: []string{"time", "what", "evidence"}}
	for _, m := range moments(n) {
		s.Row(date(m.At), m.What, place(m.Proof.Best(), 1<<10))
	}
	s.Keep(momentsShown)
	markdownSection(b, "###", s)
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
