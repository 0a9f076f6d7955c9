package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// writeMarkdown writes a post-mortem: the summary for the ticket, then for each node a chart, the
// episodes, the causes with quotes, and a timeline.
func writeMarkdown(w io.Writer, r *model.Report, opt Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# PLEG report\n")
	for _, lines := range ticket(r, times{zone: opt.Zone}) {
		fmt.Fprintf(b, "\n**%s**\n", md(lines[0]))
		for _, l := range lines[1:] {
			fmt.Fprintf(b, "- %s\n", md(l))
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

// momentsShown is the maximum length of the timeline table: a ticket is read by people.
const momentsShown = 200

func markdownNode(b *bufio.Writer, n *model.Node, opt Options) {
	t := times{dayAndTime, opt.Zone}
	fmt.Fprintf(b, "\n## %s: %s\n\n", md(orNode(n.Name)), n.Status)
	fmt.Fprintf(b, "- %s\n- %s\n", md(kubeletLine(n.Kubelet)), md(t.prose(windowLine(n.Window, true))))
	gantt(b, n)
	markdownSection(b, "###", t.episodes(n))
	told, quotes := n.Causes[:min(len(n.Causes), 3)], 3
	if opt.Verbose {
		told, quotes = n.Causes, whole
	}
	for i, s := range quotedOnce(causes(causesHeading(n), rules.Legend, told, quotes)) {
		markdownSection(b, strings.Repeat("#", 3+min(i, 1)), s)
	}
	markdownSection(b, "###", whatIf(n))
	s := Section{Title: "Timeline (UTC)", Columns: []string{"time", "what", "evidence"}}
	for _, m := range moments(n, false) {
		s.Row(layout(m.At, "2006-01-02 15:04:05.000")+t.local(m.At), m.What, place(m.Proof.Best(), 1<<10))
	}
	s.Keep(momentsShown)
	markdownSection(b, "###", s)
}

// mdEscape escapes everything that Markdown or inline HTML would interpret.
var mdEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "|", `\|`, "#", `\#`, "&", "&amp;", "~", `\~`, "@", "&#64;", "!", `\!`)

// md returns s as Markdown text.
func md(s string) string { return mdEscape.Replace(s) }

// code returns s as a code span that works inside tables: the fence is longer than any run of
// backticks in s, and pipes are escaped.
func code(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\t", " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if fence != "`" {
		s = " " + s + " "
	}
	return fence + s + fence
}
