package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// Event statuses.
const (
	StatusObserved   = "observed"   // seen, and there is no runtime history to hold it against
	StatusMatched    = "matched"    // seen, and the runtime's history explains it
	StatusLate       = "late"       // matched, but more than LateAfter after the change
	StatusUnexpected = "unexpected" // seen, but the runtime's history contradicts it
	StatusMissing    = "missing"    // not seen, although every relist schedule that fits the evidence sends it
	StatusDiscarded  = "discarded"  // the kubelet says that it dropped it
)

// LateAfter is the lag beyond which an event counts as late. A healthy kubelet
// reports a change within a relist period and the relist itself; ten periods
// is what a pod's owner notices.
const LateAfter = 10 * time.Second

// audit compares the events that the reference PLEG must have produced from
// the runtime's history with the "SyncLoop (PLEG)" lines. It accuses nobody
// falsely: what only some relist schedules would have produced, or what the
// log's verbosity hides, is not missing.
func audit(n *Node) Audit {
	a := auditor{n: n, lives: lives(n)}
	a.out.Observed = len(n.Observed)
	a.out.Audited = len(a.lives) > 0
	if a.out.Audited {
		a.windows = listingWindows(n, a.lives)
		a.known = newPodsKnown(n)
		for i := range n.Failures {
			a.failed = append(a.failed, &n.Failures[i])
		}
		slices.SortStableFunc(a.failed, func(x, y *Failure) int { return cmp.Compare(x.End, y.End) })
	}
	a.observed()
	if a.out.Audited {
		a.missing()
		a.shortLived()
	}
	a.discarded()
	slices.SortStableFunc(a.out.Events, func(x, y *PodEvent) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Data, y.Data))
	})
	a.notes()
	return a.out
}

// life is one stay of a container or sandbox in the runtime, by the runtime's
// own account. A zero time is unknown.
type life struct {
	id, podUID, pod         string
	sandbox                 bool
	created, started, ended Instant
	removed                 Instant
	exit                    *int
	restarted               bool             // ran more than once under one id: only its first run is told
	ran, died               parse.Record     // lines of started and ended, nil for none
	seen                    []pleg.EventType // each once
}

// lives gathers the runtime's history by id; what only the kubelet told is not
// history to hold the kubelet against.
func lives(n *Node) map[string]*life {
	out := make(map[string]*life)
	for i := range n.History {
		t := &n.History[i]
		if t.Src == parse.SrcKubelet || t.Src == parse.SrcUnknown {
			continue
		}
		l := out[t.ID]
		if l == nil {
			l = &life{id: t.ID, podUID: t.PodUID, pod: podName(t.Namespace, t.PodName), sandbox: t.Sandbox}
			out[t.ID] = l
		}
		l.move(t)
	}
	return out
}

func (l *life) move(t *Transition) {
	switch t.State {
	case "created":
		l.created = t.At
	case "running":
		l.restarted = l.restarted || l.ended.Known()
		if !l.started.Known() {
			l.started, l.ran = t.At, t.Line
		}
	case "exited":
		if !l.ended.Known() {
			l.ended, l.exit, l.died = t.At, t.ExitCode, t.Line
		}
	case "removed":
		l.removed = t.At
		if !l.ended.Known() {
			l.ended, l.died = t.At, t.Line
		}
	}
}

// auditor is an audit under way.
type auditor struct {
	n       *Node
	lives   map[string]*life
	windows []listWindow
	known   *podsKnown
	failed  []*Failure // by end
	out     Audit
	maybe   int // events that only some schedules would have sent
	hidden  int // events that the log cannot show
}

// observed judges each "SyncLoop (PLEG)" line.
func (a *auditor) observed() {
	runs := newRestarts(a.n)
	a.out.Events = slices.Clone(a.n.Observed)
	for _, e := range a.n.Observed {
		*e = PodEvent{At: e.At, PodUID: e.PodUID, Pod: e.Pod, Type: e.Type, Data: e.Data, Status: StatusObserved, Line: e.Line}
		if l := a.lives[e.Data]; l != nil && e.At != 0 {
			e.Data = l.id // one copy is enough
			a.judge(e, l, runs)
		}
		switch e.Status {
		case StatusLate:
			a.out.Late++
		case StatusUnexpected:
			a.out.Unexpected++
		}
	}
}

// judge holds one event against the life of what it is about. A kubelet that
// has just started reports the world as it finds it: such an event is no news
// and has no lag.
func (a *auditor) judge(e *PodEvent, l *life, runs restarts) {
	at, ok := l.cause(pleg.EventType(e.Type))
	// A second report of one change, by a kubelet that started anew or by the
	// generic relist after the event stream, is no measure of lateness either.
	again := l.saw(pleg.EventType(e.Type))
	if !again {
		l.seen = append(l.seen, pleg.EventType(e.Type))
	}
	restart := again || runs.reports(e.At, at.At)
	switch {
	case at.Known() && e.At+int64(at.Slack)+int64(time.Second) < at.At:
		e.Status = StatusUnexpected
		e.Change = l.line(e.Type)
	case at.Known():
		a.matched(e, l, at, restart)
	case !ok:
		e.Status = StatusUnexpected
	default:
		return // the runtime's log does not tell
	}
}

func (a *auditor) matched(e *PodEvent, l *life, at Instant, restart bool) {
	e.Status, e.RuntimeTime = StatusMatched, at.At
	if e.Type == string(pleg.ContainerDied) {
		e.ExitCode = l.exit
	}
	e.Change = l.line(e.Type)
	if restart {
		return
	}
	e.Lag, e.HasLag = max(time.Duration(e.At-at.At), 0), true
	if e.Lag > LateAfter && !l.restarted {
		e.Status = StatusLate
	}
}

// cause is the moment of the change that an event reports. It is false when
// the runtime's account of this life leaves no room for such a change.
func (l *life) cause(t pleg.EventType) (Instant, bool) {
	switch t {
	case pleg.ContainerStarted:
		if !l.started.Known() && l.created.Known() && l.removed.Known() {
			return Instant{}, false // created and removed, never started
		}
		return l.started, true
	case pleg.ContainerDied:
		return l.ended, true
	}
	return Instant{}, true
}

// line is the runtime's line of the change that an event of a type reports.
func (l *life) line(eventType string) parse.Record {
	if eventType == string(pleg.ContainerStarted) {
		return l.ran
	}
	return l.died
}

// saw reports whether an event of that type was seen.
func (l *life) saw(t pleg.EventType) bool { return slices.Contains(l.seen, t) }

// discarded lists the drops that the kubelet itself logs, one line an event.
// The lines name no pod.
func (a *auditor) discarded() {
	for _, e := range a.n.Events {
		if !e.Is(parse.SigDiscard) {
			continue
		}
		d := &PodEvent{Status: StatusDiscarded, Line: e}
		if e.Basis != parse.NoTime {
			d.At = e.At
		}
		a.out.Events = append(a.out.Events, d)
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
