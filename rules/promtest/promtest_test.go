package promtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/rules/alerts"
)

const ruleFile = `groups:
- name: g
  labels: {team: node}
  rules:
  - record: twice
    expr: x * 2
  - alert: High
    expr: twice > 10
    for: 1m
    keep_firing_for: 2m
- name: limited
  limit: 1
  rules:
  - record: copies
    expr: many
- name: late
  query_offset: 1m
  rules:
  - record: before
    expr: x
`

// said runs one test and returns its failures, one per line.
func said(t *testing.T, head, test string) string {
	t.Helper()
	groups, errs := alerts.Parse("r.yaml", []byte(ruleFile))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	f, errs := Parse("t.yaml", []byte(head+"tests:\n"+test))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []string
	for _, o := range f.Run(context.Background(), groups) {
		for _, x := range o.Fails {
			s := fmt.Sprintf("%d %s %s", x.Line, x.What, x.Err)
			for _, d := range x.Diff {
				s += fmt.Sprintf(" %v %s", d.Got, d.Text)
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func TestRun(t *testing.T) {
	x := "- input_series:\n  - {series: x, values: '%s'}\n"
	expr := "  promql_expr_test:\n  - {expr: '%s', eval_time: %s, exp_samples: [%s]}\n"
	alert := "  alert_rule_test:\n  - {alertname: High, eval_time: %s, exp_alerts: [%s]}\n"
	fires := "{exp_labels: {team: node}}"
	for _, tt := range []struct{ name, head, test, want string }{
		{"recorded", "", fmt.Sprintf(x+expr, "1+1x5", "twice", "3m", "{labels: 'twice{team=\"node\"}', value: 8}"), ""},
		{"pending", "", fmt.Sprintf(x+alert, "9x9", "0s", ""), ""},
		{"fires", "", fmt.Sprintf(x+alert, "9x9", "1m", fires), ""},
		{"keeps firing", "", fmt.Sprintf(x+alert, "9x2 0x9", "4m", fires), ""},
		{"lets go", "", fmt.Sprintf(x+alert, "9x2 0x9", "5m", ""), ""},
		{"stale at once", "", fmt.Sprintf(x+alert, "9x2 stale", "5m", ""), ""},
		{"missing samples", "", fmt.Sprintf(x+expr, "1 _x3 5", "count_over_time(x[10m])", "4m", "{value: 2}"), ""},
		{"histogram", "", fmt.Sprintf(x+expr, "{{schema:0 count:3 sum:6 buckets:[1 2]}}", "histogram_sum(x)", "0s", "{value: 6}"), ""},
		{"whole histogram", "", fmt.Sprintf(x+expr, "{{schema:0 count:3 sum:6 buckets:[1 2]}}", "twice", "0s", "{labels: 'twice{team=\"node\"}', histogram: '{{schema:0 count:6 sum:12 buckets:[2 4]}}'}"), ""},
		{"fuzzy", "fuzzy_compare: true\n", fmt.Sprintf(x+expr, "0.1", "x * 3", "0s", "{value: 0.3}"), ""},
		{"not fuzzy", "", fmt.Sprintf(x+expr, "0.1", "x * 3", "0s", "{value: 0.3}"), "5 expr x * 3 at 0s  false {} 0.3 true {} 0.30000000000000004"},
		{"NaN is NaN", "", fmt.Sprintf(x+expr, "0", "x / 0", "0s", "{value: .nan}"), ""},
		{"start", "", fmt.Sprintf(x+"  start_timestamp: 2026-01-02T03:04:05Z\n"+expr, "1x9", "time()", "1m", "{value: 1767323105}"), ""},
		{"start in seconds", "", fmt.Sprintf(x+"  start_timestamp: 1000.5\n"+expr, "1x9", "timestamp(x)", "1m", "{value: 1060.5}"), ""},
		{"step of subqueries", "evaluation_interval: 15s\n", fmt.Sprintf(x+expr, "1x9", "count_over_time(x[59s:])", "1m", "{value: 4}"), ""},
		{"offset of a group", "", fmt.Sprintf(x+expr, "1+1x9", "before", "2m", "{labels: before, value: 2}"), ""},
		{"limit of a group", "", "- input_series:\n  - {series: 'many{a=\"1\"}', values: 1}\n  - {series: 'many{a=\"2\"}', values: 1}\n", "2 at 0s rule copies: 2 results exceed the limit of the group, 1"},
		{"nothing expected", "", fmt.Sprintf(x+expr, "1", "x", "0s", ""), "5 expr x at 0s  true x 1"},
		{"error", "", fmt.Sprintf(x+expr, "1", "x[5m]", "0s", ""), "5 expr x[5m] at 0s the expression gives a matrix, not a vector"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.ReplaceAll(said(t, tt.head, tt.test), `{__name__="x"}`, "x")
			if strings.TrimSpace(got) != tt.want {
				t.Errorf("got  %s\nwant %s\n%s", got, tt.want, tt.test)
			}
		})
	}
}

func TestMistakesHaveLines(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"tests: [", "t.yaml:1:"},
		{"tests:\n- interval: 1m\n  input: []\n", "t.yaml:3: field input not found"},
		{"evaluation_interval: soon\n", `t.yaml:1: not a valid duration string: "soon"`},
		{"tests:\n- input_series:\n  - {series: x, values: 1}\n  - {series: 'x{', values: 1}\n", "t.yaml:4: series \"x{\""},
		{"tests:\n- promql_expr_test:\n  - {expr: 'sum(', eval_time: 1m}\n", "t.yaml:3: expr \"sum(\""},
		{"tests:\n- alert_rule_test:\n  - {eval_time: 1m}\n", "t.yaml:3: alert_rule_test without an alertname"},
		{"group_eval_order: [a, b, a]\n", "t.yaml:1: group \"a\" repeated"},
		{"tests:\n- start_timestamp: noon\n", "t.yaml:2: start_timestamp \"noon\""},
	} {
		_, errs := Parse("t.yaml", []byte(tt.file))
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.file, errs, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("rule_files: [a]\ntests:\n- input_series:\n  - {series: x, values: 1x3}\n  alert_rule_test:\n  - {alertname: A, eval_time: 1m}\n"))
	f.Add([]byte("tests: &a\n- promql_expr_test: [{expr: up, exp_samples: [{labels: up, histogram: '{{}}'}]}]\nrule_files: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) { Parse("x", data) })
}

// TestRepeatsAreBounded: a few characters can request more values than fit in memory, in one
// series, in many, and in expected samples.
func TestRepeatsAreBounded(t *testing.T) {
	series := func(values ...string) string {
		out := "tests:\n- input_series:\n"
		for _, v := range values {
			out += "  - {series: x, values: '" + v + "'}\n"
		}
		return out
	}
	for text, line := range map[string]int{
		series("1+1x999999999999999999999"): 3, series("1 _x3000000"): 3, series("1x1000000", "2 2x1000000", "1x1"): 5,
		series("{{schema:0 sum:1 count:1}}x3000000"): 3,
		series("1x5") + "  promql_expr_test:\n  - {expr: x, eval_time: 1m, exp_samples: [{labels: x, histogram: '{{count:1}}x3000000'}]}\n": 5,
		series("1x1000000", "2x999999"): 0,
	} {
		_, errs := Parse("t.yaml", []byte(text))
		want := fmt.Sprintf("t.yaml:%d: ", line)
		if line == 0 && len(errs) > 0 || line > 0 && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), want) || !strings.Contains(errs[0].Error(), "repeats more than")) {
			t.Errorf("%.90q: %v", text, errs)
		}
	}
}
