package alerts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"
)

// Exported is a file for a Prometheus server or a related tool.
type Exported struct {
	Kind string // purpose of the file, in one word
	Name string // file name
	Data []byte
}

// ExportOptions select the exported alerts and their form.
type ExportOptions struct {
	// Warnings includes alerts that are not outages: slow relists, lost events.
	Warnings bool
	// Runbook is the prefix of runbook_url, to which the name of a page is appended; "" omits it.
	// The annotation "runbook" always names the command that prints the page.
	Runbook string
}

// exportedGroup is the built-in group that servers can run.
const exportedGroup = "plegforensics"

//go:embed export.test.yaml
var exportTests []byte

// Names of the exported files. The unit tests refer to rulesFile.
const (
	rulesFile  = "plegforensics.rules.yaml"
	objectFile = "plegforensics.prometheusrule.yaml"
	testsFile  = "plegforensics.rules.test.yaml"
	dashFile   = "plegforensics.dashboard.json"
)

// Export returns the built-in recording and alerting rules as a rule file and as a PrometheusRule,
// their unit tests for "promtool test rules", and a Grafana dashboard.
func Export(opt ExportOptions) []Exported {
	groups := exportedGroups(opt)
	file := struct {
		Groups []rulefmt.RuleGroup `yaml:"groups"`
	}{groups}
	object := map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
		"metadata": map[string]any{"name": "plegforensics", "labels": map[string]string{"prometheus": "k8s", "role": "alert-rules"}},
		"spec":     file,
	}
	return []Exported{
		{"rules", rulesFile, yamlOf(file)},
		{"prometheusrule", objectFile, yamlOf(object)},
		{"tests", testsFile, testsFor(opt)},
		{"dashboard", dashFile, dashboard(groups)},
	}
}

// exportedGroups returns the groups of the rule file.
func exportedGroups(opt ExportOptions) []rulefmt.RuleGroup {
	var out []rulefmt.RuleGroup
	for _, g := range Builtin() {
		if g.Name != exportedGroup {
			continue
		}
		x := rulefmt.RuleGroup{Name: g.Name, Interval: model.Duration(g.Interval)}
		for _, r := range g.Rules {
			if r.Alert != "" && r.Labels["severity"] != "critical" && !opt.Warnings {
				continue
			}
			y := rulefmt.Rule{Record: r.Record, Alert: r.Alert, Expr: r.Expr, For: model.Duration(r.For), Labels: r.Labels}
			if r.Alert != "" {
				y.Annotations = exportedAnnotations(r.Annotations, opt)
			}
			x.Rules = append(x.Rules, y)
		}
		out = append(out, x)
	}
	return out
}

// explainKey is the annotation of built-in alerts with the name of their page.
const explainKey = "explain"

func exportedAnnotations(in map[string]string, opt ExportOptions) map[string]string {
	out := map[string]string{"runbook": "plegforensics explain " + in[explainKey]}
	for k, v := range in {
		if k != explainKey {
			out[k] = v
		}
	}
	if opt.Runbook != "" {
		out["runbook_url"] = opt.Runbook + in[explainKey]
	}
	return out
}

// testsFor returns the unit tests of the rules exported with opt.
func testsFor(opt ExportOptions) []byte {
	if opt.Runbook == "" {
		return exportTests
	}
	page := regexp.MustCompile(`(?m)^( +)runbook: plegforensics explain (\S+)$`)
	return page.ReplaceAllFunc(exportTests, func(line []byte) []byte {
		m := page.FindSubmatch(line)
		return fmt.Appendf(nil, "%s\n%srunbook_url: %q", line, m[1], opt.Runbook+string(m[2]))
	})
}

func yamlOf(v any) []byte {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		panic(err) // unreachable: our own data
	}
	return b.Bytes()
}

// BuiltinRule returns the built-in rule of a name, with its group.
func BuiltinRule(name string) (Group, Rule, bool) {
	for _, g := range Builtin() {
		for _, r := range g.Rules {
			if r.Alert == name || r.Record == name {
				return g, r, true
			}
		}
	}
	return Group{}, Rule{}, false
}

// BuiltinAlerts returns the names of the built-in alerts, in order.
func BuiltinAlerts() []string {
	var out []string
	for _, g := range Builtin() {
		for _, r := range g.Rules {
			if r.Alert != "" {
				out = append(out, r.Alert)
			}
		}
	}
	return out
}

// Page returns what "rules show" prints for a rule: the rule as in its file, its purpose, and where
// to read on.
func Page(g Group, r Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s: alert of group %s, evaluated every %s\n\n", r.Alert, r.Record, g.Name, short(g.Interval))
	if r.Record != "" {
		b.Reset()
		fmt.Fprintf(&b, "%s: recording rule of group %s, evaluated every %s\n\n", r.Record, g.Name, short(g.Interval))
	}
	fmt.Fprintf(&b, "expression  %s\n", r.Expr)
	if r.Alert != "" {
		fmt.Fprintf(&b, "for         %s\nseverity    %s\n", short(r.For), r.Labels["severity"])
	}
	if s := r.Annotations["summary"]; s != "" {
		fmt.Fprintf(&b, "says        %s\n", s)
	}
	if page := r.Annotations[explainKey]; page != "" {
		fmt.Fprintf(&b, "runbook     plegforensics explain %s\n", page)
	}
	if g.Name == exportedGroup {
		b.WriteString("export      plegforensics rules export prometheus\n")
	}
	if names := recordedIn(r.Expr); len(names) > 0 {
		fmt.Fprintf(&b, "reads       %s\n", strings.Join(names, ", "))
	}
	return b.String()
}

// recordedIn returns the built-in recorded series that an expression reads.
func recordedIn(expr string) []string {
	var out []string
	for _, name := range readsOf(expr).names {
		if _, r, ok := BuiltinRule(name); ok && r.Record != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// panel is a graph of the dashboard.
type panel struct {
	title, unit, legend string
	exprs               []string
}

var panels = []panel{
	{"Age of the last relist that listed pods", "s", "{{instance}}", []string{"instance:kubelet_pleg_last_seen:age_seconds"}},
	{"Relists per second", "ops", "{{instance}}", []string{"rate(kubelet_pleg_relist_duration_seconds_count[1m])"}},
	{"Mean relist duration", "s", "{{instance}}", []string{"rate(kubelet_pleg_relist_duration_seconds_sum[5m]) / rate(kubelet_pleg_relist_duration_seconds_count[5m])"}},
	{"Mean interval between relists", "s", "{{instance}}", []string{"instance:kubelet_pleg_relist_interval_seconds:mean90s"}},
	{"Failed runtime calls per second", "ops", "{{instance}} {{operation_type}}", []string{"sum by (instance, operation_type) (rate(kubelet_runtime_operations_errors_total[5m])) > 0"}},
	{"Lost pod events", "short", "{{instance}}", []string{"increase(kubelet_pleg_discard_events[10m])"}},
}

// dashboard returns a Grafana dashboard of what the rules read and record.
func dashboard(groups []rulefmt.RuleGroup) []byte {
	source := map[string]string{"type": "prometheus", "uid": "${datasource}"}
	graph := func(i int, p panel) map[string]any {
		var targets []map[string]any
		for k, e := range p.exprs {
			targets = append(targets, map[string]any{"datasource": source, "expr": e, "legendFormat": p.legend, "refId": string(rune('A' + k))})
		}
		return map[string]any{"id": i + 1, "type": "timeseries", "title": p.title, "datasource": source, "targets": targets,
			"gridPos":     map[string]int{"h": 8, "w": 12, "x": 12 * (i % 2), "y": 8 * (i / 2)},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit}, "overrides": []any{}}}
	}
	var all []map[string]any
	for i, p := range panels {
		all = append(all, graph(i, p))
	}
	var names []string
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				names = append(names, r.Alert)
			}
		}
	}
	all = append(all, graph(len(panels), panel{"Alerts", "short", "{{alertname}} {{instance}}", []string{`ALERTS{alertstate="firing", alertname=~"` + strings.Join(names, "|") + `"}`}}))
	doc := map[string]any{
		"title": "Pod Lifecycle Event Generator", "uid": "plegforensics", "tags": []string{"kubernetes", "kubelet", "pleg"},
		"schemaVersion": 39, "version": 1, "refresh": "30s", "editable": true, "timezone": "utc",
		"time":       map[string]string{"from": "now-3h", "to": "now"},
		"templating": map[string]any{"list": []any{map[string]any{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}},
		"panels":     all,
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // unreachable: our own data
	}
	return append(out, '\n')
}
