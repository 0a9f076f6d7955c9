// Package report writes the documents of package model in all output formats, one file per format.
// It reads no input, and strings need escaping only for the syntax of a format.
package report

import (
	"io"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Options configure the writers that have a choice.
type Options struct {
	Width   int            // columns of the terminal; 0 means 80
	Color   bool           // ANSI colors
	Verbose bool           // quote all evidence, not just the best
	Zone    *time.Location // show local times beside UTC; nil: do not
	// Link returns the address that a line of an input links to, "" if it has none. It is nil if
	// the terminal does not support hyperlinks.
	Link func(*model.Evidence) string
}

// Format is an output format of a report.
type Format struct {
	Name  string
	Ext   string // file name extension, unique among the formats
	About string
	Write func(io.Writer, *model.Report, Options) error
}

// Formats lists the output formats of analyze, in the order of --help.
var Formats = []Format{
	{"text", ".txt", "one screen for people; all of it with --verbose", writeText},
	{"ticket", ".ticket.txt", "the verdict and its proof, to paste into a ticket", writeTicket},
	{"json", ".json", "one object, schema plegforensics/report/v1", func(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r) }},
	{"ndjson", ".ndjson", "one claim a line", writeNDJSON},
	{"csv", ".csv", "one claim a row", writeCSV},
	{"markdown", ".md", "for tickets and post-mortems, with a picture", writeMarkdown},
	{"timesketch", ".timesketch.jsonl", "JSON lines for Timesketch and plaso", writeTimesketch},
	{"intervals", ".intervals.json", "interval JSON for OpenShift's timeline viewers", writeIntervals},
	{"perfetto", ".perfetto.json", "a trace for the Perfetto UI", writePerfetto},
	{"html", ".html", "one self-contained page with an interactive timeline", writeHTML},
	{"junit", ".xml", "JUnit XML: a suite a node, a case a breach rule", writeJUnit},
	{"sarif", ".sarif", "SARIF 2.1.0 with the timeline of each episode as a code flow", writeSARIF},
	{"github", ".github.txt", "annotations of GitHub Actions, within its limits", writeGitHub},
	{"github-summary", ".summary.md", "a step summary of GitHub Actions, at most 1 MiB", writeGitHubSummary},
	{"gitlab", ".gitlab.json", "a code quality report for GitLab", writeGitLab},
	{"prom", ".prom", "metrics for node_exporter's textfile collector", writeTextfile},
}

// TimelineFormats lists the output formats of timeline.
var TimelineFormats = []Format{
	{"text", ".txt", "a table of relists, health and gaps", writeTimelineText},
	{"json", ".json", "one object, schema plegforensics/timeline/v1", func(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r.Timeline()) }},
}

// InspectFormats lists the output formats of inspect.
var InspectFormats = []Format{
	{"text", ".txt", "tables of files, gaps, losses and what is missing", writeInspectText},
	{"json", ".json", "one object, schema plegforensics/inspect/v1", func(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r.Inspect()) }},
}

// Documents lists the kinds of JSON documents and lines that commands write.
var Documents = slices.Concat(model.Written, model.Documents{
	{Kind: "finding", About: "a line of analyze -o ndjson", Types: []any{row{}}}, {Kind: "intervals", About: "what analyze -o intervals writes", Types: []any{intervals{}}},
})

// Lookup finds a format by name; nil if there is none.
func Lookup(formats []Format, name string) *Format {
	if i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// Names returns the names of formats.
func Names(formats []Format) []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.Name)
	}
	return out
}
