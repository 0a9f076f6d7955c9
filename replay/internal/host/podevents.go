package host

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// Event statuses.
const (
	StatusObserved   = "observed"   // seen, and there is no runtime history to hold it against
	StatusMatched    = "matched"    // seen, and the runtime's history explains it
	StatusLate       = "late"       // matched, but more than LateAfter after the change
	StatusUnexpected = "unexpected" // seen, but the runtime's history contradicts it
	StatusMissing    = "missing"    // not seen, although every relist schedule that fits the evidence sends it
	StatusDiscarded  = "discarded"  // the kubelet says that it dropped it
)

// PodEvent is one pod lifecycle event, observed or replayed.
type PodEvent struct {
	At          int64
	PodUID      string
	Pod         string // ns/name, "" unknown
	Type        string // ContainerStarted, …
	Data        string // container or sandbox id
	Status      string // observed, matched, missing, late, unexpected, discarded
	RuntimeTime int64  // when it happened in the runtime, 0 unknown
	Lag         time.Duration
	HasLag      bool
	ExitCode    *int
	Line        parse.Record // the kubelet's line, nil for what is missing
	Change      parse.Record // the runtime's line about the change, nil if none is known
}

// Evidence returns the lines that prove the event, or its absence.
func (e *PodEvent) Evidence() []Evidence {
	var out []Evidence
	if e.Line != nil {
		out = append(out, Evidence{Record: e.Line})
	}
	if e.Change != nil {
		note := map[string]string{
			StatusMissing:    "the runtime tells of the change that no event reports",
			StatusUnexpected: "the runtime says that this happened only later",
		}[e.Status]
		out = append(out, Evidence{e.Change, note})
	}
	return out
}

// PodEvents is a list of pod lifecycle events.
type PodEvents = List[PodEvent]

// EventRow is an observed pod lifecycle event, packed. Its pod stands in its line.
type EventRow struct {
	Line int32 // index into Records.Events
	Data parse.StringID
	Type EventType
}

// EventType is the type of an event as a number.
type EventType uint8

// Types.
const (
	TypeOther EventType = iota // a word that is not in eventTypes
	TypeNone
	TypeStarted
	TypeDied
)

var eventTypes = [...]string{TypeNone: "", TypeStarted: string(pleg.ContainerStarted), TypeDied: string(pleg.ContainerDied)}

// String is the type as the kubelet writes it, "" for the types that have no number.
func (t EventType) String() string { return eventTypes[t] }

// EventTable holds the pod events of a node that the kubelet logged, in time
// order, those of no time first.
type EventTable struct {
	Lines    []*parse.Event
	Interned *parse.StringTable
	Rows     []EventRow
	odd      map[int32]parse.StringID // types by row, where they are TypeOther
	fields   *parse.Columns           // eventFields
	types    map[parse.StringID]EventType

	plain []*PodEvent
}

// EventPod is the pod that an event names.
type EventPod struct {
	Pod PodID
	UID parse.StringID
}

// NewEventTable returns a table with room for n events of the given lines.
func NewEventTable(lines []*parse.Event, interned *parse.StringTable, n int) *EventTable {
	t := &EventTable{Lines: lines, Interned: interned, Rows: make([]EventRow, 0, n), fields: parse.NewColumns(interned, eventFields[:]...), odd: map[int32]parse.StringID{}}
	t.types = map[parse.StringID]EventType{0: TypeNone, interned.OfString(eventTypes[TypeStarted]): TypeStarted, interned.OfString(eventTypes[TypeDied]): TypeDied}
	return t
}

// EventTableOf returns the rows behind a list of observed events, nil if it is a
// list of other items.
func EventTableOf(l PodEvents) *EventTable {
	t, _ := l.Source().(*EventTable)
	return t
}

// eventFields are the fields of a pod event.
var eventFields = [...]string{"pod_ns", "pod_name", "pod_uid", "type", "data"}

// read returns the fields of a line.
func (t *EventTable) read(e *parse.Event) (of EventPod, typ, data parse.StringID) {
	var f [len(eventFields)]parse.StringID
	t.fields.Read(e, f[:])
	return EventPod{podOf(f[0], f[1]), f[2]}, f[3], f[4]
}

// See adds the event of a line.
func (t *EventTable) See(e *parse.Event, i int32) {
	_, typ, data := t.read(e)
	r := EventRow{Line: i, Type: t.types[typ], Data: data}
	if r.Type == TypeOther {
		t.odd[int32(len(t.Rows))] = typ
	}
	t.Rows = append(t.Rows, r)
}

// Pod is the pod of an observed event.
func (t *EventTable) Pod(r *EventRow) EventPod {
	of, _, _ := t.read(t.Lines[r.Line])
	return of
}

// At is when an event was, Unix ns, 0 unknown.
func (t *EventTable) At(r *EventRow) int64 {
	if e := t.Lines[r.Line]; e.Basis != parse.NoTime {
		return e.At
	}
	return 0
}

// Count is the number of events.
func (t *EventTable) Count() int { return len(t.Rows) }

// Item makes the event of a row whole.
func (t *EventTable) Item(i int) PodEvent {
	r := &t.Rows[i]
	f := Fields(t.Lines[r.Line].Fields())
	e := PodEvent{At: t.At(r), PodUID: f.Said("pod_uid"), Pod: PodName(f.Said("pod_ns"), f.Said("pod_name")),
		Type: r.Type.String(), Data: t.Interned.Text(r.Data), Status: StatusObserved, Line: t.Lines[r.Line]}
	if r.Type == TypeOther {
		e.Type = t.Interned.Text(t.odd[int32(i)])
	}
	return e
}

// Whole makes all events whole; each call returns the same.
func (t *EventTable) Whole() []*PodEvent {
	if t.plain == nil {
		t.plain = WholeOf(len(t.Rows), t.Item)
	}
	return t.plain
}
