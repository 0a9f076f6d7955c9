package host

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// Event statuses.
const (
	StatusObserved   = "observed"   // seen; no runtime history to compare with
	StatusMatched    = "matched"    // seen, and explained by the runtime's history
	StatusLate       = "late"       // matched, but later than LateAfter after the change
	StatusUnexpected = "unexpected" // seen, but contradicted by the runtime's history
	StatusMissing    = "missing"    // not seen, although every relist schedule consistent with the evidence sends it
	StatusDiscarded  = "discarded"  // the kubelet logged that it dropped the event
)

// PodEvent is one pod lifecycle event, observed in the log or expected by the audit.
type PodEvent struct {
	At          int64
	PodUID      string
	Pod         string // ns/name, "" unknown
	Type        string // ContainerStarted, …
	Data        string // container or sandbox ID
	Status      string // one of the Status constants
	RuntimeTime int64  // time of the change in the runtime, Unix ns, 0 unknown
	// Lag is the delay from the change in the runtime to the event; valid if HasLag.
	Lag      time.Duration
	HasLag   bool
	ExitCode *int
	Line     parse.Record // the kubelet's line, nil for a missing event
	Change   parse.Record // the runtime's record of the change, nil if unknown
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

// EventRow is a packed pod lifecycle event from the log. Its pod is read from its line.
type EventRow struct {
	Line int32 // index into Records.Events
	Data parse.StringID
	Type EventType
}

// EventType is a packed event type.
type EventType uint8

// Event types.
const (
	TypeOther EventType = iota // a type that is not in eventTypes
	TypeNone
	TypeStarted
	TypeDied
)

var eventTypes = [...]string{TypeNone: "", TypeStarted: string(pleg.ContainerStarted), TypeDied: string(pleg.ContainerDied)}

// String returns the type as the kubelet writes it, "" for TypeOther and TypeNone.
func (t EventType) String() string { return eventTypes[t] }

// EventTable holds the pod events of a node that the kubelet logged, in time order,
// undated ones first.
type EventTable struct {
	Lines    []*parse.Event
	Interned *parse.StringTable
	Rows     []EventRow
	odd      map[int32]parse.StringID // type by row, for rows with TypeOther
	fields   *parse.Columns           // reads eventFields
	types    map[parse.StringID]EventType
}

// EventPod is the pod named by an event.
type EventPod struct {
	Pod PodID
	UID parse.StringID
}

// NewEventTable returns an empty table with room for n events of the given lines.
func NewEventTable(lines []*parse.Event, interned *parse.StringTable, n int) *EventTable {
	t := &EventTable{Lines: lines, Interned: interned, Rows: make([]EventRow, 0, n), fields: parse.NewColumns(interned, eventFields[:]...), odd: map[int32]parse.StringID{}}
	t.types = map[parse.StringID]EventType{0: TypeNone, interned.OfString(eventTypes[TypeStarted]): TypeStarted, interned.OfString(eventTypes[TypeDied]): TypeDied}
	return t
}

// EventTableOf returns the table behind a list of observed events, nil if the list has
// another source.
func EventTableOf(l PodEvents) *EventTable {
	t, _ := l.Source().(*EventTable)
	return t
}

// eventFields are the fields of a pod event.
var eventFields = [...]string{"pod_ns", "pod_name", "pod_uid", "type", "data"}

// read returns the fields of a pod event's line.
func (t *EventTable) read(e *parse.Event) (of EventPod, typ, data parse.StringID) {
	var f [len(eventFields)]parse.StringID
	t.fields.Read(e, f[:])
	return EventPod{podOf(f[0], f[1]), f[2]}, f[3], f[4]
}

// See adds the event of line e, which has index i in Lines.
func (t *EventTable) See(e *parse.Event, i int32) {
	_, typ, data := t.read(e)
	r := EventRow{Line: i, Type: t.types[typ], Data: data}
	if r.Type == TypeOther {
		t.odd[int32(len(t.Rows))] = typ
	}
	t.Rows = append(t.Rows, r)
}

// Pod returns the pod of an observed event.
func (t *EventTable) Pod(r *EventRow) EventPod {
	of, _, _ := t.read(t.Lines[r.Line])
	return of
}

// At returns the time of an event in Unix ns, 0 if unknown.
func (t *EventTable) At(r *EventRow) int64 {
	if e := t.Lines[r.Line]; e.Basis != parse.NoTime {
		return e.At
	}
	return 0
}

// EventTime returns the time of event i of a list, 0 if unknown, without unpacking the event.
func EventTime(l PodEvents, i int) int64 {
	if t := EventTableOf(l); t != nil {
		return t.At(&t.Rows[l.Row(i)])
	}
	return l.Item(i).At
}

// Count returns the number of events.
func (t *EventTable) Count() int { return len(t.Rows) }

// Item unpacks the event in row i.
func (t *EventTable) Item(i int) PodEvent {
	r := &t.Rows[i]
	of := t.Pod(r)
	e := PodEvent{At: t.At(r), PodUID: t.Interned.Text(of.UID), Pod: of.Pod.Text(t.Interned),
		Type: r.Type.String(), Data: t.Interned.Text(r.Data), Status: StatusObserved, Line: t.Lines[r.Line]}
	if r.Type == TypeOther {
		e.Type = t.Interned.Text(t.odd[int32(i)])
	}
	return e
}
