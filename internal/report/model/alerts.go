package model

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// alert converts the audit of one alert.
func (c *Cleaner) alert(a alerts.Audit) Alert {
	out := Alert{Alert: c.text(a.Alert), Group: c.text(a.Group), File: c.path(a.File), Expr: c.text(a.Expr), For: a.For.Seconds(), Severity: c.text(a.Severity),
		Outcome: string(a.Outcome), Sentence: c.text(a.Sentence()), Reasons: c.texts(a.Reasons), Firings: list(a.Firings, c.firing), Missed: []Missed{}, Hangs: []Hang{},
		Builtin: a.File == alerts.BuiltinFile, Sightless: a.Sightless}
	for _, m := range a.Missed {
		if m.Episode < 0 {
			out.Hangs = append(out.Hangs, Hang{c.name(m.Node), m.Rule, Time(m.From), Time(m.To), m.Value.Seconds()})
			continue
		}
		out.Missed = append(out.Missed, Missed{c.name(m.Node), m.Episode})
	}
	return out
}

func (c *Cleaner) firing(f alerts.Firing) Firing {
	return Firing{c.labels(f.Labels), c.labels(f.Annotations), moment(f.ActiveAt), moment(f.From), moment(f.To), Value(f.Peak)}
}

func moment(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixNano())
}

func (c *Cleaner) labels(fs []parse.Field) map[string]string {
	out := map[string]string{}
	for _, f := range fs {
		out[c.text(f.Name)] = c.labelValue(f.Value)
	}
	return out
}

// labelValue keeps line feeds: JSON escapes them, and a query for the series needs them.
func (c *Cleaner) labelValue(v string) string {
	if c.redacts() {
		return c.name(v)
	}
	return strings.Join(list(strings.Split(v, "\n"), c.name), "\n")
}

// Value formats a sample as the Prometheus API does: the shortest form that parses to the same
// value, with an exponent only below 1e-6 and from 1e21 on.
func Value(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsInf(v, 1):
		return "+Inf"
	case abs != 0 && !math.IsInf(v, 0) && (abs < 1e-6 || abs >= 1e21):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
