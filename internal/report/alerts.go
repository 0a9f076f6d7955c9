package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// AlertFormats returns the output formats of query --alerts, bound to as.
func AlertFormats(as *model.AlertList) []Format {
	return []Format{
		{"text", ".txt", "one alert a paragraph", func(w io.Writer, _ *model.Report, o Options) error { return writeAlertText(w, as.Alerts, o) }},
		{"json", ".json", "one object", func(w io.Writer, _ *model.Report, _ Options) error { return encodeLine(w, as) }},
	}
}

func writeAlertText(w io.Writer, as []model.Alert, o Options) error {
	p := newPrinter(w, o)
	for i := range as {
		a := &as[i]
		p.para(fmt.Sprintf("%-6s ", a.Outcome), a.Sentence)
		for k, f := range a.Firings {
			if k == 5 && !o.Verbose {
				p.para("         ", fmt.Sprintf("and %d more firings", len(a.Firings)-k))
				break
			}
			peak, _ := strconv.ParseFloat(f.Peak, 64) // valid: we wrote it
			p.para("         ", layout(f.From, time.DateTime)+" UTC to "+untilWords(f.From, f.To)+", peak "+quantity(peak, ""))
			for _, name := range slices.Sorted(maps.Keys(f.Annotations)) {
				p.para("           ", name+": "+f.Annotations[name])
			}
		}
	}
	return p.Flush()
}

// alertsTold summarizes the audit of the alerts. Unless all is set, a built-in alert gets its own
// sentence only if it fired or is the first that missed something. The others that missed something
// are listed by name; those that stayed silent correctly or had no data are counted.
func alertsTold(r *model.Report, all bool) Section {
	s := Section{Title: "Would alerts have fired?"}
	var too []string
	silent, quiet := false, 0
	for i := range r.Alerts {
		a := &r.Alerts[i]
		switch {
		case all || !a.Builtin || a.Outcome == string(alerts.Fired):
			s.Notes = append(s.Notes, a.Sentence)
		case len(a.Missed)+len(a.Hangs) == 0 || a.Sightless:
			quiet++
		case silent:
			too = append(too, a.Alert)
		default:
			s.Notes = append(s.Notes, a.Sentence)
			silent = true
		}
	}
	if len(too) > 0 {
		s.Notes = append(s.Notes, strings.Join(too, ", ")+" would not have fired either")
	}
	if quiet > 0 {
		s.Notes = append(s.Notes, parse.Plural(quiet, "alert")+" stayed silent correctly or had too little data")
	}
	return s
}

// across lists what nodes have in common.
func across(r *model.Report) Section {
	s := Section{Title: "Across nodes"}
	for i := range r.Correlations {
		s.Notes = append(s.Notes, r.Correlations[i].Summary)
	}
	return s
}

// problems lists up to most problems of the inputs.
func problems(r *model.Report, most int) Section {
	s := Section{Title: "Input problems"}
	for i := range r.Warnings {
		if i == most {
			s.Notes = append(s.Notes, "and "+parse.Plural(len(r.Warnings)-i, "more problem"))
			break
		}
		s.Notes = append(s.Notes, r.Warnings[i].String())
	}
	return s
}
