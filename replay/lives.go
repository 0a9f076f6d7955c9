package replay

import (
	"github.com/plegforensics/plegforensics/parse"
)

// lives is what the runtime's history says of its containers and sandboxes, one
// row for each object of the history.
type lives struct {
	of   *historyTable
	rows []life
	any  bool // the runtime told of at least one
}

// life is one stay of a container or sandbox in the runtime, by the runtime's
// own account. Its moves are indexes into the history plus one, 0 unknown.
type life struct {
	created, started, ended, removed int32
	known                            bool // the runtime tells of it
	restarted                        bool // ran more than once under one id: only its first run is told
	sawStart, sawEnd                 bool // the kubelet reported it
}

// livesOf gathers the runtime's history by object; what only the kubelet told is
// not history to hold the kubelet against.
func livesOf(n *Node) *lives {
	ls := &lives{}
	h, ok := n.History.from.(*historyTable)
	if !ok {
		return ls
	}
	ls.of, ls.rows = h, make([]life, h.objects.n)
	for i := range h.moves {
		if m := &h.moves[i]; m.teller == byRuntime {
			ls.any = true
			ls.move(&ls.rows[m.object], m, int32(i)+1)
		}
	}
	return ls
}

func (ls *lives) move(l *life, m *move, i int32) {
	l.known = true
	switch m.state {
	case stateCreated:
		l.created = i
	case stateRunning:
		l.restarted = l.restarted || ls.at(l.ended).Known()
		if !ls.at(l.started).Known() {
			l.started = i
		}
	case stateExited:
		if !ls.at(l.ended).Known() {
			l.ended = i
		}
	case stateRemoved:
		l.removed = i
		if !ls.at(l.ended).Known() {
			l.ended = i
		}
	}
}

// find returns the life of an id, nil if the runtime tells of none.
func (ls *lives) find(id parse.Sym) *life {
	if ls.of == nil {
		return nil
	}
	if i := ls.of.byID.get(id); i != 0 && ls.rows[i-1].known {
		return &ls.rows[i-1]
	}
	return nil
}

// at is the moment of a move, the zero Instant for none.
func (ls *lives) at(move int32) Instant {
	if move == 0 {
		return Instant{}
	}
	m := &ls.of.moves[move-1]
	return Instant{m.at, m.slack}
}

// cause is the moment of the change that an event reports. It is false when
// the runtime's account of this life leaves no room for such a change.
func (ls *lives) cause(l *life, t eventType) (Instant, bool) {
	switch t {
	case typeStarted:
		started := ls.at(l.started)
		if !started.Known() && ls.at(l.created).Known() && ls.at(l.removed).Known() {
			return Instant{}, false // created and removed, never started
		}
		return started, true
	case typeDied:
		return ls.at(l.ended), true
	}
	return Instant{}, true
}

// line is the runtime's line of the change that an event of a type reports, nil
// if there is none.
func (ls *lives) line(l *life, t eventType) parse.Record {
	move := l.ended
	if t == typeStarted {
		move = l.started
	}
	if move == 0 {
		return nil
	}
	return ls.of.record(ls.of.moves[move-1].line)
}

// exitCode is how a life ended, nil unknown.
func (ls *lives) exitCode(l *life) *int {
	if l.ended == 0 {
		return nil
	}
	return ls.of.exitCode(&ls.of.moves[l.ended-1])
}

// saw reports whether an event of that type was seen.
func (l *life) saw(t eventType) bool {
	return t == typeStarted && l.sawStart || t == typeDied && l.sawEnd
}

func (l *life) see(t eventType) {
	l.sawStart, l.sawEnd = l.sawStart || t == typeStarted, l.sawEnd || t == typeDied
}

// about returns the object that a life is of.
func (ls *lives) about(i int32) *object { return ls.of.objects.at(i) }
