package fleet

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/rules"
)

// notWhole is the rule of a bundle that was not analysed whole.
const notWhole = "bundle-not-analysed-whole"

// items are what CI systems are told of a fleet, the gravest first: what nodes
// share, then breaches, causes, and bundles that were not analysed whole.
func (v *View) items() []report.Item {
	var out []report.Item
	for i := range v.Correlations {
		out = append(out, v.correlationItem(&v.Correlations[i]))
	}
	for _, m := range v.Nodes {
		for _, b := range m.Breaches {
			out = append(out, breachItem(m, &b))
		}
		for i := range m.Causes {
			if m.explains(i) {
				out = append(out, causeItem(m, &m.Causes[i]))
			}
		}
	}
	for i := range v.Problems {
		r := &v.Problems[i]
		out = append(out, report.Item{Rule: notWhole, Title: "A bundle was not analysed whole", Severity: rules.Warning,
			Message:     strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", r.Name, r.Status, r.Error), ": "),
			Fingerprint: report.Fingerprint("", notWhole, r.ID, 0), Places: []report.Place{{File: r.Name}}})
	}
	report.SortItems(out)
	return out
}

// correlationItem tells what nodes share, with the breaches of each as steps.
func (v *View) correlationItem(c *Correlation) report.Item {
	x := report.Item{Rule: c.Kind, Title: correlationTitles[c.Kind], Severity: rules.Critical, Start: c.Start, Message: c.Summary,
		Fingerprint: report.Fingerprint(strings.Join(c.Nodes, ","), c.Kind, c.Cause+" "+c.Object, c.Start), Places: places(c.Proof)}
	if c.Kind == SharedVersion || c.Kind == BreachesTogether {
		x.Severity = rules.Warning // nothing shows that it is no chance
	}
	if c.Start == 0 {
		return x
	}
	var members []*Member
	for _, m := range v.Nodes {
		for _, name := range c.Nodes {
			if m.Name == name {
				members = append(members, m)
			}
		}
	}
	for _, p := range pointsOf(members) {
		if p.at >= c.Start && p.at <= c.End {
			s := report.Step{At: p.at, What: p.node.Name + " is unhealthy"}
			if qs := places(p.node.Proof); len(qs) > 0 {
				s.Place = &qs[0]
			}
			x.Steps = append(x.Steps, s)
		}
	}
	return x
}

var correlationTitles = map[string]string{
	SharedObject:     "Several nodes became unhealthy over one thing",
	SharedCause:      "Several nodes became unhealthy for one cause",
	BreachesTogether: "Several nodes became unhealthy at one time",
	SharedVersion:    "Unhealthy nodes share a version",
}

func breachItem(m *Member, b *Breach) report.Item {
	x := report.Item{Node: m.Name, Rule: b.Rule, Title: ruleTitle(b.Rule), Severity: rules.Severity(b.Severity), Start: b.First, Times: b.Count,
		Fingerprint: report.Fingerprint(m.Name, b.Rule, "", b.First), Places: places(b.Proof)}
	x.Message = fmt.Sprintf("%s: %s%s", m.Name, x.Title, since(b.First))
	return x
}

func since(at int64) string {
	if at == 0 {
		return ""
	}
	return ", from " + report.Date(at) + " UTC"
}

func ruleTitle(id string) string {
	if r := rules.LookupBreach(id); r != nil {
		return r.Title
	}
	return id
}

// causeItem weighs a cause as a single report does: a likely one is worth a
// warning, a possible one is a hint.
func causeItem(m *Member, c *Cause) report.Item {
	x := report.Item{Node: m.Name, Rule: c.ID, Title: c.Title, Severity: rules.Warning, Message: fmt.Sprintf("%s: %s (%s, confidence %.2f)", m.Name, c.Title, c.Level, c.Confidence),
		Places: places(c.Proof)}
	if c.Level == string(rules.Possible) {
		x.Severity = rules.Info
	}
	for _, e := range m.Episodes {
		for _, ec := range e.Causes {
			if ec.ID == c.ID && x.Start == 0 {
				x.Start = e.Breach
			}
		}
	}
	x.Fingerprint = report.Fingerprint(m.Name, c.ID, "", x.Start)
	return x
}

// places reads back where quotes stand: path:line, or a path alone.
func places(qs []Quote) []report.Place {
	var out []report.Place
	for _, q := range qs {
		p := report.Place{File: q.Where, Text: q.Text}
		if i := strings.LastIndexByte(q.Where, ':'); i > 0 {
			if n, err := strconv.ParseUint(q.Where[i+1:], 10, 32); err == nil && n > 0 {
				p.File, p.Line = q.Where[:i], uint32(n)
			}
		}
		out = append(out, p)
	}
	return out
}

func writeSARIF(w io.Writer, v *View, _ bool) error {
	return report.WriteSARIF(w, v.Header.Tool, v.items())
}

func writeGitHub(w io.Writer, v *View, _ bool) error { return report.WriteAnnotations(w, v.items()) }

func writeGitLab(w io.Writer, v *View, _ bool) error {
	return report.WriteCodeQuality(w, v.items(), "fleet")
}

// writeGitHubSummary writes the Markdown report with every row, as far as a
// step summary may go.
func writeGitHubSummary(w io.Writer, v *View, _ bool) error {
	var b bytes.Buffer
	if err := writeMarkdown(&b, v, true); err != nil {
		return err
	}
	_, err := w.Write(report.CutLines(b.Bytes(), report.SummaryBytes))
	return err
}

// writeJUnit writes a suite of the bundles, one case each, and a suite of each
// node, one case a breach rule with the evidence in the failure.
func writeJUnit(w io.Writer, v *View, _ bool) error {
	suites := []report.Suite{v.bundleSuite()}
	for _, m := range v.Nodes {
		suites = append(suites, nodeSuite(m))
	}
	return report.WriteJUnit(w, suites)
}

// bundleSuite has a case for each bundle: what could not be analysed is an
// error, what was analysed in part is skipped. A CI system that only reads
// JUnit then sees that its map has holes.
func (v *View) bundleSuite() report.Suite {
	s := report.Suite{Name: "bundles", Out: v.headline()}
	for _, b := range v.Names {
		c := report.Case{Name: b.Name, Class: "plegforensics.bundles"}
		switch b.Status {
		case Analysed:
		case Partly:
			c.Skipped = strings.TrimSuffix(fmt.Sprintf("analysed in part, %s: %s", report.Plural(b.Warnings, "warning"), b.Error), ": ")
		default:
			c.Error = &report.Failure{Message: b.Error, Type: string(b.Status)}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func nodeSuite(m *Member) report.Suite {
	s := report.Suite{Name: m.Name, Host: m.Name, Start: m.start, Out: m.Summary,
		Properties: [][2]string{{"status", m.Status}, {"episodes", strconv.Itoa(len(m.Episodes))}, {"bundles", strings.Join(m.Bundles, ", ")}}}
	for _, p := range [][2]string{{"kubelet", m.Kubelet}, {"runtime", m.Runtime}, {"kernel", m.Kernel}, {"system", m.OS}} {
		if p[1] != "" {
			s.Properties = append(s.Properties, p)
		}
	}
	for _, c := range m.Causes {
		s.Properties = append(s.Properties, [2]string{"cause." + c.ID, fmt.Sprintf("%s, confidence %.2f", c.Level, c.Confidence)})
	}
	byRule := map[string][]*Breach{}
	for i := range m.Breaches {
		byRule[m.Breaches[i].Rule] = append(byRule[m.Breaches[i].Rule], &m.Breaches[i])
	}
	for _, r := range rules.BreachRules() {
		s.Cases = append(s.Cases, ruleCase(m, r.ID, byRule[r.ID]))
		delete(byRule, r.ID)
	}
	for i := range m.Breaches { // rules of a user's pack
		if bs := byRule[m.Breaches[i].Rule]; bs != nil {
			s.Cases = append(s.Cases, ruleCase(m, m.Breaches[i].Rule, bs))
			delete(byRule, m.Breaches[i].Rule)
		}
	}
	return s
}

func ruleCase(m *Member, id string, bs []*Breach) report.Case {
	c := report.Case{Name: id, Class: report.CaseClass(m.Name)}
	if len(bs) == 0 {
		if m.Status == "unknown" {
			c.Skipped = report.Untold
		}
		return c
	}
	worst, count := bs[0], 0
	var text strings.Builder
	for _, b := range bs {
		count += b.Count
		if rules.Severity(b.Severity).Rank() > rules.Severity(worst.Severity).Rank() {
			worst = b
		}
		fmt.Fprintf(&text, "\n%s, %d times%s\n%s", b.Severity, b.Count, since(b.First), lines(b.Proof))
	}
	for i, x := range m.Causes {
		if i == maxProof {
			break
		}
		fmt.Fprintf(&text, "\nprobable cause: %s (%s, %s, confidence %.2f)\n%s", x.Title, x.ID, x.Level, x.Confidence, lines(x.Proof))
	}
	c.Failure = &report.Failure{Message: fmt.Sprintf("%s: %d times%s", ruleTitle(id), count, since(worst.First)), Type: worst.Severity, Text: text.String()}
	return c
}

// lines are quotes as lines of text.
func lines(qs []Quote) string {
	var b strings.Builder
	for _, q := range qs {
		fmt.Fprintf(&b, "%s\n  %s\n", q.Where, q.Text)
	}
	return b.String()
}

// writeTextfile writes metrics of the fleet with the names and labels that a
// single report gives them.
func writeTextfile(w io.Writer, v *View, _ bool) error {
	t := report.NewTextfile(w)
	t.Family("plegforensics_build_info", "version of the tool")
	t.Sample(1, "version", v.Header.Tool)
	t.Family("plegforensics_bundles", "bundles by how far they were analysed")
	for _, s := range statuses {
		t.Sample(float64(v.By[s]), "status", string(s))
	}
	t.Family("plegforensics_node_status", "1 for the status that the input shows the node in")
	for _, m := range v.Nodes {
		t.Sample(1, "node", m.Name, "status", m.Status)
	}
	t.Family("plegforensics_episodes", "episodes of PLEG being unhealthy")
	for _, m := range v.Nodes {
		t.Sample(float64(len(m.Episodes)), "node", m.Name)
	}
	t.Family("plegforensics_unhealthy_seconds", "time in episodes whose recovery is known")
	for _, m := range v.Nodes {
		t.Sample(m.unhealthy().Seconds(), "node", m.Name)
	}
	t.Family("plegforensics_breaches", "breaches by rule")
	for _, m := range v.Nodes {
		for _, b := range m.Breaches {
			t.Sample(float64(b.Count), "node", m.Name, "rule", b.Rule, "severity", b.Severity)
		}
	}
	t.Family("plegforensics_cause_confidence", "confidence of a probable cause, 0 to 1")
	for _, m := range v.Nodes {
		for _, c := range m.Causes {
			t.Sample(c.Confidence, "node", m.Name, "cause", c.ID, "level", c.Level)
		}
	}
	t.Family("plegforensics_shared_nodes", "nodes that share something, by what")
	shared := map[[3]string]int{}
	for _, c := range v.Correlations {
		k := [3]string{c.Kind, c.Cause, c.Object}
		shared[k] += len(c.Nodes)
	}
	for _, c := range v.Correlations { // in their order, each once
		k := [3]string{c.Kind, c.Cause, c.Object}
		if n, first := shared[k]; first {
			t.Sample(float64(n), "kind", c.Kind, "cause", c.Cause, "object", c.Object)
			delete(shared, k)
		}
	}
	return t.Close()
}

// unhealthy is the time in episodes whose recovery is known.
func (m *Member) unhealthy() time.Duration {
	var d time.Duration
	for _, e := range m.Episodes {
		if e.Breach != 0 && e.Recovered > e.Breach {
			d += time.Duration(e.Recovered - e.Breach)
		}
	}
	return d
}
