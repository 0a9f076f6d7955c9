package report

import (
	"io"

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
	TraceEvents     []traceEvent      `json:"traceEvents"`
	DisplayTimeUnit string            `json:"displayTimeUnit"`
	OtherData       map[string]string `json:"otherData"`
}

// Lanes of a node, as thread ids. Pods follow from lanePods on.
const (
	laneReady = iota + 1
	laneHealth
	laneRelists
	laneFailures
	laneSignals
	lanePods = 100
)

func writePerfetto(w io.Writer, r *Report, _ Options) error {
	t := trace{TraceEvents: []traceEvent{}, DisplayTimeUnit: "ms",
		OtherData: map[string]string{"tool": "plegforensics " + r.Version, "clock": "UTC, microseconds since 1970"}}
	for i, n := range r.Nodes {
		b := traceBuilder{pid: i + 1, end: n.Window.End}
		b.node(&n)
		t.TraceEvents = append(t.TraceEvents, b.events...)
	}
	return encode(w, &t)
}

type traceBuilder struct {
	pid    int
	end    int64 // where open spans end
	events []traceEvent
}

func (b *traceBuilder) node(n *Node) {
	b.meta("process_name", 0, n.Name)
	for i, name := range []string{"Node Ready", "PLEG health", "relists", "CRI failures", "signals"} {
		b.meta("thread_name", laneReady+i, name)
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
		b.span(laneFailures, Visible(f.Call)+" "+Visible(f.Code), "cri", start, f.End, proof(map[string]any{"pod": Visible(f.Pod), "object": Visible(f.ObjectID)}, f.Evidence))
	}
	for _, e := range n.Events {
		if e.Basis != parse.NoTime && !bulk(e) {
			b.instant(laneSignals, ids(e.Sigs), string(e.Origin.Source), e.At, proof(nil, []replay.Evidence{{Record: e}}))
		}
	}
	b.pods(n.Node)
	b.counters(n.Node)
}

func (b *traceBuilder) pods(n *replay.Node) {
	lanes := map[string]int{}
	for _, e := range auditedEvents(n) {
		name := podOf(e)
		tid, ok := lanes[name]
		if !ok {
			tid = lanePods + len(lanes)
			lanes[name] = tid
			b.meta("thread_name", tid, "pod "+name)
		}
		args := map[string]any{"id": Visible(e.Data), "status": e.Status}
		if e.HasLag {
			args["lag_seconds"] = seconds(e.Lag)
		}
		b.instant(tid, e.Type, "pod", e.At, proof(args, e.Evidence))
	}
}

// counters draws the age of the last relist.
func (b *traceBuilder) counters(n *replay.Node) {
	v := viewer{base: 0}
	for _, p := range v.age(n) {
		if p[0] != nil && p[1] != nil {
			b.events = append(b.events, traceEvent{Name: "age of last relist (s)", Ph: "C", TS: *p[0] * 1e3, PID: b.pid, Args: map[string]any{"seconds": *p[1]}})
		}
	}
}

func (b *traceBuilder) meta(kind string, tid int, name string) {
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
	b.events = append(b.events, traceEvent{Name: name, Cat: cat, Ph: "X", TS: float64(from) / 1e3, Dur: &dur, PID: b.pid, TID: tid, Args: args})
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
