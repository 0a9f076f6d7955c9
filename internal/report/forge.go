package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/rules"
)

// Limits of GitHub's annotations: of each level a step shows ten, a job fifty.
// A message longer than 64 KiB is refused; nobody reads that much in a margin.
const (
	githubPerLevel = 10
	githubMessage  = 4 << 10
	githubSummary  = 1 << 20 // bytes of a step summary
)

// writeGitHub writes workflow commands that GitHub shows as annotations: the
// gravest ten of each level, at most thirty of the fifty that a job may have.
// What is left out is said in a last line, which is no annotation.
func writeGitHub(w io.Writer, r *Report, _ Options) error {
	b := bufio.NewWriter(w)
	count := map[string]int{}
	left := 0
	for _, f := range byRule(findings(r)) {
		level := githubLevel(f.severity)
		if count[level] == githubPerLevel {
			left++
			continue
		}
		count[level]++
		fmt.Fprintln(b, annotation(level, &f.finding, f.times))
	}
	if left > 0 {
		fmt.Fprintf(b, "plegforensics: %s more; the step summary and the report have all\n", plural(left, "finding"))
	}
	return b.Flush()
}

// ruleFinding is the worst finding of a rule on a node and how often the rule
// was broken there.
type ruleFinding struct {
	finding
	times int
}

// byRule joins the findings of one rule on one node, because places for
// annotations are few. The order stays.
func byRule(fs []finding) []ruleFinding {
	type key struct {
		node *Node
		rule string
	}
	at := map[key]int{}
	var out []ruleFinding
	for _, f := range fs {
		k := key{f.node, f.rule}
		if i, have := at[k]; have {
			out[i].times++
			continue
		}
		at[k] = len(out)
		out = append(out, ruleFinding{f, 1})
	}
	return out
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

func annotation(level string, f *finding, times int) string {
	props := "title=" + commandProperty(Visible(f.rule)+" on "+nodeName(f.node.Node))
	if file, line := f.place(); file != "" {
		props += ",file=" + commandProperty(Visible(file))
		if line > 0 {
			props += fmt.Sprintf(",line=%d", line)
		}
	}
	msg := f.message
	if times > 1 {
		msg += fmt.Sprintf(" (the worst or first of %d)", times)
	}
	msg += "\n" + proofText(f.evidence, 2)
	return "::" + level + " " + props + "::" + commandData(cut(strings.TrimSpace(msg), githubMessage))
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
func writeGitHubSummary(w io.Writer, r *Report, opt Options) error {
	var b bytes.Buffer
	if err := writeMarkdown(&b, r, opt); err != nil {
		return err
	}
	_, err := w.Write(CutLines(b.Bytes(), githubSummary))
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

// writeGitLab writes the code quality report: one issue a finding. A finding
// without a file is placed at the input, because GitLab wants a path.
func writeGitLab(w io.Writer, r *Report, _ Options) error {
	out := []gitlabIssue{}
	for _, f := range findings(r) {
		file, line := f.place()
		if file == "" {
			file = inputPath(r)
		}
		out = append(out, gitlabIssue{f.message, f.rule, f.fingerprint(), gitlabSeverity(f.severity),
			gitlabLocation{strings.TrimLeft(strings.TrimPrefix(file, "./"), "/"), gitlabLines{max(line, 1)}}})
	}
	return encode(w, &out)
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
