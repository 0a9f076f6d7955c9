package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// traceEvent is one event of the Trace Event format that the Perfetto UI and
// chrome://tracing open. Times are microseconds; one process a node, one thread
// a lane.
type traceEvent struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat,omitempty"`
	Ph   string         `json:"ph"` // X complete, i instant, C counter, M metadata
	TS   float64        `json:"ts"`
	Dur  *float64       `json:"dur,omitempty"`
	PID  int            `json:"pid"`
	TID  int            `json:"tid"`
	S    string         `json:"s,omitempty"` // scope of an instant: t thread
	Args map[string]any `json:"args,omitempty"`
}

type trace struct {
	OtherData       map[string]string `json:"otherData"`
	TraceEvents     []traceEvent      `json:"traceEvents"`
	DisplayTimeUnit string            `json:"displayTimeUnit"`
}

// Lanes of a node, as thread ids. Pods follow from lanePods on.
const (
	laneReady = iota + 1
	laneHealth
	laneRelists
	laneFailures
	laneRequests
	laneRuns
	laneGaps
	laneSources = 20 // one a source, by name
	lanePods    = 100
)

func writePerfetto(w io.Writer, r *Report, _ Options) error {
	t := trace{TraceEvents: []traceEvent{}, DisplayTimeUnit: "ms",
		OtherData: map[string]string{"tool": "plegforensics " + r.Version, "clock": "UTC, microseconds since 1970"}}
	for i, n := range r.Nodes {
		b := traceBuilder{pid: i + 1, end: n.Window.End, names: map[int]string{}}
		b.node(&n)
		t.TraceEvents = append(t.TraceEvents, b.events...)
	}
	return encode(w, &t)
}

type traceBuilder struct {
	pid    int
	end    int64 // where open spans end
	events []traceEvent
	spans  []traceEvent // not yet on a track of their own
	names  map[int]string
}

func (b *traceBuilder) node(n *Node) {
	b.meta("process_name", 0, n.Name)
	for i, name := range []string{"node Ready", "PLEG health", "relists", "CRI failures", "runtime requests", "kubelet process", "no log"} {
		b.meta("thread_name", laneReady+i, name)
		b.order(laneReady + i)
	}
	for i, c := range n.Ready {
		to := b.end
		if i+1 < len(n.Ready) {
			to = n.Ready[i+1].At
		}
		name := "NotReady"
		if c.Ready {
			name = "Ready"
		}
		b.span(laneReady, name, "node", c.At, to, proof(map[string]any{"reason": Visible(c.Reason)}, []replay.Evidence{c.Evidence}))
	}
	for _, h := range n.Health {
		b.span(laneHealth, string(h.State), "health", h.From, h.To, nil)
	}
	for i := range n.Relists {
		rl := &n.Relists[i]
		b.span(laneRelists, "relist "+string(rl.Outcome), "relist", rl.Start.At, rl.End.At, proof(map[string]any{
			"start_uncertainty_seconds": seconds(rl.Start.Slack), "basis": rl.Basis, "end_known": rl.End.Known()}, rl.Evidence))
	}
	for _, f := range n.Failures {
		start := f.End
		if f.Start.Known() {
			start = f.Start.At
		}
		b.span(laneFailures, Visible(f.Call)+" "+Visible(f.Code), "cri", start, f.End, proof(map[string]any{"pod": Visible(f.Pod), "object": Visible(f.ObjectID())}, f.Evidence))
	}
	for _, r := range n.Requests.All() {
		b.span(laneRequests, requestName(&r), "runtime", cmp.Or(r.Start, r.End), cmp.Or(r.End, r.Start), proof(map[string]any{
			"pod": Visible(r.Pod), "id": Visible(r.ID), "error": Visible(cut(r.Err, 200)), "end_known": r.End != 0}, r.Evidence()))
	}
	for i := range n.Bounded {
		x := &n.Bounded[i]
		if x.CountMax > 0 {
			b.span(laneRelists, "relists without a date", "relist", x.From, x.To, proof(map[string]any{"count_min": x.CountMin, "count_max": x.CountMax, "long": x.Long}, x.Evidence))
		}
	}
	for i := range n.Runs {
		r := &n.Runs[i]
		from := r.First
		if r.Start.Known() {
			from = r.Start.At
		}
		b.span(laneRuns, "kubelet", "process", from, r.Last, proof(map[string]any{"pid": r.PID, "version": Visible(r.Version)}, r.Evidence))
	}
	for i := range n.Gaps {
		g := &n.Gaps[i]
		b.span(laneGaps, "no log: "+g.Why, "gap", g.From, max(g.To, g.From), proof(nil, g.Evidence))
	}
	b.sources(n.Node)
	b.pods(n.Node)
	b.pack()
	b.counters(n.Node)
}

// sources are the known messages, a lane for each source.
func (b *traceBuilder) sources(n *replay.Node) {
	var names []parse.Source
	for _, e := range n.Events {
		if e.Basis != parse.NoTime && !bulk(e) && !slices.Contains(names, e.Origin.Source) {
			names = append(names, e.Origin.Source)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		b.meta("thread_name", laneSources+i, cmp.Or(string(name), "other"))
		b.order(laneSources + i)
	}
	for _, e := range n.Events {
		if e.Basis != parse.NoTime && !bulk(e) {
			b.instant(laneSources+slices.Index(names, e.Origin.Source), ids(e.Sigs), string(e.Origin.Source), e.At, proof(map[string]any{"severity": string(rune(max(e.Severity, 'I')))}, []replay.Evidence{{Record: e}}))
		}
	}
}

func (b *traceBuilder) pods(n *replay.Node) {
	lanes := map[string]int{}
	for _, e := range auditedEvents(n).All() {
		name := podOf(&e)
		tid, ok := lanes[name]
		if !ok {
			tid = lanePods + len(lanes)
			lanes[name] = tid
			b.meta("thread_name", tid, "pod "+name)
			b.order(tid)
		}
		args := map[string]any{"id": Visible(e.Data), "status": e.Status}
		if e.HasLag {
			args["lag_seconds"] = seconds(e.Lag)
		}
		b.instant(tid, e.Type, "pod", e.At, proof(args, e.Evidence()))
	}
}

// counters draws the age of the last relist and the metrics.
func (b *traceBuilder) counters(n *replay.Node) {
	v := viewer{base: 0, files: map[string]int{}, known: map[parse.Pos]int{}}
	count := func(name, unit string, at, value *float64) {
		if at != nil && value != nil {
			b.events = append(b.events, traceEvent{Name: name, Ph: "C", TS: *at * 1e3, PID: b.pid, Args: map[string]any{unit: *value}})
		}
	}
	for _, p := range v.age(n) {
		count("age of last relist (s)", "seconds", p[0], p[1])
	}
	for _, c := range v.charts(n) {
		unit := map[string]string{" s": "seconds", "/s": "per second", " %": "percent", "": "value"}[c.Unit]
		for i := range c.T {
			count(strings.TrimSpace(c.Name+" "+strings.TrimSpace(c.Unit)), unit, &c.T[i], c.V[i])
		}
	}
}

// order keeps the lanes in the order of their ids, not of their names.
func (b *traceBuilder) order(tid int) { b.sort(tid, tid) }

func (b *traceBuilder) sort(tid, index int) {
	b.events = append(b.events, traceEvent{Name: "thread_sort_index", Ph: "M", PID: b.pid, TID: tid, Args: map[string]any{"sort_index": index}})
}

// laneStep is the distance of the tracks that one lane needs.
const laneStep = 1_000_000

// pack puts spans of one lane that overlap on several tracks: viewers drop what
// overlaps without being nested.
func (b *traceBuilder) pack() {
	slices.SortStableFunc(b.spans, func(x, y traceEvent) int {
		return cmp.Or(cmp.Compare(x.TID, y.TID), cmp.Compare(x.TS, y.TS), cmp.Compare(*y.Dur, *x.Dur))
	})
	var ends []float64
	for i, e := range b.spans {
		if i == 0 || b.spans[i-1].TID != e.TID {
			ends = ends[:0]
		}
		k := slices.IndexFunc(ends, func(end float64) bool { return end <= e.TS })
		if k < 0 {
			if k = len(ends); k > 0 {
				b.meta("thread_name", e.TID+k*laneStep, b.names[e.TID])
				b.sort(e.TID+k*laneStep, e.TID)
			}
			ends = append(ends, 0)
		}
		ends[k] = e.TS + *e.Dur
		e.TID += k * laneStep
		b.events = append(b.events, e)
	}
}

func (b *traceBuilder) meta(kind string, tid int, name string) {
	b.names[tid] = name
	b.events = append(b.events, traceEvent{Name: kind, Ph: "M", PID: b.pid, TID: tid, Args: map[string]any{"name": Visible(name)}})
}

func (b *traceBuilder) span(tid int, name, cat string, from, to int64, args map[string]any) {
	if from == 0 {
		return
	}
	if to == 0 {
		to = max(b.end, from)
	}
	dur := float64(to-from) / 1e3
	b.spans = append(b.spans, traceEvent{Name: name, Cat: cat, Ph: "X", TS: float64(from) / 1e3, Dur: &dur, PID: b.pid, TID: tid, Args: args})
}

func (b *traceBuilder) instant(tid int, name, cat string, at int64, args map[string]any) {
	if at != 0 {
		b.events = append(b.events, traceEvent{Name: Visible(name), Cat: cat, Ph: "i", S: "t", TS: float64(at) / 1e3, PID: b.pid, TID: tid, Args: args})
	}
}

// proof adds the first quoted line to the arguments of an event.
func proof(args map[string]any, es []replay.Evidence) map[string]any {
	if args == nil {
		args = map[string]any{}
	}
	if len(es) > 0 && es[0].Record != nil {
		args["where"] = Visible(es[0].Where().String())
		args["text"] = Quote(es[0].Quote())
	}
	return args
}
