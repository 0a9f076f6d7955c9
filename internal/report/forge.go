package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Limits of GitHub annotations. GitHub shows ten per level and step, and fifty per job. It refuses
// messages longer than 64 KiB; ours are far shorter, because nobody reads that much in a margin.
const (
	githubPerLevel = 10
	githubMessage  = 4 << 10
)

// SummaryBytes is GitHub's limit on the size of a step summary.
const SummaryBytes = 1 << 20

// writeGitHub writes GitHub annotations. Since GitHub shows only a few, it writes just the worst
// finding of each rule on a node, with the number of the others.
func writeGitHub(w io.Writer, r *model.Report, _ Options) error {
	at := map[[2]string]int{}
	var out []Item
	for _, x := range items(r) {
		k := [2]string{x.Node, x.Rule}
		if j, have := at[k]; have {
			out[j].Times++
			continue
		}
		at[k] = len(out)
		x.Times = 1
		out = append(out, x)
	}
	for _, n := range r.Nodes {
		if x := OpenHealth(n.Name, n.Undecided); x != nil {
			out = append(out, *x)
		}
	}
	return WriteAnnotations(w, out)
}

// WriteAnnotations writes workflow commands that GitHub shows as annotations: the first ten items
// of each level, so at most thirty of the fifty that a job may have. A last line, which is not an
// annotation, counts the omitted ones. Items must be sorted most severe first.
func WriteAnnotations(w io.Writer, items []Item) error {
	b := bufio.NewWriter(w)
	count := map[string]int{}
	left := 0
	for i := range items {
		level := levelsOf(items[i].Severity).github
		if count[level] == githubPerLevel {
			left++
			continue
		}
		count[level]++
		fmt.Fprintln(b, annotation(level, &items[i]))
	}
	if left > 0 {
		fmt.Fprintf(b, "plegforensics: %s more; the step summary and the report have all\n", parse.Plural(left, "finding"))
	}
	return b.Flush()
}

func annotation(level string, x *Item) string {
	title := x.Rule
	if x.Node != "" {
		title += " on " + orNode(x.Node)
	}
	props := "title=" + commandProperty.Replace(title)
	if e := x.Proof.Best(); e != nil && e.File != "" {
		props += ",file=" + commandProperty.Replace(e.File)
		if e.Line > 0 {
			props += fmt.Sprintf(",line=%d", e.Line)
		}
	}
	msg := x.told() + "\n" + x.proof(2)
	return "::" + level + " " + props + "::" + commandData.Replace(model.Cut(strings.TrimSpace(msg), githubMessage))
}

// commandData and commandProperty escape characters that would end a workflow command or one of its
// properties.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHubSummary writes the Markdown report, cut at a line end to the size limit of a step
// summary. A note says that it was cut.
func writeGitHubSummary(w io.Writer, r *model.Report, opt Options) error {
	var b bytes.Buffer
	if err := writeMarkdown(&b, r, opt); err != nil {
		return err
	}
	_, err := w.Write(CutLines(b.Bytes(), SummaryBytes))
	return err
}

// CutLines cuts text to at most most bytes, at the end of a line, and says so in a last paragraph.
// most must be at least 100.
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
	Engine      string `json:"engine_name"`
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"` // info, minor, major, critical, blocker
	Location    struct {
		Path  string            `json:"path"`
		Lines map[string]uint32 `json:"lines"` // begin
	} `json:"location"`
}

// writeGitLab writes a code quality report with one issue per finding.
func writeGitLab(w io.Writer, r *model.Report, _ Options) error {
	return WriteCodeQuality(w, items(r), inputPath(r))
}

// WriteCodeQuality writes GitLab's code quality report. An item without a file is placed at
// fallback, because GitLab requires a path.
func WriteCodeQuality(w io.Writer, items []Item, fallback string) error {
	out := []gitlabIssue{}
	for i := range items {
		x := &items[i]
		p := model.Evidence{File: fallback}
		if e := x.Proof.Best(); e != nil && e.File != "" {
			p = *e
		}
		issue := gitlabIssue{Engine: "plegforensics", Description: x.Message, CheckName: x.Rule, Fingerprint: x.Fingerprint, Severity: levelsOf(x.Severity).gitlab}
		issue.Location.Path, issue.Location.Lines = strings.TrimLeft(strings.TrimPrefix(p.File, "./"), "/"), map[string]uint32{"begin": max(p.Line, 1)}
		out = append(out, issue)
	}
	return Encode(w, &out)
}
