package replay

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// PodEvents is a list of pod lifecycle events.
type PodEvents = List[PodEvent]

// eventRow is a pod lifecycle event, packed. What it has in common with the life
// of its container stands there, and its pod in its line.
type eventRow struct {
	line   int32 // of the kubelet, index into Node.Events; else ^index into the missing
	data   parse.Sym
	typ    eventType
	status eventStatus
	lagged bool // the audit measured how late it was
}

// eventType is the type of an event as a number.
type eventType uint8

const (
	typeOther eventType = iota // a word that is not in eventTypes
	typeNone
	typeStarted
	typeDied
)

var eventTypes = [...]string{typeNone: "", typeStarted: string(pleg.ContainerStarted), typeDied: string(pleg.ContainerDied)}

// eventStatus is the status of an event as a number.
type eventStatus uint8

const (
	statusObserved eventStatus = iota
	statusMatched
	statusLate
	statusUnexpected
	statusMissing
	statusDiscarded
)

var eventStatuses = [...]string{StatusObserved, StatusMatched, StatusLate, StatusUnexpected, StatusMissing, StatusDiscarded}

// eventTable holds the pod events of a node: first those observed, in time
// order, then what the audit adds to them.
type eventTable struct {
	lines    []*parse.Event
	syms     *parse.Symbols
	rows     []eventRow
	observed int
	missing  []missingEvent
	odd      map[int32]parse.Sym // types by row, where they are typeOther
	lives    *lives              // what the audit held them against, nil before it
	fields   *parse.Columns      // eventFields, while the node is rebuilt

	plain []*PodEvent
}

// missingEvent is an event of which there is no line.
type missingEvent struct {
	at int64 // when the audit found that it was missing
	of eventPod
}

// eventPod is the pod that an event names.
type eventPod struct {
	pod podID
	uid parse.Sym
}

func newEventTable(lines []*parse.Event, syms *parse.Symbols, n int) *eventTable {
	return &eventTable{lines: lines, syms: syms, rows: make([]eventRow, 0, n), fields: parse.NewColumns(syms, eventFields[:]...)}
}

// eventFields are the fields of a pod event.
var eventFields = [...]string{"pod_ns", "pod_name", "pod_uid", "type", "data"}

// read returns the fields of a line.
func (t *eventTable) read(e *parse.Event) (of eventPod, typ, data parse.Sym) {
	var f [len(eventFields)]parse.Sym
	t.fields.Read(e, f[:])
	return eventPod{podOf(f[0], f[1]), f[2]}, f[3], f[4]
}

// see adds the event of a line.
func (t *eventTable) see(e *parse.Event, i int32, words *eventWords) {
	_, typ, data := t.read(e)
	t.rows = append(t.rows, eventRow{line: i, typ: t.typeOf(typ, words), data: data})
}

// pod is the pod of an observed event.
func (t *eventTable) pod(r *eventRow) eventPod {
	of, _, _ := t.read(t.lines[r.line])
	return of
}

// at is when an event was, Unix ns, 0 unknown.
func (t *eventTable) at(r *eventRow) int64 {
	if r.line < 0 {
		return t.missing[^r.line].at
	}
	if e := t.lines[r.line]; e.Basis != parse.NoTime {
		return e.At
	}
	return 0
}

// miss adds an event of which there is no line.
func (t *eventTable) miss(m missingEvent, typ eventType, data parse.Sym) {
	t.rows = append(t.rows, eventRow{line: ^int32(len(t.missing)), typ: typ, data: data, status: statusMissing})
	t.missing = append(t.missing, m)
}

// list returns the observed events.
func (t *eventTable) list() PodEvents { return PodEvents{from: t, n: t.observed} }

// typeOf numbers the type of the row that comes next.
func (t *eventTable) typeOf(s parse.Sym, words *eventWords) eventType {
	switch s {
	case 0:
		return typeNone
	case words.started:
		return typeStarted
	case words.died:
		return typeDied
	}
	if t.odd == nil {
		t.odd = map[int32]parse.Sym{}
	}
	t.odd[int32(len(t.rows))] = s
	return typeOther
}

// eventWords are the usual types of events.
type eventWords struct{ started, died parse.Sym }

func newEventWords(syms *parse.Symbols) eventWords {
	return eventWords{syms.OfString(eventTypes[typeStarted]), syms.OfString(eventTypes[typeDied])}
}

func (t *eventTable) item(i int) PodEvent {
	r := &t.rows[i]
	e := PodEvent{At: t.at(r), Data: t.syms.Text(r.data), Status: eventStatuses[r.status]}
	switch {
	case r.line < 0:
		of := t.missing[^r.line].of
		e.PodUID, e.Pod = t.syms.Text(of.uid), of.pod.text(t.syms)
	case r.status != statusDiscarded: // whose line names no pod
		f := fields(t.lines[r.line].Fields())
		e.PodUID, e.Pod = f.said("pod_uid"), PodName(f.said("pod_ns"), f.said("pod_name"))
	}
	if r.typ != typeOther {
		e.Type = eventTypes[r.typ]
	} else {
		e.Type = t.syms.Text(t.odd[int32(i)])
	}
	if r.line >= 0 {
		e.Line = t.lines[r.line]
	}
	if r.status != statusObserved && r.status != statusDiscarded {
		t.judged(&e, r)
	}
	return e
}

// judged adds what the audit found in the life of what the event is about.
func (t *eventTable) judged(e *PodEvent, r *eventRow) {
	l := t.lives.find(r.data)
	e.Change = t.lives.line(l, r.typ)
	if r.status == statusUnexpected {
		return
	}
	at, _ := t.lives.cause(l, r.typ)
	e.RuntimeTime = at.At
	if r.typ == typeDied {
		e.ExitCode = t.lives.exitCode(l)
	}
	if r.lagged {
		e.Lag, e.HasLag = max(time.Duration(e.At-at.At), 0), true
	}
}

func (t *eventTable) whole() []*PodEvent {
	if t.plain == nil {
		t.plain = wholeOf(len(t.rows), t.item)
	}
	return t.plain
}
