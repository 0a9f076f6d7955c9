package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Charts drawn at most, and their height in lines of text.
const (
	maxCharts   = 8
	chartHeight = 8
)

// charts draws one chart a row. All share the axis of time, so that they can be
// read one below the other, and each has its own axis of values.
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

// timeBounds are the first and the last moment of all rows, in Unix ms.
func timeBounds(t *model.QueryResult) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, r := range t.Rows {
		from, to = min(from, r.Samples[0].T), max(to, r.Samples[len(r.Samples)-1].T)
	}
	return from, to
}

// axes are those of one chart: values from lo to hi, moments in Unix ms.
type axes struct {
	lo, hi   float64
	from, to int64
}

// axesOf fits the axis of values to a row; false if it has no number.
func axesOf(r model.QueryRow, from, to int64) (axes, bool) {
	lo, hi := bounds(r)
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-0.5, hi+math.Abs(hi)/10+0.5
	}
	return axes{lo, hi, from, to}, !math.IsNaN(lo)
}

// trace goes along the numbers of a row: x from the left, y from the top, both from
// 0 to 1. Neighbouring samples are joined; where one or more are missing the line
// breaks, because nothing is known.
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

// values are the labels of the axis of values, from the top.
func (a *axes) values() (top, middle, bottom string) {
	return sixDigits(a.hi), sixDigits(a.lo/2 + a.hi/2), sixDigits(a.lo)
}

// times are those of the axis of time, with its date if that is longer than a day.
func (a *axes) times() (first, last string) {
	layout := "15:04:05Z"
	if a.to-a.from > 24*time.Hour.Milliseconds() {
		layout = "2006-01-02 15:04Z"
	}
	return time.UnixMilli(a.from).UTC().Format(layout), time.UnixMilli(a.to).UTC().Format(layout)
}

// canvas is a field of braille characters, each 2 dots wide and 4 high.
type canvas struct {
	w, h  int // in dots
	cells []byte
}

// brailleBit is the dot of U+2800 at column x, row y of a character.
var brailleBit = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// line joins two points with dots.
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

// usualStep is the smallest distance of neighbouring samples.
func usualStep(r model.QueryRow) int64 {
	step := int64(math.MaxInt64 / 2)
	for i := 1; i < len(r.Samples); i++ {
		if d := r.Samples[i].T - r.Samples[i-1].T; d > 0 {
			step = min(step, d)
		}
	}
	return step
}
