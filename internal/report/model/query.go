package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

// QueryResult is the document plegforensics/query/v1: the value of an expression, in the format of
// the Prometheus HTTP API.
type QueryResult struct {
	Schema   string    `json:"schema"`
	Status   string    `json:"status"`
	Data     QueryData `json:"data"`
	Warnings []string  `json:"warnings,omitempty"`

	Rows []QueryRow `json:"-"`
	Text string     `json:"-"` // the value, if it is a string
}

// QueryData is the type of the value and the value itself: rows, or a single sample.
type QueryData struct {
	Type   string `json:"resultType"`
	Result any    `json:"result"`
}

// QueryRow is one series of the result.
type QueryRow struct {
	Metric     map[string]string `json:"metric"`
	Value      json.RawMessage   `json:"value,omitempty"`
	Values     []json.RawMessage `json:"values,omitempty"`
	Histogram  json.RawMessage   `json:"histogram,omitempty"`
	Histograms []json.RawMessage `json:"histograms,omitempty"`

	Name    string         `json:"-"` // in PromQL's notation
	Samples []query.Sample `json:"-"`
}

// MetricList is the document plegforensics/metrics/v1, written by query --list.
type MetricList struct {
	Schema  string   `json:"schema"`
	Metrics []Metric `json:"metrics"`
}

// Metric describes a metric of the input.
type Metric struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Kind   string   `json:"kind"`
	Series int      `json:"series"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	Labels []string `json:"labels"`
	Help   string   `json:"help,omitempty"`
}

// AlertList is the document plegforensics/alerts/v1, written by query --alerts.
type AlertList struct {
	Schema string  `json:"schema"`
	Alerts []Alert `json:"alerts"`
}

// AlertAudit converts audits of alerts.
func (c *Cleaner) AlertAudit(as []alerts.Audit) *AlertList {
	return &AlertList{SchemaName("alerts"), list(as, c.alert)}
}

// MilliTime formats Unix milliseconds as RFC 3339 in UTC.
func MilliTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// Query converts the value of an expression.
func (c *Cleaner) Query(t *query.Table) *QueryResult {
	out := &QueryResult{Schema: SchemaName("query"), Status: "success", Data: QueryData{Type: t.Type}, Warnings: c.texts(t.Warnings), Text: c.text(t.Text)}
	out.Rows = list(t.Rows, func(r query.Row) QueryRow { return c.queryRow(r, t.Type == "matrix") })
	switch t.Type {
	case "scalar":
		out.Data.Result = apiSample(t.Rows[0].Samples[0])
	case "string":
		out.Data.Result = []any{0, out.Text}
	default:
		out.Data.Result = out.Rows
	}
	return out
}

func (c *Cleaner) queryRow(r query.Row, matrix bool) QueryRow {
	shown := query.Row{Labels: list(r.Labels, func(f parse.Field) parse.Field {
		return parse.Field{Name: c.pseudonym(f.Name), Value: c.pseudonym(f.Value)}
	})}
	out := QueryRow{Metric: c.labels(r.Labels), Name: visible(shown.String()), Samples: r.Samples}
	for _, s := range r.Samples {
		switch raw := apiSample(s); {
		case matrix && s.H != nil:
			out.Histograms = append(out.Histograms, raw)
		case matrix:
			out.Values = append(out.Values, raw)
		case s.H != nil:
			out.Histogram = raw
		default:
			out.Value = raw
		}
	}
	return out
}

// apiTime formats Unix milliseconds as seconds with as many decimals as needed.
func apiTime(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) }

func apiSample(s query.Sample) json.RawMessage {
	if s.H == nil {
		return json.RawMessage("[" + apiTime(s.T) + `,"` + Value(s.V) + `"]`)
	}
	b := "[" + apiTime(s.T) + `,{"count":"` + Value(s.H.Count) + `","sum":"` + Value(s.H.Sum) + `"`
	for i, k := range s.H.Buckets {
		b += []string{`,"buckets":[`, ","}[min(i, 1)]
		b += fmt.Sprintf(`[%d,"%s","%s","%s"]`, k.Boundaries, Value(k.Lo), Value(k.Hi), Value(k.N))
	}
	if len(s.H.Buckets) > 0 {
		b += "]"
	}
	return json.RawMessage(b + "}]")
}

// Metrics converts a list of metrics.
func (c *Cleaner) Metrics(ms []query.Metric) *MetricList {
	return &MetricList{SchemaName("metrics"), list(ms, func(m query.Metric) Metric {
		return Metric{c.text(m.Name), c.text(m.Type), string(m.Kind), m.Series, MilliTime(m.From), MilliTime(m.To), c.texts(m.Labels), c.text(m.Help)}
	})}
}
