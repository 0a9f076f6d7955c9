package report

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
	"github.com/plegforensics/plegforensics/replay/age"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TestLanes: a wide terminal shows all lanes within its width, a narrow one only the age.
func TestLanes(t *testing.T) {
	r := fixture("worker-3", 400)
	draw := func(width int) string {
		var out bytes.Buffer
		if err := writeTimelineText(&out, fill(r), Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	wide := draw(200)
	for _, lane := range []string{"node Ready", "PLEG", "age", "relists", "CRI failures", "pod events", "kubelet", "kernel", "containerd", "no log"} {
		if !regexp.MustCompile(`(?m)^  ` + lane + ` +\S`).MatchString(wide) {
			t.Errorf("no lane %q in\n%s", lane, wide)
		}
	}
	for _, mark := range []string{"─", "█", "▪", "×", "◆", "~", "!", "▵", "░"} {
		if !strings.Contains(wide, mark) {
			t.Errorf("no mark %q", mark)
		}
	}
	for _, line := range strings.Split(wide, "\n") {
		if text.StringWidthWithoutEscSequences(line) > 200 {
			t.Errorf("too wide: %s", line)
		}
	}
	narrow := draw(80)
	if strings.Contains(narrow, "node Ready ") || !strings.Contains(narrow, "  age  ") {
		t.Errorf("a narrow terminal shows\n%s", narrow)
	}
}

// TestAge: the bars rise to the peak, and the bar named in the note is the first one past the
// threshold.
func TestAge(t *testing.T) {
	n := fill(fixture("worker-3", 1)).Nodes[0]
	f := laneFrame{n.Window.Start, n.Window.End, 90}
	a := newAges(n, f)
	if got, want := a.oldest.Seconds(), 240.0; got < want-2 || got > want+2 {
		t.Errorf("peak %v s, want about %v", got, want)
	}
	relists := slices.Collect(iter.Seq[model.Relist](n.History.Relists))
	last := -1
	for c, bar := range a.lane.cells {
		at := f.from + model.Time(float64(c)/90*float64(f.to-f.from))
		if at <= relists[0].Start || at >= n.Episodes[0].Recovered-1e10 {
			continue
		}
		i := strings.IndexRune(string(bars), bar.char)
		if i < last {
			t.Errorf("the age falls at column %d: %s", c, a.lane.line(&printer{}))
		}
		last = i
	}
	if a.at != '▇' {
		t.Errorf("threshold at %c", a.at)
	}
}

// TestRan: a relist that hung is drawn as long as it is known to have run, even if its end is
// unknown.
func TestRan(t *testing.T) {
	const from, minute = model.Time(1e18), model.Time(60e9)
	n := &model.Node{History: &model.History{Relists: model.Seq[model.Relist](slices.Values([]model.Relist{{Start: from, Outcome: "hung", Least: time.Minute}, {Start: from + 9*minute, Outcome: "unknown"}}))}}
	marks := timeline.Collect(timeline.Relists, n)
	if a, b := marks[0].To(from+20*minute), marks[1].To(from+20*minute); a != from+minute || b != from+9*minute {
		t.Errorf("drawn to %s and %s", a, b)
	}
	v := viewer{out: view{}, files: map[string]int{}, known: map[[2]int]int{}, base: from}
	drawn := v.marks(marks)
	if end := drawn[0].T; end == nil || *end != 60e3 {
		t.Errorf("on the page to %v", end)
	}
	if drawn[1].T != nil {
		t.Error("an end that nobody knows")
	}
}

// TestAxis: labels do not touch at any span.
func TestAxis(t *testing.T) {
	for _, span := range []int64{1e9, 60e9, 600e9, 3600e9, 86400e9, 30 * 86400e9} {
		f := laneFrame{1772366400e9 + 123456789, model.Time(1772366400e9 + 123456789 + span), 180}
		axis := f.axis()
		if strings.Count(axis, "╷") < 1 || span > 1e9 && strings.Count(axis, "╷") < 3 || text.StringWidthWithoutEscSequences(axis) > 180 || strings.Contains(strings.ReplaceAll(axis, "╷", " "), "::") {
			t.Errorf("axis of %d s: %q", span/1e9, axis)
		}
		if regexp.MustCompile(`\d╷`).MatchString(axis) {
			t.Errorf("labels of %d s touch: %q", span/1e9, axis)
		}
	}
}

// TestAgeOfWhatIsUnknown: a column without any knowledge is neither a low bar nor green; a lower
// bound has the color of the health at that time; healthy time without a known age has no bar.
func TestAgeOfWhatIsUnknown(t *testing.T) {
	spans := []age.Span{
		{From: 0, To: 100e9, High0: 180e9, High1: 180e9},                               // healthy, age unknown
		{From: 100e9, To: 200e9, High0: age.Unknown, High1: age.Unknown},               // nothing known
		{From: 200e9, To: 400e9, Low1: 200e9, High0: age.Unknown, High1: age.Unknown},  // a lower bound while health is unknown
		{From: 400e9, To: 500e9, Low0: 200e9, Low1: 300e9, High0: 200e9, High1: 300e9}, // unhealthy
		{From: 500e9, To: 600e9, Low0: 1e9, Low1: 1e9, High0: 2e9, High1: 2e9},         // known to be recent
	}
	h := &model.History{Ages: func() []age.Span { return spans }}
	for i, state := range []string{"healthy", "unknown", "unknown", "unknown", "unhealthy", "healthy"} {
		h.Health = append(h.Health, model.Health{Span: model.Span{From: model.Time(i*100e9 + 1), To: model.Time(i*100e9 + 100e9)}, State: state})
	}
	n := &model.Node{History: h, Window: model.Window{Start: 1, End: 600e9}, Kubelet: model.Kubelet{Threshold: num(180)}}
	var b strings.Builder
	p := newPrinter(&b, Options{Color: true})
	a := newAges(n, laneFrame{1, 600e9, 60})
	got := a.lane.line(p)
	want := p.paint(green, strings.Repeat("─", 10)) + strings.Repeat("·", 10)
	if !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b[0m·\x1b[32m▁") {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
	if strings.Count(got, "\x1b[31;1m") != 1 || !strings.HasSuffix(got, p.paint(green, strings.Repeat("▁", 10))) {
		t.Errorf("%q: one stretch is unhealthy, and the last is healthy and young", got)
	}
	if i := strings.Index(got, "\x1b[31;1m"); !strings.ContainsAny(got[len(want):i], "▃▄▅") || strings.Contains(got[len(want):i], "\x1b") {
		t.Errorf("%q: a lower bound of an unknown time has no colour", got[len(want):i])
	}
}
