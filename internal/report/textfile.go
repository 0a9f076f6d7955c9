package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// families lists the metrics of the textfile, in the order written. All are gauges: they describe
// one input, not a process that keeps counting. There are no quantiles of relist durations, because
// those that logs and metrics date individually are the long ones.
var families = []struct{ name, help string }{
	{"node_status", "1 for the status that the input shows the node in"},
	{"kubelet_info", "Version of the kubelet, and whose rules were used if it is newer or older than any known"},
	{"episodes", "Episodes of PLEG being unhealthy"},
	{"unhealthy_seconds", "Time in episodes whose recovery is known, at most: they may have ended before the input proves it"},
	{"unhealthy_proven_seconds", "Time in which PLEG is proven to have been unhealthy or not to have listed pods yet, also in an episode that goes on at the end"},
	{"episodes_open", "Episodes that had not recovered as far as the input shows"},
	{"health_unknown_seconds", "Time of which nothing tells whether PLEG was healthy"},
	{"peak_age_seconds", "Greatest age of the last relist that a line states"},
	{"breaches", "Breaches by rule"},
	{"cause_confidence", "Confidence of a probable cause, 0 to 1"},
	{"relists_proven", "Relists that evidence proves one by one"},
	{"relists_min", "Relists in all, at least"},
	{"relists_max", "Relists in all, at most"},
	{"relists_timed", "Relists of known length"},
	{"relist_longest_seconds", "Longest relist of known length"},
}

// nodeSamples adds the samples of a node, with labels. Unknown values have no sample.
func nodeSamples(n *model.Node, add func(family string, v float64, labels ...string)) {
	add("node_status", 1, "status", n.Status)
	if v := n.Kubelet.Versions(); v != "" {
		add("kubelet_info", 1, "version", v, "rules", n.Kubelet.Rules)
	}
	unhealthy, proven, unknown, open := 0.0, 0.0, 0.0, 0
	var peak *float64
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.Breach != 0 && e.Recovered > e.Breach {
			unhealthy += model.Seconds(max(e.Recovered.Sub(e.Breach)-e.Skipped, 0))
		}
		if e.Recovered == 0 {
			open++
		}
		if a := e.PeakAge; a != nil && (peak == nil || *a > *peak) {
			peak = a
		}
	}
	if len(n.Episodes) > 0 || Decided(n.Undecided, "relist-threshold-exceeded") {
		add("episodes", float64(len(n.Episodes)))
		add("episodes_open", float64(open))
		add("unhealthy_seconds", unhealthy)
	}
	for _, h := range n.Health {
		switch took := model.Seconds(h.To.Sub(h.From)); {
		case h.To <= h.From:
		case h.State == "unknown":
			unknown += took
		case h.State == "unhealthy" || h.State == "never-relisted":
			proven += took
		}
	}
	if len(n.Health) > 0 {
		add("unhealthy_proven_seconds", proven)
		add("health_unknown_seconds", unknown)
	}
	if peak != nil {
		add("peak_age_seconds", *peak)
	}
	count := maps.Clone(n.Crossed)
	for _, r := range rules.BreachRules() {
		if count[r.ID] > 0 || Decided(n.Undecided, r.ID) {
			add("breaches", float64(count[r.ID]), "rule", r.ID, "severity", string(r.Severity))
		}
		delete(count, r.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(count)) { // rules of a user's pack
		add("breaches", float64(count[id]), "rule", id, "severity", "")
	}
	for _, c := range n.Causes {
		add("cause_confidence", c.Confidence, "cause", c.ID, "level", c.Level)
	}
	add("relists_proven", float64(n.Relists.Proven))
	add("relists_min", float64(n.Relists.CountMin))
	if most := n.Relists.CountMax; most != nil {
		add("relists_max", float64(*most))
	}
	add("relists_timed", float64(n.Relists.Known))
	if n.Relists.Max != nil {
		add("relist_longest_seconds", *n.Relists.Max)
	}
}

// Decided reports whether the input decides a rule.
func Decided(undecided []model.Undecided, rule string) bool {
	return !slices.ContainsFunc(undecided, func(u model.Undecided) bool { return u.Rule == rule })
}

// writeTextfile writes the Prometheus text format for node_exporter's textfile collector, which
// refuses timestamps.
func writeTextfile(w io.Writer, r *model.Report, _ Options) error {
	t := NewTextfile(w)
	t.Family("plegforensics_build_info", "Version of the tool")
	t.Sample(1, "version", r.Tool.Version)
	t.Family("plegforensics_inputs_partial", "Inputs that were read only in part")
	t.Sample(float64(len(slices.DeleteFunc(slices.Clone(r.Inputs), func(in model.Input) bool { return !in.Partial }))))
	for _, f := range families {
		t.Family("plegforensics_"+f.name, f.help)
		seen := map[string]int{}
		for _, n := range r.Nodes {
			name := []string{"node", n.Name}
			if seen[n.Name]++; seen[n.Name] > 1 { // several nodes of the inputs have this name
				name = append(name, "copy", strconv.Itoa(seen[n.Name]))
			}
			nodeSamples(n, func(family string, v float64, labels ...string) {
				if family == f.name {
					t.Sample(v, slices.Concat(name, labels)...)
				}
			})
		}
	}
	return t.Close()
}

// Textfile writes metrics for node_exporter's textfile collector: gauges without timestamps.
type Textfile struct {
	b    *bufio.Writer
	name string
}

// NewTextfile returns a Textfile that writes to w. It must be closed.
func NewTextfile(w io.Writer) *Textfile { return &Textfile{b: bufio.NewWriter(w)} }

// Family starts a metric. help must not end in a period.
func (t *Textfile) Family(name, help string) {
	t.name = name
	fmt.Fprintf(t.b, "# HELP %s %s.\n# TYPE %s gauge\n", name, help, name)
}

var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Sample writes a sample of the current metric. labels are names and values in turn.
func (t *Textfile) Sample(v float64, labels ...string) {
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, pair[0]+`="`+labelValue.Replace(pair[1])+`"`)
	}
	if len(pairs) > 0 {
		pairs = []string{"{", strings.Join(pairs, ","), "}"}
	}
	fmt.Fprintf(t.b, "%s%s %s\n", t.name, strings.Join(pairs, ""), strconv.FormatFloat(v, 'g', -1, 64))
}

// Close flushes the output and returns the first write error.
func (t *Textfile) Close() error { return t.b.Flush() }
