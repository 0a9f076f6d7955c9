package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// wideEnough is the width from which a terminal shows all lanes; below it the
// age of the last relist alone has its line.
const wideEnough = 140

// laneGutter is the space for the names of lanes.
const laneGutter = 14

// lane is one row of the timeline in text: a character and a weight a column,
// of marks that share a column the heaviest shows.
type lane struct {
	name   string
	cells  []rune
	weight []int
	colors []text.Colors
}

// laneFrame maps moments to columns.
type laneFrame struct {
	from, to int64
	cols     int
}

func (f laneFrame) lane(name string) *lane {
	l := &lane{name: name, cells: make([]rune, f.cols), weight: make([]int, f.cols), colors: make([]text.Colors, f.cols)}
	for i := range l.cells {
		l.cells[i] = ' '
	}
	return l
}

// column may lie outside the frame.
func (f laneFrame) column(at int64) int {
	return int(math.Floor(float64(at-f.from) / float64(f.to-f.from+1) * float64(f.cols)))
}

// put marks the columns of a span; to 0 is a moment.
func (l *lane) put(f laneFrame, from, to int64, weight int, c rune, color text.Colors) {
	a := f.column(from)
	b := a
	if to > from {
		b = f.column(to)
	}
	for i := max(a, 0); i <= min(b, len(l.cells)-1); i++ {
		if weight > l.weight[i] {
			l.cells[i], l.weight[i], l.colors[i] = c, weight, color
		}
	}
}

func (l *lane) empty() bool {
	return !slices.ContainsFunc(l.cells, func(r rune) bool { return r != ' ' })
}

// line is the lane as text, each run of one colour painted once.
func (l *lane) line(p *printer) string {
	var b strings.Builder
	for i := 0; i < len(l.cells); {
		j := i + 1
		for j < len(l.cells) && slices.Equal(l.colors[j], l.colors[i]) {
			j++
		}
		s := string(l.cells[i:j])
		if l.colors[i] != nil {
			s = p.paint(l.colors[i], s)
		}
		b.WriteString(s)
		i = j
	}
	return strings.TrimRight(b.String(), " ")
}

// timeline draws a node's time: the lanes where the terminal is wide enough,
// else the age of the last relist where that says something.
func (p *printer) timeline(n *Node) {
	w := n.Window
	if w.Start == 0 || w.End-w.Start < int64(n.Kubelet.Threshold)/10 {
		return // an excerpt of a few lines has no shape
	}
	f := laneFrame{w.Start, w.End, p.opt.Width - laneGutter - 2}
	if p.opt.Width < wideEnough {
		if age := newAges(n.Node, f); age.peak >= n.Kubelet.Threshold/4 && age.peak > 0 {
			fmt.Fprintf(p, "  %-*s%s\n", laneGutter, "age", age.lane.line(p))
			p.para("  "+strings.Repeat(" ", laneGutter), age.note())
		}
		return
	}
	fmt.Fprintf(p, "\n  %-*s%s\n", laneGutter, "", p.paint(faint, f.axis()))
	lanes := []*lane{readyLane(n.Node, f), healthLane(n.Node, f)}
	age := newAges(n.Node, f)
	lanes = append(lanes, age.lane, relistLane(n.Node, f), failureLane(n.Node, f), requestLane(n.Node, f), eventLane(n, f))
	lanes = append(lanes, sourceLanes(n.Node, f)...)
	for _, l := range append(lanes, gapLane(n.Node, f)) {
		if !l.empty() {
			fmt.Fprintf(p, "  %-*s%s\n", laneGutter, fit(l.name, laneGutter-1), l.line(p))
		}
	}
	if age.peak > 0 {
		p.para("  "+strings.Repeat(" ", laneGutter), "age "+age.note())
	}
	p.para("  "+strings.Repeat(" ", laneGutter), "─ well  █ not  ▪ relist  ▬ long relist  × list failed  ◆ hung  ~ relists without a date  ! error  ▵ warning  · else  ░ no log")
}

// axis writes times above the columns where they begin.
func (f laneFrame) axis() string {
	span := f.to - f.from
	l, least := "15:04:05", 12
	switch {
	case span > int64(48*time.Hour):
		l, least = "01-02 15:04", 15
	case span > int64(30*time.Minute):
		l, least = "15:04", 9
	}
	step := axisStep(span, f.cols/least)
	var b strings.Builder
	at := 0
	for t := (f.from/step + 1) * step; t <= f.to; t += step {
		col := f.column(t)
		label := "╷" + layout(t, l)
		if col < at || col+len(l)+1 > f.cols {
			continue
		}
		b.WriteString(strings.Repeat(" ", col-at) + label)
		at = col + text.StringWidthWithoutEscSequences(label)
	}
	return b.String()
}

// axisSteps are distances of ticks that people read easily.
var axisSteps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour}

func axisStep(span int64, most int) int64 {
	for _, s := range axisSteps {
		if span/int64(s) <= int64(max(most, 1)) {
			return int64(s)
		}
	}
	return span/int64(max(most, 1)) + 1
}

func readyLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("node Ready")
	for i, c := range n.Ready {
		to := f.to
		if i+1 < len(n.Ready) {
			to = n.Ready[i+1].At
		}
		if c.Ready {
			l.put(f, c.At, to, 1, '─', green)
		} else {
			l.put(f, c.At, to, 2, '█', red)
		}
	}
	return l
}

func healthLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("PLEG")
	for _, h := range n.Health {
		if h.From == 0 {
			continue
		}
		to := h.To
		if to == 0 {
			to = f.to
		}
		switch h.State {
		case replay.Healthy:
			l.put(f, h.From, to, 1, '─', green)
		case replay.Unhealthy:
			l.put(f, h.From, to, 3, '█', red)
		case replay.NeverRelisted, replay.RuntimeDown:
			l.put(f, h.From, to, 2, '▒', yellow)
		}
	}
	return l
}

// relistLane shows of the relists that share a column the worst.
func relistLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("relists")
	for _, b := range n.Bounded {
		if b.CountMax > 0 {
			l.put(f, b.From, b.To, 1, '~', map[bool]text.Colors{true: yellow, false: faint}[b.Long > 0])
		}
	}
	for i := range n.Relists {
		r := &n.Relists[i]
		if !r.Start.Known() {
			continue
		}
		d, _ := r.Duration()
		switch {
		case r.Outcome == replay.OutcomeListFailed:
			l.put(f, r.Start.At, r.End.At, 5, '×', red)
		case r.Outcome == replay.OutcomeHung:
			l.put(f, r.Start.At, r.End.At, 4, '◆', red)
		case d >= replay.LongRelist:
			l.put(f, r.Start.At, r.End.At, 3, '▬', yellow)
		default:
			l.put(f, r.Start.At, r.End.At, 2, '▪', green)
		}
	}
	return l
}

func failureLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("CRI failures")
	for i := range n.Failures {
		x := &n.Failures[i]
		if x.End == 0 {
			continue
		}
		from := x.End
		if x.Start.Known() {
			from = x.Start.At
		}
		l.put(f, from, x.End, 1, '─', yellow)
		l.put(f, x.End, 0, 2, '!', red)
	}
	return l
}

// requestLane is what the runtime logged of its work.
func requestLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("requests")
	for _, r := range n.Requests.All() {
		switch {
		case r.Start == 0 && r.End == 0:
		case r.Err != "":
			l.put(f, cmp.Or(r.Start, r.End), r.End, 3, '!', red)
		case r.End == 0:
			l.put(f, r.Start, 0, 2, '▵', yellow)
		default:
			l.put(f, cmp.Or(r.Start, r.End), r.End, 1, '·', nil)
		}
	}
	return l
}

// eventLane is the pod lifecycle events, those with trouble above the others.
func eventLane(n *Node, f laneFrame) *lane {
	l := f.lane("pod events")
	for _, e := range n.Audit.Events.All() {
		switch e.Status {
		case "missing", "discarded":
			l.put(f, e.At, 0, 3, '!', red)
		case "late", "unexpected":
			l.put(f, e.At, 0, 2, '▵', yellow)
		default:
			l.put(f, e.At, 0, 1, '·', nil)
		}
	}
	return l
}

// sourceLanes are the known messages of each source, by name.
func sourceLanes(n *replay.Node, f laneFrame) []*lane {
	by := map[parse.Source]*lane{}
	var names []parse.Source
	for _, e := range n.Events {
		if e.Basis == parse.NoTime || bulk(e) {
			continue
		}
		l := by[e.Origin.Source]
		if l == nil {
			name := Visible(string(e.Origin.Source))
			if name == "" {
				name = "other"
			}
			l = f.lane(name)
			by[e.Origin.Source] = l
			names = append(names, e.Origin.Source)
		}
		switch e.Severity {
		case 'E', 'F':
			l.put(f, e.At, 0, 3, '!', red)
		case 'W':
			l.put(f, e.At, 0, 2, '▵', yellow)
		default:
			l.put(f, e.At, 0, 1, '·', nil)
		}
	}
	slices.Sort(names)
	var out []*lane
	for _, name := range names {
		out = append(out, by[name])
	}
	return out
}

func gapLane(n *replay.Node, f laneFrame) *lane {
	l := f.lane("no log")
	for _, g := range n.Gaps {
		if g.From != 0 && g.To > g.From {
			l.put(f, g.From, g.To, 1, '░', faint)
		}
	}
	return l
}

// ages is the lane of the age of the last relist: a bar a column, as high as
// the greatest age in it.
type ages struct {
	lane      *lane
	peak      time.Duration
	threshold time.Duration
	at        rune // the lowest bar that reaches the threshold
}

var bars = []rune("▁▂▃▄▅▆▇█")

func newAges(n *replay.Node, f laneFrame) ages {
	a := ages{lane: f.lane("age"), threshold: n.Kubelet.Threshold}
	high := make([]float64, f.cols)
	for i := range high {
		high[i] = -1
	}
	raise := func(col int, v float64) {
		if col >= 0 && col < f.cols && v > high[col] {
			high[col] = v
		}
	}
	v := viewer{base: 0}
	pts := v.age(n)
	for i, p := range pts {
		if p[0] == nil || p[1] == nil {
			continue
		}
		t1, v1 := int64(*p[0]*1e6), *p[1]
		raise(f.column(t1), v1)
		a.peak = max(a.peak, time.Duration(v1*1e9))
		if i == 0 || pts[i-1][1] == nil {
			continue
		}
		t0, v0 := int64(*pts[i-1][0]*1e6), *pts[i-1][1]
		for c := max(f.column(t0), 0); c < min(f.column(t1), f.cols) && v1 > v0; c++ { // the end of a column is where a rising age is greatest
			end := f.from + int64(float64(c+1)/float64(f.cols)*float64(f.to-f.from+1))
			raise(c, v0+(v1-v0)*float64(end-t0)/float64(t1-t0))
		}
	}
	top := max(a.peak, a.threshold).Seconds()
	if top <= 0 {
		return a
	}
	bar := func(v float64) int { return min(int(v/top*float64(len(bars))), len(bars)-1) }
	a.at = bars[bar(a.threshold.Seconds())]
	for c, v := range high {
		if v < 0 {
			continue
		}
		color := green
		if a.threshold > 0 && v >= a.threshold.Seconds() {
			color = red
		}
		a.lane.cells[c], a.lane.colors[c] = bars[bar(v)], color
	}
	return a
}

func (a *ages) note() string {
	s := "of the last relist, at most " + Span(a.peak)
	if a.threshold > 0 {
		s += fmt.Sprintf("; threshold %s at %c", a.threshold, a.at)
	}
	return s
}
