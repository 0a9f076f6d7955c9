package report

import (
	"encoding/xml"
	"io"
	"strconv"
	"time"
)

// Suite is a test suite of JUnit XML.
type Suite struct {
	Name, Host string
	Start      int64 // Unix ns, 0 unknown
	Properties [][2]string
	Cases      []Case
	Out        string
}

// Case is a test case. At most one of Skipped, Error and Failure is set.
type Case struct {
	Name, Class string
	Seconds     float64
	Skipped     string // why
	Error       *Failure
	Failure     *Failure
}

// Failure is why a case failed.
type Failure struct{ Message, Type, Text string }

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
		Hostname   string           `xml:"hostname,attr,omitempty"`
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

// WriteJUnit writes suites as one document.
func WriteJUnit(w io.Writer, suites []Suite) error {
	out := junitSuites{Name: "plegforensics"}
	total := 0.0
	for i := range suites {
		s, took := suites[i].xml()
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		total += took
		out.Suites = append(out.Suites, s)
	}
	out.Time = junitTime(total)
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

func (s *Suite) xml() (out junitSuite, took float64) {
	out = junitSuite{Name: s.Name, Hostname: s.Host, SystemOut: s.Out, Tests: len(s.Cases)}
	if s.Start != 0 {
		out.Timestamp = time.Unix(0, s.Start).UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = &junitProperties{}
		}
		out.Properties.Properties = append(out.Properties.Properties, junitProperty{p[0], p[1]})
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		took += c.Seconds
		x := junitCase{Name: c.Name, Class: c.Class, Time: junitTime(c.Seconds), Error: c.Error.xml(), Failure: c.Failure.xml()}
		if c.Skipped != "" {
			x.Skipped = &junitMessage{Text: c.Skipped}
			out.Skipped++
		}
		if c.Error != nil {
			out.Errors++
		}
		if c.Failure != nil {
			out.Failures++
		}
		out.Cases = append(out.Cases, x)
	}
	out.Time = junitTime(took)
	return out, took
}

func (f *Failure) xml() *junitMessage {
	if f == nil {
		return nil
	}
	return &junitMessage{Message: f.Message, Type: f.Type, Text: f.Text}
}

func junitTime(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }
