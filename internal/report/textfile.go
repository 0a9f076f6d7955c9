package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// family is one metric of the textfile and how a node fills it.
type family struct {
	name, help string
	samples    func(n *Node, emit func(labels []string, v float64))
}

// families of the textfile, in the order written. All are gauges: they tell of
// one input, not of a process that counts on.
var families = []family{
	{"plegforensics_node_status", "1 for the status that the input shows the node in", func(n *Node, emit func([]string, float64)) {
		emit([]string{"status", n.Status}, 1)
	}},
	{"plegforensics_episodes", "episodes of PLEG being unhealthy", func(n *Node, emit func([]string, float64)) {
		emit(nil, float64(len(n.Episodes)))
	}},
	{"plegforensics_unhealthy_seconds", "time in episodes whose recovery is known", func(n *Node, emit func([]string, float64)) {
		emit(nil, unhealthySeconds(n.Node))
	}},
	{"plegforensics_peak_age_seconds", "greatest age of the last relist that a line states", func(n *Node, emit func([]string, float64)) {
		for i := range n.Episodes {
			if n.Episodes[i].PeakAge > 0 {
				emit(nil, peakAge(n.Node))
				return
			}
		}
	}},
	{"plegforensics_breaches", "breaches by rule", breachSamples},
	{"plegforensics_cause_confidence", "confidence of a probable cause, 0 to 1", func(n *Node, emit func([]string, float64)) {
		for _, c := range n.Causes {
			emit([]string{"cause", c.ID, "level", string(c.Level)}, round2(c.Confidence))
		}
	}},
	{"plegforensics_relists_proven", "relists that evidence proves", func(n *Node, emit func([]string, float64)) {
		emit(nil, float64(len(n.Relists)))
	}},
	{"plegforensics_relist_duration_seconds", "duration of the relists whose duration is known, by quantile", func(n *Node, emit func([]string, float64)) {
		if s := Durations(n.Node); len(s.Sorted) > 0 {
			emit([]string{"quantile", "0.5"}, seconds(s.P50))
			emit([]string{"quantile", "0.99"}, seconds(s.P99))
			emit([]string{"quantile", "1"}, seconds(s.Max))
		}
	}},
}

func unhealthySeconds(n *replay.Node) float64 {
	total := 0.0
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Recovered.Known() && e.Breach != 0 && e.Recovered.At > e.Breach {
			total += float64(e.Recovered.At-e.Breach) / 1e9
		}
	}
	return total
}

func peakAge(n *replay.Node) float64 {
	peak := 0.0
	for i := range n.Episodes {
		peak = max(peak, seconds(n.Episodes[i].PeakAge))
	}
	return peak
}

func breachSamples(n *Node, emit func([]string, float64)) {
	count := map[string]int{}
	var extra []string
	for _, b := range n.Breaches {
		if count[b.Rule] == 0 && rules.LookupBreach(b.Rule) == nil {
			extra = append(extra, b.Rule)
		}
		count[b.Rule]++
	}
	for _, r := range rules.BreachRules() {
		emit([]string{"rule", r.ID, "severity", string(r.Severity)}, float64(count[r.ID]))
	}
	slices.Sort(extra)
	for _, id := range extra {
		emit([]string{"rule", id, "severity", ""}, float64(count[id]))
	}
}

// writeTextfile writes the text format of Prometheus for node_exporter's
// textfile collector. It states no times: the collector refuses them.
func writeTextfile(w io.Writer, r *Report, _ Options) error {
	t := NewTextfile(w)
	t.Family("plegforensics_build_info", "version of the tool")
	t.Sample(1, "version", r.Version)
	t.Family("plegforensics_inputs_partial", "inputs that were read only in part")
	partial := 0.0
	for _, in := range r.Inputs {
		if in.Partial {
			partial++
		}
	}
	t.Sample(partial)
	same := sameNames(r.Nodes)
	for _, f := range families {
		t.Family(f.name, f.help)
		for i := range r.Nodes {
			f.samples(&r.Nodes[i], func(labels []string, v float64) { t.Sample(v, append(slices.Clone(same[i]), labels...)...) })
		}
	}
	return t.Close()
}

// sameNames is the labels that tell nodes apart: the name, and a number where
// the inputs hold several nodes of one name.
func sameNames(ns []Node) [][]string {
	seen := map[string]int{}
	var out [][]string
	for i := range ns {
		name := ns[i].Name
		labels := []string{"node", name}
		if seen[name]++; seen[name] > 1 {
			labels = append(labels, "copy", strconv.Itoa(seen[name]))
		}
		out = append(out, labels)
	}
	return out
}

// Textfile writes metrics of node_exporter's textfile collector: gauges without
// times.
type Textfile struct {
	b    *bufio.Writer
	name string
}

// NewTextfile starts a file. Close ends it.
func NewTextfile(w io.Writer) *Textfile { return &Textfile{b: bufio.NewWriter(w)} }

// Family starts a metric.
func (t *Textfile) Family(name, help string) {
	t.name = name
	fmt.Fprintf(t.b, "# HELP %s %s.\n# TYPE %s gauge\n", name, help, name)
}

// Sample writes a value of the metric with labels, names and values in turn.
func (t *Textfile) Sample(v float64, labels ...string) {
	t.b.WriteString(t.name)
	for i := 0; i+1 < len(labels); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		t.b.WriteString(open + labels[i] + `="` + labelValue(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		t.b.WriteString("}")
	}
	t.b.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

// Close writes what is left.
func (t *Textfile) Close() error { return t.b.Flush() }

func labelValue(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(Visible(s))
}
