package promtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/plegforensics/plegforensics/internal/nodes"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

// File is one test file.
type File struct {
	Name      string
	RuleFiles []Place // as written: relative to the test file, may be globs
	Interval  time.Duration
	Order     []string // names of groups to evaluate first
	Fuzzy     bool     // adjacent floats count as equal
	Tests     []Test
}

// Place is a word of a test file with its line.
type Place struct {
	Text string
	Line int
}

// Test is one test group: series, and the expected results of the rules.
type Test struct {
	Name   string // "" if it has none
	Line   int
	series []inputSeries
	step   time.Duration
	start  time.Time
	labels map[string]string // external labels
	url    string
	alerts []alertCase
	exprs  []exprCase
}

// inputSeries has the samples of one series, at multiples of the step.
type inputSeries struct {
	labels labels.Labels
	values []parser.SequenceValue
}

// alertCase is the set of instances of an alert that must fire at a time.
type alertCase struct {
	line int
	at   time.Duration
	name string
	want []alerts.Active
}

// exprCase is the expected result of an expression at a time.
type exprCase struct {
	line int
	at   time.Duration
	expr string
	want []sample
}

// sample is one result of an expression.
type sample struct {
	labels labels.Labels
	value  float64
	hist   *histogram.FloatHistogram // nil for a float
}

// document is the YAML form of a file.
type document struct {
	RuleFiles []string       `yaml:"rule_files"`
	Interval  model.Duration `yaml:"evaluation_interval"`
	Order     []string       `yaml:"group_eval_order"`
	Fuzzy     bool           `yaml:"fuzzy_compare"`
	Tests     []testDocument `yaml:"tests"`
}

type testDocument struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Series   []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []struct {
		At   model.Duration `yaml:"eval_time"`
		Name string         `yaml:"alertname"`
		Want []struct {
			Labels      map[string]string `yaml:"exp_labels"`
			Annotations map[string]string `yaml:"exp_annotations"`
		} `yaml:"exp_alerts"`
	} `yaml:"alert_rule_test"`
	Exprs []struct {
		Expr string         `yaml:"expr"`
		At   model.Duration `yaml:"eval_time"`
		Want []struct {
			Labels    string  `yaml:"labels"`
			Value     float64 `yaml:"value"`
			Histogram string  `yaml:"histogram"`
		} `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
	Labels map[string]string `yaml:"external_labels"`
	URL    string            `yaml:"external_url"`
	Start  startTime         `yaml:"start_timestamp"`
}

// startTime is a time in RFC 3339 or Unix seconds.
type startTime struct{ time.Time }

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *startTime) UnmarshalYAML(n *yaml.Node) error {
	if f, err := strconv.ParseFloat(n.Value, 64); err == nil && f > -1e11 && f < 1e11 {
		s.Time = time.UnixMilli(int64(f * 1000)).UTC()
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, n.Value)
	if err != nil {
		return fmt.Errorf("line %d: start_timestamp %q is neither Unix seconds nor RFC 3339", n.Line, n.Value)
	}
	s.Time = t.UTC()
	return nil
}

// Parse reads a test file. It returns all errors, each as FILE:LINE: message.
func Parse(name string, data []byte) (*File, []error) {
	r := reader{name: name}
	var tree yaml.Node
	if err := nodes.Unmarshal(data, &tree); err != nil {
		r.yaml(err)
		return nil, r.errs
	}
	var doc document
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := nodes.Decode(dec, &doc); err != nil && !errors.Is(err, io.EOF) {
		r.yaml(err)
		return nil, r.errs
	}
	f := r.file(&doc, position{&tree})
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return f, nil
}

// reader converts a document to a File and collects errors.
type reader struct {
	name   string
	errs   []error
	values int // number of repeated values so far
}

// maxValues limits the number of repeated values in the series of a file, because the parser holds
// each of them.
const maxValues = 2_000_000

var repeats = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`x([0-9]+)`) })

// parse parses a series with its values.
func (r *reader) parse(p parser.Parser, series, values string) (labels.Labels, []parser.SequenceValue, error) {
	for _, m := range repeats().FindAllStringSubmatch(values, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > maxValues-r.values {
			return labels.EmptyLabels(), nil, fmt.Errorf("the file repeats more than %d values", maxValues)
		}
		r.values += n
	}
	return p.ParseSeriesDesc(series + " " + values)
}

func (r *reader) bad(line int, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(?:yaml: )?line (\d+): (.*)$`) })

// yaml adds the errors of the YAML library, whose lines are only in their text.
func (r *reader) yaml(err error) {
	found := yamlLine().FindAllStringSubmatch(err.Error(), -1)
	for _, m := range found {
		line, _ := strconv.Atoi(m[1])
		r.bad(line, "%s", goNames().ReplaceAllString(m[2], ""))
	}
	if len(found) == 0 {
		r.bad(1, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
}

// goNames matches Go type names in the library's errors, which mean nothing to a user.
var goNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` in type \S+$| into \S+\.\S+$`) })

func (r *reader) file(d *document, at position) *File {
	f := &File{Name: r.name, Interval: time.Duration(d.Interval), Order: d.Order, Fuzzy: d.Fuzzy}
	if f.Interval == 0 {
		f.Interval = time.Minute
	}
	for i, n := range d.Order {
		if slices.Contains(d.Order[:i], n) {
			r.bad(at.of("group_eval_order", i).line(), "group %q repeated in group_eval_order", n)
		}
	}
	for i, n := range d.RuleFiles {
		f.RuleFiles = append(f.RuleFiles, Place{n, at.of("rule_files", i).line()})
	}
	for i := range d.Tests {
		f.Tests = append(f.Tests, r.test(&d.Tests[i], f, at.of("tests", i)))
	}
	return f
}

func (r *reader) test(d *testDocument, f *File, at position) Test {
	t := Test{Name: d.Name, Line: at.line(), step: cmp.Or(time.Duration(d.Interval), f.Interval), start: d.Start.Time, labels: d.Labels, url: d.URL}
	if t.start.IsZero() {
		t.start = time.Unix(0, 0).UTC()
	}
	p := query.Parser()
	for i, s := range d.Series {
		ls, vs, err := r.parse(p, s.Series, s.Values)
		if err != nil {
			r.bad(at.of("input_series", i).line(), "series %q: %v", s.Series, err)
		}
		t.series = append(t.series, inputSeries{ls, vs})
	}
	for i, a := range d.Alerts {
		line := at.of("alert_rule_test", i).line()
		if a.Name == "" {
			r.bad(line, "alert_rule_test without an alertname")
		}
		c := alertCase{line: line, at: time.Duration(a.At), name: a.Name}
		for _, w := range a.Want {
			ls := labels.NewBuilder(labels.FromMap(w.Labels)).Set(labels.AlertName, a.Name).Labels()
			c.want = append(c.want, alerts.Active{Labels: ls, Annotations: labels.FromMap(w.Annotations)})
		}
		t.alerts = append(t.alerts, c)
	}
	for i, e := range d.Exprs {
		line := at.of("promql_expr_test", i).line()
		if _, err := p.ParseExpr(e.Expr); err != nil {
			r.bad(line, "expr %q: %v", e.Expr, err)
		}
		c := exprCase{line: line, at: time.Duration(e.At), expr: e.Expr}
		for _, w := range e.Want {
			s, err := r.wanted(p, w.Labels, w.Value, w.Histogram)
			if err != nil {
				r.bad(line, "labels %q: %v", w.Labels, err)
			}
			c.want = append(c.want, s)
		}
		t.exprs = append(t.exprs, c)
	}
	return t
}

// wanted parses one of exp_samples.
func (r *reader) wanted(p parser.Parser, metric string, value float64, hist string) (sample, error) {
	ls, err := p.ParseMetric(metric)
	if err != nil || hist == "" {
		return sample{labels: ls, value: value}, err
	}
	_, vs, err := r.parse(p, "{}", hist)
	switch {
	case err != nil:
		return sample{}, err
	case len(vs) != 1 || vs[0].Histogram == nil:
		return sample{}, fmt.Errorf("%q is not one histogram", hist)
	}
	return sample{labels: ls, hist: vs[0].Histogram}, nil
}

// position is a YAML node, for looking up lines.
type position struct{ n *yaml.Node }

// of returns the i-th element of the sequence at a key.
func (p position) of(key string, i int) position {
	n := p.n
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for k := 0; k+1 < len(n.Content); k += 2 {
		if v := resolved(n.Content[k+1]); n.Content[k].Value == key && i < len(v.Content) {
			return position{resolved(v.Content[i])}
		}
	}
	return p
}

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func (p position) line() int { return max(p.n.Line, 1) }
