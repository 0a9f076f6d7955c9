package report

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
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

func writeAlertJSON(w io.Writer, as []alerts.Audit) error {
	out := &model.AlertList{Schema: "plegforensics/query/v1", Alerts: []model.Alert{}}
	for i := range as {
		out.Alerts = append(out.Alerts, model.NewCleaner(nil).Alert(&as[i]))
	}
	return Encode(w, out)
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
