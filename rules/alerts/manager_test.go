package alerts

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/teststorage"
	"pgregory.net/rapid"

	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/query"
)

// server runs rule groups with Prometheus' own rule manager over its own storage.
type server struct {
	store  *teststorage.TestStorage
	groups []*rules.Group
}

func newServer(t testing.TB, dir, yaml string, order []string) *server {
	st := teststorage.New(t)
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50e6, Timeout: time.Minute, LookbackDelta: query.Lookback, Parser: query.Parser(),
		EnableAtModifier: true, EnableNegativeOffset: true, NoStepSubqueryIntervalFn: func(int64) int64 { return 60_000 }})
	m := rules.NewManager(&rules.ManagerOptions{QueryFunc: rules.EngineQueryFunc(engine, st), AppendableV2: st, Context: context.Background(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: promslog.NewNopLogger(), Parser: query.Parser()})
	file := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	byKey, errs := m.LoadGroups(DefaultInterval, labels.EmptyLabels(), "", nil, false, file)
	if len(errs) > 0 {
		t.Fatalf("%v\n%s", errs, yaml)
	}
	s := &server{store: st}
	for _, name := range order {
		g := byKey[rules.GroupKey(file, name)]
		for _, r := range g.Rules() {
			if a, ok := r.(*rules.AlertingRule); ok {
				a.SetRestored(true)
			}
		}
		s.groups = append(s.groups, g)
	}
	return s
}

// observed summarizes a firing.
type observed struct {
	labels   string
	from, to int64
	peak     float64
}

// run evaluates each group at the multiples of its interval and returns the firings of the alerts
// by rule.
func (s *server) run(t testing.TB, from, to int64, feed func(app storage.Appender, until int64)) [][]observed {
	out := make([][][]observed, len(s.groups))
	open := map[string]*observed{}
	for i, g := range s.groups {
		out[i] = make([][]observed, len(g.Rules()))
	}
	var ends []int64
	for _, g := range s.groups {
		ends = append(ends, to+g.Interval().Milliseconds())
	}
	for now := from + mod(-from, 5000); now <= slices.Max(ends); now += 5000 {
		app := s.store.Appender(context.Background())
		feed(app, now)
		if err := app.Commit(); err != nil {
			t.Fatal(err)
		}
		for i, g := range s.groups {
			step := g.Interval().Milliseconds()
			if now%step != 0 || now < from || now > ends[i] {
				continue
			}
			ts := time.UnixMilli(now).UTC()
			g.Eval(context.Background(), ts)
			for j, r := range g.Rules() {
				if a, ok := r.(*rules.AlertingRule); ok {
					out[i][j] = watch(out[i][j], open, fmt.Sprint(i, " ", j, " "), a, now)
				}
			}
		}
	}
	for i, g := range s.groups { // alerts that fire at the end have no end time
		for j := range g.Rules() {
			for k, o := range open {
				if strings.HasPrefix(k, fmt.Sprint(i, " ", j, " ")) {
					o.to = 0
					out[i][j] = append(out[i][j], *o)
				}
			}
		}
	}
	return slices.Concat(out...)
}

// watch records which instances of an alert fire at a time.
func watch(list []observed, open map[string]*observed, prefix string, a *rules.AlertingRule, now int64) []observed {
	fires := map[string]bool{}
	for _, x := range a.ActiveAlerts() {
		if x.State != rules.StateFiring {
			continue
		}
		k := prefix + x.Labels.String()
		fires[k] = true
		switch o := open[k]; {
		case o == nil:
			open[k] = &observed{x.Labels.String(), now, -1, x.Value}
		case x.KeepFiringSince.IsZero():
			o.peak = math.Max(o.peak, x.Value)
		}
	}
	for k, o := range open {
		if strings.HasPrefix(k, prefix) && !fires[k] {
			o.to = now
			list = append(list, *o)
			delete(open, k)
		}
	}
	return list
}

func sortObserved(os []observed) []observed {
	slices.SortFunc(os, func(a, b observed) int {
		return strings.Compare(fmt.Sprintf("%s %d", a.labels, a.from), fmt.Sprintf("%s %d", b.labels, b.from))
	})
	return os
}

// drawExpr draws an expression over input, recorded and alert series.
func drawExpr(t *rapid.T, depth int) string {
	vec := func() string {
		n := rapid.SampledFrom([]string{"a", "b", "c", "r1", "r2", "r3"}).Draw(t, "name")
		return n + rapid.SampledFrom([]string{"", "", `{l="1"}`, `{l!="1"}`}).Draw(t, "matcher")
	}
	leaf := func() string {
		v := vec()
		switch rapid.IntRange(0, 9).Draw(t, "leaf") {
		case 0:
			return "rate(" + v + "[1m])"
		case 1:
			return "sum by (l) (" + v + ")"
		case 2:
			return "count_over_time(" + v + "[45s])"
		case 3:
			return v + " offset 30s"
		case 4:
			return "max_over_time(" + v + "[2m:30s])"
		case 5:
			return "timestamp(" + v + ") % 60"
		case 6:
			return "absent(" + v + ")"
		case 7:
			return `count by (alertstate) (ALERTS{alertname=~"A[0-3]"})`
		}
		return v
	}
	if depth == 0 || rapid.Bool().Draw(t, "simple") {
		return leaf()
	}
	op := rapid.SampledFrom([]string{" and on () ", " unless on (l) ", " or ", " + on (l) group_left() max by (l) "}).Draw(t, "op")
	return "(" + drawExpr(t, depth-1) + ")" + op + "(" + drawExpr(t, depth-1) + ")"
}

// drawRules draws a rule file of one to three groups.
func drawRules(t *rapid.T) (yaml string, order []string) {
	var b strings.Builder
	b.WriteString("groups:\n")
	n := 0
	for g := range rapid.IntRange(1, 3).Draw(t, "groups") {
		order = append(order, fmt.Sprint("g", g))
		fmt.Fprintf(&b, "- name: g%d\n  interval: %s\n", g, rapid.SampledFrom([]string{"15s", "30s", "45s", "1m"}).Draw(t, "interval"))
		if rapid.IntRange(0, 4).Draw(t, "offset") == 0 {
			b.WriteString("  query_offset: 30s\n")
		}
		b.WriteString("  rules:\n")
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			e := drawExpr(t, 1)
			if rapid.Bool().Draw(t, "record") {
				fmt.Fprintf(&b, "  - record: %s\n    expr: %s\n", rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "recorded"), e)
				if rapid.IntRange(0, 2).Draw(t, "labeled") == 0 {
					fmt.Fprintf(&b, "    labels: {by: x%d}\n", n)
				}
			} else {
				fmt.Fprintf(&b, "  - alert: A%d\n    expr: (%s) > %d\n    for: %s\n    keep_firing_for: %s\n    labels: {v: '{{ if gt $value 3.0 }}big{{ else }}small{{ end }}'}\n", n, e,
					rapid.IntRange(-1, 3).Draw(t, "bound"), rapid.SampledFrom([]string{"0s", "0s", "30s", "1m", "2m"}).Draw(t, "for"), rapid.SampledFrom([]string{"0s", "0s", "45s"}).Draw(t, "keep"))
			}
			n++
		}
	}
	return b.String(), order
}

// drawNode draws series with gaps.
func drawNode(t *rapid.T) *replay.Node {
	n := rapid.IntRange(4, 40).Draw(t, "scrapes")
	var specs []spec
	for _, name := range []string{"a", "b", "c"} {
		for _, l := range []string{"1", "2"} {
			vs := rapid.SliceOfN(rapid.IntRange(-2, 5), n, n).Draw(t, "values "+name+l)
			run := rapid.IntRange(1, 8).Draw(t, "run") // for how many samples a value stays
			specs = append(specs, spec{name, []string{"l", l}, func(i int) (float64, bool) { v := vs[i/run]; return float64(v), v > -2 }})
		}
	}
	return node(n, specs...)
}

// TestAgainstRuleManager compares the evaluation of random rules over random series with gaps to
// Prometheus' rule manager: the same alerts fire at the same times with the same labels and values.
func TestAgainstRuleManager(t *testing.T) {
	dir := t.TempDir()
	fired := 0
	rapid.Check(t, func(rt *rapid.T) {
		yaml, order := drawRules(rt)
		n := drawNode(rt)
		fired += holdAgainst(t, rt, dir, yaml, order, n)
	})
	t.Logf("%d firings the same", fired)
}

// fataler is implemented by tests and property checks.
type fataler interface{ Fatalf(string, ...any) }

func holdAgainst(t testing.TB, rt fataler, dir, yaml string, order []string, n *replay.Node) (fired int) {
	groups, errs := Parse("rules.yaml", []byte(yaml))
	if len(errs) > 0 {
		rt.Fatalf("%v\n%s", errs, yaml)
	}
	db := query.Open(query.NewStore([]*replay.Node{n}))
	from, to, ok := db.Span()
	if !ok {
		return 0
	}
	s := newServer(t, dir, yaml, order)
	defer s.store.Close()
	want := s.run(t, from, to, feeder(db))
	e, err := evaluate(context.Background(), db, groups)
	if err != nil {
		rt.Fatalf("%v", err)
	}
	got := map[string][]observed{}
	for _, g := range e.groups {
		for _, r := range g.rules {
			if r.seen == nil {
				continue
			}
			for _, f := range r.seen.firings {
				o := observed{labels: labelsOf(f.Labels).String(), from: f.From.UnixMilli(), peak: f.Peak}
				if !f.To.IsZero() {
					o.to = f.To.UnixMilli()
				}
				got[r.def.Alert] = append(got[r.def.Alert], o)
			}
		}
	}
	k := 0
	for _, g := range groups {
		for _, r := range g.Rules {
			w := sortObserved(want[k])
			k++
			if r.Alert == "" {
				continue
			}
			fired += len(w)
			if a, b := fmt.Sprint(sortObserved(got[r.Alert])), fmt.Sprint(w); a != b {
				rt.Fatalf("%s\ngot  %s\nwant %s\n%s", r.Alert, a, b, yaml)
			}
		}
	}
	return fired
}

// feeder returns a function that writes the samples of a database up to a time.
func feeder(db *query.DB) func(app storage.Appender, until int64) {
	type cursor struct {
		ls labels.Labels
		it chunkenc.Iterator
		k  chunkenc.ValueType
	}
	var cs []*cursor
	for _, x := range db.All() {
		it := x.Samples()
		cs = append(cs, &cursor{x.Labels, it, it.Next()})
	}
	return func(app storage.Appender, until int64) {
		for _, c := range cs {
			for c.k != chunkenc.ValNone && c.it.AtT() <= until {
				ts, v := c.it.At()
				_, _ = app.Append(0, c.ls, ts, v)
				c.k = c.it.Next()
			}
		}
	}
}

// TestDeployedRulesAgainstRuleManager does the same with rules deployed in real clusters, over the
// metrics of recorded kubelets, each group at its own interval.
func TestDeployedRulesAgainstRuleManager(t *testing.T) {
	files, err := filepath.Glob("../../internal/promcheck/testdata/deployed/*.rules.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	captures, _ := filepath.Glob("../../../shared/data/kubelets/*-0[234]-*/metrics.tar.xz")
	if len(captures) == 0 {
		t.Skip("no captures")
	}
	for _, name := range captures {
		b, err := bundle.Load(context.Background(), []string{name}, bundle.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fired := 0
		for _, file := range files {
			yaml, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, order := withIntervals(t, file, yaml)
			fired += holdAgainst(t, t, t.TempDir(), text, order, &replay.Node{Records: replay.Records{Series: b.Series, Scrapes: b.Scrapes}})
		}
		t.Logf("%s: %d firings the same", filepath.Base(filepath.Dir(name)), fired)
	}
}

// withIntervals adds an interval to each group of a rule file that has none, and returns the names
// of the groups in order.
func withIntervals(t *testing.T, file string, yaml []byte) (text string, order []string) {
	groups, errs := Parse(file, yaml)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text = string(yaml)
	for _, g := range groups {
		order = append(order, g.Name)
		head := "- name: " + g.Name + "\n"
		if !strings.Contains(text, head+"  interval:") {
			text = strings.Replace(text, head, head+"  interval: 30s\n", 1)
		}
	}
	return text, order
}
