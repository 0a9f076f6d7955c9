package alerts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/query"
)

const base = int64(1_795_217_460) // a multiple of 60

// spec describes a series of a test node: its name, its labels as names and values in turn, and a
// function of the sample's index that returns the value, or false for no sample. Samples are 15 s
// apart.
type spec struct {
	name string
	kv   []string
	f    func(i int) (float64, bool)
}

func node(n int, specs ...spec) *replay.Node {
	out := &replay.Node{Records: replay.Records{Name: "w1"}}
	for i := range n {
		out.Scrapes = append(out.Scrapes, &parse.Scrape{File: &parse.File{Path: fmt.Sprint(i)}, Node: "w1", Job: "kubelet",
			Stamp: parse.Stamp{At: (base + int64(15*i)) * 1e9, Basis: parse.Stated}})
	}
	for _, s := range specs {
		x := &parse.Series{Name: s.name, Node: "w1", Job: "kubelet"}
		for i := 0; i+1 < len(s.kv); i += 2 {
			x.Labels = append(x.Labels, parse.Field{Name: s.kv[i], Value: s.kv[i+1]})
		}
		for i := range n {
			if v, ok := s.f(i); ok {
				x.Points = append(x.Points, parse.Point{At: out.Scrapes[i].At, V: v, Src: out.Scrapes[i]})
			}
		}
		out.Series = append(out.Series, x)
	}
	return out
}

func always(v func(i int) float64) func(int) (float64, bool) {
	return func(i int) (float64, bool) { return v(i), true }
}

func audit(t *testing.T, yaml string, n *replay.Node) []Audit {
	t.Helper()
	groups, errs := Parse("test.yaml", []byte(yaml))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return Evaluate(context.Background(), query.Open(query.NewStore([]*replay.Node{n})), groups, []Watched{{Node: n}})
}

func sec(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.Unix() - base
}

const groupHead = "groups:\n- name: g\n  interval: 15s\n  rules:\n"

func TestStates(t *testing.T) {
	// 1 from 60 s to 180 s, from 240 s to 270 s, and again from 600 s on.
	n := node(60, spec{"x_state", nil, always(func(i int) float64 {
		if s := 15 * i; s >= 60 && s <= 180 || s >= 240 && s <= 270 || s >= 600 {
			return float64(i)
		}
		return 0
	})})
	tests := []struct {
		name, rule string
		want       string // FROM-TO:PEAK of each firing
		outcome    Outcome
	}{
		{"no for", "expr: x_state > 0", "60-195:12 240-285:18 600--1:59", Fired},
		{"for", "expr: x_state > 0\n    for: 1m", "120-195:12 660--1:59", Fired},
		{"for too long", "expr: x_state > 0\n    for: 1h", "", Blind},
		{"keep firing bridges a pause", "expr: x_state > 0\n    keep_firing_for: 2m", "60-405:18 600--1:59", Fired},
		{"never", "expr: x_state > 1000", "", Never},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := audit(t, groupHead+"  - alert: A\n    "+tt.rule+"\n", n)[0]
			var got []string
			for _, f := range a.Firings {
				got = append(got, fmt.Sprintf("%d-%d:%g", sec(f.From), sec(f.To), f.Peak))
			}
			if s := strings.Join(got, " "); s != tt.want || a.Outcome != tt.outcome {
				t.Errorf("%s %v, want %s; %s", a.Outcome, s, tt.want, a.Sentence())
			}
		})
	}
}

func TestRecordingAndTemplates(t *testing.T) {
	n := node(20, spec{"x_total", []string{"op", "a"}, always(func(i int) float64 { return float64(30 * i) })})
	a := audit(t, groupHead+`  - record: job:x:rate
    expr: sum by (op) (rate(x_total[1m]))
    labels: {via: rule}
  - alert: A
    expr: job:x:rate > 1
    labels: {severity: page, size: '{{ if gt $value 1.2 }}big{{ end }}'}
    annotations: {summary: 'op {{ $labels.op }} via {{ $labels.via }} at {{ $value | humanize }}; {{ with query "count(x_total)" }}{{ . | first | value }}{{ end }} series'}
`, n)
	if len(a) != 1 || a[0].Outcome != Fired {
		t.Fatalf("%+v", a)
	}
	f := a[0].Firings[0]
	if got := fmt.Sprint(f.Labels, f.Annotations); got != "[{alertname A} {op a} {severity page} {size big} {via rule}] [{summary op a via rule at 1.5; 1 series}]" {
		t.Error(got)
	}
}

// TestRuleOrder has an alert before the recording rules that it reads, in another group with
// another interval, as in the files of kube-prometheus.
func TestRuleOrder(t *testing.T) {
	n := node(40, spec{"x_total", nil, always(func(i int) float64 { return float64(30 * max(i-10, 0)) })})
	const yaml = `groups:
- name: alerts
  interval: 30s
  rules:
  - alert: A
    expr: instance:x:rate1m > 1
    for: 1m
- name: records
  interval: 15s
  rules:
  - record: instance:x:rate1m
    expr: sum by (instance) (instance_op:x:rate1m)
  - record: instance_op:x:rate1m
    expr: rate(x_total[1m])
`
	a := audit(t, yaml, n)[0]
	// The rate exceeds 1 at 195 s and is recorded then. Its sum is recorded one step later, at 210
	// s. The alert is evaluated before the groups of the same moment, so it sees the sum at 240 s.
	if a.Outcome != Fired || sec(a.Firings[0].ActiveAt) != 240 || sec(a.Firings[0].From) != 300 {
		t.Errorf("%s %+v", a.Sentence(), a.Firings)
	}
}

// TestRecordedSeriesEnd: a recorded series ends with the condition that it records, and does not
// stay current for five minutes.
func TestRecordedSeriesEnd(t *testing.T) {
	n := node(40, spec{"x", nil, func(i int) (float64, bool) {
		if s := 15 * i; s >= 60 && s <= 120 {
			return 1, true
		}
		return 0, true
	}})
	a := audit(t, groupHead+"  - record: y\n    expr: x == 1\n  - alert: A\n    expr: y\n    for: 2m\n", n)[0]
	if a.Outcome != Never || !strings.Contains(a.Sentence(), "it was pending for 1m at most, from 23:32:00 UTC on, and needs 2m") {
		t.Errorf("%s: %s", a.Outcome, a.Sentence())
	}
}

func TestAbsence(t *testing.T) {
	x := spec{"x", nil, always(func(int) float64 { return 1 })}
	gone := spec{"gone", nil, func(i int) (float64, bool) { return 1, i < 10 }}
	for _, tt := range []struct {
		name, expr string
		want       Outcome
		says       string
	}{
		{"job never in the input", `absent(up{job="apiserver"} == 1)`, Blind, `because no series up of the input has job="apiserver", and nothing else of that target: its absence proves nothing`},
		{"no job named", `absent(kube_node_info)`, Blind, "the input has no series kube_node_info, and nothing else of that target: its absence proves nothing"},
		{"job that is there", `absent(y{job="kubelet"})`, Fired, ""},
		{"series that goes", `absent(gone)`, Fired, ""},
		{"exporter that was scraped whole", `absent(proc_y)`, Fired, ""},
		{"nothing to take away", `x > 0 unless y`, Blind, "the input has no series y"},
		{"taken away", `x > 0 unless up`, Never, ""},
		{"a constant in its place", `(y or vector(0)) < 1`, Blind, "the input has no series y"},
		{"another series in its place", `(y or x) > 0`, Fired, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := audit(t, groupHead+"  - alert: A\n    expr: "+tt.expr+"\n    for: 1m\n", node(40, x, gone, spec{"proc_x", nil, x.f}, spec{"process_start_time_seconds", nil, x.f}))[0]
			if a.Outcome != tt.want || !strings.Contains(a.Sentence(), tt.says) {
				t.Errorf("%s: %s", a.Outcome, a.Sentence())
			}
		})
	}
	// Two snapshots far apart: nothing is known in between.
	n := node(61, x)
	n.Scrapes, n.Series[0].Points = []*parse.Scrape{n.Scrapes[0], n.Scrapes[60]}, []parse.Point{n.Series[0].Points[0], n.Series[0].Points[60]}
	a := audit(t, groupHead+"  - alert: A\n    expr: absent(up{job='kubelet'} == 1)\n    for: 1m\n", n)[0]
	if a.Outcome != Blind || !strings.Contains(a.Sentence(), "absence in that time proves nothing") {
		t.Errorf("%s: %s", a.Outcome, a.Sentence())
	}
}

func TestNear(t *testing.T) {
	n := node(40, spec{"x", nil, always(func(i int) float64 { return float64(10 - max(i-20, 20-i)) })})
	for _, tt := range []struct{ expr, want string }{
		{"x > 11", "its value came to 10 at 23:36:00 UTC, and it fires at > 11"},
		{"-20 >= x", "its value came to -10 at 23:31:00 UTC, and it fires at <= -20"},
		{"x > 2 * (5 + 1) and on () x", "its value came to 10 at 23:36:00 UTC, and it fires at > 12"},
	} {
		if a := audit(t, groupHead+"  - alert: A\n    expr: "+tt.expr+"\n", n)[0]; a.Outcome != Never || !strings.Contains(a.Sentence(), tt.want) {
			t.Errorf("%s: %s", tt.expr, a.Sentence())
		}
	}
}

// hungNode returns a node whose relist hangs from 300 s to 700 s: nothing is counted meanwhile, and
// the slow relist falls beyond the last bucket. If silent is set, there are no metrics meanwhile.
func hungNode(silent bool) *replay.Node {
	up := func(i int) bool { return !silent || 15*i < 300 || 15*i > 700 }
	count := func(i int) float64 {
		switch s := 15 * i; {
		case s < 300:
			return float64(s)
		case s <= 700:
			return 300
		default:
			return float64(s - 400)
		}
	}
	some := func(f func(int) float64) func(int) (float64, bool) {
		return func(i int) (float64, bool) { return f(i), up(i) }
	}
	below := func(i int) float64 {
		if 15*i > 700 {
			return count(i) - 1
		}
		return count(i)
	}
	const d = "kubelet_pleg_relist_duration_seconds"
	n := node(100, spec{"process_start_time_seconds", nil, some(func(int) float64 { return 1 })},
		spec{d + "_count", nil, some(count)}, spec{d + "_bucket", []string{"le", "10"}, some(below)}, spec{d + "_bucket", []string{"le", "+Inf"}, some(count)},
		spec{d + "_bucket", []string{"le", "5"}, some(below)},
		spec{"kubelet_pleg_last_seen_seconds", nil, some(func(i int) float64 {
			if s := 15 * i; s >= 300 && s <= 700 {
				return float64(base + 299)
			}
			return float64(base + int64(15*i) - 1)
		})})
	n.Episodes = []replay.Episode{{ID: 0, Never: true, FirstReport: base * 1e9, LastReport: (base + 5) * 1e9}, {ID: 1, LastStart: replay.Instant{At: (base + 299) * 1e9}, Breach: (base + 479) * 1e9, LastReport: (base + 690) * 1e9, Recovered: replay.Instant{At: (base + 700) * 1e9}}}
	return n
}

func find(t *testing.T, as []Audit, name string) *Audit {
	t.Helper()
	for i := range as {
		if as[i].Alert == name {
			return &as[i]
		}
	}
	t.Fatalf("no alert %s", name)
	return nil
}

func TestShippedAlertIsBlindWhereOursFires(t *testing.T) {
	for _, silent := range []bool{false, true} {
		n := hungNode(silent)
		as := Evaluate(context.Background(), query.Open(query.NewStore([]*replay.Node{n})), Builtin(), []Watched{{Node: n}})
		shipped := find(t, as, "KubeletPlegDurationHigh")
		if shipped.Outcome != Blind || len(shipped.Missed) != 1 || !strings.Contains(shipped.Sentence(), "ends at 10 s") {
			t.Errorf("silent %v: %s: %s", silent, shipped.Outcome, shipped.Sentence())
		}
		if silent && !strings.Contains(shipped.Sentence(), "has no sample from") {
			t.Errorf("the gap is not named: %s", shipped.Sentence())
		}
		if ours := find(t, as, "PlegLastSeenOld"); !silent && (ours.Outcome != Fired || sec(ours.Firings[0].From) != 495 || len(ours.Missed) > 0) {
			t.Errorf("%s %+v", ours.Outcome, ours.Firings)
		}
		if gone := find(t, as, "KubeletMetricsSilent"); silent && gone.Outcome != Fired {
			t.Errorf("silence not noticed: %s", gone.Sentence())
		}
		if kube := find(t, as, "KubeNodeNotReady"); kube.Outcome != Blind || !strings.Contains(kube.Sentence(), "no series kube_node_status_condition") {
			t.Errorf("%s", kube.Sentence())
		}
	}
}

func TestBlindReasons(t *testing.T) {
	sparse := node(3, spec{"x_total", []string{"l", "v"}, func(i int) (float64, bool) { return float64(i), true }})
	for _, tt := range []struct{ expr, want string }{
		{"y_total > 0", "the input has no series y_total"},
		{`x_total{l="w"} > 0`, `no series x_total of the input has l="w"`},
		{"rate(x_total[10s]) > 0", "samples of x_total are 15s apart, the range of 10s never holds two"},
	} {
		a := audit(t, groupHead+"  - alert: A\n    expr: "+strings.ReplaceAll(tt.expr, `"`, "'")+"\n", sparse)[0]
		if a.Outcome != Blind || !strings.Contains(strings.Join(a.Reasons, ";"), tt.want) {
			t.Errorf("%s: %s %v", tt.expr, a.Outcome, a.Reasons)
		}
	}
}

// TestSilenceNeedsItsWindow: an input that is too short or has too long a hole proves nothing by
// the silence of an alert.
func TestSilenceNeedsItsWindow(t *testing.T) {
	x := spec{"x_total", nil, always(func(i int) float64 { return 1 })}
	hole := spec{"x_total", nil, func(i int) (float64, bool) { return 1, i < 10 || i >= 30 }}
	for _, tt := range []struct {
		n    int
		x    spec
		rule string
		want Outcome
		says string
	}{
		{1, x, "expr: x_total > 5", Never, "its value came to 1"},
		{1, x, "expr: x_total > 5\n    for: 1m", Blind, "x_total has a single sample, and the alert waits for 1m; its value came to 1"},
		{1, x, "expr: up == 0\n    for: 1m", Blind, "up has a single sample"},
		{1, x, "expr: x_total and x_total offset 3m", Blind, "looks back 3m"},
		{1, x, "expr: x_total > 5 and max_over_time(x_total[15m])", Never, ""},
		{1, x, "expr: x_total > 5 unless max_over_time(x_total[15m]) > 7", Never, ""},
		{1, x, "expr: (x_total or max_over_time(x_total[15m])) > 5", Never, ""},
		{1, x, "expr: x_total > 5 or max_over_time(x_total[15m]) > 7", Blind, "looks back 15m"},
		{1, x, "expr: max_over_time(x_total[5m:1m]) > 7", Blind, "looks back 5m"},
		{20, x, "expr: increase(x_total[10m]) > 0\n    for: 1m", Blind, "x_total has samples over 4m45s, and the alert looks back 10m and then waits for 1m"},
		{44, x, "expr: increase(x_total[10m]) > 0\n    for: 1m", Never, ""},
		{60, hole, "expr: x_total > 5\n    for: 5m", Blind, "x_total has no sample from 23:33:15 to 23:38:30 UTC"},
		{60, hole, "expr: x_total > 5\n    for: 6m", Never, ""},
		{60, hole, "expr: increase(x_total[6m]) > 5\n    for: 1m", Never, ""},
		{60, hole, "expr: increase(x_total[2m]) > 5\n    for: 1m", Blind, "x_total has no sample from"},
	} {
		a := audit(t, groupHead+"  - alert: A\n    "+tt.rule+"\n", node(tt.n, tt.x))[0]
		if a.Outcome != tt.want || !strings.Contains(a.Sentence(), tt.says) {
			t.Errorf("%d samples, %s\n%s: %s", tt.n, tt.rule, a.Outcome, a.Sentence())
		}
	}
	recorded := groupHead + "  - record: y\n    expr: rate(x_total[5m])\n  - alert: A\n    expr: y offset 1m > 1\n    for: 2m\n"
	if a := audit(t, recorded, node(10, x))[0]; a.Outcome != Blind || !strings.Contains(a.Sentence(), "looks back 6m and then waits for 2m") {
		t.Error(a.Sentence())
	}
}

func TestParse(t *testing.T) {
	if gs := Builtin(); len(gs) != 3 {
		t.Errorf("%d built-in groups", len(gs))
	}
	for _, bad := range []string{"groups:\n- name: g\n  rules:\n  - alert: A\n    expr: sum(\n", "groups:\n- name: g\n  rulez: []\n", "{"} {
		if _, errs := Parse("bad.yaml", []byte(bad)); len(errs) == 0 || !strings.HasPrefix(errs[0].Error(), "bad.yaml:") {
			t.Errorf("%q: %v", bad, errs)
		}
	}
	gs, errs := Parse("rules.json", []byte(`{"status":"success","data":{"groups":[{"name":"g","interval":30,"rules":[
		{"name":"A","query":"up == 0","duration":60,"type":"alerting","labels":{"severity":"warning"}},{"name":"r:x","query":"sum(x)","type":"recording"}]}]}}`))
	if len(errs) > 0 || len(gs) != 1 || gs[0].Rules[0].For != time.Minute || gs[0].Rules[1].Record != "r:x" {
		t.Errorf("%+v %v", gs, errs)
	}
}

func TestParseDress(t *testing.T) {
	const rule = "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: rate(x_total[2 * 1m]) > 0\n"
	indent := func(s string) string { return "    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ") + "\n" }
	object := "kind: PrometheusRule\nmetadata: {name: n}\nspec: # rules\n" + indent(rule) + "status: {}\n"
	for name, text := range map[string]string{
		"plain": rule, "byte order mark": "\ufeff" + rule, "indented": "# head\n---\n" + indent(rule), "object": object,
		"indented object": indent(object), "object with byte order mark": "\ufeff" + object,
		"object as JSON": `{"kind": "PrometheusRule", "spec": {"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "rate(x_total[2 * 1m]) > 0"}]}]}}`,
		"API":            "\ufeff" + `{"status":"success","data":{"groups":[{"name":"g","rules":[{"type":"alerting","name":"A","query":"rate(x_total[2 * 1m]) > 0"}]}]}}`,
	} {
		gs, errs := Parse(name, []byte(text))
		if len(errs) > 0 || len(gs) != 1 || len(gs[0].Rules) != 1 || gs[0].Rules[0].Alert != "A" {
			t.Errorf("%s: %v %v", name, gs, errs)
		}
	}
	if _, errs := Parse("f", []byte(indent("groups:\n- name: g\n  rules:\n  - alert: A\n    expr: sum(\n"))); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "f:5:15: ") {
		t.Errorf("%v", errs)
	}
}

// TestSecondDocument: of several objects in a file none is ignored silently. Of several documents
// with plain groups, a server reads the first.
func TestSecondDocument(t *testing.T) {
	const groups = "groups:\n- name: g\n  rules:\n  - alert: A\n    expr: x > 0\n"
	object := "kind: PrometheusRule\nspec:\n  " + strings.ReplaceAll(strings.TrimSpace(groups), "\n", "\n  ") + "\n"
	for text, line := range map[string]string{
		object + "---\n" + object: "f:8: ", groups + "---\n" + object: "f:6: ", object + "--- # more\n---\n" + groups: "f:9: ",
		object + "---\n# end\n": "", "# head\n---\n" + object: "", groups + "---\n" + groups: "",
	} {
		gs, errs := Parse("f", []byte(text))
		if line == "" && (len(errs) > 0 || len(gs) != 1) || line != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), line)) {
			t.Errorf("%q: %d groups, %v", text, len(gs), errs)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(builtin)
	f.Add([]byte(`{"data":{"groups":[{"name":"g","rules":[{"name":"A","query":"up","type":"alerting"}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { Parse("x", data) })
}

// TestCostlyRulesAreRefused: rules that are too expensive, alone, together, or because of what they
// read, are refused with a reason; the others are evaluated.
func TestCostlyRulesAreRefused(t *testing.T) {
	n := node(20, spec{"x", nil, always(func(i int) float64 { return 1 })})
	as := audit(t, groupHead+`  - alert: Costly
    expr: count_over_time(vector(1)[100y:1s]) > 1
  - record: y
    expr: count_over_time(vector(1)[100y:1s])
  - alert: Reads
    expr: y > 1
  - alert: Plain
    expr: x == 1
`, n)
	for _, want := range []struct {
		alert   string
		outcome Outcome
		says    string
	}{{"Costly", Blind, "not evaluated: it would touch about"}, {"Reads", Blind, "the rule that records y failed"}, {"Plain", Fired, ""}} {
		a := find(t, as, want.alert)
		if a.Outcome != want.outcome || a.Refused != (want.says != "") || !strings.Contains(a.Sentence(), want.says) {
			t.Errorf("%s: %s", a.Outcome, a.Sentence())
		}
	}
	groups, errs := Parse("many.yaml", []byte(groupHead+"  - alert: A\n    expr: x == 1\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	one := groups[0].Rules[0]
	for range 2 * maxWork / ruleWork {
		groups[0].Rules = append(groups[0].Rules, one)
	}
	as = Evaluate(context.Background(), query.Open(query.NewStore([]*replay.Node{n})), groups, nil)
	if last := &as[len(as)-1]; as[0].Outcome != Fired || !last.Refused || !strings.Contains(last.Sentence(), "the rules before it use up") {
		t.Errorf("%s; %s", as[0].Sentence(), last.Sentence())
	}
}
