package report

import (
	"encoding/json"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/report/timeline"
)

// traceEvent is one event of the Trace Event format, which the Perfetto UI and chrome://tracing
// read. Times are microseconds. A node is a process, a lane a thread.
type traceEvent struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat,omitempty"`
	Ph   string         `json:"ph"` // phase: X complete, i instant, C counter, M metadata
	TS   float64        `json:"ts"`
	Dur  *float64       `json:"dur,omitempty"`
	PID  int            `json:"pid"`
	TID  int            `json:"tid"`
	S    string         `json:"s,omitempty"` // scope of an instant event: t thread
	Args map[string]any `json:"args,omitempty"`
}

// traceMarks is the maximum number of marks per lane, so that a trace stays below about 10 MB per
// node.
const traceMarks = 2000

func writePerfetto(w io.Writer, r *model.Report, _ Options) error {
	t := struct {
		OtherData       map[string]string `json:"otherData"`
		TraceEvents     []traceEvent      `json:"traceEvents"`
		DisplayTimeUnit string            `json:"displayTimeUnit"`
	}{map[string]string{"tool": "plegforensics " + r.Tool.Version, "clock": "UTC, microseconds since 1970"}, []traceEvent{}, "ms"}
	for i, n := range r.Nodes {
		b := traceBuilder{pid: i + 1, end: n.Window.End}
		b.node(n)
		t.TraceEvents = append(t.TraceEvents, b.events...)
	}
	return encodeLine(w, &t)
}

type traceBuilder struct {
	pid    int
	tid    int        // last thread ID assigned
	end    model.Time // where open spans end
	events []traceEvent
}

func (b *traceBuilder) node(n *model.Node) {
	b.events = append(b.events, traceEvent{Name: "process_name", Ph: "M", PID: b.pid, Args: map[string]any{"name": orNode(n.Name)}})
	if notes := n.History.Notes; len(notes) > 0 {
		b.events = append(b.events, traceEvent{Name: "process_labels", Ph: "M", PID: b.pid, Args: map[string]any{"labels": strings.Join(notes, "; ")}})
	}
	for _, l := range timeline.Lanes(n, traceMarks) {
		if len(l.Marks) > 0 {
			b.lane(l)
		}
	}
	b.counters(n)
}

// track begins a thread. Viewers show threads sorted by their index.
func (b *traceBuilder) track(name string) int {
	b.tid++
	b.events = append(b.events, traceEvent{Name: "thread_name", Ph: "M", PID: b.pid, TID: b.tid, Args: map[string]any{"name": name}},
		traceEvent{Name: "thread_sort_index", Ph: "M", PID: b.pid, TID: b.tid, Args: map[string]any{"sort_index": b.tid}})
	return b.tid
}

// lane puts marks on tracks. Viewers drop slices that overlap without being nested, so such marks
// get a further track; relists need one if their uncertain times make them overlap. A relist is
// drawn as long as it is known to have run.
func (b *traceBuilder) lane(l timeline.Lane) {
	name := map[bool]string{true: "pod "}[l.Kind == timeline.Event] + l.Name
	tracks := []int{b.track(name)}
	ends := []model.Time{0}
	for i := range l.Marks {
		m := &l.Marks[i]
		from, to := m.Start, m.To(b.end)
		k := 0
		if m.Kind == timeline.Relist && !m.Open {
			to = max(from, m.Ran)
			if m.Seconds != nil {
				to = from + model.Time(*m.Seconds*1e9)
			}
		}
		for ; to > from && k < len(ends) && ends[k] > from; k++ {
		}
		if k == len(ends) {
			tracks, ends = append(tracks, b.track(name)), append(ends, 0)
		}
		ends[k] = max(ends[k], to)
		e := traceEvent{Name: phrase(m, 0), Cat: m.Kind, Ph: "i", S: "t", TS: micros(from), PID: b.pid, TID: tracks[k], Args: markArgs(m)}
		if to > from {
			e.Ph, e.S, e.Dur = "X", "", new(micros(to-from))
		}
		b.events = append(b.events, e)
	}
}

func micros(at model.Time) float64 { return float64(at) / 1e3 }

// markArgs returns the fields of a mark in the flat formats, except those the event itself states.
func markArgs(m *timeline.Mark) map[string]any {
	args := map[string]any{}
	if told, err := model.Compact(m); err == nil {
		_ = json.Unmarshal(told, &args) // cannot fail: told is an object
	}
	maps.DeleteFunc(args, func(name string, v any) bool {
		return v == nil || v == "" || name == "kind" || name == "start" || name == "end"
	})
	if m.More > 0 {
		args["left_out"] = m.More
	}
	if e := m.Proof.Best(); e != nil {
		args["where"], args["text"] = e.Where(), e.Text
	}
	return args
}

// counters draws the bounds of the age of the last relist, and the metrics.
func (b *traceBuilder) counters(n *model.Node) {
	count := func(name, unit string, at int64, value *float64) {
		if at != 0 && value != nil {
			b.events = append(b.events, traceEvent{Name: name, Ph: "C", TS: micros(model.Time(at)), PID: b.pid, Args: map[string]any{unit: *value}})
		}
	}
	for _, a := range n.History.Ages() {
		for _, end := range []struct {
			at        int64
			low, high time.Duration
		}{{a.From, a.Low0, a.High0}, {a.To, a.Low1, a.High1}} {
			count("age of last relist, at least (s)", "seconds", end.at, new(end.low.Seconds()))
			count("age of last relist, at most (s)", "seconds", end.at, model.Long(end.high))
		}
	}
	for _, c := range n.History.Curves() {
		unit := map[string]string{"s": "seconds", "/s": "per second", "%": "percent", "": "value"}[c.Unit]
		name := c.Name + map[string]string{"s": " (s)", "/s": " (1/s)", "%": " (%)"}[c.Unit]
		for _, p := range c.Points {
			count(name, unit, p.At, model.Number(p.Value))
		}
	}
}

// orNode returns the name of a node, or says that none was recognized.
func orNode(name string) string {
	if name == "" || name == "unknown" {
		return "node (name not recognized)"
	}
	return name
}
