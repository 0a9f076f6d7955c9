package promcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

// every is the evaluation interval of all groups here: promtool supports only a single one per test
// file.
const every = 30 * time.Second

// firing is a span in which an alert with some labels fires.
type firing struct {
	labels   string
	from, to int64 // ms; to is 0 if it fires at the end
	peak     float64
}

// TestDeployedRulesAgainstPromtool evaluates rules, structured as in real clusters, over the
// metrics of every recorded kubelet, and lets promtool check the result: which alerts fire at each
// time, with which labels and values. The audit must say the same about an alert that has data, and
// for any other say why it is blind.
func TestDeployedRulesAgainstPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip(err)
	}
	captures, _ := filepath.Glob("../../../shared/data/kubelets/*/metrics.tar.xz")
	if len(captures) == 0 {
		t.Skip("no captures")
	}
	if testing.Short() {
		captures = captures[:4]
	}
	d := readDeployed(t)
	verdicts := map[string]map[alerts.Outcome]int{}
	held, moments := 0, 0
	for _, name := range captures {
		capture := filepath.Base(filepath.Dir(name))
		b, err := bundle.Load(context.Background(), []string{name}, bundle.Options{})
		if err != nil {
			t.Fatal(capture, err)
		}
		n := &replay.Node{Records: replay.Records{Series: b.Series, Scrapes: b.Scrapes}}
		onSeconds(n)
		s := d.step(t, n)
		moments += len(s.tests)
		if out, err := s.hold(t, tool, d); err != nil {
			t.Errorf("%s: promtool: %s", capture, out)
			continue
		}
		for _, a := range alerts.Evaluate(context.Background(), open(n), d.groups, nil) {
			if verdicts[a.Alert] == nil {
				verdicts[a.Alert] = map[alerts.Outcome]int{}
			}
			verdicts[a.Alert][a.Outcome]++
			if a.Outcome == alerts.Blind && len(a.Reasons) == 0 {
				t.Errorf("%s: %s is blind without a reason", capture, a.Alert)
			}
			if a.Sightless {
				continue
			}
			held++
			if got, want := fmt.Sprint(ofAudit(&a)), fmt.Sprint(s.firings[a.Alert]); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", capture, a.Alert, got, want)
			}
		}
	}
	for _, name := range d.alerts {
		v := verdicts[name]
		t.Logf("%-32s fired %2d  never %2d  blind %2d", name, v[alerts.Fired], v[alerts.Never], v[alerts.Blind])
	}
	t.Logf("%d captures, %d expectations held by promtool, %d verdicts of alerts with data the same", len(captures), moments, held)
}

// deployed holds the rule files of testdata/deployed.
type deployed struct {
	files  []string
	groups []alerts.Group
	order  []string // names of the groups
	alerts []string
	reads  map[string]bool // metrics selected by the rules
}

func readDeployed(t *testing.T) *deployed {
	d := &deployed{reads: map[string]bool{}}
	files, err := filepath.Glob("testdata/deployed/*.rules.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		gs, errs := alerts.Parse(name, data)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		d.files, d.groups = append(d.files, path), append(d.groups, gs...)
	}
	for i := range d.groups {
		g := &d.groups[i]
		g.Interval = every
		d.order = append(d.order, g.Name)
		for _, r := range g.Rules {
			if r.Alert != "" {
				d.alerts = append(d.alerts, r.Alert)
			}
			names, err := query.MetricNames(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				d.reads[n] = true
			}
		}
	}
	return d
}

func open(n *replay.Node) *query.DB { return query.Open(query.NewStore([]*replay.Node{n})) }

// onSeconds moves all samples to whole seconds, the resolution of the test file, and the first one
// to a time at which the groups are evaluated.
func onSeconds(n *replay.Node) {
	first := int64(math.MaxInt64)
	for _, s := range n.Scrapes {
		first = min(first, s.At)
	}
	for _, s := range n.Series {
		for i := range s.Points {
			first = min(first, s.Points[i].At)
		}
	}
	to := first - first%int64(every) + int64(every)
	move := func(at int64) int64 { return to + (at-first)/int64(time.Second)*int64(time.Second) }
	for _, s := range n.Scrapes {
		s.At = move(s.At)
	}
	for _, s := range n.Series {
		for i := range s.Points {
			s.Points[i].At = move(s.Points[i].At)
		}
	}
}

// stepped is the result of the rules over one capture, with the tests that assert it.
type stepped struct {
	from    time.Time
	series  []inputSeries
	tests   []alertTest
	firings map[string][]firing
}

type inputSeries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type alertTest struct {
	At     string        `json:"eval_time"`
	Alert  string        `json:"alertname"`
	Expect []activeAlert `json:"exp_alerts"`
}

type activeAlert struct {
	Labels      map[string]string `json:"exp_labels"`
	Annotations map[string]string `json:"exp_annotations"`
}

// step evaluates the rules step by step.
func (d *deployed) step(t *testing.T, n *replay.Node) *stepped {
	db := open(n)
	from, to, _ := db.Span()
	s := &stepped{from: time.UnixMilli(from).UTC(), firings: map[string][]firing{}}
	for _, x := range db.All() {
		if d.reads[x.Labels.Get("__name__")] {
			s.series = append(s.series, inputSeries{x.Labels.String(), values(x.Samples(), from)})
		}
	}
	st := alerts.NewStepper(db, d.groups, nil, "")
	running := map[string]*firing{}
	for at := s.from; at.UnixMilli() <= to+every.Milliseconds(); at = at.Add(every) {
		if err := st.Step(context.Background(), at); err != nil {
			t.Fatal(err)
		}
		now := map[string]bool{}
		for _, name := range d.alerts {
			test := alertTest{at.Sub(s.from).String(), name, []activeAlert{}}
			for _, a := range st.Firing(name) {
				test.Expect = append(test.Expect, activeAlert{without(a.Labels, labels.AlertName).Map(), a.Annotations.Map()})
				v, err := strconv.ParseFloat(a.Annotations.Get("value"), 64)
				if err != nil {
					t.Fatalf("%s has no annotation with its value: %v", name, err)
				}
				key := a.Labels.String()
				now[key] = true
				if running[key] == nil {
					running[key] = &firing{key, at.UnixMilli(), 0, v}
				}
				running[key].peak = max(running[key].peak, v)
			}
			s.tests = append(s.tests, test)
			for key, f := range running {
				if !now[key] && strings.Contains(key, `alertname="`+name+`"`) {
					f.to = at.UnixMilli()
					s.firings[name] = append(s.firings[name], *f)
					delete(running, key)
				}
			}
		}
	}
	for key, f := range running {
		for _, name := range d.alerts {
			if strings.Contains(key, `alertname="`+name+`"`) {
				s.firings[name] = append(s.firings[name], *f)
			}
		}
	}
	for _, fs := range s.firings {
		sortFirings(fs)
	}
	return s
}

func without(ls labels.Labels, name string) labels.Labels {
	return labels.NewBuilder(ls).Del(name).Labels()
}

func sortFirings(fs []firing) {
	slices.SortFunc(fs, func(a, b firing) int {
		return strings.Compare(fmt.Sprintf("%s %d", a.labels, a.from), fmt.Sprintf("%s %d", b.labels, b.from))
	})
}

// ofAudit returns the firings of an alert according to the audit.
func ofAudit(a *alerts.Audit) []firing {
	var out []firing
	for _, f := range a.Firings {
		b := labels.NewScratchBuilder(len(f.Labels))
		for _, l := range f.Labels {
			b.Add(l.Name, l.Value)
		}
		b.Sort()
		o := firing{labels: b.Labels().String(), from: f.From.UnixMilli(), peak: f.Peak}
		if !f.To.IsZero() {
			o.to = f.To.UnixMilli()
		}
		out = append(out, o)
	}
	sortFirings(out)
	return out
}

// values formats samples as in a test file, with one value per second.
func values(it chunkenc.Iterator, from int64) string {
	var b strings.Builder
	next := from
	for it.Next() != chunkenc.ValNone {
		ts, v := it.At()
		if gap := (ts - next) / 1000; gap > 0 {
			fmt.Fprintf(&b, "_x%d ", gap)
		}
		next = ts + 1000
		switch {
		case value.IsStaleNaN(v):
			b.WriteString("stale ")
		default:
			b.WriteString(strconv.FormatFloat(v, 'f', -1, 64) + " ")
		}
	}
	return b.String()
}

// hold lets promtool check the result of the rules.
func (s *stepped) hold(t *testing.T, tool string, d *deployed) ([]byte, error) {
	file := map[string]any{
		"rule_files": d.files, "evaluation_interval": every.String(), "group_eval_order": d.order,
		"tests": []any{map[string]any{"interval": "1s", "start_timestamp": s.from.Format(time.RFC3339), "input_series": s.series, "alert_rule_test": s.tests}},
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "capture.test.yaml")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "test", "rules", name).CombinedOutput()
	return out[:min(len(out), 3000)], err
}

// TestUpstreamRuleTests compares our verdicts with promtool's on the test files and rule files in
// Prometheus' own tests of promtool.
func TestUpstreamRuleTests(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/prometheus/prometheus").Output()
	if err != nil {
		t.Skip(err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "cmd/promtool/testdata/*.yml"))
	tests, rules := 0, 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch text := "\n" + string(data); {
		case strings.Contains(text, "\nrule_files:") && strings.Contains(text, "\ntests:"):
			tests++
			out, err := exec.Command(tool, "test", "rules", name).CombinedOutput()
			if got := verdict(t, name); got != (err == nil) {
				t.Errorf("%s passes: %v, promtool: %v\n%s", filepath.Base(name), got, err == nil, out)
			}
		case strings.Contains(text, "\ngroups:"):
			rules++
			_, errs := alerts.Parse(name, data)
			out, err := exec.Command(tool, "check", "rules", "--lint=none", name).CombinedOutput()
			if (err == nil) != (len(errs) == 0) {
				t.Errorf("%s: %v, promtool: %v\n%s", filepath.Base(name), errs, err, out)
			}
		}
	}
	if tests == 0 || rules == 0 {
		t.Error("no files")
	}
	t.Logf("%d test files, %d rule files", tests, rules)
}
