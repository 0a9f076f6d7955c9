package replay

import (
	"fmt"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// LateAfter is the lag beyond which an event counts as late. A healthy kubelet
// reports a change within a relist period and the relist itself; ten periods
// is what a pod's owner notices.
const LateAfter = 10 * time.Second

// beginAudit compares the events that the reference PLEG must have produced from
// the runtime's history with the "SyncLoop (PLEG)" lines. It accuses nobody
// falsely: what only some relist schedules would have produced, or what the
// log's verbosity hides, is not missing.
//
// It begins with what the lines and the runtime's history say without any ledger:
// finish needs the rest of the node.
func beginAudit(n *Node, s *found) *auditor {
	a := &auditor{n: n, s: s, judgedEvents: judgedEvents{table: s.observed, observed: n.Observed, lives: livesOf(n.History)}}
	a.verdicts = make([]verdict, len(a.table.Rows))
	a.out.Observed = n.Observed.Len()
	a.out.Audited = a.lives.any
	a.judgeObserved()
	return a
}

// finish holds the history against the relists.
func (a *auditor) finish() Audit {
	if a.out.Audited {
		a.windows = listingWindows(a.n, a.proved)
		a.missing()
		a.shortLived()
	}
	a.discarded()
	a.out.Events = host.Packed(&a.judgedEvents, a.Count())
	a.notes()
	return a.out
}

// auditor is an audit under way.
type auditor struct {
	judgedEvents
	n       *Node
	s       *found
	proved  tightest // windows between observed events and their causes
	windows []listWindow
	unseen  []unseen
	failed  []*Failure // by end, once somebody asked for them
	out     Audit
	maybe   int // events that only some schedules would have sent
	hidden  int // events that the log cannot show
}

// judgeObserved judges each "SyncLoop (PLEG)" line.
func (a *auditor) judgeObserved() {
	runs := newRestarts(a.n, a.table)
	for i := range a.n.Observed.Len() {
		row := a.n.Observed.Row(i)
		e := &a.table.Rows[row]
		if l := a.lives.find(e.Data); l != nil && a.table.At(e) != 0 {
			a.verdicts[row] = a.judge(e, l, runs)
		}
		switch a.verdicts[row].status {
		case statusLate:
			a.out.Late++
		case statusUnexpected:
			a.out.Unexpected++
		}
	}
}

// judge holds one event against the life of what it is about. A kubelet that
// has just started reports the world as it finds it: such an event is no news
// and has no lag.
func (a *auditor) judge(e *host.EventRow, l *Life, runs restarts) verdict {
	seen := a.table.At(e)
	at, ok := a.lives.cause(l, e.Type)
	if at.Known() && at.At < seen { // events come by time, and so do these windows by their ends
		a.proved.add(listWindow{from: at.At - int64(at.Slack), to: seen})
	}
	// A second report of one change, by a kubelet that started anew or by the
	// generic relist after the event stream, is no measure of lateness either.
	again := l.saw(e.Type)
	l.see(e.Type)
	switch {
	case at.Known() && seen+int64(at.Slack)+int64(time.Second) < at.At:
		return verdict{status: statusUnexpected}
	case at.Known() && (again || runs.reports(seen, at.At)):
		return verdict{status: statusMatched}
	case at.Known() && time.Duration(seen-at.At) > LateAfter && !l.restarted:
		return verdict{statusLate, true}
	case at.Known():
		return verdict{statusMatched, true}
	case !ok:
		return verdict{status: statusUnexpected}
	}
	return verdict{} // the runtime's log does not tell
}

// discarded lists the drops that the kubelet itself logs, one line an event.
// The lines name no pod.
func (a *auditor) discarded() {
	for _, i := range a.s.discards {
		a.more = append(a.more, addedEvent{line: i, typ: host.TypeNone, status: statusDiscarded})
		a.out.Discarded++
	}
}

func (a *auditor) notes() {
	add := func(format string, args ...any) { a.out.Notes = append(a.out.Notes, fmt.Sprintf(format, args...)) }
	if !a.out.Audited {
		add("the input holds no log of the container runtime: events are shown as observed, none is called missing")
	}
	if a.out.Discarded > 0 {
		add("%d events were dropped because the event channel was full; the kubelet's lines do not name them", a.out.Discarded)
	}
	if a.maybe > 0 {
		add("%d more events could be missing: whether PLEG saw the change depends on relists that nothing dates", a.maybe)
	}
	if a.hidden > 0 {
		add("%d replayed events are of kinds, or of pods, that the log never shows; they are not called missing", a.hidden)
	}
}
