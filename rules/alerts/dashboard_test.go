package alerts

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/plegforensics/plegforensics/rules/query"
)

// grafanaDashboard is the part of Grafana's dashboard schema (kinds/dashboard/dashboard_kind.cue)
// that ours may use; any other field fails the test.
type grafanaDashboard struct {
	UID, Title, Refresh, Timezone string
	Tags                          []string
	Editable                      bool
	SchemaVersion, Version        int
	Time                          struct{ From, To string }
	Templating                    struct {
		List []struct{ Name, Label, Type, Query string }
	}
	Panels []grafanaPanel
}

type grafanaPanel struct {
	ID          int
	Type, Title string
	Datasource  grafanaSource
	GridPos     struct{ H, W, X, Y int }
	FieldConfig struct {
		Defaults  struct{ Unit string }
		Overrides []any
	}
	Targets []struct {
		RefID, Expr, LegendFormat string
		Datasource                grafanaSource
	}
}

type grafanaSource struct{ Type, UID string }

// kubeletMetrics are the metrics of pkg/kubelet/metrics/metrics.go that panels show.
var kubeletMetrics = []string{
	"kubelet_pleg_relist_duration_seconds_count", "kubelet_pleg_relist_duration_seconds_sum", "kubelet_pleg_discard_events",
	"kubelet_runtime_operations_errors_total",
}

// TestDashboard checks the exported dashboard against Grafana's schema, and its queries against
// PromQL and the existing series.
func TestDashboard(t *testing.T) {
	for _, opt := range []ExportOptions{{}, {Warnings: true}} {
		files := Export(opt)
		var d grafanaDashboard
		dec := json.NewDecoder(bytes.NewReader(files[slices.IndexFunc(files, func(f Exported) bool { return f.Kind == "dashboard" })].Data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			t.Fatal(err)
		}
		duration := regexp.MustCompile(`^\d+[smhd]$`)
		if n := len(d.UID); n < 8 || n > 40 || d.Title == "" || !duration.MatchString(d.Refresh) || d.Timezone != "utc" || d.SchemaVersion < 36 || len(d.Panels) == 0 {
			t.Errorf("head: %+v", d)
		}
		if v := d.Templating.List; len(v) != 1 || v[0].Type != "datasource" || v[0].Query != "prometheus" {
			t.Errorf("variables: %+v", v)
		}
		source := grafanaSource{"prometheus", "${" + d.Templating.List[0].Name + "}"}
		taken := map[[2]int]string{}
		ids := map[int]bool{}
		for i := range d.Panels {
			p := &d.Panels[i]
			if p.ID < 1 || ids[p.ID] || p.Title == "" || p.Type != "timeseries" || p.Datasource != source || len(p.Targets) == 0 || p.FieldConfig.Overrides == nil {
				t.Errorf("panel %d: %+v", i, p)
			}
			ids[p.ID] = true
			if !slices.Contains([]string{"s", "ops", "short"}, p.FieldConfig.Defaults.Unit) {
				t.Errorf("%s: Grafana knows no unit %q", p.Title, p.FieldConfig.Defaults.Unit)
			}
			p.holdPlace(t, taken)
			p.holdQueries(t, source)
		}
	}
}

// holdPlace checks that a panel lies within the grid of 24 columns and overlaps no other.
func (p *grafanaPanel) holdPlace(t *testing.T, taken map[[2]int]string) {
	g := p.GridPos
	if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
		t.Errorf("%s lies at %+v", p.Title, g)
	}
	for x := g.X; x < g.X+g.W; x++ {
		for y := g.Y; y < g.Y+g.H; y++ {
			if other := taken[[2]int{x, y}]; other != "" {
				t.Fatalf("%s lies over %s", p.Title, other)
			}
			taken[[2]int{x, y}] = p.Title
		}
	}
}

// holdQueries checks that queries are valid PromQL over existing series, and that the legend uses
// labels of their results.
func (p *grafanaPanel) holdQueries(t *testing.T, source grafanaSource) {
	refs := map[string]bool{}
	for _, q := range p.Targets {
		if q.RefID == "" || refs[q.RefID] || q.Datasource != source {
			t.Errorf("%s: %+v", p.Title, q)
		}
		refs[q.RefID] = true
		tree, err := query.Parser().ParseExpr(q.Expr)
		if err != nil {
			t.Errorf("%s: %v", p.Title, err)
			continue
		}
		for _, s := range query.Selectors(tree) {
			_, r, ours := BuiltinRule(s.Name)
			derived := slices.ContainsFunc(query.DerivedMetrics(), func(m query.DerivedMetric) bool { return m.Name == s.Name })
			if !derived && s.Name != alertsMetric && !slices.Contains(kubeletMetrics, s.Name) && (!ours || r.Record == "") {
				t.Errorf("%s: nothing exposes or records %s", p.Title, s.Name)
			}
		}
		for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(q.LegendFormat, -1) {
			if by, ok := tree.(*parser.BinaryExpr); ok {
				tree = by.LHS
			}
			if sum, ok := tree.(*parser.AggregateExpr); ok && !slices.Contains(sum.Grouping, m[1]) {
				t.Errorf("%s: %s leaves no label %s", p.Title, strings.TrimSpace(q.Expr), m[1])
			}
		}
	}
}
