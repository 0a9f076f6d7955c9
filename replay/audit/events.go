package audit

import (
	"cmp"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// eventStatus is a packed event status.
type eventStatus uint8

const (
	statusObserved eventStatus = iota
	statusMatched
	statusLate
	statusUnexpected
	statusMissing
	statusDiscarded
)

var eventStatuses = [...]string{replay.StatusObserved, replay.StatusMatched, replay.StatusLate, replay.StatusUnexpected, replay.StatusMissing, replay.StatusDiscarded}

// verdict is the result of the audit of one observed event.
type verdict struct {
	status eventStatus
	lagged bool // the audit measured its lag
}

// addedEvent is an event without a "SyncLoop (PLEG)" line.
type addedEvent struct {
	line   int32 // kubelet line about it, index into Records.Events; -1: none
	at     int64 // when its absence was established; used if there is no line
	of     host.EventPod
	data   parse.StringID
	typ    host.EventType
	status eventStatus
}

// judgedEvents holds the observed events of a node with their verdicts, and those that
// the audit added, ordered by time, then by ID. They are sorted on first use, because
// most reports only count them.
type judgedEvents struct {
	table    *host.EventTable
	observed replay.PodEvents // of table, possibly clipped
	lives    *lives
	verdicts []verdict // by row of table
	more     []addedEvent

	order []int32 // rows of table, and ^index into more; nil until sorted
}

func (j *judgedEvents) Count() int { return j.observed.Len() + len(j.more) }

func (j *judgedEvents) Item(i int) replay.PodEvent {
	j.sort()
	k := j.order[i]
	if k < 0 {
		return j.added(&j.more[^k])
	}
	e, v := j.table.Item(int(k)), j.verdicts[k]
	if e.Status = eventStatuses[v.status]; v.status != statusObserved {
		r := &j.table.Rows[k]
		j.judged(&e, r.Data, r.Type, v)
	}
	return e
}

// added unpacks an added event. A line about a dropped event names no pod.
func (j *judgedEvents) added(x *addedEvent) replay.PodEvent {
	text := j.table.Interned.Text
	e := replay.PodEvent{At: j.addedAt(x), Type: x.typ.String(), Data: text(x.data), Status: eventStatuses[x.status],
		PodUID: text(x.of.UID), Pod: x.of.Pod.Text(j.table.Interned)}
	if x.line >= 0 {
		e.Line = j.table.Lines[x.line]
	} else {
		j.judged(&e, x.data, x.typ, verdict{status: x.status})
	}
	return e
}

func (j *judgedEvents) addedAt(x *addedEvent) int64 {
	if x.line < 0 {
		return x.at
	}
	if e := j.table.Lines[x.line]; e.Basis != parse.NoTime {
		return e.At
	}
	return 0
}

// judged adds what the life of the event's container or sandbox shows.
func (j *judgedEvents) judged(e *replay.PodEvent, id parse.StringID, typ host.EventType, v verdict) {
	l := j.lives.find(id)
	e.Change = j.lives.line(l, typ)
	if v.status == statusUnexpected {
		return
	}
	at := j.lives.cause(l, typ)
	if at.Earliest() <= e.At {
		e.RuntimeTime = at.At
	}
	if typ == host.TypeDied && l.ended != 0 {
		e.ExitCode = j.lives.of.ExitCode(&j.lives.of.Moves[l.ended-1])
	}
	if v.lagged {
		e.Lag, e.HasLag = max(time.Duration(e.At-at.At), 0), true
	}
}

func (j *judgedEvents) sort() {
	if j.order != nil {
		return
	}
	j.order = make([]int32, 0, j.Count())
	for i := range j.observed.Len() {
		j.order = append(j.order, int32(j.observed.Row(i)))
	}
	for i := range j.more {
		j.order = append(j.order, ^int32(i))
	}
	at := func(k int32) int64 {
		if k < 0 {
			return j.addedAt(&j.more[^k])
		}
		return j.table.At(&j.table.Rows[k])
	}
	data := func(k int32) parse.StringID {
		if k < 0 {
			return j.more[^k].data
		}
		return j.table.Rows[k].Data
	}
	host.ArrangeTies(j.order, func(x, y int32) int { return cmp.Compare(at(x), at(y)) }, func(x, y int32) int { return j.table.Interned.Compare(data(x), data(y)) })
}
