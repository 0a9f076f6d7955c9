package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

//go:embed html/query.tmpl
var querySource string

var queryPage = template.Must(template.New("query").Parse(querySource))

// maxPlots is how many series a page draws. The table has all of them.
const maxPlots = 24

// queryPlot is one series over the time that all share.
type queryPlot struct {
	Name, Label         string
	Path                string // "" where there is no number
	Top, Middle, Bottom string
	From, To            string
}

// queryView is what the page of a query shows.
type queryView struct {
	StyleHash, Headline string
	Style               template.HTML
	Notes, Columns      []string
	Plots               []queryPlot
	Rows                [][]string
}

// writeQueryHTML writes one page without scripts: a plot for each series of a
// range, and a table.
func writeQueryHTML(w io.Writer, t *model.QueryResult) error {
	v := queryView{StyleHash: StyleHash(), Style: Style(), Notes: t.Warnings}
	switch {
	case t.Data.Type == "string":
		v.Headline = t.Text
	case len(t.Rows) == 0:
		v.Headline = "no series"
	case t.Data.Type == "matrix":
		v.plots(t)
	default:
		v.values(t)
	}
	return queryPage.Execute(w, v)
}

func (v *queryView) plots(t *model.QueryResult) {
	from, to := timeBounds(t)
	v.Headline = fmt.Sprintf("%s from %s to %s", countSeries(len(t.Rows)), model.MilliTime(from), model.MilliTime(to))
	v.Columns = []string{"series", "samples", "first", "last", "min", "max"}
	for i, r := range t.Rows {
		lo, hi := bounds(r)
		n := len(r.Samples)
		v.Rows = append(v.Rows, []string{r.Name, strconv.Itoa(n), short(r.Samples[0]), short(r.Samples[n-1]), sixDigits(lo), sixDigits(hi)})
		if i < maxPlots {
			v.Plots = append(v.Plots, plotOf(r, from, to))
		}
	}
	if n := len(t.Rows) - maxPlots; n > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%d more series are not drawn; the table has them", n))
	}
}

func (v *queryView) values(t *model.QueryResult) {
	v.Headline = fmt.Sprintf("%s at %s", countSeries(len(t.Rows)), model.MilliTime(t.Rows[0].Samples[0].T))
	v.Columns = []string{"series", "value"}
	for _, r := range t.Rows {
		v.Rows = append(v.Rows, []string{r.Name, r.Samples[0].String()})
	}
}

// The field of a plot in the units of the template's view box.
const (
	plotLeft, plotRight = 110, 990
	plotTop, plotBottom = 10, 190
)

// plotOf draws a series; where samples are missing the line breaks, because
// nothing is known.
func plotOf(r model.QueryRow, from, to int64) queryPlot {
	lo, hi := bounds(r)
	p := queryPlot{Name: r.Name, From: axisTime(from, to-from), To: axisTime(to, to-from)}
	if math.IsNaN(lo) {
		return p
	}
	p.Label = fmt.Sprintf("%s, from %s to %s", r.Name, sixDigits(lo), sixDigits(hi))
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-0.5, hi+math.Abs(hi)/10+0.5
	}
	p.Top, p.Middle, p.Bottom = sixDigits(hi), sixDigits(lo/2+hi/2), sixDigits(lo)
	x := func(t int64) float64 {
		return plotLeft + float64(t-from)/float64(max(to-from, 1))*(plotRight-plotLeft)
	}
	y := func(v float64) float64 { return plotTop + (hi/2-v/2)/(hi/2-lo/2)*(plotBottom-plotTop) }
	var b strings.Builder
	step := usualStep(r.Samples)
	last, joined := int64(0), false
	for _, s := range r.Samples {
		switch {
		case !s.Number():
			joined = false
			continue
		case joined && s.T-last <= step*3/2:
			fmt.Fprintf(&b, "L%.1f %.1f", x(s.T), y(s.V))
		default:
			fmt.Fprintf(&b, "M%.1f %.1fh0", x(s.T), y(s.V)) // a dot, if nothing follows
		}
		last, joined = s.T, true
	}
	p.Path = b.String()
	return p
}

func countSeries(n int) string {
	if n == 1 {
		return "one series"
	}
	return fmt.Sprintf("%d series", n)
}
