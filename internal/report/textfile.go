package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// family is one metric of the textfile and how a node fills it.
type family struct {
	name, help string
	samples    func(n *model.Node, emit func(labels []string, v float64))
}

// families of the textfile, in the order written. All are gauges: they tell of
// one input, not of a process that counts on. Of the lengths of relists there
// are no quantiles: those that logs and metrics date one by one are the long
// ones.
var families = []family{
	{"plegforensics_node_status", "1 for the status that the input shows the node in", func(n *model.Node, emit func([]string, float64)) {
		emit([]string{"status", n.Status}, 1)
	}},
	{"plegforensics_kubelet_info", "Version of the kubelet, and whose rules were used if it is newer or older than any known", func(n *model.Node, emit func([]string, float64)) {
		if v := n.Kubelet.Versions(); v != "" {
			emit([]string{"version", v, "rules", n.Kubelet.Rules}, 1)
		}
	}},
	{"plegforensics_episodes", "Episodes of PLEG being unhealthy", one(func(n *model.Node) float64 { return float64(len(n.Episodes)) })},
	{"plegforensics_unhealthy_seconds", "Time in episodes whose recovery is known", one(unhealthySeconds)},
	{"plegforensics_peak_age_seconds", "Greatest age of the last relist that a line states", one(peakAge)},
	{"plegforensics_breaches", "Breaches by rule", breachSamples},
	{"plegforensics_cause_confidence", "Confidence of a probable cause, 0 to 1", func(n *model.Node, emit func([]string, float64)) {
		for _, c := range n.Causes {
			emit([]string{"cause", c.ID, "level", c.Level}, c.Confidence)
		}
	}},
	{"plegforensics_relists_proven", "Relists that evidence proves one by one", one(func(n *model.Node) float64 { return float64(n.Relists.Proven) })},
	{"plegforensics_relists_min", "Relists in all, at least", one(func(n *model.Node) float64 { return float64(n.Relists.CountMin) })},
	{"plegforensics_relists_max", "Relists in all, at most, as far as the evidence bounds them", one(func(n *model.Node) float64 { return float64(n.Relists.CountMax) })},
	{"plegforensics_relists_timed", "Relists of known length", one(func(n *model.Node) float64 { return float64(n.Relists.Known) })},
	{"plegforensics_relist_longest_seconds", "Longest relist of known length", one(func(n *model.Node) float64 {
		if n.Relists.Max == nil {
			return math.NaN()
		}
		return *n.Relists.Max
	})},
}

// one is a sample without labels; none where the value is not a number.
func one(value func(*model.Node) float64) func(*model.Node, func([]string, float64)) {
	return func(n *model.Node, emit func([]string, float64)) {
		if v := value(n); !math.IsNaN(v) {
			emit(nil, v)
		}
	}
}

func unhealthySeconds(n *model.Node) float64 {
	total := 0.0
	for i := range n.Episodes {
		if e := &n.Episodes[i]; e.Breach != 0 && e.Recovered > e.Breach {
			total += model.Seconds(e.Recovered.Sub(e.Breach))
		}
	}
	return total
}

// peakAge is the greatest age that a line states, NaN if none does.
func peakAge(n *model.Node) float64 {
	peak := math.NaN()
	for i := range n.Episodes {
		if a := n.Episodes[i].PeakAge; a != nil && !(*a <= peak) {
			peak = *a
		}
	}
	return peak
}

func breachSamples(n *model.Node, emit func([]string, float64)) {
	count := map[string]int{}
	for i := range n.Breaches {
		count[n.Breaches[i].Rule]++
	}
	for _, r := range rules.BreachRules() {
		emit([]string{"rule", r.ID, "severity", string(r.Severity)}, float64(count[r.ID]))
		delete(count, r.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(count)) { // rules of a user's pack
		emit([]string{"rule", id, "severity", ""}, float64(count[id]))
	}
}

// writeTextfile writes the text format of Prometheus for node_exporter's
// textfile collector. It states no times: the collector refuses them.
func writeTextfile(w io.Writer, r *model.Report, _ Options) error {
	t := NewTextfile(w)
	t.Family("plegforensics_build_info", "Version of the tool")
	t.Sample(1, "version", r.Tool.Version)
	t.Family("plegforensics_inputs_partial", "Inputs that were read only in part")
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
		for i, n := range r.Nodes {
			f.samples(n, func(labels []string, v float64) { t.Sample(v, append(slices.Clone(same[i]), labels...)...) })
		}
	}
	return t.Close()
}

// sameNames is the labels that tell nodes apart: the name, and a number where
// the inputs hold several nodes of one name.
func sameNames(ns []*model.Node) [][]string {
	seen := map[string]int{}
	var out [][]string
	for _, n := range ns {
		labels := []string{"node", n.Name}
		if seen[n.Name]++; seen[n.Name] > 1 {
			labels = append(labels, "copy", strconv.Itoa(seen[n.Name]))
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
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}
