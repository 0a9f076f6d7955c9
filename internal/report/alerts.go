package report

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/rules/alerts"
)

// AlertFormats are the output formats of query --alerts.
func AlertFormats(as []alerts.Audit) []Format {
	return []Format{
		{"text", "one alert a paragraph", func(w io.Writer, _ *Report, o Options) error { return writeAlertText(w, as, o) }},
		{"json", "one object", func(w io.Writer, _ *Report, _ Options) error { return writeAlertJSON(w, as) }},
	}
}

func writeAlertText(w io.Writer, as []alerts.Audit, o Options) error {
	e := &errWriter{w: w}
	for i := range as {
		a := &as[i]
		e.printf("%-6s %s\n", a.Outcome, Visible(a.Sentence()))
		for k, f := range a.Firings {
			if k == 5 && !o.Verbose {
				e.printf("         and %d more firings\n", len(a.Firings)-k)
				break
			}
			to := "the end of the data"
			if !f.To.IsZero() {
				to = f.To.Format(time.RFC3339)
			}
			e.printf("         %s to %s, peak %s\n", f.From.Format(time.RFC3339), to, strconv.FormatFloat(f.Peak, 'g', 6, 64))
			for _, x := range f.Annotations {
				e.printf("           %s: %s\n", Visible(x.Name), Visible(x.Value))
			}
		}
	}
	return e.err
}

// jsonAlert is one alert of query --alerts.
type jsonAlert struct {
	Alert    string       `json:"alert"`
	Group    string       `json:"group"`
	File     string       `json:"file"`
	Expr     string       `json:"expr"`
	For      float64      `json:"for_seconds"`
	Severity string       `json:"severity,omitempty"`
	Outcome  string       `json:"outcome"`
	Sentence string       `json:"sentence"`
	Reasons  []string     `json:"reasons"`
	Firings  []jsonFiring `json:"firings"`
	Missed   []jsonMissed `json:"missed_episodes"`
	Hangs    []jsonHang   `json:"missed_hangs"`
}

type jsonFiring struct {
	Labels      labelSet `json:"labels"`
	Annotations labelSet `json:"annotations"`
	Active      string   `json:"active"`
	From        string   `json:"from"`
	To          *string  `json:"to"`
	Peak        string   `json:"peak"`
}

type jsonMissed struct {
	Node    string `json:"node"`
	Episode int    `json:"episode"`
}

// jsonHang is a breach that metrics prove and that an alert did not tell of.
type jsonHang struct {
	Node  string  `json:"node"`
	Rule  string  `json:"rule"`
	Start *string `json:"start"`
	End   *string `json:"end"`
	Value float64 `json:"value_seconds"`
}

func writeAlertJSON(w io.Writer, as []alerts.Audit) error {
	out := struct {
		Schema string      `json:"schema"`
		Alerts []jsonAlert `json:"alerts"`
	}{schemaOf("alerts"), []jsonAlert{}}
	for i := range as {
		out.Alerts = append(out.Alerts, alertJSON(&as[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func alertJSON(a *alerts.Audit) jsonAlert {
	j := jsonAlert{Visible(a.Alert), Visible(a.Group), Visible(a.File), Visible(a.Expr), a.For.Seconds(), Visible(a.Severity), string(a.Outcome), Visible(a.Sentence()),
		[]string{}, []jsonFiring{}, []jsonMissed{}, []jsonHang{}}
	for _, r := range a.Reasons {
		j.Reasons = append(j.Reasons, Visible(r))
	}
	for _, m := range a.Missed {
		if m.Episode < 0 {
			j.Hangs = append(j.Hangs, jsonHang{Visible(m.Node), m.Rule, stamp(m.From), stamp(m.To), m.Value.Seconds()})
			continue
		}
		j.Missed = append(j.Missed, jsonMissed{Visible(m.Node), m.Episode})
	}
	for _, f := range a.Firings {
		x := jsonFiring{Labels: labelSet(f.Labels), Annotations: labelSet(f.Annotations), Active: f.ActiveAt.Format(time.RFC3339Nano), From: f.From.Format(time.RFC3339Nano), Peak: value(f.Peak)}
		if !f.To.IsZero() {
			to := f.To.Format(time.RFC3339Nano)
			x.To = &to
		}
		j.Firings = append(j.Firings, x)
	}
	return j
}

// audited says what became of the alerts, in short: of the built-in ones those
// that fired, the first that was silent where it ought to have told, and the
// names of the others; quiet is the number of those that had nothing to tell or
// nothing to look at.
func audited(r *Report, all bool) (tell []string, quiet int) {
	var too []string
	silent := false
	for i := range r.Alerts {
		a := &r.Alerts[i]
		switch {
		case all || a.File != alerts.BuiltinFile || a.Outcome == alerts.Fired:
			tell = append(tell, Visible(a.Sentence()))
		case len(a.Missed) == 0 || a.Sightless:
			quiet++
		case silent:
			too = append(too, Visible(a.Alert))
		default:
			tell = append(tell, Visible(a.Sentence()))
			silent = true
		}
	}
	if len(too) > 0 {
		tell = append(tell, strings.Join(too, ", ")+" would not have fired either")
	}
	return tell, quiet
}

// alertsHeading stands over the audit of alerts.
const alertsHeading = "Would an alert have told"

// quietAlerts counts the alerts of which nothing is told.
func quietAlerts(n int) string {
	return plural(n, "alert") + " did not fire, and had nothing to tell or nothing to look at"
}

func (p *printer) alerts(r *Report) {
	if len(r.Alerts) == 0 {
		return
	}
	p.heading(alertsHeading)
	tell, quiet := audited(r, p.opt.Verbose)
	for _, s := range tell {
		p.para("  - ", s)
	}
	if quiet > 0 {
		p.para("  ", quietAlerts(quiet))
	}
}
