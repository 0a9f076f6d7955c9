package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/rules"
)

// Item is something that CI systems are told, whether a report or a fleet says
// it.
type Item struct {
	Node        string // "" when it is of no single node
	Rule        string // id of a rule, a cause, or a kind of thing that nodes share
	Title       string
	Severity    rules.Severity
	Start       int64 // Unix ns, 0 unknown
	Message     string
	Fingerprint string
	Times       int // how often; 0 and 1 are once
	Places      []Place
	Steps       []Step // what happened, oldest first
}

// Place is a line of evidence.
type Place struct {
	File string
	Line uint32 // 0: the file as a whole
	Text string
}

// Step is a moment of what happened.
type Step struct {
	At    int64
	What  string
	Place *Place
}

// SortItems puts the gravest first, then by node, time and rule: a format with
// a limit keeps the front of the list.
func SortItems(items []Item) {
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(b.Severity.Rank()-a.Severity.Rank(), strings.Compare(a.Node, b.Node), cmp.Compare(a.Start, b.Start), strings.Compare(a.Rule, b.Rule))
	})
}

// proof quotes the first places.
func (x *Item) proof(most int) string {
	var b strings.Builder
	for _, p := range x.Places[:min(len(x.Places), most)] {
		if p.Text != "" {
			fmt.Fprintf(&b, "%s\n  %s\n", p.String(), p.Text)
		}
	}
	if more := len(x.Places) - most; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// String is file and line as they are quoted.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// items are findings in the form that the formats share; SARIF, which has room
// for more, takes the findings themselves.
func items(fs []finding) []Item {
	var out []Item
	for i := range fs {
		f := &fs[i]
		x := Item{Node: f.node.Name, Rule: f.rule, Title: f.title, Severity: f.severity, Start: int64(f.start), Message: f.message, Fingerprint: f.fingerprint()}
		for _, e := range f.evidence.All() {
			if e.File != "" {
				x.Places = append(x.Places, Place{e.File, e.Line, e.Text})
			}
		}
		out = append(out, x)
	}
	return out
}

// WriteAnnotations writes workflow commands that GitHub shows as annotations:
// the gravest ten of each level, at most thirty of the fifty that a job may
// have. What is left out is said in a last line, which is no annotation. Items
// come gravest first.
func WriteAnnotations(w io.Writer, items []Item) error {
	b := bufio.NewWriter(w)
	count := map[string]int{}
	left := 0
	for i := range items {
		level := githubLevel(items[i].Severity)
		if count[level] == githubPerLevel {
			left++
			continue
		}
		count[level]++
		fmt.Fprintln(b, annotation(level, &items[i]))
	}
	if left > 0 {
		fmt.Fprintf(b, "plegforensics: %s more; the step summary and the report have all\n", plural(left, "finding"))
	}
	return b.Flush()
}

// WriteCodeQuality writes GitLab's code quality report. An item without a file
// is placed at fallback, because GitLab wants a path.
func WriteCodeQuality(w io.Writer, items []Item, fallback string) error {
	out := []gitlabIssue{}
	for i := range items {
		x := &items[i]
		p := Place{File: fallback}
		if len(x.Places) > 0 {
			p = x.Places[0]
		}
		path := strings.TrimLeft(strings.TrimPrefix(p.File, "./"), "/")
		out = append(out, gitlabIssue{"plegforensics", x.Message, x.Rule, x.Fingerprint, gitlabSeverity(x.Severity), gitlabLocation{path, gitlabLines{max(p.Line, 1)}}})
	}
	return Encode(w, &out)
}
