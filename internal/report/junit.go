package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// Quotes in a failure, and breaches of one rule that a failure describes.
const (
	junitQuotes   = 5
	junitBreaches = 20
)

// writeJUnit writes one suite a node and one case a breach rule. A rule that
// was broken is a failure, its evidence the text. On a node of which too
// little is known to call it healthy, rules that nothing broke are skipped.
func writeJUnit(w io.Writer, r *model.Report, _ Options) error {
	var out []Suite
	for _, n := range r.Nodes {
		out = append(out, suite(n))
	}
	return WriteJUnit(w, out)
}

func suite(n *model.Node) Suite {
	s := Suite{Name: orNode(n.Name), Host: n.Name, Start: int64(n.Window.Start), Properties: suiteProperties(n), Out: n.Summary}
	byRule := map[string][]*model.Breach{}
	for i := range n.Breaches {
		byRule[n.Breaches[i].Rule] = append(byRule[n.Breaches[i].Rule], &n.Breaches[i])
	}
	for _, rule := range rules.BreachRules() {
		s.Cases = append(s.Cases, junitRule(n, rule.ID, rule.Title, byRule[rule.ID]))
		delete(byRule, rule.ID)
	}
	for i := range n.Breaches { // rules of a user's pack
		id := n.Breaches[i].Rule
		if bs := byRule[id]; bs != nil {
			s.Cases = append(s.Cases, junitRule(n, id, id, bs))
			delete(byRule, id)
		}
	}
	return s
}

func suiteProperties(n *model.Node) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("status", n.Status)
	add("kubelet", n.Kubelet.Versions())
	add("runtime", orEmpty(n.Kubelet.Runtime))
	add("episodes", strconv.Itoa(len(n.Episodes)))
	for _, c := range n.Causes {
		add("cause."+c.ID, fmt.Sprintf("%s, confidence %.2f", c.Level, c.Confidence))
	}
	return out
}

// CaseClass is the class of a node's cases. Dots would make packages of a name.
func CaseClass(node string) string {
	return "plegforensics." + strings.ReplaceAll(node, ".", "-")
}

// Untold is why a case is skipped where too little is known.
const Untold = "the input shows too little of the kubelet to tell"

func junitRule(n *model.Node, id, title string, bs []*model.Breach) Case {
	c := Case{Name: id, Class: CaseClass(orNode(n.Name))}
	if len(bs) == 0 {
		if n.Status == "unknown" {
			c.Skipped = Untold
		}
		return c
	}
	worst := bs[0]
	for _, b := range bs {
		if rules.Severity(b.Severity).Rank() > rules.Severity(worst.Severity).Rank() {
			worst = b
		}
		if b.End > b.Start && b.Start != 0 {
			c.Seconds += model.Seconds(b.End.Sub(b.Start))
		}
	}
	c.Failure = &Failure{Message: failureMessage(title, bs), Type: worst.Severity, Text: failureText(n, bs)}
	return c
}

func failureMessage(title string, bs []*model.Breach) string {
	s := title + ": " + measured(bs[0])
	if len(bs) > 1 {
		s += fmt.Sprintf(", and %s more", plural(len(bs)-1, "breach"))
	}
	return s
}

// failureText is the evidence block of a failure: what was measured, quotes,
// and the probable causes.
func failureText(n *model.Node, bs []*model.Breach) string {
	var b strings.Builder
	for i, x := range bs {
		if i == junitBreaches {
			fmt.Fprintf(&b, "\nand %s more\n", plural(len(bs)-i, "breach"))
			break
		}
		f := breachFinding(n, x)
		fmt.Fprintf(&b, "\n%s\n%s", f.message, proofText(x.Evidence, junitQuotes))
	}
	for i, c := range n.Causes {
		if i == 3 {
			break
		}
		fmt.Fprintf(&b, "\nprobable cause: %s (%s, %s, confidence %.2f)\n%s", c.Title, c.ID, c.Level, c.Confidence, proofText(c.For, junitQuotes))
	}
	return b.String()
}
