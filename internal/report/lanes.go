package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// wideEnough is the minimum terminal width for showing all lanes. Narrower terminals show only the
// age of the last relist.
const wideEnough = 140

// laneGutter is the width of the lane names; ageGutter is the width of the label if the age is
// shown alone, among the other labels of the screen.
const laneGutter, ageGutter = 18, gutter + 2

// lane is one row of the text timeline, with a cell per column. Of marks that share a column the
// one of the greatest weight is shown.
type lane struct {
	name  string
	cells []laneCell
}

type laneCell struct {
	char   rune // 0: blank
	weight int
	color  text.Colors
}

// laneFrame maps times to columns.
type laneFrame struct {
	from, to model.Time
	cols     int
}

func (f laneFrame) lane(name string) *lane { return &lane{name, make([]laneCell, f.cols)} }

// column returns the column of a time; it may lie outside the frame.
func (f laneFrame) column(at model.Time) int {
	return int(math.Floor(float64(at-f.from) / float64(f.to-f.from+1) * float64(f.cols)))
}

// put fills the columns of a span; if to is 0, that of from only.
func (l *lane) put(f laneFrame, from, to model.Time, weight int, c rune, color text.Colors) {
	a := f.column(from)
	b := a
	if to > from {
		b = f.column(to)
	}
	for i := max(a, 0); i <= min(b, len(l.cells)-1); i++ {
		if weight > l.cells[i].weight {
			l.cells[i] = laneCell{c, weight, color}
		}
	}
}

// line renders the lane; adjacent cells of one color share an escape sequence.
func (l *lane) line(p *printer) string {
	var b strings.Builder
	for i := 0; i < len(l.cells); {
		color := l.cells[i].color
		var run []rune
		for ; i < len(l.cells) && slices.Equal(l.cells[i].color, color); i++ {
			run = append(run, cmp.Or(l.cells[i].char, ' '))
		}
		if color == nil {
			b.WriteString(string(run))
		} else {
			b.WriteString(p.paint(color, string(run)))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// timeline draws the history of a node: all lanes if the terminal is wide enough, else the age of
// the last relist if that is of interest.
func (p *printer) timeline(n *model.Node) {
	f, drawable := p.frame(n, laneGutter)
	if !drawable || p.opt.Width < wideEnough {
		p.ageLine(n)
		return
	}
	fmt.Fprintf(p, "\n  %-*s%s\n", laneGutter, "", p.paint(faint, f.axis()))
	age := newAges(n, f)
	lanes := []*lane{}
	pods := f.lane("pod events")
	for _, l := range timeline.Lanes(n, 1<<30) {
		switch l.Kind {
		case timeline.Event:
			pods.draw(f, l.Marks)
		case timeline.Episode, timeline.Run:
		default:
			lanes = append(lanes, f.lane(l.Name).draw(f, l.Marks))
		}
		if l.Kind == timeline.Health {
			lanes = append(lanes, age.lane)
		}
	}
	for _, l := range append(lanes, pods) {
		if slices.ContainsFunc(l.cells, func(c laneCell) bool { return c.char != 0 }) {
			fmt.Fprintf(p, "  %-*s%s\n", laneGutter, fit(l.name, laneGutter-1), l.line(p))
		}
	}
	if age.oldest > 0 {
		p.para("  "+strings.Repeat(" ", laneGutter), "age: "+age.note())
	}
	p.para("  "+strings.Repeat(" ", laneGutter), "─ well  █ not  ▪ relist  ▬ long relist  × list failed  ◆ hung  ~ undated relists  ! error  ▵ warning  · else  ░ no log")
}

// frame returns the frame for a node's timeline. It is not drawable if the window is shorter than a
// tenth of the threshold: an excerpt of a few lines has no shape.
func (p *printer) frame(n *model.Node, gutter int) (f laneFrame, drawable bool) {
	w := n.Window
	threshold := *cmp.Or(n.Kubelet.Threshold, new(180.0))
	return laneFrame{w.Start, w.End, max(p.opt.Width-gutter-2, 10)}, w.Start != 0 && model.Seconds(w.End.Sub(w.Start)) >= threshold/10
}

// ageLine draws the age of the last relist if it reaches at least a quarter of the threshold.
func (p *printer) ageLine(n *model.Node) {
	f, drawable := p.frame(n, ageGutter)
	if age := newAges(n, f); drawable && age.oldest > 0 && age.oldest >= age.threshold/4 {
		fmt.Fprintf(p, "  %-*s%s\n", gutter, "age", age.lane.line(p))
		p.clipped("  "+strings.Repeat(" ", gutter), age.note(), 1)
	}
}

// glyphs maps a kind of mark and its weight (1 normal, 2 suspect, 3 bad) to a character.
var glyphs = map[string][3]rune{timeline.Ready: {'─', '▒', '█'}, timeline.Health: {'─', '▒', '█'}, timeline.Bounded: {'~', '▬', '▬'}, timeline.Failed: {'!', '!', '!'},
	timeline.Gap: {'░', '░', '░'}, timeline.Conflict: {'?', '?', '?'}, timeline.Request: {'·', '▵', '!'}, timeline.Event: {'·', '▵', '!'}, timeline.Line: {'·', '▵', '!'}}

// draw puts marks on the lane and returns it.
func (l *lane) draw(f laneFrame, ms []timeline.Mark) *lane {
	for i := range ms {
		m := &ms[i]
		w := m.Weight()
		c, color := glyph(m), []text.Colors{nil, nil, yellow, red}[w]
		switch {
		case m.Kind == timeline.Health && m.State == "unknown":
			continue
		case w == 1 && (m.Kind == timeline.Ready || m.Kind == timeline.Health || m.Kind == timeline.Relist):
			color = green
		case m.Kind == timeline.Gap:
			color = faint
		}
		l.put(f, m.Start, m.To(f.to), w, c, color)
		if m.Kind == timeline.Failed && m.End > m.Start { // the duration of the call, and the moment it failed
			l.put(f, m.Start, m.End-1, 4, '─', yellow)
			l.put(f, m.End, 0, 5, c, color)
		}
	}
	return l
}

func glyph(m *timeline.Mark) rune {
	switch {
	case m.Kind != timeline.Relist:
		return glyphs[m.Kind][m.Weight()-1]
	case m.State == "list-failed":
		return '×'
	case m.State == "hung":
		return '◆'
	case m.Long():
		return '▬'
	}
	return '▪'
}

// axis labels the columns with times.
func (f laneFrame) axis() string {
	span := f.to.Sub(f.from)
	l, narrowest := "15:04:05", 12
	switch {
	case span > 48*time.Hour:
		l, narrowest = "01-02 15:04", 15
	case span > 30*time.Minute:
		l, narrowest = "15:04", 9
	}
	step := model.Time(timeline.Step(span, max(f.cols/narrowest, 1)))
	var b strings.Builder
	at := 0
	for t := (f.from/step + 1) * step; t <= f.to; t += step {
		col := f.column(t)
		label := "╷" + layout(t, l)
		if col < at || col+len(l)+1 > f.cols {
			continue
		}
		b.WriteString(strings.Repeat(" ", col-at) + label)
		at = col + breadth(label)
	}
	return b.String()
}

// ages is the lane that shows the age of the last relist: one bar per column, as high as the proven
// lower bound of the age in it. Where that is next to nothing, ─ means that PLEG is healthy, so the
// age is below the threshold, and · that nothing is known.
type ages struct {
	lane      *lane
	oldest    time.Duration // lower bound of the maximum
	threshold time.Duration // negative if unknown
	at        rune          // the lowest bar that reaches the threshold
}

var bars = []rune("▁▂▃▄▅▆▇█")

func newAges(n *model.Node, f laneFrame) ages {
	a := ages{lane: f.lane("age"), threshold: model.Duration(n.Kubelet.Threshold)}
	low, high := make([]float64, f.cols), slices.Repeat([]float64{-1}, f.cols)
	for _, m := range timeline.Collect(timeline.Healths, n) { // the worst state in a column wins; unknown is worse than healthy
		c := laneCell{'·', m.Weight() + 1, []text.Colors{nil, nil, yellow, red}[m.Weight()]}
		if m.State == "healthy" {
			c = laneCell{'─', 1, green}
		}
		a.lane.put(f, m.Start, m.To(f.to), c.weight, c.char, c.color)
	}
	for _, x := range n.History.Ages() {
		a.oldest = max(a.oldest, x.Low0, x.Low1)
		from, to := model.Time(x.From), model.Time(x.To)
		for c := max(f.column(from), 0); c <= min(f.column(to), f.cols-1); c++ { // a rising age is greatest at the end of a column
			at := min(f.from+model.Time(float64(c+1)/float64(f.cols)*float64(f.to-f.from+1)), to)
			low[c] = max(low[c], x.Low0.Seconds()+(x.Low1-x.Low0).Seconds()*float64(at-from)/float64(max(to-from, 1)))
			if high[c] = max(high[c], x.High0.Seconds(), x.High1.Seconds()); x.High0 < 0 {
				high[c] = math.Inf(1)
			}
		}
	}
	bar := func(v float64) int {
		return min(int(v/max(a.oldest, a.threshold, 1).Seconds()*float64(len(bars))), len(bars)-1)
	}
	a.at = bars[max(bar(a.threshold.Seconds()), 0)]
	for c := range a.lane.cells {
		x := &a.lane.cells[c]
		if x.char = cmp.Or(x.char, '·'); bar(low[c]) > 0 || x.char == '─' && high[c] >= 0 && bar(min(high[c], 1e9)) == 0 {
			x.char = bars[bar(low[c])]
		}
	}
	return a
}

func (a *ages) note() string {
	threshold := ""
	if a.threshold > 0 {
		threshold = fmt.Sprintf("threshold %s at %c; ", Span(a.threshold), a.at)
	}
	return "bars are lower bounds; " + threshold + "─ healthy; · unknown"
}
