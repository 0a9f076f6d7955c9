package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/query"
)

// QueryFormats are the output formats of query, bound to one result.
func QueryFormats(t *query.Table) []Format {
	return []Format{
		{"text", "a table, with a chart under a range", func(w io.Writer, _ *Report, o Options) error { return writeQueryText(w, t, o) }},
		{"json", "the shape of the Prometheus HTTP API", func(w io.Writer, _ *Report, _ Options) error { return writeQueryJSON(w, t) }},
		{"csv", "one sample a row", func(w io.Writer, _ *Report, _ Options) error { return writeQueryCSV(w, t) }},
		{"chart", "line charts in the terminal", func(w io.Writer, _ *Report, o Options) error { return writeCharts(w, t, o) }},
	}
}

// MetricFormats are the output formats of query --list.
func MetricFormats(ms []query.Metric) []Format {
	return []Format{
		{"text", "a table", func(w io.Writer, _ *Report, o Options) error { return writeMetricText(w, ms) }},
		{"json", "one object", func(w io.Writer, _ *Report, _ Options) error { return writeMetricJSON(w, ms) }},
		{"csv", "one metric a row", func(w io.Writer, _ *Report, _ Options) error { return writeMetricCSV(w, ms) }},
	}
}

// value writes a sample as Prometheus' API does: the shortest form that reads
// back equal, with an exponent only for the very small and the very large.
func value(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsInf(v, 1):
		return "+Inf"
	case abs != 0 && !math.IsInf(v, 0) && (abs < 1e-6 || abs >= 1e21):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func sampleText(s query.Sample) string {
	if s.H != nil {
		return s.H.String()
	}
	return value(s.V)
}

func milliTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// errWriter keeps the first error of a sequence of writes.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}

func writeQueryText(w io.Writer, t *query.Table, o Options) error {
	e := &errWriter{w: w}
	switch {
	case t.Type == "string":
		e.printf("%s\n", Visible(t.Text))
	case len(t.Rows) == 0:
		e.printf("no series\n")
	case t.Type == "matrix":
		writeMatrix(e, t)
		if e.err == nil {
			e.err = writeCharts(w, t, o)
		}
	default:
		writeVector(e, t)
	}
	for _, x := range t.Warnings {
		e.printf("note: %s\n", Visible(x))
	}
	return e.err
}

func writeVector(e *errWriter, t *query.Table) {
	e.printf("at %s\n", milliTime(t.Rows[0].Samples[0].T))
	width := 0
	for _, r := range t.Rows {
		width = max(width, len(sampleText(r.Samples[0])))
	}
	for _, r := range t.Rows {
		e.printf("%*s  %s\n", width, sampleText(r.Samples[0]), Visible(r.String()))
	}
}

func writeMatrix(e *errWriter, t *query.Table) {
	e.printf("%8s  %12s  %12s  %12s  %12s  %s\n", "samples", "first", "last", "min", "max", "series")
	for _, r := range t.Rows {
		lo, hi := bounds(r)
		n := len(r.Samples)
		e.printf("%8d  %12s  %12s  %12s  %12s  %s\n", n, short(r.Samples[0]), short(r.Samples[n-1]), sixDigits(lo), sixDigits(hi), Visible(r.String()))
	}
}

func short(s query.Sample) string {
	if s.H != nil {
		return "histogram"
	}
	return sixDigits(s.V)
}

func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// bounds returns the least and largest number of a row, NaN if it has none.
func bounds(r query.Row) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range r.Samples {
		if s.H != nil || math.IsNaN(s.V) || math.IsInf(s.V, 0) {
			continue
		}
		if !(s.V >= lo) {
			lo = s.V
		}
		if !(s.V <= hi) {
			hi = s.V
		}
	}
	return lo, hi
}

// apiRow is one series in the shape of the Prometheus API.
type apiRow struct {
	Metric     labelSet          `json:"metric"`
	Value      json.RawMessage   `json:"value,omitempty"`
	Values     []json.RawMessage `json:"values,omitempty"`
	Histogram  json.RawMessage   `json:"histogram,omitempty"`
	Histograms []json.RawMessage `json:"histograms,omitempty"`
}

// labelSet marshals as an object, in order.
type labelSet []parse.Field

func (l labelSet) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quoteJSON(f.Name)...), ':'), quoteJSON(f.Value)...)
	}
	return append(b, '}'), nil
}

// quoteJSON writes a string without turning < and > into escapes.
func quoteJSON(s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(Visible(s)) // a string always encodes
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// apiTime writes Unix milliseconds as seconds with as many decimals as needed.
func apiTime(ms int64) string {
	s := strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func apiSample(s query.Sample) json.RawMessage {
	if s.H == nil {
		return json.RawMessage("[" + apiTime(s.T) + `,"` + value(s.V) + `"]`)
	}
	b := "[" + apiTime(s.T) + `,{"count":"` + value(s.H.Count) + `","sum":"` + value(s.H.Sum) + `"`
	for i, k := range s.H.Buckets {
		b += []string{`,"buckets":[`, ","}[min(i, 1)]
		b += fmt.Sprintf(`[%d,"%s","%s","%s"]`, k.Boundaries, value(k.Lo), value(k.Hi), value(k.N))
	}
	if len(s.H.Buckets) > 0 {
		b += "]"
	}
	return json.RawMessage(b + "}]")
}

func apiRowOf(r query.Row, matrix bool) apiRow {
	out := apiRow{Metric: labelSet(r.Labels)}
	for _, s := range r.Samples {
		x := apiSample(s)
		switch {
		case matrix && s.H != nil:
			out.Histograms = append(out.Histograms, x)
		case matrix:
			out.Values = append(out.Values, x)
		case s.H != nil:
			out.Histogram = x
		default:
			out.Value = x
		}
	}
	return out
}

func writeQueryJSON(w io.Writer, t *query.Table) error {
	var result any
	switch t.Type {
	case "scalar":
		result = apiSample(t.Rows[0].Samples[0])
	case "string":
		result = json.RawMessage(`[0,` + string(quoteJSON(t.Text)) + `]`)
	default:
		rows := make([]apiRow, 0, len(t.Rows))
		for _, r := range t.Rows {
			rows = append(rows, apiRowOf(r, t.Type == "matrix"))
		}
		result = rows
	}
	out := struct {
		Schema   string   `json:"schema"`
		Status   string   `json:"status"`
		Data     any      `json:"data"`
		Warnings []string `json:"warnings,omitempty"`
	}{schemaOf("query"), "success", map[string]any{"resultType": t.Type, "result": result}, t.Warnings}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func writeQueryCSV(w io.Writer, t *query.Table) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"series", "time", "value"}}
	if t.Type == "string" {
		rows = append(rows, []string{"", "", csvCell(t.Text)})
	}
	for _, r := range t.Rows {
		for _, s := range r.Samples {
			rows = append(rows, []string{csvCell(r.String()), milliTime(s.T), sampleText(s)})
		}
	}
	return c.WriteAll(rows)
}

func writeMetricText(w io.Writer, ms []query.Metric) error {
	e := &errWriter{w: w}
	width := 0
	for _, m := range ms {
		width = max(width, len(m.Name))
	}
	e.printf("%-*s  %-9s  %-8s  %6s  %-20s  %s\n", width, "metric", "type", "kind", "series", "last sample", "labels")
	for _, m := range ms {
		e.printf("%-*s  %-9s  %-8s  %6d  %-20s  %s\n", width, Visible(m.Name), Visible(m.Type), m.Kind, m.Series,
			time.UnixMilli(m.To).UTC().Format("2006-01-02T15:04:05Z"), Visible(strings.Join(m.Labels, ",")))
		if m.Help != "" {
			e.printf("%*s  %s\n", width, "", m.Help)
		}
	}
	return e.err
}

// jsonMetric is a metric of query --list.
type jsonMetric struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Kind   string   `json:"kind"`
	Series int      `json:"series"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Labels []string `json:"labels"`
	Help   string   `json:"help,omitempty"`
}

func writeMetricJSON(w io.Writer, ms []query.Metric) error {
	out := struct {
		Schema  string       `json:"schema"`
		Metrics []jsonMetric `json:"metrics"`
	}{schemaOf("metrics"), []jsonMetric{}}
	for _, m := range ms {
		out.Metrics = append(out.Metrics, jsonMetric{Visible(m.Name), m.Type, string(m.Kind), m.Series, milliTime(m.From), milliTime(m.To), m.Labels, m.Help})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func writeMetricCSV(w io.Writer, ms []query.Metric) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"metric", "type", "kind", "series", "from", "to", "labels"}}
	for _, m := range ms {
		rows = append(rows, []string{csvCell(m.Name), csvCell(m.Type), string(m.Kind), strconv.Itoa(m.Series), milliTime(m.From), milliTime(m.To), csvCell(strings.Join(m.Labels, " "))})
	}
	return c.WriteAll(rows)
}
