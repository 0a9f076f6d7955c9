package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// Limits of GitHub's annotations: of each level a step shows ten, a job fifty.
// A message longer than 64 KiB is refused; nobody reads that much in a margin.
const (
	githubPerLevel = 10
	githubMessage  = 4 << 10
)

// SummaryBytes is how long a step summary of GitHub may be.
const SummaryBytes = 1 << 20

// writeGitHub writes annotations of GitHub: the worst finding of each rule on a
// node, because places for annotations are few.
func writeGitHub(w io.Writer, r *model.Report, _ Options) error {
	type key struct {
		node *model.Node
		rule string
	}
	fs := findings(r)
	at := map[key]int{}
	var out []Item
	for i, x := range items(fs) {
		k := key{fs[i].node, fs[i].rule}
		if j, have := at[k]; have {
			out[j].Times++
			continue
		}
		at[k] = len(out)
		x.Times = 1
		out = append(out, x)
	}
	return WriteAnnotations(w, out)
}

func githubLevel(s rules.Severity) string {
	switch s {
	case rules.Critical:
		return "error"
	case rules.Warning:
		return "warning"
	}
	return "notice"
}

func annotation(level string, x *Item) string {
	title := x.Rule
	if x.Node != "" {
		title += " on " + x.Node
	}
	props := "title=" + commandProperty(title)
	if len(x.Places) > 0 && x.Places[0].File != "" {
		props += ",file=" + commandProperty(x.Places[0].File)
		if line := x.Places[0].Line; line > 0 {
			props += fmt.Sprintf(",line=%d", line)
		}
	}
	msg := x.Message
	if x.Times > 1 {
		msg += fmt.Sprintf(" (the worst or first of %d)", x.Times)
	}
	msg += "\n" + x.proof(2)
	return "::" + level + " " + props + "::" + commandData(model.Cut(strings.TrimSpace(msg), githubMessage))
}

// commandData and commandProperty escape what would end a workflow command or
// a property of it.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func commandProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// writeGitHubSummary writes the Markdown report cut to what a step summary
// may hold: at a line, with a word that it was cut.
func writeGitHubSummary(w io.Writer, r *model.Report, opt Options) error {
	var b bytes.Buffer
	if err := writeMarkdown(&b, r, opt); err != nil {
		return err
	}
	_, err := w.Write(CutLines(b.Bytes(), SummaryBytes))
	return err
}

// CutLines cuts text to at most most bytes, at the end of a line, and says so
// in a last paragraph. Most is at least 100.
func CutLines(text []byte, most int) []byte {
	const note = "\n\nCut here: the report has more than fits.\n"
	if len(text) <= most {
		return text
	}
	text = text[:most-len(note)]
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return append(text[:len(text):len(text)], note...)
}

// gitlabIssue is one entry of GitLab's code quality report.
type gitlabIssue struct {
	Engine      string         `json:"engine_name"`
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"` // info, minor, major, critical, blocker
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin uint32 `json:"begin"`
}

// writeGitLab writes the code quality report: one issue a finding.
func writeGitLab(w io.Writer, r *model.Report, _ Options) error {
	return WriteCodeQuality(w, items(findings(r)), inputPath(r))
}

func gitlabSeverity(s rules.Severity) string {
	switch s {
	case rules.Critical:
		return "critical"
	case rules.Warning:
		return "major"
	}
	return "info"
}
