package host

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Transition is a state change of a container or pod sandbox that the runtime
// or the relist goroutine itself logged, or that two snapshots prove.
type Transition struct {
	At       Instant
	State    string // created, running, exited, removed
	ExitCode *int
	Src      parse.Source // who tells
	Line     parse.Record // the line or the entry of a listing that tells

	// Subject is what it is about, the same for all its transitions.
	*Subject
}

// Subject is a container or pod sandbox, as far as its records name it.
type Subject struct {
	ID        string
	Sandbox   bool   // a pod sandbox, not a container
	SandboxID string // of a container
	PodUID    string
	PodName   string
	Namespace string
	Name      string // of a container
}

// History is a list of transitions.
type History = List[Transition]

// State of a container or sandbox as a number.
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

// Teller is who tells of a transition, as far as it matters.
type Teller uint8

// Tellers.
const (
	ByRuntime Teller = iota // or by a listing of it
	ByKubelet
	ByNobody // of an unknown source
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

// Move is a transition, packed.
type Move struct {
	At     int64
	Slack  time.Duration
	Line   int32 // that tells: index into Node.Events, or ^index into Node.Containers
	Object int32
	exit   int32 // index of the exit code plus one, 0 for none
	State  State
	Teller Teller
}

// Object is a container or sandbox.
type Object struct {
	ID, sandbox, PodUID, PodName, podNS, name parse.StringID
	IsSandbox                                 bool
}

// Pod is the pod of the object, the zero PodID unknown.
func (o *Object) Pod() PodID { return podOf(o.podNS, o.PodName) }

// learn takes what was not known yet.
func (o *Object) learn(sandbox, podUID, podName, podNS, name parse.StringID) {
	o.sandbox, o.PodUID = cmp.Or(o.sandbox, sandbox), cmp.Or(o.PodUID, podUID)
	o.PodName, o.podNS, o.name = cmp.Or(o.PodName, podName), cmp.Or(o.podNS, podNS), cmp.Or(o.name, name)
}

// Objects are numbered as they come up. There may be any number of them, so they
// stand in pages, which need not be copied as they grow.
type Objects struct {
	pages [][]Object
	N     int
}

const objectPage = 1 << 9

// At is the object of a number.
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
	ByID     ByString[int32] // objects by id, their index plus one
	Objects  Objects
	Moves    []Move
	exits    []int // exit codes, each once
	subject  []*Subject
	plain    []*Transition
}

// object returns the index of the object of an id, which it may create.
func (t *HistoryTable) object(id parse.StringID, sandbox bool) int32 {
	at := t.ByID.At(id)
	if *at == 0 {
		t.Objects.add(Object{ID: id, IsSandbox: sandbox})
		*at = int32(t.Objects.N)
	}
	return *at - 1
}

// settle joins what several sources tell of one change: the runtime's own
// stamp beats its log line, which beats the kubelet's view of it. Moves come by
// time then, and at one time by the id of their object.
func (t *HistoryTable) settle() {
	if !slices.IsSortedFunc(t.Moves, func(a, b Move) int { return cmp.Compare(a.At, b.At) }) {
		// Those of one time as they were read: lines in their order, then the entries of
		// listings, each of which tells of a life.
		slices.SortFunc(t.Moves, func(a, b Move) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.State, b.State))
		})
	}
	last := make([]int32, t.Objects.N) // the object's latest move of those kept, plus one
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

// better joins two tellings of one change.
func better(a, b Move) Move {
	if b.Teller != ByKubelet && (a.Teller == ByKubelet || b.Slack < a.Slack) {
		a, b = b, a
	}
	if a.exit == 0 {
		a.exit = b.exit
	}
	return a
}

// Count is the number of transitions.
func (t *HistoryTable) Count() int { return len(t.Moves) }

// Item makes a transition whole.
func (t *HistoryTable) Item(i int) Transition {
	m := &t.Moves[i]
	x := Transition{At: Instant{m.At, m.Slack}, State: stateNames[m.State], ExitCode: t.ExitCode(m), Line: t.Record(m.Line), Src: parse.SrcKubelet, Subject: t.subjectOf(m.Object)}
	if m.Teller != ByKubelet {
		x.Src = x.Line.From()
	}
	return x
}

// ExitCode is the exit code that a move states, nil for none.
func (t *HistoryTable) ExitCode(m *Move) *int {
	if m.exit == 0 {
		return nil
	}
	return &t.exits[m.exit-1]
}

// Record is the line, or the entry of a listing, that tells of a move.
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

// Whole makes all transitions whole; each call returns the same.
func (t *HistoryTable) Whole() []*Transition {
	if t.plain == nil {
		subjects := make([]*Subject, t.Objects.N)
		for i := range subjects {
			subjects[i] = t.subjectOf(int32(i))
		}
		t.subject = subjects
		t.plain = WholeOf(len(t.Moves), t.Item)
	}
	return t.plain
}
