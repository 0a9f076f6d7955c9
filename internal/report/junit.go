package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules"
)

// Maximum number of quotes per item, of breaches of one rule, and of causes in a failure.
const (
	junitQuotes   = 5
	junitBreaches = 20
	junitCauses   = 3
)

// The types below are the JUnit XML that CI systems read, restricted to what the old and new
// schemas of Jenkins' xUnit plugin allow: a case has no properties of its own, and the reason for a
// skip is text, not an attribute.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     seconds  `xml:"time,attr"`
		Suites   []Suite  `xml:"testsuite"`
	}

	// Suite is a test suite. WriteJUnit fills in its counts.
	Suite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       seconds         `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Host       string          `xml:"hostname,attr,omitempty"`
		Properties []SuiteProperty `xml:"properties>property"`
		Cases      []Case          `xml:"testcase"`
		Out        string          `xml:"system-out,omitempty"`
	}

	// SuiteProperty is a name and a value.
	SuiteProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}

	// Case is a test case. At most one of Skipped, Error and Failure is set.
	Case struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		Time    seconds `xml:"time,attr"`
		Skipped *Told   `xml:"skipped"`
		Error   *Told   `xml:"error"`
		Failure *Told   `xml:"failure"`
	}

	// Told says why a case was skipped or failed.
	Told struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes suites as one document.
func WriteJUnit(w io.Writer, suites []Suite) error {
	out := junitSuites{Name: "plegforensics", Suites: suites}
	for i := range suites {
		s := &suites[i]
		s.Tests = len(s.Cases)
		for _, c := range s.Cases {
			s.Time += c.Time
			for told, n := range map[*Told]*int{c.Skipped: &s.Skipped, c.Error: &s.Errors, c.Failure: &s.Failures} {
				if told != nil {
					*n++
				}
			}
		}
		out.Tests, out.Failures, out.Errors, out.Time = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors, out.Time+s.Time
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// seconds are written with millisecond precision.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

// NodeSuite returns the suite of a node, with one case per breach rule. A breached rule is a
// failure whose text is the evidence. Rules that the input cannot decide are skipped. Properties without
// a value are omitted.
func NodeSuite(name, status, summary string, start model.Time, properties []SuiteProperty, items []Item, undecided []model.Undecided) Suite {
	s := Suite{Name: orNode(name), Host: name, Out: summary}
	if start != 0 {
		s.Timestamp = start.UTC().Format("2006-01-02T15:04:05")
	}
	var causes []Item
	byRule := map[string][]Item{}
	for _, x := range items {
		x.Message = strings.TrimPrefix(x.Message, s.Name+": ")
		if x.Confidence == nil {
			byRule[x.Rule] = append(byRule[x.Rule], x)
			continue
		}
		causes = append(causes, x)
		properties = append(properties, SuiteProperty{"cause." + x.Rule, fmt.Sprintf("%s, confidence %.2f", x.Level, *x.Confidence)})
	}
	for _, p := range append([]SuiteProperty{{"status", status}}, properties...) {
		if p.Value != "" {
			s.Properties = append(s.Properties, p)
		}
	}
	add := func(id string) {
		c := Case{Name: id, Class: "plegforensics." + strings.ReplaceAll(s.Name, ".", "-")} // viewers take the part before a dot as a package
		if xs := byRule[id]; len(xs) > 0 {
			c.fail(xs, causes)
		} else if i := slices.IndexFunc(undecided, func(u model.Undecided) bool { return u.Rule == id }); i >= 0 {
			c.Skipped = &Told{Text: undecided[i].Reason}
		} else if len(undecided) == 0 && status == "unknown" { // a record of an earlier version
			c.Skipped = &Told{Text: Untold}
		}
		delete(byRule, id)
		s.Cases = append(s.Cases, c)
	}
	for _, rule := range rules.BreachRules() {
		add(rule.ID)
	}
	for _, x := range items { // rules of a user's pack
		if byRule[x.Rule] != nil {
			add(x.Rule)
		}
	}
	return s
}

// Untold is the reason given for a skipped case if none is kept.
const Untold = "the input shows too little of the kubelet to tell"

// fail sets the failure of a case from the breaches of one rule: measurements, quotes, and the
// probable causes.
func (c *Case) fail(xs, causes []Item) {
	worst := &xs[0]
	var b strings.Builder
	for i := range xs {
		x := &xs[i]
		c.Time += seconds(x.Seconds)
		if x.Severity.Rank() > worst.Severity.Rank() {
			worst = x
		}
		switch {
		case i == junitBreaches:
			fmt.Fprintf(&b, "\nand %s more\n", parse.Plural(len(xs)-i, "breach"))
		case i < junitBreaches:
			fmt.Fprintf(&b, "\n%s\n%s", x.told(), x.proof(junitQuotes))
		}
	}
	for i := range causes[:min(len(causes), junitCauses)] {
		fmt.Fprintf(&b, "\nprobable cause: %s (%s)\n%s", causes[i].Message, causes[i].Rule, causes[i].proof(junitQuotes))
	}
	c.Failure = &Told{worst.told(), string(worst.Severity), b.String()}
	if more := len(xs) - 1; more > 0 {
		c.Failure.Message += fmt.Sprintf(", and %s more", parse.Plural(more, "breach"))
	}
}

func writeJUnit(w io.Writer, r *model.Report, _ Options) error {
	var out []Suite
	for _, n := range r.Nodes {
		out = append(out, NodeSuite(n.Name, n.Status, n.Summary, n.Window.Start, []SuiteProperty{{"kubelet", n.Kubelet.Known()},
			{"runtime", model.Known(n.Kubelet.Runtime)}, {"episodes", strconv.Itoa(len(n.Episodes))}}, nodeItems(n), n.Undecided))
	}
	return WriteJUnit(w, out)
}
