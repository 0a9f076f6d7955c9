package report

import (
	"fmt"
	"io"
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

// writeCharts draws one chart a row. All share the axis of time, so that they
// can be read one below the other, and each has its own axis of values.
func writeCharts(w io.Writer, t *model.QueryResult, o Options) error {
	e := &errWriter{w: w}
	if t.Data.Type != "matrix" {
		e.printf("a chart needs a range: give --start, --end or --step\n")
		return e.err
	}
	from, to := timeBounds(t)
	for i, r := range t.Rows {
		if i == maxCharts {
			e.printf("\nand %d more series\n", len(t.Rows)-i)
			break
		}
		e.printf("\n%s\n", r.Name)
		for _, line := range drawChart(r, from, to, plotWidth(o)) {
			e.printf("%s\n", line)
		}
	}
	return e.err
}

func plotWidth(o Options) int {
	if o.Width == 0 {
		o.Width = 80
	}
	return min(max(o.Width-14, 20), 160)
}

func timeBounds(t *model.QueryResult) (from, to int64) {
	first := true
	for _, r := range t.Rows {
		for _, s := range r.Samples {
			if first || s.T < from {
				from = s.T
			}
			if first || s.T > to {
				to = s.T
			}
			first = false
		}
	}
	return from, to
}

// canvas is a field of braille characters, each 2 dots wide and 4 high.
type canvas struct {
	w, h  int // in dots
	cells []byte
}

func newCanvas(cols, lines int) *canvas {
	return &canvas{2 * cols, 4 * lines, make([]byte, cols*lines)}
}

// brailleBit is the dot of U+2800 at column x, row y of a character.
var brailleBit = [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (c *canvas) set(x, y int) {
	if x >= 0 && x < c.w && y >= 0 && y < c.h {
		c.cells[y/4*(c.w/2)+x/2] |= brailleBit[y%4][x%2]
	}
}

// line joins two points with dots.
func (c *canvas) line(x0, y0, x1, y1 int) {
	n := max(abs(x1-x0), abs(y1-y0), 1)
	for i := 0; i <= n; i++ {
		c.set(x0+(x1-x0)*i/n, y0+(y1-y0)*i/n)
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func (c *canvas) row(i int) string {
	var b strings.Builder
	for _, cell := range c.cells[i*c.w/2 : (i+1)*c.w/2] {
		b.WriteRune(rune(0x2800) + rune(cell))
	}
	return b.String()
}

// drawChart returns the lines of one chart. Neighbouring samples are joined;
// where one or more are missing the line breaks, because nothing is known.
func drawChart(r model.QueryRow, from, to int64, cols int) []string {
	lo, hi := bounds(r)
	if math.IsNaN(lo) {
		return []string{"  no numbers to draw"}
	}
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-0.5, hi+math.Abs(hi)/10+0.5
	}
	c := newCanvas(cols, chartHeight)
	x := func(t int64) int { return int(float64(t-from) / float64(max(to-from, 1)) * float64(c.w-1)) }
	y := func(v float64) int { return int((hi - v) / (hi - lo) * float64(c.h-1)) }
	step := usualStep(r.Samples)
	var last model.Sample
	joined := false
	for _, s := range r.Samples {
		if !s.Number() {
			joined = false
			continue
		}
		if joined && s.T-last.T <= step*3/2 {
			c.line(x(last.T), y(last.V), x(s.T), y(s.V))
		} else {
			c.set(x(s.T), y(s.V))
		}
		last, joined = s, true
	}
	return frame(c, lo, hi, from, to)
}

// usualStep is the smallest distance of neighbouring samples.
func usualStep(ss []model.Sample) int64 {
	step := int64(math.MaxInt64 / 2)
	for i := 1; i < len(ss); i++ {
		if d := ss[i].T - ss[i-1].T; d > 0 {
			step = min(step, d)
		}
	}
	return step
}

// frame puts the axes around a drawing.
func frame(c *canvas, lo, hi float64, from, to int64) []string {
	var out []string
	for i := range chartHeight {
		label := ""
		switch i {
		case 0:
			label = sixDigits(hi)
		case chartHeight - 1:
			label = sixDigits(lo)
		case chartHeight / 2:
			label = sixDigits((lo + hi) / 2)
		}
		out = append(out, fmt.Sprintf("%12s ┤%s", label, c.row(i)))
	}
	a, b := axisTime(from, to-from), axisTime(to, to-from)
	pad := max(c.w/2-len(a)-len(b), 1)
	return append(out, strings.Repeat(" ", 14)+a+strings.Repeat(" ", pad)+b)
}

// axisTime writes a time with its date if the axis is longer than a day.
func axisTime(ms, span int64) string {
	layout := "15:04:05Z"
	if span > 24*time.Hour.Milliseconds() {
		layout = "2006-01-02 15:04Z"
	}
	return time.UnixMilli(ms).UTC().Format(layout)
}
