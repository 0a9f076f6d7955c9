package report

import (
	"math"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// view is the data of the interactive timeline, column by column: names are
// short because they repeat. Times are milliseconds after the node's base.
type view struct {
	Nodes []viewNode `json:"nodes"`
	Files []string   `json:"files"`
	Types []string   `json:"types"`
	Ev    viewQuotes `json:"ev"`
}

// viewQuotes are quoted lines: file index, line, text.
type viewQuotes struct {
	F []int    `json:"f"`
	L []uint32 `json:"l"`
	X []string `json:"x"`
}

type viewNode struct {
	Name      string        `json:"name"`
	Base      float64       `json:"base"` // ms since 1970
	Span      [2]float64    `json:"span"`
	Threshold float64       `json:"threshold"` // seconds
	Episodes  []viewEpisode `json:"episodes"`
	Ready     []viewSpan    `json:"ready"`
	Health    []viewSpan    `json:"health"`
	Age       [][2]*float64 `json:"age"`
	Relists   viewRelists   `json:"relists"`
	Failures  []viewFailure `json:"failures"`
	Sources   []viewSource  `json:"sources"`
	Pods      []viewPod     `json:"pods"`
	Charts    []viewChart   `json:"charts"`
	Requests  []viewSpan    `json:"requests"`
	Runs      []viewSpan    `json:"runs"`
	Gaps      []viewSpan    `json:"gaps"`
	Bounded   []viewBounded `json:"bounded"`
}

type (
	viewEpisode struct {
		S *float64 `json:"s"` // last relist start
		F *float64 `json:"f"` // breach
		T *float64 `json:"t"` // recovery
		L *float64 `json:"l"` // last report
	}
	viewSpan struct {
		F float64  `json:"f"`
		T *float64 `json:"t"`
		S string   `json:"s,omitempty"`
		R bool     `json:"r,omitempty"`
		W string   `json:"w,omitempty"`
		V *int     `json:"v"`
	}
	viewBounded struct {
		F   float64 `json:"f"`
		T   float64 `json:"t"`
		Min int     `json:"min"`
		Max int     `json:"max"`
		N   int     `json:"n,omitempty"` // of them, how many were long
		S   float64 `json:"s,omitempty"` // how long they took together, seconds
		V   *int    `json:"v"`
	}
	viewRelists struct {
		S []float64  `json:"s"`
		E []*float64 `json:"e"`
		U []float64  `json:"u"` // ± of the start, seconds
		D []float64  `json:"d"` // ± of the end
		O []int      `json:"o"`
		B []string   `json:"b"`
		V []*int     `json:"v"`
	}
	viewFailure struct {
		F float64  `json:"f"`
		T *float64 `json:"t"`
		C string   `json:"c"`
		K string   `json:"k"`
		P string   `json:"p,omitempty"`
		V *int     `json:"v"`
	}
	viewSource struct {
		Name string    `json:"name"`
		T    []float64 `json:"t"`
		S    []string  `json:"s"`
		I    []string  `json:"i"`
		V    []*int    `json:"v"`
		M    []int     `json:"m,omitempty"` // like this one, left out
	}
	viewPod struct {
		Name string     `json:"name"`
		T    []float64  `json:"t"`
		Y    []int      `json:"y"`
		S    []int      `json:"s"`
		D    []string   `json:"d"`
		G    []*float64 `json:"g"`
		V    []*int     `json:"v"`
	}
	viewChart struct {
		Name string     `json:"name"`
		Unit string     `json:"unit"`
		Gap  float64    `json:"gap"` // a longer distance of samples breaks the line, ms
		T    []float64  `json:"t"`
		V    []*float64 `json:"v"`
		Q    []*int     `json:"q"`
	}
)

// viewMarks bounds the marks of one lane of the page; of more, those of most
// weight stand for the others and say how many these are.
const viewMarks = 40_000

// viewer builds a view; quotes are shared among nodes.
type viewer struct {
	out   view
	files map[string]int
	known map[[2]int]int // file and line, or offset: the quote
	types map[string]int
	base  model.Time
}

func viewOf(r *model.Report) view {
	v := &viewer{files: map[string]int{}, known: map[[2]int]int{}, types: map[string]int{}}
	v.out.Nodes, v.out.Types, v.out.Files = []viewNode{}, []string{}, []string{}
	for _, n := range r.Nodes {
		v.out.Nodes = append(v.out.Nodes, v.node(n))
	}
	return v.out
}

func (v *viewer) node(n *model.Node) viewNode {
	v.base = n.Window.Start
	out := viewNode{Name: sentenceCase(orNode(n.Name)), Base: float64(v.base) / 1e6, Span: [2]float64{0, math.Max(v.ms(n.Window.End), 1)}, Episodes: []viewEpisode{},
		Ready: []viewSpan{}, Health: []viewSpan{}, Age: [][2]*float64{}, Failures: []viewFailure{}, Sources: []viewSource{}, Pods: []viewPod{},
		Charts: v.charts(n), Requests: []viewSpan{}, Runs: []viewSpan{}, Gaps: []viewSpan{}, Bounded: []viewBounded{},
		Relists: viewRelists{S: []float64{}, E: []*float64{}, U: []float64{}, D: []float64{}, O: []int{}, B: []string{}, V: []*int{}}}
	if t := n.Kubelet.Threshold; t != nil {
		out.Threshold = *t
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		out.Episodes = append(out.Episodes, viewEpisode{v.opt(e.LastRelistStart), v.opt(e.Start()), v.opt(e.Recovered), v.opt(max(e.LastReport, e.Start()))})
	}
	for _, p := range timeline.Age(n) {
		out.Age = append(out.Age, [2]*float64{v.opt(p.At), p.Age})
	}
	for _, l := range timeline.Lanes(n, viewMarks) {
		v.lane(&out, l)
	}
	return out
}

// lane puts the marks of a lane into the columns of their kind.
func (v *viewer) lane(out *viewNode, l timeline.Lane) {
	switch l.Kind {
	case timeline.Line:
		out.Sources = append(out.Sources, v.source(l))
		return
	case timeline.Event:
		out.Pods = append(out.Pods, v.pod(l))
		return
	}
	for i := range l.Marks {
		m := &l.Marks[i]
		s := viewSpan{F: v.ms(m.Start), T: v.opt(m.End), V: v.quote(m.Proof)}
		switch l.Kind {
		case timeline.Ready:
			s.R, s.W = m.State == "true", m.Detail
			out.Ready = append(out.Ready, s)
		case timeline.Health:
			s.S = m.State
			out.Health = append(out.Health, s)
		case timeline.Run:
			s.S, s.W = m.ID, strings.TrimPrefix(strings.TrimPrefix(m.Detail, "kubelet"), " ")
			out.Runs = append(out.Runs, s)
		case timeline.Gap:
			if s.W = m.State; m.End > m.Start {
				out.Gaps = append(out.Gaps, s)
			}
		case timeline.Request:
			s.S, s.W, s.R = m.Detail, m.Pod, m.State == "failed"
			out.Requests = append(out.Requests, s)
		case timeline.Failed:
			out.Failures = append(out.Failures, viewFailure{s.F, s.T, m.ID, m.State, m.Pod, s.V})
		case timeline.Bounded:
			b := viewBounded{F: s.F, T: v.ms(m.End), Min: *m.Min, Max: *m.Max, V: s.V}
			if m.Value != nil {
				b.N, b.S = 1, *m.Value
			}
			out.Bounded = append(out.Bounded, b)
		case timeline.Relist:
			v.relist(&out.Relists, m, s)
		}
	}
}

var outcomeIndex = map[string]int{"ok": 0, "list-failed": 1, "hung": 2, "unknown": 3}

func (v *viewer) relist(out *viewRelists, m *timeline.Mark, s viewSpan) {
	out.S, out.E = append(out.S, s.F), append(out.E, s.T)
	out.U, out.D = append(out.U, orZero(m.StartSlack)), append(out.D, orZero(m.EndSlack))
	out.O, out.B, out.V = append(out.O, outcomeIndex[m.State]), append(out.B, strings.ReplaceAll(m.Detail, " ", ", ")), append(out.V, s.V)
}

func orZero(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func (v *viewer) source(l timeline.Lane) viewSource {
	out := viewSource{Name: l.Name}
	left := false
	for i := range l.Marks {
		m := &l.Marks[i]
		out.T, out.S, out.I = append(out.T, v.ms(m.Start)), append(out.S, m.State), append(out.I, m.ID)
		out.V, out.M = append(out.V, v.quote(m.Proof)), append(out.M, m.More)
		left = left || m.More > 0
	}
	if !left {
		out.M = nil
	}
	return out
}

var statusIndex = map[string]int{"observed": 0, "matched": 1, "missing": 2, "late": 3, "unexpected": 4, "discarded": 5}

func (v *viewer) pod(l timeline.Lane) viewPod {
	out := viewPod{Name: l.Name}
	for i := range l.Marks {
		m := &l.Marks[i]
		y, ok := v.types[m.Detail]
		if !ok {
			y = len(v.out.Types)
			v.types[m.Detail] = y
			v.out.Types = append(v.out.Types, m.Detail)
		}
		var lag *float64
		if m.Seconds != nil {
			s := math.Round(*m.Seconds*1e3) / 1e3
			lag = &s
		}
		out.T, out.Y, out.S = append(out.T, v.ms(m.Start)), append(out.Y, y), append(out.S, statusIndex[m.State])
		out.D, out.G, out.V = append(out.D, model.Cut(m.ID, 16)), append(out.G, lag), append(out.V, v.quote(m.Proof))
	}
	return out
}

func (v *viewer) charts(n *model.Node) []viewChart {
	out := []viewChart{}
	for _, c := range n.History.Charts() {
		x := viewChart{Name: c.Name, Unit: c.Unit, Gap: c.Gap * 1e3, V: c.Value}
		for i, at := range c.At {
			x.T, x.Q = append(x.T, v.ms(at)), append(x.Q, v.quote(c.Evidence(i)))
		}
		out = append(out, x)
	}
	return out
}

// ms is a moment in the node's milliseconds, to the microsecond.
func (v *viewer) ms(at model.Time) float64 { return float64((at-v.base)/1e3) / 1e3 }

func (v *viewer) opt(at model.Time) *float64 {
	if at == 0 {
		return nil
	}
	ms := v.ms(at)
	return &ms
}

// quote puts the first evidence away and returns its index.
func (v *viewer) quote(p model.Proof) *int {
	if p.Len() == 0 {
		return nil
	}
	e := p.At(0)
	f, ok := v.files[e.File]
	if !ok {
		f = len(v.out.Files)
		v.files[e.File] = f
		v.out.Files = append(v.out.Files, e.File)
	}
	place := [2]int{f, int(e.Line)}
	if e.Line == 0 && e.Offset != nil {
		place[1] = -1 - int(*e.Offset)
	}
	if i, ok := v.known[place]; ok {
		return &i
	}
	i := len(v.out.Ev.F)
	v.known[place] = i
	v.out.Ev.F, v.out.Ev.L, v.out.Ev.X = append(v.out.Ev.F, f), append(v.out.Ev.L, e.Line), append(v.out.Ev.X, e.Text)
	return &i
}
