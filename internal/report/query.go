package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// QueryFormats are the output formats of query, bound to one result.
func QueryFormats(t *model.QueryResult) []Format {
	return []Format{
		{"text", ".txt", "a table, with a chart under a range", func(w io.Writer, _ *model.Report, o Options) error { return writeQueryText(w, t, o) }},
		{"json", ".json", "the shape of the Prometheus HTTP API", func(w io.Writer, _ *model.Report, _ Options) error { return encodeLine(w, t) }},
		{"csv", ".csv", "one sample a row", func(w io.Writer, _ *model.Report, _ Options) error { return writeQueryCSV(w, t) }},
		{"html", ".html", "a page with a plot of each series, and a table", func(w io.Writer, _ *model.Report, _ Options) error { return writeQueryHTML(w, t) }},
		{"chart", ".txt", "line charts in the terminal", func(w io.Writer, _ *model.Report, o Options) error { return writeCharts(w, t, o) }},
	}
}

// MetricFormats are the output formats of query --list.
func MetricFormats(ms *model.MetricList) []Format {
	return []Format{
		{"text", ".txt", "one metric a paragraph", func(w io.Writer, _ *model.Report, o Options) error { return writeMetricText(w, ms, o) }},
		{"json", ".json", "one object", func(w io.Writer, _ *model.Report, _ Options) error { return encodeLine(w, ms) }},
		{"csv", ".csv", "one metric a row", func(w io.Writer, _ *model.Report, _ Options) error { return writeMetricCSV(w, ms) }},
	}
}

// encodeLine writes a document on one line.
func encodeLine(w io.Writer, v any) error {
	line, err := model.Compact(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

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

func writeQueryText(w io.Writer, t *model.QueryResult, o Options) error {
	e := &errWriter{w: w}
	switch {
	case t.Data.Type == "string":
		e.printf("%s\n", t.Text)
	case len(t.Rows) == 0:
		e.printf("no series\n")
	case t.Data.Type == "matrix":
		writeMatrix(e, t, o)
		if e.err == nil {
			e.err = writeCharts(w, t, o)
		}
	default:
		writeVector(e, t)
	}
	for _, x := range t.Warnings {
		e.printf("note: %s\n", x)
	}
	return e.err
}

func writeVector(e *errWriter, t *model.QueryResult) {
	e.printf("at %s\n", model.MilliTime(t.Rows[0].Samples[0].T))
	width := 0
	for _, r := range t.Rows {
		width = max(width, len(r.Samples[0].String()))
	}
	for _, r := range t.Rows {
		e.printf("%*s  %s\n", width, r.Samples[0].String(), r.Name)
	}
}

// writeMatrix writes a row of numbers for each series, behind them its name, or
// before them on a line of its own where one is too long.
func writeMatrix(e *errWriter, t *model.QueryResult, o Options) {
	const numbers = "%8s  %12s  %12s  %12s  %12s"
	head := fmt.Sprintf(numbers, "samples", "first", "last", "min", "max")
	above := slices.ContainsFunc(t.Rows, func(r model.QueryRow) bool {
		return len(head)+2+text.StringWidthWithoutEscSequences(r.Name) > max(o.Width, 80)
	})
	line := func(numbers, series string) {
		if above {
			e.printf("%s\n%s\n", series, numbers)
		} else {
			e.printf("%s  %s\n", numbers, series)
		}
	}
	line(head, "series")
	for _, r := range t.Rows {
		lo, hi := bounds(r)
		n := len(r.Samples)
		line(fmt.Sprintf(numbers, strconv.Itoa(n), short(r.Samples[0]), short(r.Samples[n-1]), sixDigits(lo), sixDigits(hi)), r.Name)
	}
}

func short(s model.Sample) string {
	if s.Histogram != "" {
		return "histogram"
	}
	return sixDigits(s.V)
}

func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// bounds returns the least and largest number of a row, NaN if it has none.
func bounds(r model.QueryRow) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	for _, s := range r.Samples {
		if !s.Number() {
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

func writeQueryCSV(w io.Writer, t *model.QueryResult) error {
	return writeTable(w, []string{"series", "time", "value"}, func(add func(...string)) error {
		if t.Data.Type == "string" {
			add("", "", t.Text)
		}
		for _, r := range t.Rows {
			for _, s := range r.Samples {
				add(r.Name, model.MilliTime(s.T), s.String())
			}
		}
		return nil
	})
}

// writeMetricText tells of each metric its type, and below it what there is of it
// and what it means.
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
	return writeTable(w, []string{"metric", "type", "kind", "series", "from", "to", "labels"}, func(add func(...string)) error {
		for _, m := range ms.Metrics {
			add(m.Name, m.Type, m.Kind, strconv.Itoa(m.Series), m.From, m.To, strings.Join(m.Labels, " "))
		}
		return nil
	})
}
