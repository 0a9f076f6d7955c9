package fleet

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Format is an output format of the fleet report.
type Format struct {
	Name, Ext, About string
	Write            func(w io.Writer, v *View, all bool) error // all: every row, not the first few
}

// Formats in the order of --help.
var Formats = []Format{
	{"text", ".txt", "tables for people", writeText},
	{"json", ".json", "one object, schema plegforensics/fleet/v1", writeJSON},
	{"ndjson", ".ndjson", "one node, cause, correlation or problem a line", writeNDJSON},
	{"markdown", ".md", "for tickets and post-mortems", writeMarkdown},
	{"html", ".html", "one self-contained page", writeHTML},
	{"junit", ".xml", "JUnit XML: a suite of the bundles, a suite a node, a case a breach rule", writeJUnit},
	{"sarif", ".sarif", "SARIF 2.1.0: what nodes share, breaches and causes", writeSARIF},
	{"github", ".txt", "annotations of GitHub Actions, within its limits", writeGitHub},
	{"github-summary", ".md", "a step summary of GitHub Actions, at most 1 MiB", writeGitHubSummary},
	{"gitlab", ".json", "a code quality report for GitLab", writeGitLab},
	{"prom", ".prom", "metrics for node_exporter's textfile collector", writeTextfile},
}

// section is a table of the report in the form that text, Markdown and HTML
// share. Cells are visible text.
type section struct {
	title   string
	columns []string
	rows    [][]string
	more    int // rows left out
}

// rowsShown is how many rows of a table are shown unless all are asked for.
const rowsShown = 40

// headline is one sentence about the fleet.
func (v *View) headline() string {
	s := fmt.Sprintf("%s, %s, %d unhealthy with %s", model.Plural(v.Bundles, "bundle"), model.Plural(len(v.Nodes), "node"), v.Unhealthy, model.Plural(v.Episodes, "episode"))
	if n := len(v.Problems); n > 0 {
		s += fmt.Sprintf("; not analysed whole: %s", model.Plural(n, "bundle"))
	}
	return s
}

func (v *View) sections(all bool) []section {
	out := []section{v.correlationRows(), v.causeRows(), v.nodeRows(all), v.dayRows(), v.outlierRows(), v.versionRows(), v.problemRows()}
	kept := out[:0]
	for _, s := range out {
		if len(s.rows) == 0 {
			continue
		}
		if !all && len(s.rows) > rowsShown {
			s.more, s.rows = len(s.rows)-rowsShown, s.rows[:rowsShown]
		}
		kept = append(kept, s)
	}
	return kept
}

func (v *View) correlationRows() section {
	s := section{title: "Shared by several nodes", columns: []string{"nodes", "from (UTC)", "to", "what", "evidence"}}
	for _, c := range v.Correlations {
		from, to := "", ""
		if c.Start != 0 {
			from, to = report.Date(c.Start), report.Date(c.End)
		}
		s.rows = append(s.rows, []string{fmt.Sprint(len(c.Nodes)), from, to, c.Summary, quote(c.Proof)})
	}
	return s
}

func quote(qs []Quote) string {
	if len(qs) == 0 {
		return ""
	}
	return qs[0].Where + " " + qs[0].Text
}

func (v *View) causeRows() section {
	s := section{title: "Probable causes over the fleet", columns: []string{"nodes", "episodes", "confidence", "cause", "what", "evidence"}}
	for _, c := range v.Causes {
		s.rows = append(s.rows, []string{fmt.Sprint(len(c.Nodes)), fmt.Sprint(c.Episodes), fmt.Sprintf("up to %.2f", c.Confidence), c.ID, c.Title, quote(c.Proof)})
	}
	return s
}

// nodeRows lists nodes that something is wrong with, or all.
func (v *View) nodeRows(all bool) section {
	s := section{title: "Nodes", columns: []string{"node", "status", "episodes", "best cause", "kubelet", "runtime", "bundles"}}
	if !all {
		s.title = "Nodes that are not healthy"
	}
	for _, m := range v.Nodes {
		if !all && m.Status == "healthy" {
			continue
		}
		cause := ""
		if len(m.Causes) > 0 {
			cause = fmt.Sprintf("%s (%s, %.2f)", m.Causes[0].ID, m.Causes[0].Level, m.Causes[0].Confidence)
		}
		s.rows = append(s.rows, []string{m.Name, m.Status, fmt.Sprint(len(m.Episodes)), cause, m.Kubelet, m.Runtime, strings.Join(m.Bundles, ", ")})
	}
	return s
}

func (v *View) dayRows() section {
	s := section{title: "Episodes by node and day (UTC)", columns: []string{"node", "day", "episodes", "unhealthy"}}
	for _, d := range v.Days {
		length := "unknown"
		if d.Unhealthy > 0 {
			length = report.Span(d.Unhealthy)
		}
		s.rows = append(s.rows, []string{d.Node, d.Date, fmt.Sprint(d.Episodes), length})
	}
	return s
}

func (v *View) outlierRows() section {
	s := section{title: "Outliers", columns: []string{"node", "what", "value", "median of the fleet"}}
	for _, o := range v.Outliers {
		s.rows = append(s.rows, []string{o.Node, o.What, amount(o.Value, o.Unit), amount(o.Median, o.Unit)})
	}
	return s
}

func amount(x float64, unit string) string {
	if unit == "seconds" {
		return report.Span(time.Duration(x * 1e9))
	}
	return fmt.Sprintf("%g", x)
}

func (v *View) versionRows() section {
	s := section{title: "Versions", columns: []string{"kubelet", "runtime", "kernel", "system", "nodes", "unhealthy", "episodes"}}
	for _, x := range v.Versions {
		s.rows = append(s.rows, []string{known(x.Kubelet), known(x.Runtime), known(x.Kernel), known(x.OS), fmt.Sprint(x.Nodes), fmt.Sprint(x.Unhealthy), fmt.Sprint(x.Episodes)})
	}
	return s
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func (v *View) problemRows() section {
	s := section{title: "Bundles not analysed whole", columns: []string{"bundle", "status", "warnings", "why"}}
	for _, r := range v.Problems {
		s.rows = append(s.rows, []string{r.Name, string(r.Status), fmt.Sprint(r.Warnings), r.Error})
	}
	return s
}

// Widths at which a cell of the text is wrapped.
const wideCell = 60

func writeText(w io.Writer, v *View, all bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, v.headline())
	for _, s := range v.sections(all) {
		fmt.Fprintf(b, "\n%s\n", s.title)
		for _, l := range strings.Split(textTable(s), "\n") {
			fmt.Fprintln(b, strings.TrimRight(l, " "))
		}
		if s.more > 0 {
			fmt.Fprintf(b, "  and %d more; --verbose lists all\n", s.more)
		}
	}
	return b.Flush()
}

func textTable(s section) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "  ", ""
	t.SetStyle(style)
	var head table.Row
	var cols []table.ColumnConfig
	for i, c := range s.columns {
		head = append(head, c)
		cols = append(cols, table.ColumnConfig{Number: i + 1, WidthMax: wideCell, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(cols)
	t.AppendHeader(head)
	for _, r := range s.rows {
		var row table.Row
		for _, c := range r {
			row = append(row, c)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func writeMarkdown(w io.Writer, v *View, all bool) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# PLEG fleet report\n\n%s\n", report.Markdown(v.headline()))
	for _, s := range v.sections(all) {
		fmt.Fprintf(b, "\n## %s\n\n| %s |\n|%s\n", s.title, strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)))
		for _, r := range s.rows {
			cells := make([]string, len(r))
			for i, c := range r {
				cells[i] = report.Markdown(c)
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
		if s.more > 0 {
			fmt.Fprintf(b, "\nand %d more\n", s.more)
		}
	}
	fmt.Fprintf(b, "\nplegforensics %s\n", report.Markdown(v.Header.Tool))
	return b.Flush()
}
