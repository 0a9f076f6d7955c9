package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules/query"
)

// QueryFormats returns the output formats of query, bound to one result.
func QueryFormats(t *model.QueryResult) []Format {
	return []Format{
		{"text", ".txt", "a table, with a chart under a range", func(w io.Writer, _ *model.Report, o Options) error { return writeQueryText(w, t, o) }},
		{"json", ".json", "the shape of the Prometheus HTTP API", func(w io.Writer, _ *model.Report, _ Options) error { return encodeLine(w, t) }},
		{"csv", ".csv", "one sample a row", func(w io.Writer, _ *model.Report, _ Options) error { return writeQueryCSV(w, t) }},
		{"html", ".html", "a page with a plot of each series, and a table", func(w io.Writer, _ *model.Report, _ Options) error { return writeQueryHTML(w, t) }},
		{"chart", ".txt", "line charts in the terminal", func(w io.Writer, _ *model.Report, o Options) error {
			p := newPrinter(w, o)
			p.charts(t)
			return p.Flush()
		}},
	}
}

// MetricFormats returns the output formats of query --list, bound to ms.
func MetricFormats(ms *model.MetricList) []Format {
	return []Format{
		{"text", ".txt", "one metric a paragraph", func(w io.Writer, _ *model.Report, o Options) error { return writeMetricText(w, ms, o) }},
		{"json", ".json", "one object", func(w io.Writer, _ *model.Report, _ Options) error { return encodeLine(w, ms) }},
		{"csv", ".csv", "one metric a row", func(w io.Writer, _ *model.Report, _ Options) error { return writeMetricCSV(w, ms) }},
	}
}

// encodeLine writes a document as one line of JSON.
func encodeLine(w io.Writer, v any) error {
	line, err := model.Compact(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// querySection returns the result of a query as a table.
func querySection(t *model.QueryResult) Section {
	s := Section{Title: t.Text, Notes: t.Warnings}
	switch {
	case t.Data.Type == "string":
	case len(t.Rows) == 0:
		s.Title = "no series"
	case t.Data.Type == "matrix":
		from, to := timeBounds(t)
		s.Title = strconv.Itoa(len(t.Rows)) + " series from " + model.MilliTime(from) + " to " + model.MilliTime(to)
		s.Columns = []string{"series", "samples", "first", "last", "min", "max"}
		for _, r := range t.Rows {
			lo, hi := bounds(r)
			n := len(r.Samples)
			s.Row(r.Name, n, short(r.Samples[0]), short(r.Samples[n-1]), sixDigits(lo), sixDigits(hi))
		}
	default:
		s.Title = strconv.Itoa(len(t.Rows)) + " series at " + model.MilliTime(t.Rows[0].Samples[0].T)
		s.Columns = []string{"value", "series"}
		for _, r := range t.Rows {
			s.Row(sampleText(r.Samples[0]), r.Name)
		}
	}
	return s
}

func writeQueryText(w io.Writer, t *model.QueryResult, o Options) error {
	p := newPrinter(w, o)
	s := querySection(t)
	p.para("", s.Title)
	if len(s.Rows) > 0 {
		p.render(&s)
	}
	if t.Data.Type == "matrix" && len(s.Rows) > 0 {
		p.charts(t)
	}
	for _, x := range s.Notes {
		p.para("note: ", x)
	}
	return p.Flush()
}

// drawable reports whether a sample is a finite number.
func drawable(s query.Sample) bool {
	return s.H == nil && !math.IsNaN(s.V) && !math.IsInf(s.V, 0)
}

// sampleText formats a sample.
func sampleText(s query.Sample) string {
	if s.H != nil {
		return s.H.String()
	}
	return model.Value(s.V)
}

func short(s query.Sample) string {
	if s.H != nil {
		return "histogram"
	}
	return sixDigits(s.V)
}

func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// bounds returns the smallest and largest finite number of a row, NaN if it has none.
func bounds(r model.QueryRow) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range r.Samples {
		if drawable(s) && !(s.V >= lo) {
			lo = s.V
		}
		if drawable(s) && !(s.V <= hi) {
			hi = s.V
		}
	}
	return lo, hi
}

func writeQueryCSV(w io.Writer, t *model.QueryResult) error {
	return writeTable(w, []string{"series", "time", "value"}, func(add func(...string)) {
		if t.Data.Type == "string" {
			add("", "", t.Text)
		}
		for _, r := range t.Rows {
			for _, s := range r.Samples {
				add(r.Name, model.MilliTime(s.T), sampleText(s))
			}
		}
	})
}

// writeMetricText writes a paragraph per metric: name and type, then its series, labels and help.
func writeMetricText(w io.Writer, ms *model.MetricList, o Options) error {
	p := newPrinter(w, o)
	for _, m := range ms.Metrics {
		p.para("", m.Name+"  "+m.Type)
		p.para("    ", fmt.Sprintf("%d series, %s, last sample %s; labels: %s", m.Series, m.Kind, m.To, strings.Join(m.Labels, ", ")))
		if m.Help != "" {
			p.para("    ", m.Help)
		}
	}
	return p.Flush()
}

func writeMetricCSV(w io.Writer, ms *model.MetricList) error {
	return writeTable(w, []string{"metric", "type", "kind", "series", "from", "to", "labels"}, func(add func(...string)) {
		for _, m := range ms.Metrics {
			add(m.Name, m.Type, m.Kind, strconv.Itoa(m.Series), m.From, m.To, strings.Join(m.Labels, " "))
		}
	})
}
