package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// finding is a breach or a probable cause, as the formats of CI systems list
// them.
type finding struct {
	node     *Node
	rule     string // id of the breach rule or cause
	subject  string // what the rule was held against, "" the node
	title    string
	severity rules.Severity
	start    int64 // 0 unknown
	message  string
	evidence []replay.Evidence
	cause    *rules.Cause // nil for a breach
	episodes []int        // that it is or explains
}

// findings lists breaches and causes, the gravest first, then by node, time
// and rule: a format with a limit keeps the front of the list. On a node that is
// well there is nothing to explain: a CI system that is told why nothing
// happened shows it as an issue.
func findings(r *Report) []finding {
	var out []finding
	for i := range r.Nodes {
		n := &r.Nodes[i]
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

func breachFinding(n *Node, b *rules.Breach) finding {
	f := finding{node: n, rule: b.Rule, subject: b.Subject, title: b.Rule, severity: b.Severity, start: b.Start, evidence: b.Evidence}
	if r := rules.LookupBreach(b.Rule); r != nil {
		f.title = r.Title
	}
	if b.Subject != "" {
		f.title += " (" + b.Subject + ")"
	}
	what := f.title
	if b.Subject != "" {
		what += " (" + b.Subject + ")"
	}
	f.message = fmt.Sprintf("%s: %s: %s", nodeName(n.Node), Visible(what), measured(b))
	if b.Start != 0 {
		f.message += ", from " + Date(b.Start) + " UTC"
	}
	if b.End != 0 {
		f.message += " to " + Date(b.End) + " UTC"
	}
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Breach == b.Start {
			f.episodes = append(f.episodes, e.ID)
		}
	}
	return f
}

// measured is the value of a breach and what it was held against.
func measured(b *rules.Breach) string {
	s := quantity(b.Value, Visible(b.Unit))
	if b.Threshold != 0 {
		s += ", threshold " + quantity(b.Threshold, Visible(b.Unit))
	}
	return s
}

// causeFinding weighs a cause by how sure it is: a likely one is worth a
// warning, a possible one is a hint.
func causeFinding(n *Node, c *rules.Cause) finding {
	f := finding{node: n, rule: c.ID, title: c.Title, severity: rules.Warning, evidence: c.For, cause: c, episodes: c.Episodes}
	if c.Level == rules.Possible {
		f.severity = rules.Info
	}
	f.start = causeStart(n, c)
	f.message = fmt.Sprintf("%s: %s (%s, confidence %.2f)", nodeName(n.Node), Visible(c.Title), c.Level, c.Confidence)
	if c.Explanation != "" {
		f.message += ": " + Visible(c.Explanation)
	}
	return f
}

// causeStart is the breach of the first episode that the cause explains.
func causeStart(n *Node, c *rules.Cause) int64 {
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

func (f *finding) fingerprint() string { return Fingerprint(f.node.Name, f.rule, f.subject, f.start) }

// proofText quotes evidence as lines of text, at most most pieces.
func proofText(es []replay.Evidence, most int) string {
	var b strings.Builder
	for _, e := range pick(es, most) {
		if e.Record == nil {
			continue
		}
		b.WriteString(Visible(e.Where().String()))
		if e.Note != "" {
			b.WriteString(" (" + Visible(e.Note) + ")")
		}
		b.WriteString("\n  " + Quote(e.Quote()) + "\n")
	}
	if more := len(es) - most; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

// inputPath is where a finding without a file of its own is placed.
func inputPath(r *Report) string {
	if len(r.Inputs) > 0 && r.Inputs[0].Path != "" {
		return r.Inputs[0].Path
	}
	return "input"
}
