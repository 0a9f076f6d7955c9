package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/rules"
)

// The types below are the JUnit XML that CI systems read: what the schemas of
// Jenkins' xUnit plugin allow, old and new. So a case has no properties of its
// own, and what is skipped says why in text, not in an attribute.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Time       string           `xml:"time,attr"`
		Timestamp  string           `xml:"timestamp,attr,omitempty"`
		Hostname   string           `xml:"hostname,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
		SystemOut  string           `xml:"system-out,omitempty"`
	}
	junitProperties struct {
		Properties []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitMessage `xml:"skipped"`
		Error   *junitMessage `xml:"error"`
		Failure *junitMessage `xml:"failure"`
	}
	junitMessage struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// Quotes in a failure, and breaches of one rule that a failure describes.
const (
	junitQuotes   = 5
	junitBreaches = 20
)

// writeJUnit writes one suite a node and one case a breach rule. A rule that
// was broken is a failure, its evidence the text. Strings are made visible one
// by one, because the lines of a failure's text stay lines. On a node of which too
// little is known to call it healthy, rules that nothing broke are skipped.
func writeJUnit(w io.Writer, r *Report, _ Options) error {
	out := junitSuites{Name: "plegforensics", Time: "0"}
	for i := range r.Nodes {
		s := suite(&r.Nodes[i])
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Suites = append(out.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func suite(n *Node) junitSuite {
	s := junitSuite{Name: nodeName(n.Node), Hostname: Visible(n.Name), Time: "0", Properties: suiteProperties(n), SystemOut: Visible(n.Summary)}
	if n.Window.Start != 0 {
		s.Timestamp = time.Unix(0, n.Window.Start).UTC().Format("2006-01-02T15:04:05")
	}
	byRule := map[string][]*rules.Breach{}
	for i := range n.Breaches {
		byRule[n.Breaches[i].Rule] = append(byRule[n.Breaches[i].Rule], &n.Breaches[i])
	}
	for _, rule := range rules.BreachRules() {
		s.add(junitRule(n, rule.ID, rule.Title, byRule[rule.ID]))
		delete(byRule, rule.ID)
	}
	for i := range n.Breaches { // rules of a user's pack
		id := n.Breaches[i].Rule
		if bs := byRule[id]; bs != nil {
			s.add(junitRule(n, id, id, bs))
			delete(byRule, id)
		}
	}
	return s
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func suiteProperties(n *Node) *junitProperties {
	p := &junitProperties{}
	add := func(name, value string) {
		if value != "" {
			p.Properties = append(p.Properties, junitProperty{Visible(name), Visible(value)})
		}
	}
	add("status", n.Status)
	add("kubelet", kubeletVersion(n))
	add("runtime", n.Kubelet.Runtime)
	add("episodes", strconv.Itoa(len(n.Episodes)))
	for _, c := range n.Causes {
		add("cause."+c.ID, fmt.Sprintf("%s, confidence %.2f", c.Level, c.Confidence))
	}
	return p
}

func junitRule(n *Node, id, title string, bs []*rules.Breach) junitCase {
	c := junitCase{Name: Visible(id), Class: "plegforensics." + strings.ReplaceAll(nodeName(n.Node), ".", "-"), Time: "0"}
	if len(bs) == 0 {
		if n.Status == "unknown" {
			c.Skipped = &junitMessage{Text: "the input shows too little of the kubelet to tell"}
		}
		return c
	}
	worst, length := bs[0], int64(0)
	for _, b := range bs {
		if b.Severity.Rank() > worst.Severity.Rank() {
			worst = b
		}
		if b.End > b.Start && b.Start != 0 {
			length += b.End - b.Start
		}
	}
	c.Time = strconv.FormatFloat(float64(length)/1e9, 'f', 3, 64)
	c.Failure = &junitMessage{Message: failureMessage(title, bs), Type: string(worst.Severity), Text: failureText(n, bs)}
	return c
}

func failureMessage(title string, bs []*rules.Breach) string {
	s := Visible(title) + ": " + measured(bs[0])
	if len(bs) > 1 {
		s += fmt.Sprintf(", and %s more", plural(len(bs)-1, "breach"))
	}
	return s
}

// failureText is the evidence block of a failure: what was measured, quotes,
// and the probable causes.
func failureText(n *Node, bs []*rules.Breach) string {
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
		fmt.Fprintf(&b, "\nprobable cause: %s (%s, %s, confidence %.2f)\n%s", Visible(c.Title), Visible(c.ID), c.Level, c.Confidence, proofText(c.For, junitQuotes))
	}
	return b.String()
}
