package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
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
)

// viewer builds a view; quotes are shared among nodes.
type viewer struct {
	out   view
	files map[string]int
	known map[parse.Pos]int
	types map[string]int
	base  int64
}

func viewOf(r *Report) view {
	v := &viewer{files: map[string]int{}, known: map[parse.Pos]int{}, types: map[string]int{}}
	v.out.Nodes, v.out.Types, v.out.Files = []viewNode{}, []string{}, []string{}
	for i := range r.Nodes {
		v.out.Nodes = append(v.out.Nodes, v.node(&r.Nodes[i]))
	}
	return v.out
}

func (v *viewer) node(n *Node) viewNode {
	v.base = n.Window.Start
	out := viewNode{Name: titleOf(n), Base: float64(v.base) / 1e6,
		Span: [2]float64{0, math.Max(v.ms(n.Window.End), 1)}, Threshold: seconds(n.Kubelet.Threshold),
		Episodes: []viewEpisode{}, Ready: v.ready(n), Health: []viewSpan{},
		Age: v.age(n.Node), Relists: v.relists(n.Node), Failures: []viewFailure{},
		Sources: v.sources(n.Node), Pods: v.pods(n), Charts: v.charts(n.Node)}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		start := e.Breach
		if start == 0 {
			start = e.FirstReport
		}
		out.Episodes = append(out.Episodes, viewEpisode{v.opt(e.LastStart.At), v.opt(start), v.opt(e.Recovered.At), v.opt(max(e.LastReport, start))})
	}
	for _, h := range n.Health {
		if h.From != 0 {
			out.Health = append(out.Health, viewSpan{F: v.ms(h.From), T: v.opt(h.To), S: string(h.State)})
		}
	}
	out.Requests = v.requests(n.Node)
	out.Runs, out.Gaps, out.Bounded = v.runs(n.Node), v.gaps(n.Node), v.bounded(n.Node)
	for _, f := range n.Failures {
		start := f.End
		if f.Start.Known() {
			start = f.Start.At
		}
		if f.End != 0 {
			out.Failures = append(out.Failures, viewFailure{v.ms(start), v.opt(f.End), Visible(f.Call), Visible(f.Code), Visible(f.Pod), v.quote(f.Evidence)})
		}
	}
	return out
}

// ms is a moment in the node's milliseconds, to the microsecond.
func (v *viewer) ms(at int64) float64 { return float64((at-v.base)/1e3) / 1e3 }

func (v *viewer) opt(at int64) *float64 {
	if at == 0 {
		return nil
	}
	return number(v.ms(at))
}

// quote puts the first evidence away and returns its index.
func (v *viewer) quote(es []replay.Evidence) *int {
	if len(es) == 0 || es[0].Record == nil {
		return nil
	}
	return v.record(es[0].Record)
}

func (v *viewer) record(r parse.Record) *int {
	p := r.Where()
	if i, ok := v.known[p]; ok {
		return &i
	}
	path := ""
	if p.File != nil {
		path = Visible(p.File.Path)
	}
	f, ok := v.files[path]
	if !ok {
		f = len(v.out.Files)
		v.files[path] = f
		v.out.Files = append(v.out.Files, path)
	}
	i := len(v.out.Ev.F)
	v.known[p] = i
	v.out.Ev.F = append(v.out.Ev.F, f)
	v.out.Ev.L = append(v.out.Ev.L, p.Line)
	v.out.Ev.X = append(v.out.Ev.X, Quote(r.Quote()))
	return &i
}

// requests are the calls that the runtime logged: what, for which pod, and how
// it ended, if the log tells.
func (v *viewer) requests(n *replay.Node) []viewSpan {
	out := []viewSpan{}
	for _, r := range n.Requests.All() {
		if len(out) == signalsShown || r.Start == 0 && r.End == 0 {
			continue
		}
		s := viewSpan{F: v.ms(cmp.Or(r.Start, r.End)), T: v.opt(r.End), S: requestName(&r), W: Visible(r.Pod), V: v.quote(r.Evidence())}
		if r.Err != "" {
			s.R = true
			s.W = strings.TrimPrefix(s.W+": "+Visible(cut(r.Err, 200)), ": ")
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b viewSpan) int { return cmp.Compare(a.F, b.F) })
	return out
}

func requestName(r *replay.Request) string {
	if r.Sandbox {
		return r.Op + " sandbox"
	}
	return r.Op + " container"
}

// runs are the lives of the kubelet process.
func (v *viewer) runs(n *replay.Node) []viewSpan {
	out := []viewSpan{}
	for i := range n.Runs {
		r := &n.Runs[i]
		from := r.First
		if r.Start.Known() {
			from = r.Start.At
		}
		if from == 0 {
			continue
		}
		s := viewSpan{F: v.ms(from), T: v.opt(r.Last), W: Visible(r.Version), V: v.quote(r.Evidence)}
		if r.PID > 0 {
			s.S = fmt.Sprint(r.PID)
		}
		out = append(out, s)
	}
	return out
}

func (v *viewer) gaps(n *replay.Node) []viewSpan {
	out := []viewSpan{}
	for _, g := range n.Gaps {
		if g.From != 0 && g.To > g.From {
			out = append(out, viewSpan{F: v.ms(g.From), T: v.opt(g.To), W: Visible(g.Why), V: v.quote(g.Evidence)})
		}
	}
	return out
}

// bounded are the stretches in which relists ran that no line dates.
func (v *viewer) bounded(n *replay.Node) []viewBounded {
	out := []viewBounded{}
	for _, b := range n.Bounded {
		if b.From != 0 && b.To > b.From && b.CountMax > 0 {
			out = append(out, viewBounded{v.ms(b.From), v.ms(b.To), b.CountMin, b.CountMax, b.Long, seconds(b.Sum), v.quote(b.Evidence)})
		}
	}
	return out
}

func (v *viewer) ready(n *Node) []viewSpan {
	out := []viewSpan{}
	for i, c := range n.Ready {
		s := viewSpan{F: v.ms(c.At), R: c.Ready, W: Visible(c.Reason), V: v.quote([]replay.Evidence{c.Evidence})}
		if i+1 < len(n.Ready) {
			s.T = v.opt(n.Ready[i+1].At)
		}
		out = append(out, s)
	}
	return out
}

// age is the curve of the age of the last relist that listed pods: straight
// lines between the relists of the ledger, broken where it holds none.
func (v *viewer) age(n *replay.Node) [][2]*float64 {
	out := [][2]*float64{}
	zero := 0.0
	add := func(at int64, age *float64) { out = append(out, [2]*float64{v.opt(at), age}) }
	var last int64
	for i := range n.Relists {
		r := &n.Relists[i]
		if r.Listed == nil || !*r.Listed || !r.Start.Known() {
			continue
		}
		seen := r.Start.At
		if r.ListEnd.Known() {
			seen = r.ListEnd.At
		}
		if last != 0 {
			switch end := recoveredBetween(n, last, seen); {
			case end != 0: // a relist that no line dates ended the episode
				add(end, number(float64(end-last)/1e9))
				add(end, nil)
			case float64(seen-last)/1e9 > seconds(n.Kubelet.Threshold)/4 && !inEpisode(n, last, seen):
				add(last, nil) // nothing proves that no relist ran in between
			default:
				add(seen, number(float64(seen-last)/1e9))
			}
		}
		add(seen, &zero)
		if lag := float64(seen-r.Start.At) / 1e9; lag > 0 {
			out[len(out)-1][1] = &lag
		}
		last = r.Start.At
	}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if !e.LastStart.Known() || e.LastStart.At < last || e.LastReport <= last {
			continue
		}
		end := max(e.LastReport, e.Recovered.At)
		add(end, number(float64(end-e.LastStart.At)/1e9))
		if e.Recovered.Known() {
			add(end, &zero)
		}
	}
	return out
}

// recoveredBetween is when the episode that began with the relist at from was
// over, if that was clearly before the next relist that the ledger holds.
func recoveredBetween(n *replay.Node, from, to int64) int64 {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if at := e.Recovered.At; e.Recovered.Known() && at > from && at+int64(e.Recovered.Slack)+1e9 < to && e.LastStart.At >= from-1e9 && e.LastStart.At < to {
			return max(at, e.LastReport)
		}
	}
	return 0
}

func inEpisode(n *replay.Node, from, to int64) bool {
	for i := range n.Episodes {
		e := &n.Episodes[i]
		if e.LastStart.At >= from-1e9 && e.LastStart.At < to || e.Breach > from && e.Breach < to {
			return true
		}
	}
	return false
}

var outcomeIndex = map[replay.Outcome]int{replay.OutcomeOK: 0, replay.OutcomeListFailed: 1, replay.OutcomeHung: 2, replay.OutcomeUnknown: 3}

func (v *viewer) relists(n *replay.Node) viewRelists {
	out := viewRelists{S: []float64{}, E: []*float64{}, U: []float64{}, D: []float64{}, O: []int{}, B: []string{}, V: []*int{}}
	for i := range n.Relists {
		r := &n.Relists[i]
		if !r.Start.Known() {
			continue
		}
		out.S = append(out.S, v.ms(r.Start.At))
		out.E = append(out.E, v.opt(r.End.At))
		out.U = append(out.U, seconds(r.Start.Slack))
		out.D = append(out.D, seconds(r.End.Slack))
		out.O = append(out.O, outcomeIndex[r.Outcome])
		out.B = append(out.B, strings.Join(r.Basis, ", "))
		out.V = append(out.V, v.quote(r.Evidence))
	}
	return out
}

// signalsShown bounds the dots of one source.
const signalsShown = 20000

// sources are the matched lines of everybody but the bulk of the kubelet.
func (v *viewer) sources(n *replay.Node) []viewSource {
	by := map[parse.Source]*viewSource{}
	for _, e := range n.Events {
		if e.Basis == parse.NoTime || bulk(e) {
			continue
		}
		src := e.Origin.Source
		if src == "" {
			src = "other"
		}
		s := by[src]
		if s == nil {
			s = &viewSource{Name: string(src)}
			by[src] = s
		}
		if len(s.T) == signalsShown {
			continue
		}
		s.T = append(s.T, v.ms(e.At))
		s.S = append(s.S, string(rune(max(e.Severity, 'A'))))
		s.I = append(s.I, ids(e.Sigs))
		s.V = append(s.V, v.record(e))
	}
	out := []viewSource{}
	for _, s := range by {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b viewSource) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func bulk(e *parse.Event) bool {
	for _, s := range e.Sigs.Sigs {
		if !s.Bulk {
			return false
		}
	}
	return true
}

func ids(s *parse.SigSet) string {
	var names []string
	for _, g := range s.Sigs {
		names = append(names, g.ID)
	}
	return strings.Join(names, ", ")
}

var statusIndex = map[string]int{"observed": 0, "matched": 1, "missing": 2, "late": 3, "unexpected": 4, "discarded": 5}

// pods are the rows of pod events: those with trouble first, then the busiest.
func (v *viewer) pods(n *Node) []viewPod {
	by := map[string]*viewPod{}
	trouble := map[string]int{}
	for _, e := range n.Audit.Events.All() {
		if e.At == 0 {
			continue
		}
		name := podOf(&e)
		p := by[name]
		if p == nil {
			p = &viewPod{Name: name}
			by[name] = p
		}
		y, ok := v.types[e.Type]
		if !ok {
			y = len(v.out.Types)
			v.types[e.Type] = y
			v.out.Types = append(v.out.Types, Visible(e.Type))
		}
		s := statusIndex[e.Status]
		if s > 1 {
			trouble[name]++
		}
		var lag *float64
		if e.HasLag {
			lag = number(math.Round(seconds(e.Lag)*1e3) / 1e3)
		}
		p.T, p.Y, p.S = append(p.T, v.ms(e.At)), append(p.Y, y), append(p.S, s)
		p.D, p.G, p.V = append(p.D, Visible(cut(e.Data, 16))), append(p.G, lag), append(p.V, v.quote(e.Evidence()))
	}
	out := []viewPod{}
	for _, p := range by {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b viewPod) int {
		return cmp.Or(cmp.Compare(trouble[b.Name], trouble[a.Name]), cmp.Compare(len(b.T), len(a.T)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func podOf(e *replay.PodEvent) string {
	if e.Pod != "" {
		return Visible(e.Pod)
	}
	return Visible(e.PodUID)
}
