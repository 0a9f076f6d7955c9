package fleet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Format is an output format of the fleet report.
type Format struct {
	Name, Ext, About string
	Write            func(io.Writer, *View, report.Options) error
}

// Formats lists the output formats in the order of --help.
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

// rowsShown is the maximum number of rows per table without --verbose.
const rowsShown = 40

// headline summarizes the fleet in one sentence.
func (v *View) headline() string {
	s := fmt.Sprintf("%s, %s, %d unhealthy with %s", parse.Plural(v.Bundles, "bundle"), parse.Plural(len(v.Nodes), "node"), v.Unhealthy, parse.Plural(v.Episodes, "episode"))
	if n := len(v.Problems); n > 0 {
		s += fmt.Sprintf("; not analysed whole: %s", parse.Plural(n, "bundle"))
	}
	return strings.Join(append([]string{s}, v.ruleNotes()...), "; ")
}

// ruleNotes say which version's rules were applied to each kubelet version newer or older than any
// known.
func (v *View) ruleNotes() []string {
	var out []string
	for _, x := range v.Versions {
		if note := "kubelet " + x.Kubelet + ": " + x.Rules; x.Rules != "" && !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	return out
}

// words returns the fleet as sections of tables, with all rows or the first few.
func (v *View) words(all bool) *report.Document {
	d := &report.Document{Title: "PLEG fleet report", Summary: v.headline(), Version: v.Header.Tool,
		Sections: []report.Section{v.correlationRows(all), v.causeRows(all), v.nodeRows(all), v.dayRows(), v.outlierRows(), v.versionRows(), v.problemRows()}}
	for i := range d.Sections {
		if !all {
			d.Sections[i].Keep(rowsShown)
		}
	}
	return d
}

func (v *View) correlationRows(all bool) report.Section {
	s := report.Section{Title: "Shared by several nodes", Columns: []string{"nodes", "from (UTC)", "to", "what", "evidence"}}
	for _, c := range v.Correlations {
		from, to := "", ""
		if c.Start != 0 {
			from, to = report.Date(c.Start), report.Date(c.End)
		}
		s.Row(fmt.Sprint(len(c.Nodes)), from, to, c.Summary, quote(c.Proof, all))
	}
	return s
}

// quoted is the maximum length of a quoted line without --verbose.
const quoted = 80

func quote(qs []Quote, all bool) string {
	switch {
	case len(qs) == 0:
		return ""
	case all:
		return qs[0].Where + " " + qs[0].Text
	}
	return qs[0].Where + " " + model.Cut(qs[0].Text, quoted)
}

func (v *View) causeRows(all bool) report.Section {
	s := report.Section{Title: "Probable causes over the fleet", Columns: []string{"nodes", "episodes", "confidence", "cause", "what", "evidence"}}
	for _, c := range v.Causes {
		s.Row(fmt.Sprint(len(c.Nodes)), fmt.Sprint(c.Episodes), fmt.Sprintf("up to %.2f", c.Confidence), c.ID, c.Title, quote(c.Proof, all))
	}
	return s
}

// nodeRows lists the nodes that are not healthy, or all.
func (v *View) nodeRows(all bool) report.Section {
	s := report.Section{Title: "Nodes", Columns: []string{"node", "status", "episodes", "best cause", "kubelet", "runtime", "bundles"}}
	if !all {
		s.Title = "Nodes that are not healthy"
	}
	for _, m := range v.Nodes {
		if !all && m.Status == "healthy" {
			continue
		}
		cause := ""
		if len(m.Causes) > 0 && m.explains(0) {
			cause = fmt.Sprintf("%s (%s, %.2f)", m.Causes[0].ID, m.Causes[0].Level, m.Causes[0].Confidence)
		}
		s.Row(m.Name, m.Status, fmt.Sprint(len(m.Episodes)), cause, m.Kubelet, m.Runtime, strings.Join(m.Bundles, ", "))
	}
	return s
}

func (v *View) dayRows() report.Section {
	s := report.Section{Title: "Episodes by node and day (UTC)", Columns: []string{"node", "day", "episodes", "unhealthy"}}
	for _, d := range v.Days {
		length := "unknown"
		if d.Unhealthy > 0 {
			length = report.Span(d.Unhealthy)
		}
		s.Row(d.Node, d.Date, fmt.Sprint(d.Episodes), length)
	}
	return s
}

func (v *View) outlierRows() report.Section {
	s := report.Section{Title: "Outliers", Columns: []string{"node", "what", "value", "median of the fleet"}}
	for _, o := range v.Outliers {
		s.Row(o.Node, o.What, amount(o.Value, o.Unit), amount(o.Median, o.Unit))
	}
	return s
}

func amount(x float64, unit string) string {
	if unit == "seconds" {
		return report.Span(time.Duration(x * 1e9))
	}
	return fmt.Sprintf("%g", x)
}

func (v *View) versionRows() report.Section {
	s := report.Section{Title: "Versions", Columns: []string{"kubelet", "runtime", "kernel", "system", "nodes", "unhealthy", "episodes"}}
	for _, x := range v.Versions {
		s.Row(known(x.Kubelet), known(x.Runtime), known(x.Kernel), known(x.OS), fmt.Sprint(x.Nodes), fmt.Sprint(x.Unhealthy), fmt.Sprint(x.Episodes))
	}
	return s
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func (v *View) problemRows() report.Section {
	s := report.Section{Title: "Bundles not analysed whole", Columns: []string{"bundle", "status", "warnings", "why"}}
	for _, r := range v.Problems {
		s.Row(r.Name, string(r.Status), fmt.Sprint(r.Warnings), r.Error)
	}
	return s
}

func writeText(w io.Writer, v *View, opt report.Options) error {
	return v.words(opt.Verbose).Text(w, opt)
}

func writeMarkdown(w io.Writer, v *View, opt report.Options) error {
	return v.words(opt.Verbose).Markdown(w)
}
