package report

import (
	"encoding/json"
	"io"
	"strconv"
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

func writeAlertJSON(w io.Writer, as []alerts.Audit) error {
	out := struct {
		Alerts []jsonAlert `json:"alerts"`
	}{[]jsonAlert{}}
	for i := range as {
		out.Alerts = append(out.Alerts, alertJSON(&as[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func alertJSON(a *alerts.Audit) jsonAlert {
	j := jsonAlert{Visible(a.Alert), Visible(a.Group), Visible(a.File), Visible(a.Expr), a.For.Seconds(), Visible(a.Severity), string(a.Outcome), Visible(a.Sentence()),
		[]string{}, []jsonFiring{}, []jsonMissed{}}
	for _, r := range a.Reasons {
		j.Reasons = append(j.Reasons, Visible(r))
	}
	for _, m := range a.Missed {
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

// audited splits the alerts into those that are worth a sentence and the number
// of others: built-in ones that had no reason to fire and did not.
func audited(r *Report, all bool) (tell []string, quiet int) {
	for i := range r.Alerts {
		a := &r.Alerts[i]
		if !all && a.File == alerts.BuiltinFile && a.Outcome != alerts.Fired && len(a.Missed) == 0 {
			quiet++
			continue
		}
		tell = append(tell, Visible(a.Sentence()))
	}
	return tell, quiet
}

// alertsHeading stands over the audit of alerts.
const alertsHeading = "Would an alert have told"

// quietAlerts counts the alerts of which nothing is told.
func quietAlerts(n int) string {
	return plural(n, "alert") + " did not fire, and had no unhealthy PLEG to tell of"
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
