package audit

import (
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// lives is the runtime's history of containers and sandboxes, one row per object of the
// history.
type lives struct {
	of   *host.HistoryTable
	rows []Life
	any  bool // the runtime logged at least one change
}

// Life is the life of one container or sandbox, according to the runtime. created,
// started, ended and removed are indexes into HistoryTable.Moves plus one, 0 unknown.
type Life struct {
	created, started, ended, removed int32
	known                            bool // the runtime reported it
	restarted                        bool // ran more than once under one ID; only its first run is recorded
	sawStart, sawEnd                 bool // the kubelet reported the event
}

// livesOf collects the runtime's history by object. Changes that only the kubelet
// reported are left out: the kubelet is not checked against its own account.
func livesOf(of replay.History) *lives {
	ls := &lives{}
	h, ok := of.Source().(*host.HistoryTable)
	if !ok {
		return ls
	}
	ls.of, ls.rows = h, make([]Life, h.Objects.N)
	for i := range h.Moves {
		if m := &h.Moves[i]; m.Teller == host.ByRuntime {
			ls.any = true
			ls.move(&ls.rows[m.Object], m, int32(i)+1)
		}
	}
	return ls
}

func (ls *lives) move(l *Life, m *host.Move, i int32) {
	l.known = true
	switch m.State {
	case host.StateCreated:
		l.created = i
	case host.StateRunning:
		l.restarted = l.restarted || ls.at(l.ended).Known()
		if !ls.at(l.started).Known() {
			l.started = i
		}
	case host.StateExited:
		if !ls.at(l.ended).Known() {
			l.ended = i
		}
	case host.StateRemoved:
		l.removed = i
		if !ls.at(l.ended).Known() {
			l.ended = i
		}
	}
}

// find returns the life of an ID, nil if the runtime did not report it.
func (ls *lives) find(id parse.StringID) *Life {
	if ls.of == nil {
		return nil
	}
	if i := ls.of.ByID.Get(id); i != 0 && ls.rows[i-1].known {
		return &ls.rows[i-1]
	}
	return nil
}

// at returns the time of a move, the zero Instant for none.
func (ls *lives) at(move int32) replay.Instant {
	if move == 0 {
		return replay.Instant{}
	}
	m := &ls.of.Moves[move-1]
	return replay.Instant{At: m.At, Slack: m.Slack}
}

// earliest returns the earliest moment at which a life can have begun to run or have
// ended, 0 if nothing bounds it. A line about it may be written long after it; but no
// container is started before its creation has returned.
func (ls *lives) earliest(l *Life, t host.EventType) int64 {
	move := l.started
	if t == host.TypeDied {
		move = l.ended
	}
	if move != 0 && ls.of.Moves[move-1].Stated {
		return ls.at(move).Earliest()
	}
	if t == host.TypeDied && l.started != 0 && ls.of.Moves[l.started-1].Stated {
		return ls.at(l.started).Earliest()
	}
	return ls.at(l.created).Earliest()
}

// cause returns the time of the change that an event reports, of a line the latest that
// it can have been; the zero Instant if the runtime's log does not say.
func (ls *lives) cause(l *Life, t host.EventType) replay.Instant {
	switch t {
	case host.TypeStarted:
		return ls.at(l.started)
	case host.TypeDied:
		return ls.at(l.ended)
	}
	return replay.Instant{}
}

// line returns the runtime's record of the change that an event of type t reports, nil
// if there is none.
func (ls *lives) line(l *Life, t host.EventType) parse.Record {
	move := l.ended
	if t == host.TypeStarted {
		move = l.started
	}
	if move == 0 {
		return nil
	}
	return ls.of.Record(ls.of.Moves[move-1].Line)
}

// saw reports whether the kubelet reported an event of type t.
func (l *Life) saw(t host.EventType) bool {
	return t == host.TypeStarted && l.sawStart || t == host.TypeDied && l.sawEnd
}

// about returns the object with index i.
func (ls *lives) about(i int32) *host.Object { return ls.of.Objects.At(i) }
