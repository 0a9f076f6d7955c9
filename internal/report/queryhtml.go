package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

//go:embed html/query.tmpl
var querySource string

var queryPage = template.Must(template.New("query").Parse(querySource))

// maxPlots is the maximum number of plots on a page. The table has all series.
const maxPlots = 24

// queryPlot is the plot of one series. All plots share the time axis.
type queryPlot struct {
	Name, Label         string
	Path                string // "" if the series has no number
	Top, Middle, Bottom string
	From, To            string
}

// queryView is the data of the template.
type queryView struct {
	Section
	StyleHash string
	Style     template.HTML
	Plots     []queryPlot
}

// writeQueryHTML writes a page without scripts: a plot for each series of a range, and a table.
func writeQueryHTML(w io.Writer, t *model.QueryResult) error {
	v := queryView{Section: querySection(t), StyleHash: StyleHash(), Style: Style()}
	if t.Data.Type == "matrix" {
		from, to := timeBounds(t)
		for _, r := range t.Rows[:min(len(t.Rows), maxPlots)] {
			v.Plots = append(v.Plots, plotOf(r, from, to))
		}
		if n := len(t.Rows) - maxPlots; n > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%d more series are not drawn; the table has them", n))
		}
	}
	return queryPage.Execute(w, v)
}

// The plot area, in units of the template's view box.
const (
	plotLeft, plotRight = 110, 990
	plotTop, plotBottom = 10, 190
)

func plotOf(r model.QueryRow, from, to int64) queryPlot {
	a, ok := axesOf(r, from, to)
	p := queryPlot{Name: r.Name}
	p.From, p.To = a.times()
	if !ok {
		return p
	}
	lo, hi := bounds(r)
	p.Label = fmt.Sprintf("%s, from %s to %s", r.Name, sixDigits(lo), sixDigits(hi))
	p.Top, p.Middle, p.Bottom = a.values()
	var b strings.Builder
	a.trace(r, func(x, y float64, joined bool) {
		format := "M%.1f %.1fh0" // h0 makes a dot if no line follows
		if joined {
			format = "L%.1f %.1f"
		}
		fmt.Fprintf(&b, format, plotLeft+x*(plotRight-plotLeft), plotTop+y*(plotBottom-plotTop))
	})
	p.Path = b.String()
	return p
}
