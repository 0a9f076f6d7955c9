package report

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// view is the data of the interactive timeline. Names are short because they repeat. Times are
// milliseconds after the node's base.
type view struct {
	Nodes []viewNode         `json:"nodes"`
	Files []string           `json:"files"`
	Ev    columns[viewQuote] `json:"ev"`
}

// columns are rows encoded by column: one array per field.
type columns[Row any] []Row

// MarshalJSONTo implements json.MarshalerTo.
func (rows columns[Row]) MarshalJSONTo(e *jsontext.Encoder) error {
	out := map[string]any{}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		column := reflect.MakeSlice(reflect.SliceOf(f.Type), len(rows), len(rows))
		for k := range rows {
			column.Index(k).Set(reflect.ValueOf(&rows[k]).Elem().Field(i))
		}
		out[f.Tag.Get("json")] = column.Interface()
	}
	return json.MarshalEncode(e, out)
}

type viewNode struct {
	Name      string                       `json:"name"`
	Base      float64                      `json:"base"` // ms since 1970
	Dated     bool                         `json:"dated"`
	Span      [2]float64                   `json:"span"`
	Threshold float64                      `json:"threshold"` // seconds, 0 if unknown
	First     *int                         `json:"first"`     // the quote to show first
	Episodes  []viewEpisode                `json:"episodes"`
	Marks     map[string]columns[viewMark] `json:"marks"` // by kind
	Age       columns[viewAge]             `json:"age"`
	Bin       float64                      `json:"bin"` // bin width of the source histograms, ms
	Sources   []timeline.Histogram         `json:"sources"`
	Log       columns[viewLine]            `json:"log"`
	Pods      []viewPod                    `json:"pods"`
	Charts    []viewChart                  `json:"charts"`
	Bounded   []viewBounded                `json:"bounded"`
}

type (
	// viewQuote is a quoted line: file index, line number, text.
	viewQuote struct {
		F int    `json:"f"`
		L uint32 `json:"l"`
		X string `json:"x"`
	}
	viewEpisode struct {
		S *float64 `json:"s"` // last relist start
		F *float64 `json:"f"` // breach
		T *float64 `json:"t"` // recovery
		L *float64 `json:"l"` // last report
	}
	// viewMark is a mark of a lane. What the strings mean depends on the kind; see view.js.
	viewMark struct {
		F float64  `json:"f"`
		T *float64 `json:"t"` // end; the end of the input if it is open
		L *float64 `json:"l"` // when the list call of a relist returned
		K *float64 `json:"k"` // duration in seconds; of an event, the lag
		U *float64 `json:"u"` // ± of the start, in seconds
		D *float64 `json:"d"` // ± of the end, in seconds
		S string   `json:"s"` // state
		I string   `json:"i"` // id
		P string   `json:"p"` // pod
		W string   `json:"w"` // detail
		V *int     `json:"v"`
	}
	// viewAge bounds the age of the last relist in a span: the bounds are linear from l0 to l1 and
	// from h0 to h1, in seconds; -1 means no bound.
	viewAge struct {
		F  float64 `json:"f"`
		T  float64 `json:"t"`
		L0 float64 `json:"l0"`
		L1 float64 `json:"l1"`
		H0 float64 `json:"h0"`
		H1 float64 `json:"h1"`
	}
	viewBounded struct {
		F   float64  `json:"f"`
		T   float64  `json:"t"`
		Min int      `json:"min"`
		Max int      `json:"max"`
		N   int      `json:"n,omitempty"` // number of them over 10 s
		S   *float64 `json:"s,omitempty"` // their total duration in seconds
		V   *int     `json:"v"`
	}
	// viewLine is a line of the log pane.
	viewLine struct {
		T float64 `json:"t"`
		S int     `json:"s"` // index of the source
		W int     `json:"w"` // weight
		V int     `json:"v"`
		M int     `json:"m"` // number of similar lines left out
	}
	viewPod struct {
		Name  string            `json:"name"`
		A     [][2]float64      `json:"a"`           // spans in which a container of it ran
		O     bool              `json:"o,omitempty"` // the last of these was still running at the end
		Marks columns[viewMark] `json:"marks"`
	}
	viewChart struct {
		Name string     `json:"name"`
		Unit string     `json:"unit"`
		Gap  float64    `json:"gap"` // the line breaks between samples further apart than this, ms
		T    []float64  `json:"t"`
		V    []*float64 `json:"v"`
		Q    []*int     `json:"q"`
	}
)

const (
	// viewMarks is the maximum number of marks per lane and of lines in the log pane. Beyond that,
	// the marks of the greatest weight represent the others and count them.
	viewMarks = 40_000
	// viewBins is the maximum number of bins of a histogram.
	viewBins = 4_000
)

// viewer builds a view. Nodes share the quotes.
type viewer struct {
	out   view
	files map[string]int
	known map[[2]int]int // index of the quote, by file and line (or offset)
	base  model.Time
	end   model.Time
}

func viewOf(r *model.Report) view {
	v := &viewer{out: view{Nodes: []viewNode{}, Files: []string{}}, files: map[string]int{}, known: map[[2]int]int{}}
	names := map[string]int{}
	for _, n := range r.Nodes {
		x := v.node(n)
		if names[x.Name]++; names[x.Name] > 1 { // the page addresses nodes by name, so names must be unique
			x.Name = fmt.Sprintf("%s #%d", x.Name, names[x.Name])
		}
		v.out.Nodes = append(v.out.Nodes, x)
	}
	return v.out
}

func (v *viewer) node(n *model.Node) viewNode {
	w := reach(n)
	v.base, v.end = w.Start, w.End
	out := viewNode{Name: orNode(n.Name), Base: float64(v.base) / 1e6, Dated: v.base != 0, Threshold: *cmp.Or(n.Kubelet.Threshold, new(0.0)), Span: [2]float64{0, math.Max(v.ms(w.End), 1)}, Episodes: []viewEpisode{},
		Marks: map[string]columns[viewMark]{}, Pods: []viewPod{}, Charts: v.charts(n), Bounded: v.bounded(n.History.Bounded), Age: v.age(n)}
	for i := range n.Episodes {
		e := &n.Episodes[i]
		out.Episodes = append(out.Episodes, viewEpisode{v.opt(e.LastRelistStart), v.opt(e.Start()), v.opt(e.Recovered), v.opt(max(e.LastReport, e.Start()))})
		if out.First == nil {
			out.First = v.quote(e.Evidence)
		}
	}
	lanes := timeline.Lanes(n, viewMarks)
	for _, l := range lanes {
		switch l.Kind {
		case timeline.Event:
			out.Pods = append(out.Pods, v.pod(l))
		case timeline.Line: // part of the log pane
		default:
			out.Marks[l.Kind] = v.marks(l.Marks)
		}
	}
	v.log(&out, n, lanes)
	return out
}

// reach extends the window of a node to what is proven of the time before and after it: the last
// successful relist may precede the first line.
func reach(n *model.Node) model.Window {
	w := n.Window
	see := func(at model.Time) {
		if at != 0 && w.Start != 0 {
			w.Start, w.End = min(w.Start, at), max(w.End, at)
		}
	}
	for i := range n.Episodes {
		see(n.Episodes[i].LastRelistStart)
		see(n.Episodes[i].Recovered)
	}
	n.History.Relists.Each(func(r model.Relist) { see(r.Start); see(r.End) })
	return w
}

func (v *viewer) age(n *model.Node) (out columns[viewAge]) {
	for _, a := range n.History.Ages() {
		if a.High0 < 0 && a.Low1 <= 0 {
			continue // nothing is known
		}
		out = append(out, viewAge{v.ms(model.Time(a.From)), v.ms(model.Time(a.To)), floor(a.Low0), floor(a.Low1), ceil(a.High0), ceil(a.High1)})
	}
	return out
}

// floor and ceil convert a bound to seconds, rounded outward to hundredths so that it stays a
// bound. ceil returns -1 for no bound.
func floor(d time.Duration) float64 { return math.Floor(d.Seconds()*100) / 100 }
func ceil(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return math.Ceil(d.Seconds()*100) / 100
}

func (v *viewer) marks(ms []timeline.Mark) (out columns[viewMark]) {
	for i := range ms {
		m := &ms[i]
		end := m.End
		if m.Open || m.Ran > m.Start {
			end = m.To(v.end)
		}
		out = append(out, viewMark{v.ms(m.Start), v.opt(end), v.opt(m.Listed), m.Seconds, m.StartSlack, m.EndSlack, m.State, shortID(m.ID), m.Pod, m.Detail, v.quote(m.Proof)})
	}
	return out
}

// bounded returns the intervals in which only the number of relists is known, and of some the
// number of long ones.
func (v *viewer) bounded(bs []model.Bounded) []viewBounded {
	out := []viewBounded{}
	for i := range bs {
		if b := &bs[i]; b.Max > 0 && b.From != 0 {
			out = append(out, viewBounded{v.ms(b.From), v.ms(b.To), b.Min, b.Max, b.Long, b.Sum, v.quote(b.Evidence)})
		}
	}
	return out
}

// log fills the histograms of the sources and the lines of the log pane.
func (v *viewer) log(out *viewNode, n *model.Node, lanes []timeline.Lane) {
	width := timeline.Step(v.end.Sub(v.base), viewBins)
	out.Bin = float64(width) / float64(time.Millisecond)
	out.Sources = timeline.Histograms(n, v.base, width)
	shown := map[int]bool{}
	add := func(name string, m *timeline.Mark) {
		q := v.quote(m.Proof)
		if q == nil || m.Start == 0 || shown[*q] {
			return
		}
		i := slices.IndexFunc(out.Sources, func(h timeline.Histogram) bool { return h.Source == name })
		shown[*q] = true
		out.Log = append(out.Log, viewLine{v.ms(m.Start), i, m.Weight(), *q, m.More})
	}
	for _, l := range lanes {
		if l.Kind == timeline.Line {
			for i := range l.Marks {
				add(l.Name, &l.Marks[i])
			}
		}
	}
	for _, m := range timeline.Collect(timeline.Episodes, n) { // lines that report episodes, even if the lanes left them out
		for _, e := range m.Proof.First(quotesShown) {
			add("kubelet", &timeline.Mark{Kind: timeline.Line, State: "E", Start: e.Time, Proof: model.ProofOf(e)})
		}
	}
	slices.SortStableFunc(out.Log, func(a, b viewLine) int { return cmp.Compare(a.T, b.T) })
}

func (v *viewer) pod(l timeline.Lane) viewPod {
	out := viewPod{Name: l.Name, A: v.alive(l.Marks), Marks: v.marks(l.Marks)}
	out.O = len(out.A) > 0 && out.A[len(out.A)-1][1] >= v.ms(v.end)
	return out
}

// alive returns the spans in which, by the events, a container or the sandbox of a pod ran. What
// dies without having started ran since before the input; what does not die runs at its end. A lane
// that leaves out events yields nothing.
func (v *viewer) alive(ms []timeline.Mark) [][2]float64 {
	out := [][2]float64{}
	running, seen := map[string]model.Time{}, map[string]bool{}
	var spans [][2]model.Time
	for i := range ms {
		m := &ms[i]
		if m.More > 0 {
			return out
		}
		switch m.Detail {
		case "ContainerStarted":
			running[m.ID] = m.Start
		case "ContainerDied", "ContainerRemoved":
			from := running[m.ID]
			if from == 0 && !seen[m.ID] {
				from = v.base
			}
			if from != 0 {
				spans = append(spans, [2]model.Time{from, m.Start})
			}
			delete(running, m.ID)
		}
		seen[m.ID] = true
	}
	for _, at := range running {
		spans = append(spans, [2]model.Time{at, v.end})
	}
	slices.SortFunc(spans, func(a, b [2]model.Time) int { return cmp.Compare(a[0], b[0]) })
	for _, s := range spans {
		switch a, b, k := v.ms(s[0]), v.ms(s[1]), len(out); {
		case s[1] < s[0]:
		case k > 0 && a <= out[k-1][1]:
			out[k-1][1] = max(out[k-1][1], b)
		default:
			out = append(out, [2]float64{a, b})
		}
	}
	return out
}

func (v *viewer) charts(n *model.Node) []viewChart {
	out := []viewChart{}
	for _, c := range n.History.Curves() {
		x := viewChart{Name: c.Name, Unit: c.Unit, Gap: model.Seconds(c.Gap) * 1e3}
		for _, p := range c.Points {
			x.T, x.V, x.Q = append(x.T, v.ms(model.Time(p.At))), append(x.V, model.Number(p.Value)), append(x.Q, v.quote(n.History.Cite(p.By)))
		}
		out = append(out, x)
	}
	return out
}

// ms returns milliseconds since the node's base, with microsecond precision.
func (v *viewer) ms(at model.Time) float64 { return float64((at-v.base)/1e3) / 1e3 }

func (v *viewer) opt(at model.Time) *float64 { return model.Given(at != 0, v.ms(at)) }

// quote stores the first piece of evidence and returns its index, nil if there is none.
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
	i := len(v.out.Ev)
	v.known[place] = i
	v.out.Ev = append(v.out.Ev, viewQuote{f, e.Line, e.Text})
	return &i
}
