package query

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/plegforensics/plegforensics/parse"
)

// Table is a result in plain types.
type Table struct {
	Type     string // vector, matrix, scalar, string
	Rows     []Row  // in the engine's order: sorted by labels, unless the expression sorts
	Text     string // the value, if it is a string
	Warnings []string
}

// Row is one series of a result; in an instant result it has one sample.
type Row struct {
	Labels  []parse.Field // __name__ first if present, then sorted by name
	Samples []Sample
}

// Sample is one value at a time in Unix milliseconds.
type Sample struct {
	T int64
	V float64
	H *Histogram // if not nil, the value instead of V
}

// Histogram is a native histogram.
type Histogram struct {
	Count, Sum float64
	Buckets    []Bucket
}

// Bucket is one bucket of a native histogram. Boundaries is as in Prometheus: 0 (lo, hi], 1 [lo,
// hi), 2 (lo, hi), 3 [lo, hi].
type Bucket struct {
	Boundaries int
	Lo, Hi, N  float64
}

// Table converts a result to plain types.
func (r Result) Table() Table {
	t := Table{Type: string(r.Value.Type()), Warnings: r.Warnings}
	switch v := r.Value.(type) {
	case promql.Vector:
		for _, s := range v {
			t.Rows = append(t.Rows, Row{Fields(s.Metric), []Sample{{T: s.T, V: s.F, H: plainHistogram(s.H)}}})
		}
	case promql.Matrix:
		for _, s := range v {
			t.Rows = append(t.Rows, Row{Fields(s.Metric), samplesOf(s)})
		}
	case promql.Scalar:
		t.Rows = []Row{{nil, []Sample{{T: v.T, V: v.V}}}}
	case promql.String:
		t.Text = v.V
	}
	return t
}

// samplesOf merges the floats and histograms of a series by time.
func samplesOf(s promql.Series) []Sample {
	out := make([]Sample, 0, len(s.Floats)+len(s.Histograms))
	h := s.Histograms
	for _, p := range s.Floats {
		for len(h) > 0 && h[0].T < p.T {
			out = append(out, Sample{T: h[0].T, H: plainHistogram(h[0].H)})
			h = h[1:]
		}
		out = append(out, Sample{T: p.T, V: p.F})
	}
	for _, p := range h {
		out = append(out, Sample{T: p.T, H: plainHistogram(p.H)})
	}
	return out
}

func plainHistogram(h *histogram.FloatHistogram) *Histogram {
	if h == nil {
		return nil
	}
	out := &Histogram{Count: h.Count, Sum: h.Sum}
	it := h.AllBucketIterator()
	for it.Next() {
		b := it.At()
		if b.Count == 0 {
			continue
		}
		kind := 2
		switch {
		case b.LowerInclusive && b.UpperInclusive:
			kind = 3
		case b.LowerInclusive:
			kind = 1
		case b.UpperInclusive:
			kind = 0
		}
		out.Buckets = append(out.Buckets, Bucket{kind, b.Lower, b.Upper, b.Count})
	}
	return out
}

// Fields converts labels to fields, with the metric name first.
func Fields(ls labels.Labels) []parse.Field {
	var out []parse.Field
	if n := ls.Get(nameLabel); n != "" {
		out = append(out, parse.Field{Name: nameLabel, Value: n})
	}
	ls.Range(func(l labels.Label) {
		if l.Name != nameLabel {
			out = append(out, parse.Field{Name: l.Name, Value: l.Value})
		}
	})
	return out
}

// Metric summarizes the series of one name for "query --list".
type Metric struct {
	Name   string
	Type   string
	Kind   Kind
	Series int
	From   int64 // Unix ms
	To     int64
	Labels []string // label names, sorted
	Help   string   // of derived metrics
}

// List returns the metrics of the store sorted by name.
func (s *Store) List() []Metric {
	help := map[string]string{}
	for _, d := range derivedMetrics {
		help[d.Name] = d.Help
	}
	var out []Metric
	for _, name := range s.Names() {
		m := Metric{Name: name, Help: help[name]}
		names := map[string]bool{}
		for i, x := range s.byName[name] {
			if i == 0 || x.from < m.From {
				m.From = x.from
			}
			m.To = max(m.To, x.to)
			m.Type, m.Kind = x.Type, x.Kind
			x.Labels.Range(func(l labels.Label) { names[l.Name] = true })
		}
		delete(names, nameLabel)
		m.Series, m.Labels = len(s.byName[name]), sortedKeys(names)
		out = append(out, m)
	}
	return out
}

// Last returns the time of the latest sample among the series that an expression selects, the
// natural time to evaluate it at. It is the end of the store if the expression selects none.
func (s *Store) Last(expr string) (time.Time, error) {
	_, to, err := s.SpanOf(expr)
	return to, err
}

// SpanOf returns the times of the first and last sample of the series that an expression selects.
func (s *Store) SpanOf(expr string) (from, to time.Time, err error) {
	e, err := Parser().ParseExpr(expr)
	if err != nil {
		return from, to, err
	}
	lo, hi := s.spanOf(e)
	return time.UnixMilli(lo).UTC(), time.UnixMilli(hi).UTC(), nil
}

func (s *Store) spanOf(e parser.Expr) (lo, hi int64) {
	found := false
	for _, sel := range Selectors(e) {
		for _, x := range s.Matching(sel.LabelMatchers) {
			if !found || x.from < lo {
				lo = x.from
			}
			if !found || x.to > hi {
				hi = x.to
			}
			found = true
		}
	}
	if !found {
		return s.from, s.to
	}
	return lo, hi
}

// String formats the labels of a row as PromQL does.
func (r Row) String() string {
	s := parse.Series{Labels: r.Labels}
	if len(r.Labels) > 0 && r.Labels[0].Name == nameLabel {
		s.Name, s.Labels = r.Labels[0].Value, r.Labels[1:]
	}
	if out := s.String(); out != "" {
		return out
	}
	return "{}"
}

// String formats a histogram on one line.
func (h *Histogram) String() string {
	return fmt.Sprintf("{count:%s, sum:%s, %d buckets}", parse.FormatValue(h.Count), parse.FormatValue(h.Sum), len(h.Buckets))
}
