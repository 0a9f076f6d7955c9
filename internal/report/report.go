// Package report tells what was found: it holds the one Report value and
// writes it in each output format, one file per format. Writers never go back
// to the inputs, and every string that comes from an input passes through
// Visible or the format's own escaping.
package report

import (
	"io"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Report is what a report is written from.
type Report = model.Analysis

// Node is what was rebuilt about a node and what the rules say of it.
type Node = model.Analyzed

// Correlation is something that several nodes share.
type Correlation = model.Shared

// Options steer the writers that have a choice.
type Options struct {
	Width   int  // columns of the terminal; 0: 80
	Color   bool // ANSI colours
	Verbose bool // quote all evidence, not the best few
	// Link gives the address that a position links to, "" if it has none; nil
	// where the terminal has no hyperlinks.
	Link func(parse.Pos) string
}

// Format is an output format of the report.
type Format struct {
	Name  string
	About string
	Write func(io.Writer, *Report, Options) error
}

// over makes a writer of the model one of the analysis.
func over(write func(io.Writer, *model.Report, Options) error) func(io.Writer, *Report, Options) error {
	return func(w io.Writer, r *Report, o Options) error { return write(w, model.Fill(r, nil), o) }
}

// Formats of analyze, in the order of --help.
var Formats = []Format{
	{"text", "for people, in a terminal or a pipe", writeText},
	{"json", "one object, schema plegforensics/report/v1", writeJSON},
	{"ndjson", "one finding a line", over(writeNDJSON)},
	{"csv", "one finding a row", over(writeCSV)},
	{"markdown", "for tickets and post-mortems", writeMarkdown},
	{"timesketch", "JSON lines for Timesketch and plaso", over(writeTimesketch)},
	{"intervals", "interval JSON for OpenShift's timeline viewers", over(writeIntervals)},
	{"perfetto", "a trace for the Perfetto UI", over(writePerfetto)},
	{"html", "one self-contained page with an interactive timeline", writeHTML},
	{"junit", "JUnit XML: a suite a node, a case a breach rule", writeJUnit},
	{"sarif", "SARIF 2.1.0 with the timeline of each episode as a code flow", writeSARIF},
	{"github", "annotations of GitHub Actions, within its limits", writeGitHub},
	{"github-summary", "a step summary of GitHub Actions, at most 1 MiB", writeGitHubSummary},
	{"gitlab", "a code quality report for GitLab", writeGitLab},
	{"prom", "metrics for node_exporter's textfile collector", over(writeTextfile)},
}

// TimelineFormats are the output formats of timeline.
var TimelineFormats = []Format{
	{"text", "a table of relists, health and gaps", writeTimelineText},
	{"json", "one object, schema plegforensics/timeline/v1", writeTimelineJSON},
}

// InspectFormats are the output formats of inspect.
var InspectFormats = []Format{
	{"text", "tables of files, gaps, losses and what is missing", writeInspectText},
	{"json", "one object, schema plegforensics/inspect/v1", writeInspectJSON},
}

// Lookup finds a format by name, nil if there is none.
func Lookup(formats []Format, name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// Names lists the names of formats.
func Names(formats []Format) []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.Name)
	}
	return out
}

// seconds converts a duration to the unit of the JSON contract.
func seconds(d time.Duration) float64 { return float64(d) / 1e9 }
