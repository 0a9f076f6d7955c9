package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Maximum number of charts, and the height of one in lines of text.
const (
	maxCharts   = 8
	chartHeight = 8
)

// charts draws one chart per row. All share the time axis, so that they can be compared; each has
// its own value axis.
func (p *printer) charts(t *model.QueryResult) {
	if t.Data.Type != "matrix" {
		p.para("", "a chart needs a range: give --start, --end or --step")
		return
	}
	from, to := timeBounds(t)
	for i, r := range t.Rows {
		if i == maxCharts {
			fmt.Fprintf(p, "\nand %d more series\n", len(t.Rows)-i)
			break
		}
		fmt.Fprintf(p, "\n%s\n%s\n", r.Name, strings.Join(drawChart(r, from, to, min(max(p.opt.Width-14, 20), 160)), "\n"))
	}
}

// timeBounds returns the first and the last time of all rows, in Unix ms.
func timeBounds(t *model.QueryResult) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, r := range t.Rows {
		from, to = min(from, r.Samples[0].T), max(to, r.Samples[len(r.Samples)-1].T)
	}
	return from, to
}

// axes are the axes of one chart: values from lo to hi, times from from to to in Unix ms.
type axes struct {
	lo, hi   float64
	from, to int64
}

// axesOf scales the value axis to a row. It returns false if the row has no number.
func axesOf(r model.QueryRow, from, to int64) (axes, bool) {
	lo, hi := bounds(r)
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-0.5, hi+math.Abs(hi)/10+0.5
	}
	return axes{lo, hi, from, to}, !math.IsNaN(lo)
}

// trace visits the numbers of a row: x from the left, y from the top, both from 0 to 1. joined
// reports whether the point is connected to the previous one: the line breaks where a sample is
// missing.
func (a *axes) trace(r model.QueryRow, draw func(x, y float64, joined bool)) {
	step := usualStep(r)
	last, joined := int64(0), false
	for _, s := range r.Samples {
		if drawable(s) {
			draw(float64(s.T-a.from)/float64(max(a.to-a.from, 1)), (a.hi/2-s.V/2)/(a.hi/2-a.lo/2), joined && s.T-last <= step*3/2)
			last = s.T
		}
		joined = drawable(s)
	}
}

// values returns the labels of the value axis, from top to bottom.
func (a *axes) values() (top, middle, bottom string) {
	return sixDigits(a.hi), sixDigits(a.lo/2 + a.hi/2), sixDigits(a.lo)
}

// times returns the labels of the time axis, with the date if it spans more than a day.
func (a *axes) times() (first, last string) {
	layout := "15:04:05Z"
	if a.to-a.from > 24*time.Hour.Milliseconds() {
		layout = "2006-01-02 15:04Z"
	}
	return time.UnixMilli(a.from).UTC().Format(layout), time.UnixMilli(a.to).UTC().Format(layout)
}

// canvas is a grid of braille characters, each 2 dots wide and 4 high.
type canvas struct {
	w, h  int // in dots
	cells []byte
}

// brailleBit[y][x] is the bit, relative to U+2800, of the dot in row y and column x of a character.
var brailleBit = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// line draws a line of dots between two points.
func (c *canvas) line(x0, y0, x1, y1 int) {
	n := max(x1-x0, x0-x1, y1-y0, y0-y1, 1)
	for i := 0; i <= n; i++ {
		x, y := x0+(x1-x0)*i/n, y0+(y1-y0)*i/n
		if x >= 0 && x < c.w && y >= 0 && y < c.h {
			c.cells[y/4*(c.w/2)+x/2] |= brailleBit[y%4][x%2]
		}
	}
}

func (c *canvas) row(i int) string {
	var b strings.Builder
	for _, cell := range c.cells[i*c.w/2 : (i+1)*c.w/2] {
		b.WriteRune(rune(0x2800) + rune(cell))
	}
	return b.String()
}

// drawChart returns the lines of one chart.
func drawChart(r model.QueryRow, from, to int64, cols int) []string {
	a, ok := axesOf(r, from, to)
	if !ok {
		return []string{"  no numbers to draw"}
	}
	c := canvas{2 * cols, 4 * chartHeight, make([]byte, cols*chartHeight)}
	lastX, lastY := 0, 0
	a.trace(r, func(x, y float64, joined bool) {
		toX, toY := int(x*float64(c.w-1)), int(y*float64(c.h-1))
		if !joined {
			lastX, lastY = toX, toY
		}
		c.line(lastX, lastY, toX, toY)
		lastX, lastY = toX, toY
	})
	labels := [chartHeight]string{}
	labels[0], labels[chartHeight/2], labels[chartHeight-1] = a.values()
	var out []string
	for i, label := range labels {
		out = append(out, fmt.Sprintf("%12s ┤%s", label, c.row(i)))
	}
	first, last := a.times()
	return append(out, fmt.Sprintf("%14s%s%*s", "", first, max(cols-len(first), len(last)+1), last))
}

// usualStep returns the smallest distance between neighboring samples, in ms.
func usualStep(r model.QueryRow) int64 {
	step := int64(math.MaxInt64 / 2)
	for i := 1; i < len(r.Samples); i++ {
		if d := r.Samples[i].T - r.Samples[i-1].T; d > 0 {
			step = min(step, d)
		}
	}
	return step
}
