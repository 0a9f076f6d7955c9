package replay

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// History is a list of transitions.
type History = List[Transition]

// state of a container or sandbox as a number.
type state uint8

const (
	stateNone state = iota
	stateCreated
	stateRunning
	stateExited
	stateRemoved
	stateUnknown
)

var stateNames = [...]string{"", "created", "running", "exited", "removed", "unknown"}

// teller is who tells of a transition, as far as it matters.
type teller uint8

const (
	byRuntime teller = iota // or by a listing of it
	byKubelet
	byNobody // of an unknown source
)

func tellerOf(s parse.Source) teller {
	switch s {
	case parse.SrcKubelet:
		return byKubelet
	case parse.SrcUnknown:
		return byNobody
	}
	return byRuntime
}

// move is a transition, packed.
type move struct {
	at     int64
	slack  time.Duration
	line   int32 // that tells: index into Node.Events, or ^index into Node.Containers
	object int32
	exit   int32 // index of the exit code plus one, 0 for none
	state  state
	teller teller
}

// object is a container or sandbox.
type object struct {
	id, sandbox, podUID, podName, podNS, name parse.Sym
	isSandbox                                 bool
}

func (o *object) pod() podID { return podOf(o.podNS, o.podName) }

// learn takes what was not known yet.
func (o *object) learn(sandbox, podUID, podName, podNS, name parse.Sym) {
	o.sandbox, o.podUID = cmp.Or(o.sandbox, sandbox), cmp.Or(o.podUID, podUID)
	o.podName, o.podNS, o.name = cmp.Or(o.podName, podName), cmp.Or(o.podNS, podNS), cmp.Or(o.name, name)
}

// objects are numbered as they come up. There may be any number of them, so they
// stand in pages, which need not be copied as they grow.
type objects struct {
	pages [][]object
	n     int
}

const objectPage = 1 << 9

func (t *objects) at(i int32) *object { return &t.pages[i/objectPage][i%objectPage] }

func (t *objects) add(o object) {
	if t.n%objectPage == 0 {
		t.pages = append(t.pages, make([]object, 0, objectPage))
	}
	last := &t.pages[len(t.pages)-1]
	*last = append(*last, o)
	t.n++
}

// historyTable holds the transitions of a node.
type historyTable struct {
	lines   []*parse.Event
	listed  []*parse.Container
	syms    *parse.Symbols
	byID    bySym[int32] // objects by id, their index plus one
	objects objects
	moves   []move
	exits   []int // exit codes, each once
	subject []*Subject
	plain   []*Transition
}

// object returns the index of the object of an id, which it may create.
func (t *historyTable) object(id parse.Sym, sandbox bool) int32 {
	at := t.byID.at(id)
	if *at == 0 {
		t.objects.add(object{id: id, isSandbox: sandbox})
		*at = int32(t.objects.n)
	}
	return *at - 1
}

// settle joins what several sources tell of one change: the runtime's own
// stamp beats its log line, which beats the kubelet's view of it. Moves come by
// time then, and at one time by the id of their object.
func (t *historyTable) settle() {
	if !slices.IsSortedFunc(t.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) }) {
		slices.SortFunc(t.moves, asRead)
	}
	last := make([]int32, t.objects.n) // the object's latest move of those kept, plus one
	kept := t.moves[:0]
	for _, m := range t.moves {
		if k := last[m.object]; k > 0 && kept[k-1].state == m.state {
			kept[k-1] = better(kept[k-1], m)
			continue
		}
		kept = append(kept, m)
		last[m.object] = int32(len(kept))
	}
	t.moves = kept
	t.sortByTime()
}

// asRead orders moves by time, those of one time as they were read: lines in
// their order, then the entries of listings, each of which tells of a life.
func asRead(a, b move) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.state, b.state))
}

func (m *move) rank() int64 {
	if m.line < 0 {
		return math.MaxInt32 + 1 + int64(^m.line)
	}
	return int64(m.line)
}

// better joins two tellings of one change.
func better(a, b move) move {
	if b.teller != byKubelet && (a.teller == byKubelet || b.slack < a.slack) {
		a, b = b, a
	}
	if a.exit == 0 {
		a.exit = b.exit
	}
	return a
}

// sortByTime sorts the moves by time and id; those of one object at one time
// stay as they are. Most are in order but for a few at the same moment.
func (t *historyTable) sortByTime() {
	byTime := func(a, b move) int { return cmp.Compare(a.at, b.at) }
	byID := func(a, b move) int {
		if a.object == b.object {
			return 0
		}
		return t.syms.Compare(t.objects.at(a.object).id, t.objects.at(b.object).id)
	}
	arrange(t.moves, byTime)
	for i := 0; i < len(t.moves); {
		j := i + 1
		for j < len(t.moves) && t.moves[j].at == t.moves[i].at {
			j++
		}
		arrange(t.moves[i:j], byID)
		i = j
	}
}

func (t *historyTable) list() History { return History{from: t, n: len(t.moves)} }

func (t *historyTable) item(i int) Transition {
	return t.transition(i, t.subjectOf(t.moves[i].object))
}

func (t *historyTable) transition(i int, about *Subject) Transition {
	m := &t.moves[i]
	x := Transition{At: Instant{m.at, m.slack}, State: stateNames[m.state], Line: t.record(m.line), Src: parse.SrcKubelet, Subject: about}
	if m.teller != byKubelet {
		x.Src = x.Line.From()
	}
	x.ExitCode = t.exitCode(m)
	return x
}

func (t *historyTable) exitCode(m *move) *int {
	if m.exit == 0 {
		return nil
	}
	return &t.exits[m.exit-1]
}

// record is the line, or the entry of a listing, that tells of a move.
func (t *historyTable) record(line int32) parse.Record {
	if line < 0 {
		return t.listed[^line]
	}
	return t.lines[line]
}

func (t *historyTable) subjectOf(i int32) *Subject {
	if t.subject != nil {
		return t.subject[i]
	}
	o, text := t.objects.at(i), t.syms.Text
	return &Subject{ID: text(o.id), Sandbox: o.isSandbox, SandboxID: text(o.sandbox), PodUID: text(o.podUID),
		PodName: text(o.podName), Namespace: text(o.podNS), Name: text(o.name)}
}

func (t *historyTable) whole() []*Transition {
	if t.plain == nil {
		subjects := make([]*Subject, t.objects.n)
		for i := range subjects {
			subjects[i] = t.subjectOf(int32(i))
		}
		t.subject = subjects
		t.plain = wholeOf(len(t.moves), t.item)
	}
	return t.plain
}
