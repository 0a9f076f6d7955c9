package host

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/table"
)

// Transition is a state change of a container or pod sandbox, logged by the runtime or
// the relist goroutine, or proven by a listing.
type Transition struct {
	At       Instant
	State    string // created, running, exited, removed
	ExitCode *int
	Src      parse.Source // source of Line
	Line     parse.Record // log line or listing entry

	// Subject is the container or sandbox, shared by all its transitions.
	*Subject
}

// Subject is a container or pod sandbox, as far as its records identify it.
type Subject struct {
	ID        string
	Sandbox   bool   // a pod sandbox, not a container
	SandboxID string // sandbox of a container
	PodUID    string
	PodName   string
	Namespace string
	Name      string // name of a container
}

// History is a list of transitions.
type History = List[Transition]

// State is the state of a container or sandbox.
type State uint8

// States.
const (
	StateNone State = iota
	StateCreated
	StateRunning
	StateExited
	StateRemoved
	StateUnknown
)

var stateNames = [...]string{"", "created", "running", "exited", "removed", "unknown"}

// Teller says which kind of source reported a transition.
type Teller uint8

// Sources of transitions.
const (
	ByRuntime Teller = iota // the runtime, or a listing of its containers
	ByKubelet
	ByNobody // unknown source
)

func tellerOf(s parse.Source) Teller {
	switch s {
	case parse.SrcKubelet:
		return ByKubelet
	case parse.SrcUnknown:
		return ByNobody
	}
	return ByRuntime
}

// Move is a packed transition.
type Move struct {
	At     int64
	Slack  time.Duration
	Line   int32 // source: index into HistoryTable.lines, or ^index into listed
	Object int32
	exit   int32 // index in HistoryTable.exits plus one, 0 for none
	State  State
	Teller Teller
	Stated bool // At is the source's own time of the change; otherwise that of a line, which may be written later
}

// Object is a container or sandbox.
type Object struct {
	ID, sandbox, PodUID, PodName, podNS, name parse.StringID
	IsSandbox                                 bool
}

// Pod returns the pod of the object, the zero PodID if unknown.
func (o *Object) Pod() PodID { return podOf(o.podNS, o.PodName) }

// learn fills in the fields that are still unknown.
func (o *Object) learn(sandbox, podUID, podName, podNS, name parse.StringID) {
	o.sandbox, o.PodUID = cmp.Or(o.sandbox, sandbox), cmp.Or(o.PodUID, podUID)
	o.PodName, o.podNS, o.name = cmp.Or(o.PodName, podName), cmp.Or(o.podNS, podNS), cmp.Or(o.name, name)
}

// Objects holds objects by number, in the order they were added. There may be very
// many, so they are kept in pages, which are not copied when the table grows.
type Objects struct {
	pages [][]Object
	N     int
}

const objectPage = 1 << 9

// At returns the object with number i.
func (t *Objects) At(i int32) *Object { return &t.pages[i/objectPage][i%objectPage] }

func (t *Objects) add(o Object) {
	if t.N%objectPage == 0 {
		t.pages = append(t.pages, make([]Object, 0, objectPage))
	}
	last := &t.pages[len(t.pages)-1]
	*last = append(*last, o)
	t.N++
}

// HistoryTable holds the transitions of a node.
type HistoryTable struct {
	lines    []*parse.Event
	listed   []*parse.Container
	interned *parse.StringTable
	ByID     table.ByString[int32] // number of the object with an ID, plus one
	Objects  Objects
	Moves    []Move
	exits    []int      // distinct exit codes
	subject  []*Subject // by object; nil until share
}

// object returns the number of the object with the ID, creating it if needed.
func (t *HistoryTable) object(id parse.StringID, sandbox bool) int32 {
	at := t.ByID.At(id)
	if *at == 0 {
		t.Objects.add(Object{ID: id, IsSandbox: sandbox})
		*at = int32(t.Objects.N)
	}
	return *at - 1
}

// settle merges repeated reports of the same state of an object: the runtime's own
// timestamp beats its log line, which beats the kubelet's view. Afterwards moves are
// ordered by time, then by the ID of their object.
func (t *HistoryTable) settle() {
	if !slices.IsSortedFunc(t.Moves, func(a, b Move) int { return cmp.Compare(a.At, b.At) }) {
		// Ties keep the order in which they were read: lines first, then listing
		// entries.
		slices.SortFunc(t.Moves, func(a, b Move) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.State, b.State))
		})
	}
	last := make([]int32, t.Objects.N) // by object: index in kept of its latest move, plus one
	kept := t.Moves[:0]
	for _, m := range t.Moves {
		if k := last[m.Object]; k > 0 && kept[k-1].State == m.State {
			kept[k-1] = better(kept[k-1], m)
			continue
		}
		kept = append(kept, m)
		last[m.Object] = int32(len(kept))
	}
	t.Moves = kept
	ArrangeTies(t.Moves, func(a, b Move) int { return cmp.Compare(a.At, b.At) }, func(a, b Move) int {
		if a.Object == b.Object {
			return 0
		}
		return t.interned.Compare(t.Objects.At(a.Object).ID, t.Objects.At(b.Object).ID)
	})
}

func (m *Move) rank() int64 {
	if m.Line < 0 {
		return math.MaxInt32 + 1 + int64(^m.Line)
	}
	return int64(m.Line)
}

// better merges two reports of one change.
func better(a, b Move) Move {
	if b.Teller != ByKubelet && (a.Teller == ByKubelet || b.Slack < a.Slack) {
		a, b = b, a
	}
	a.exit = cmp.Or(a.exit, b.exit)
	return a
}

// Count returns the number of transitions.
func (t *HistoryTable) Count() int { return len(t.Moves) }

// Item unpacks transition i.
func (t *HistoryTable) Item(i int) Transition {
	m := &t.Moves[i]
	x := Transition{At: Instant{m.At, m.Slack}, State: stateNames[m.State], ExitCode: t.ExitCode(m), Line: t.Record(m.Line), Src: parse.SrcKubelet, Subject: t.subjectOf(m.Object)}
	if m.Teller != ByKubelet {
		x.Src = x.Line.From()
	}
	return x
}

// ExitCode returns the exit code that a move states, nil if none.
func (t *HistoryTable) ExitCode(m *Move) *int {
	if m.exit == 0 {
		return nil
	}
	return &t.exits[m.exit-1]
}

// Record returns the log line or listing entry behind a Move.Line.
func (t *HistoryTable) Record(line int32) parse.Record {
	if line < 0 {
		return t.listed[^line]
	}
	return t.lines[line]
}

func (t *HistoryTable) subjectOf(i int32) *Subject {
	if t.subject != nil {
		return t.subject[i]
	}
	o, text := t.Objects.At(i), t.interned.Text
	return &Subject{ID: text(o.ID), Sandbox: o.IsSandbox, SandboxID: text(o.sandbox), PodUID: text(o.PodUID),
		PodName: text(o.PodName), Namespace: text(o.podNS), Name: text(o.name)}
}

// share makes the transitions of an object share its Subject.
func (t *HistoryTable) share() {
	subjects := make([]*Subject, t.Objects.N)
	for i := range subjects {
		subjects[i] = t.subjectOf(int32(i))
	}
	t.subject = subjects
}
