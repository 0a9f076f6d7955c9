package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// LateAfter is the lag beyond which an event counts as late. A healthy kubelet reports
// a change within a relist period plus the relist itself; ten periods is a delay that
// the pod's owner notices.
const LateAfter = 10 * time.Second

// Result compares the events that the reference PLEG must have produced with those
// observed.
type Result struct {
	Counts
	Events     replay.PodEvents // those of Node.Observed, and missing and discarded ones
	ShortLived []ShortLived
}

// Counts holds the number of events by status, as documents report it.
type Counts struct {
	Audited    bool     `json:"audited"` // there was runtime history to compare with, on the same clock
	Observed   int      `json:"observed"`
	Replayed   int      `json:"replayed"`
	Missing    int      `json:"missing"`
	Late       int      `json:"late"`
	Unexpected int      `json:"unexpected"`
	Discarded  int      `json:"discarded"`
	Notes      []string `json:"notes"`
}

// ShortLived is a container that started and exited between two relists.
type ShortLived struct {
	ID, Pod        string
	Started, Ended int64
	Evidence       []replay.Evidence
}

// Of compares the events that the reference PLEG must have produced, given the
// runtime's history, with the "SyncLoop (PLEG)" lines of a node. It avoids false
// accusations: an event that only some relist schedules would have produced, or that
// the log's verbosity hides, is not missing. It does not change the node, which must be
// whole, not clipped to a window.
func Of(n *replay.Node) Result {
	table := host.EventTableOf(n.Observed)
	if table == nil {
		return Result{Counts: Counts{Observed: n.Observed.Len()}, Events: n.Observed}
	}
	a := &auditor{n: n, judgedEvents: judgedEvents{table: table, observed: n.Observed, lives: livesOf(n.History)}}
	a.verdicts = make([]verdict, len(table.Rows))
	a.out.Observed = n.Observed.Len()
	a.foreign = a.lives.any && !a.comparable()
	a.out.Audited = a.lives.any && !a.foreign
	a.judgeObserved()
	if a.out.Audited {
		a.windows = listingWindows(a.n, a.proved)
		a.missing()
		a.shortLived()
	}
	a.n.Index().Each(host.KindDiscard, func(i int, _ *parse.Event, _ host.Kinds) { // one line per dropped event, which names no pod
		a.more = append(a.more, addedEvent{line: int32(i), typ: host.TypeNone, status: statusDiscarded})
		a.out.Discarded++
	})
	a.out.Events = host.Packed(&a.judgedEvents)
	a.notes()
	return a.out
}

// Clip drops events outside a time window, and counts those that are left. since and
// until are Unix ns; 0 leaves a side open.
func (r *Result) Clip(since, until int64) {
	f := host.Frame{Since: since, Until: until}
	r.Events = r.Events.Without(func(e replay.PodEvent) bool { return f.Out(e.At, e.At) })
	r.ShortLived = slices.DeleteFunc(r.ShortLived, func(s ShortLived) bool { return f.Out(s.Started, s.Ended) })
	n := map[string]int{}
	for _, e := range r.Events.All() {
		n[e.Status]++
	}
	r.Missing, r.Late, r.Unexpected, r.Discarded = n[replay.StatusMissing], n[replay.StatusLate], n[replay.StatusUnexpected], n[replay.StatusDiscarded]
	r.Observed = r.Events.Len() - r.Missing - r.Discarded
	r.Replayed = n[replay.StatusMatched] + r.Late + r.Missing
}

// writtenLate is how much later than a change the runtime may write the line about it.
const writtenLate = int64(time.Minute)

// auditor is the state of one audit.
type auditor struct {
	judgedEvents
	n       *replay.Node
	proved  tightest // windows between observed events and their causes
	windows []listWindow
	unseen  []unseen
	failed  []*replay.Failure // by end; filled on first use
	out     Result
	foreign bool // the zone of one of the logs is only assumed, so that their times cannot be compared
	maybe   int  // events that only some schedules would have sent
	hidden  int  // events that the log cannot show
}

// judgeObserved judges the event of each "SyncLoop (PLEG)" line.
func (a *auditor) judgeObserved() {
	runs := newRestarts(a.n, a.table)
	for i := range a.n.Observed.Len() {
		row := a.n.Observed.Row(i)
		e := &a.table.Rows[row]
		if l, seen := a.lives.find(e.Data), a.table.At(e); l != nil && seen != 0 && !a.foreign {
			a.verdicts[row] = a.judge(e, seen, l, runs)
		}
		switch a.verdicts[row].status {
		case statusLate:
			a.out.Late++
		case statusUnexpected:
			a.out.Unexpected++
		}
	}
}

// judge compares one event with the life of its container or sandbox. A kubelet that
// has just started reports the state that it finds: such an event is not a change and
// has no lag.
func (a *auditor) judge(e *host.EventRow, seen int64, l *Life, runs restarts) verdict {
	at := a.lives.cause(l, e.Type)
	least := a.lives.earliest(l, e.Type)
	if least != 0 && least < seen { // events are in time order, and so are the ends of these windows
		a.proved.add(listWindow{from: least, to: seen})
	}
	// A second report of one change, by a restarted kubelet or by a generic relist
	// after the event stream, does not measure lateness either.
	again := l.saw(e.Type)
	l.sawStart, l.sawEnd = l.sawStart || e.Type == host.TypeStarted, l.sawEnd || e.Type == host.TypeDied
	switch {
	case !at.Known():
		return verdict{} // the runtime's log does not say
	case seen+int64(time.Second) < least:
		return verdict{status: statusUnexpected}
	case seen+writtenLate < at.Earliest():
		return verdict{} // no event precedes its cause: this line does not date it
	case seen < at.Earliest(): // the line about the change was written later
		return verdict{status: statusMatched}
	case again || runs.reports(seen, at.At):
		return verdict{status: statusMatched}
	case time.Duration(seen-at.At) > LateAfter && !l.restarted:
		return verdict{statusLate, true}
	}
	return verdict{statusMatched, true}
}

func (a *auditor) notes() {
	add := func(format string, args ...any) { a.out.Notes = append(a.out.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case a.foreign:
		add("the time zone of a log is only assumed, and nothing shows how its times compare with those of the other: events are shown as observed, none is called late, missing or unexpected")
	case !a.out.Audited:
		add("no log of the container runtime was recognized: events are shown as observed, none is called missing")
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
