package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// finding is a breach or a probable cause, as the formats of CI systems list
// them.
type finding struct {
	node     *model.Node
	rule     string // id of the breach rule or cause
	subject  string // what the rule was held against, "" the node
	title    string
	severity rules.Severity
	start    model.Time
	message  string
	evidence model.Proof
	cause    *model.Cause // nil for a breach
	episodes []int        // that it is or explains
}

// findings lists breaches and causes, the gravest first, then by node, time
// and rule: a format with a limit keeps the front of the list. On a node that is
// well there is nothing to explain: a CI system that is told why nothing
// happened shows it as an issue.
func findings(r *model.Report) []finding {
	var out []finding
	for _, n := range r.Nodes {
		for j := range n.Breaches {
			out = append(out, breachFinding(n, &n.Breaches[j]))
		}
		for j := range n.Causes {
			if n.Status == "healthy" {
				break
			}
			out = append(out, causeFinding(n, &n.Causes[j]))
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(b.severity.Rank()-a.severity.Rank(), strings.Compare(a.node.Name, b.node.Name),
			cmp.Compare(a.start, b.start), strings.Compare(a.rule, b.rule), strings.Compare(a.subject, b.subject))
	})
	return out
}

func breachFinding(n *model.Node, b *model.Breach) finding {
	f := finding{node: n, rule: b.Rule, subject: b.Subject, title: b.Title(), severity: rules.Severity(b.Severity), start: b.Start, evidence: b.Evidence}
	f.message = fmt.Sprintf("%s: %s: %s", orNode(n.Name), f.title, measured(b))
	if b.Start != 0 {
		f.message += ", from " + date(b.Start) + " UTC"
	}
	if b.End != 0 {
		f.message += " to " + date(b.End) + " UTC"
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Breach == b.Start {
			f.episodes = append(f.episodes, e.ID)
		}
	}
	return f
}

// measured is the value of a breach and what it was held against.
func measured(b *model.Breach) string {
	s := amountOf(b.Value, b.Unit)
	if b.Threshold != nil && *b.Threshold != 0 {
		s += ", threshold " + amountOf(b.Threshold, b.Unit)
	}
	return s
}

// causeFinding weighs a cause by how sure it is: a likely one is worth a
// warning, a possible one is a hint.
func causeFinding(n *model.Node, c *model.Cause) finding {
	f := finding{node: n, rule: c.ID, title: c.Title, severity: rules.Warning, evidence: c.For, cause: c, episodes: c.Episodes}
	if c.Level == string(rules.Possible) {
		f.severity = rules.Info
	}
	f.start = causeStart(n, c)
	f.message = fmt.Sprintf("%s: %s (%s, confidence %.2f)", orNode(n.Name), c.Title, c.Level, c.Confidence)
	if c.Explanation != "" {
		f.message += ": " + c.Explanation
	}
	return f
}

// causeStart is the breach of the first episode that the cause explains.
func causeStart(n *model.Node, c *model.Cause) model.Time {
	for i := range n.Episodes {
		if slices.Contains(c.Episodes, n.Episodes[i].ID) {
			return n.Episodes[i].Breach
		}
	}
	return 0
}

// Fingerprint identifies a finding over runs of the tool: the same rule on the
// same node and subject at the same moment, whatever the bundle is called and
// whatever else was found.
func Fingerprint(node, rule, subject string, start int64) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{node, rule, subject, strconv.FormatInt(start, 10)}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func (f *finding) fingerprint() string {
	return Fingerprint(f.node.Name, f.rule, f.subject, int64(f.start))
}

// proofText quotes evidence as lines of text, at most most pieces.
func proofText(p model.Proof, most int) string {
	var b strings.Builder
	for _, e := range p.First(most) {
		b.WriteString(e.Where())
		if e.Note != "" {
			b.WriteString(" (" + e.Note + ")")
		}
		b.WriteString("\n  " + e.Text + "\n")
	}
	if more := p.Len() - most; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// inputPath is where a finding without a file of its own is placed.
func inputPath(r *model.Report) string {
	if len(r.Inputs) > 0 && r.Inputs[0].Path != "" {
		return r.Inputs[0].Path
	}
	return "input"
}
