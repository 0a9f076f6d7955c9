package fleet

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/rules"
)

// notWhole is the rule ID of a bundle that was not analyzed completely.
const notWhole = "bundle-not-analysed-whole"

// items returns the findings for CI systems, most severe first: what nodes share, breaches, causes,
// and bundles that were not analyzed completely.
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
	for _, note := range v.ruleNotes() {
		x := report.RulesItem("fleet", note, model.Proof{})
		x.Fingerprint = report.Fingerprint("", x.Rule, note, 0)
		out = append(out, x)
	}
	for i := range v.Problems {
		r := &v.Problems[i]
		out = append(out, report.Item{Rule: notWhole, Title: "A bundle was not analysed whole", Severity: rules.Warning,
			Message:     strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", r.Name, r.Status, r.Error), ": "),
			Fingerprint: report.Fingerprint("", notWhole, r.ID, 0), Proof: model.ProofOf(model.Evidence{File: r.Name})})
	}
	report.SortItems(out)
	return out
}

// correlationItem converts a correlation; the breaches of its nodes are the steps.
func (v *View) correlationItem(c *Correlation) report.Item {
	x := report.Item{Rule: c.Kind, Title: correlationTitles[c.Kind], Severity: rules.Critical, Start: model.Time(c.Start), Message: c.Summary,
		Fingerprint: report.Fingerprint(strings.Join(c.Nodes, ","), c.Kind, c.Cause+" "+c.Object, c.Start), Proof: placesOf(c.Proof)}
	if c.Kind == SharedVersion || c.Kind == BreachesTogether {
		x.Severity = rules.Warning // may be a coincidence
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
	var steps []report.Step
	for _, p := range pointsOf(members) {
		if p.at >= c.Start && p.at <= c.End {
			steps = append(steps, report.Step{At: model.Time(p.at), What: p.node.Name + " is unhealthy", Proof: placesOf(p.node.Proof)})
		}
	}
	if len(steps) > 0 {
		x.Flows = func(room int) []report.Flow {
			return []report.Flow{{Title: x.Title, Steps: steps[:min(len(steps), room)]}}
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
	x := report.Item{Node: m.Name, Rule: b.Rule, Title: ruleTitle(b.Rule), Severity: rules.Severity(b.Severity), Start: model.Time(b.First), Times: b.Count,
		Fingerprint: report.Fingerprint(m.Name, b.Rule, "", b.First), Proof: placesOf(b.Proof)}
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

func causeItem(m *Member, c *Cause) report.Item {
	x := report.Item{Node: m.Name, Rule: c.ID, Title: c.Title, Severity: report.CauseSeverity(c.Level), Level: c.Level, Confidence: &c.Confidence,
		Message: report.CauseMessage(m.Name, c.Title, c.Level, c.Confidence), Proof: placesOf(c.Proof)}
	for _, e := range m.Episodes {
		for _, ec := range e.Causes {
			if ec.ID == c.ID && x.Start == 0 {
				x.Start = model.Time(e.Breach)
			}
		}
	}
	x.Fingerprint = report.Fingerprint(m.Name, c.ID, "", int64(x.Start))
	return x
}

// placesOf parses the positions of quotes: path:line, or a path alone.
func placesOf(qs []Quote) model.Proof {
	var out []model.Evidence
	for _, q := range qs {
		e := model.Evidence{File: q.Where, Text: q.Text}
		if i := strings.LastIndexByte(q.Where, ':'); i > 0 {
			if n, err := strconv.ParseUint(q.Where[i+1:], 10, 32); err == nil && n > 0 {
				e.File, e.Line = q.Where[:i], uint32(n)
			}
		}
		out = append(out, e)
	}
	return model.ProofOf(out...)
}

func writeSARIF(w io.Writer, v *View, _ report.Options) error {
	var notes []string
	for _, m := range v.Nodes {
		notes = append(notes, report.Open(m.Name, m.Undecided)...)
	}
	return report.WriteSARIF(w, v.Header.Tool, v.items(), "fleet", nil, notes)
}

func writeGitHub(w io.Writer, v *View, _ report.Options) error {
	items := v.items()
	for _, m := range v.Nodes {
		if x := report.OpenHealth(m.Name, m.Undecided); x != nil {
			items = append(items, *x)
		}
	}
	return report.WriteAnnotations(w, items)
}

func writeGitLab(w io.Writer, v *View, _ report.Options) error {
	return report.WriteCodeQuality(w, v.items(), "fleet")
}

// writeGitHubSummary writes the Markdown report with all rows, cut to the size limit of a step
// summary.
func writeGitHubSummary(w io.Writer, v *View, _ report.Options) error {
	var b bytes.Buffer
	if err := writeMarkdown(&b, v, report.Options{Verbose: true}); err != nil {
		return err
	}
	_, err := w.Write(report.CutLines(b.Bytes(), report.SummaryBytes))
	return err
}

// writeJUnit writes a suite with a case per bundle, and for each node a suite with a case per
// breach rule and the evidence in the failure.
func writeJUnit(w io.Writer, v *View, _ report.Options) error {
	suites := []report.Suite{v.bundleSuite()}
	for _, m := range v.Nodes {
		suites = append(suites, nodeSuite(m))
	}
	return report.WriteJUnit(w, suites)
}

// bundleSuite has a case for each bundle. One that could not be analyzed is an error, one analyzed
// in part is skipped, so that a CI system that reads only JUnit sees what is missing.
func (v *View) bundleSuite() report.Suite {
	s := report.Suite{Name: "bundles", Out: v.headline(), Properties: []report.SuiteProperty{{Name: "bundles", Value: strconv.Itoa(v.Bundles)}}}
	for _, b := range v.Names {
		c := report.Case{Name: b.Name, Class: "plegforensics.bundles"}
		switch b.Status {
		case Analysed:
		case Partly:
			c.Skipped = &report.Told{Text: strings.TrimSuffix(fmt.Sprintf("analysed in part, %s: %s", parse.Plural(b.Warnings, "warning"), b.Error), ": ")}
		default:
			c.Error = &report.Told{Message: b.Error, Type: string(b.Status)}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func nodeSuite(m *Member) report.Suite {
	var items []report.Item
	for i := range m.Breaches {
		items = append(items, breachItem(m, &m.Breaches[i]))
	}
	for i := range m.Causes {
		items = append(items, causeItem(m, &m.Causes[i]))
	}
	return report.NodeSuite(m.Name, m.Status, m.Summary, model.Time(m.start), []report.SuiteProperty{{Name: "episodes", Value: strconv.Itoa(len(m.Episodes))},
		{Name: "bundles", Value: strings.Join(m.Bundles, ", ")}, {Name: "kubelet", Value: m.Kubelet}, {Name: "runtime", Value: m.Runtime},
		{Name: "kernel", Value: m.Kernel}, {Name: "system", Value: m.OS}}, items, m.Undecided)
}

// writeTextfile writes metrics of the fleet with the same names and labels as those of a single
// report.
func writeTextfile(w io.Writer, v *View, _ report.Options) error {
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
	t.Family("plegforensics_kubelet_info", "version of the kubelet, and whose rules were used if it is newer or older than any known")
	for _, m := range v.Nodes {
		if m.Kubelet != "" {
			t.Sample(1, "node", m.Name, "version", m.Kubelet, "rules", pleg.Beyond(m.Kubelet))
		}
	}
	t.Family("plegforensics_episodes", "episodes of PLEG being unhealthy")
	for _, m := range v.Nodes {
		if m.counted() {
			t.Sample(float64(len(m.Episodes)), "node", m.Name)
		}
	}
	t.Family("plegforensics_unhealthy_seconds", "time in episodes whose recovery is known")
	for _, m := range v.Nodes {
		if m.counted() {
			t.Sample(m.unhealthy().Seconds(), "node", m.Name)
		}
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
	for _, c := range v.Correlations { // in their order, each key once
		k := [3]string{c.Kind, c.Cause, c.Object}
		if n, first := shared[k]; first {
			t.Sample(float64(n), "kind", c.Kind, "cause", c.Cause, "object", c.Object)
			delete(shared, k)
		}
	}
	return t.Close()
}

// unhealthy returns the total time in episodes whose breach and recovery are known.
// counted reports whether the number of episodes is known, at least to be more than none.
func (m *Member) counted() bool {
	return len(m.Episodes) > 0 || report.Decided(m.Undecided, "relist-threshold-exceeded")
}

func (m *Member) unhealthy() time.Duration {
	var d time.Duration
	for _, e := range m.Episodes {
		if e.Breach != 0 && e.Recovered > e.Breach {
			d += time.Duration(e.Recovered - e.Breach)
		}
	}
	return d
}
