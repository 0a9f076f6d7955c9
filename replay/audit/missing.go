package audit

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// listWindow is an interval within which at least one relist listed the runtime's
// containers, whatever the relist schedule was.
type listWindow struct {
	from, to int64
}

// listingWindows derives windows from the ledger and the events: a relist that listed
// did so between its start and the return of its list calls; an interval with at least
// one relist contains a listing; and an event whose cause is known proves a listing
// between the two.
func listingWindows(n *replay.Node, proved tightest) []listWindow {
	var dated []listWindow
	for i := range n.Relists {
		r := &n.Relists[i]
		if end := r.Returned(); r.HasListed() && r.Start.Known() && end.Known() {
			dated = append(dated, listWindow{from: r.Start.Earliest(), to: end.Latest()})
		}
	}
	for _, b := range n.Bounded {
		if b.CountMin > 0 && b.To > b.From {
			dated = append(dated, listWindow{from: b.From, to: b.To})
		}
	}
	slices.SortFunc(dated, func(a, b listWindow) int { return cmp.Compare(a.to, b.to) })
	out := make(tightest, 0, len(proved)+len(dated))
	for _, w := range proved {
		for len(dated) > 0 && dated[0].to < w.to {
			out.add(dated[0])
			dated = dated[1:]
		}
		out.add(w)
	}
	for _, w := range dated {
		out.add(w)
	}
	return out
}

// tightest are windows none of which contains another: the inner one says more. They
// are sorted by both ends.
type tightest []listWindow

// add adds a window that ends no earlier than those before it.
func (t *tightest) add(w listWindow) {
	k := len(*t)
	if k > 0 && w.from <= (*t)[k-1].from {
		return
	}
	for k > 0 && (*t)[k-1].to >= w.to {
		k--
	}
	*t = append((*t)[:k], w)
}

// listedWithin returns the first window that lies wholly after from, if it ends before
// to (0: no limit).
func (a *auditor) listedWithin(from, to int64) (listWindow, bool) {
	i := sort.Search(len(a.windows), func(i int) bool { return a.windows[i].from > from })
	if i == len(a.windows) || to != 0 && a.windows[i].to >= to {
		return listWindow{}, false
	}
	return a.windows[i], true
}

// missing finds events that every schedule sends and no line shows.
func (a *auditor) missing() {
	ls := a.lives
	for i := range ls.rows {
		l := &ls.rows[i]
		if !l.known {
			continue
		}
		a.expect(int32(i), host.TypeStarted, ls.at(l.started))
		a.expect(int32(i), host.TypeDied, ls.at(l.ended))
		if ls.at(l.removed).Known() {
			a.out.Replayed++
			a.hidden++ // ContainerRemoved never reaches the log
		}
	}
	a.judgeUnseen()
}

// expect counts one event of a life, and records it as unseen if it should have been
// logged: the state lasted over a listing, and the log would show the line. Whether the
// kubelet knew the pod is decided in judgeUnseen.
func (a *auditor) expect(i int32, t host.EventType, from replay.Instant) {
	l := &a.lives.rows[i]
	if !from.Known() || l.restarted {
		return
	}
	if l.saw(t) {
		a.out.Replayed++
		return
	}
	after := from.Latest()
	before := int64(0)
	if t == host.TypeStarted && l.ended != 0 {
		before = max(a.lives.earliest(l, host.TypeDied), 1)
	}
	w, certain := a.listedWithin(after, before)
	if t == host.TypeDied && certain {
		certain = a.noticed(l)
	}
	switch {
	case !certain:
		a.maybe++
	case !a.logged(w.from, w.to+int64(settle)) || a.disturbed(i, w):
		a.out.Replayed++
		a.hidden++
	default:
		a.unseen = append(a.unseen, unseen{i, t, w.to})
	}
}

// unseen is an event that every schedule sends and the log would show by then, if the
// kubelet knew the pod.
type unseen struct {
	life int32
	typ  host.EventType
	by   int64
}

// judgeUnseen separates missing events from those of pods that the kubelet may not have
// known yet, or no longer.
func (a *auditor) judgeUnseen() {
	if len(a.unseen) == 0 {
		return
	}
	known := newPodsKnown(a)
	for _, u := range a.unseen {
		o := a.lives.about(u.life)
		a.out.Replayed++
		if !known.at(o, u.by) {
			a.hidden++
			continue
		}
		a.out.Missing++
		a.more = append(a.more, addedEvent{line: -1, at: u.by, of: host.EventPod{Pod: o.Pod(), UID: o.PodUID}, typ: u.typ, data: o.ID, status: statusMissing})
	}
}

// noticed reports whether PLEG knew the container before it died, or could see it dead.
// Only then does it report the death.
func (a *auditor) noticed(l *Life) bool {
	if l.sawStart {
		return true
	}
	started, ended, removed := a.lives.at(l.started), a.lives.at(l.ended), a.lives.at(l.removed)
	if started.Known() {
		if _, ok := a.listedWithin(started.Latest(), max(a.lives.earliest(l, host.TypeDied), 1)); ok {
			return true
		}
	}
	_, ok := a.listedWithin(ended.Latest(), removed.Earliest())
	return ok
}

// settle is how long after a listing the line of an event may take to appear; only then
// does its absence mean anything.
const settle = 30 * time.Second

// logged reports whether there are "SyncLoop (PLEG)" lines before and after the
// interval, so that the log shows such lines and covers it.
func (a *auditor) logged(from, to int64) bool {
	rows := a.table.Rows // in time order, undated ones first
	i := sort.Search(len(rows), func(i int) bool { return a.table.At(&rows[i]) != 0 })
	return i < len(rows) && a.table.At(&rows[i]) <= from && a.table.At(&rows[len(rows)-1]) >= to
}

// disturbed reports whether something else explains a missing line: a failed inspection
// of the pod, unhealthy times in which the channel is not drained, a gap in the log, or
// a kubelet that stopped.
func (a *auditor) disturbed(life int32, w listWindow) bool {
	from, to := w.from-int64(settle), w.to+int64(settle)
	meets := func(s replay.Span) bool { return s.From < to && (s.To == 0 || s.To > from) }
	return slices.ContainsFunc(a.n.Health, func(h replay.HealthSpan) bool { return h.State != replay.Healthy && meets(h.Span) }) ||
		slices.ContainsFunc(a.n.Gaps, func(g replay.LogGap) bool { return meets(g.Span) }) ||
		slices.ContainsFunc(a.n.Runs, func(r replay.Run) bool { return r.Last > from && r.Last < to || r.First > from && r.First < to }) ||
		a.failedFor(life, from, to)
}

// failedFor reports whether a call about the object or its pod failed within an
// interval.
func (a *auditor) failedFor(life int32, from, to int64) bool {
	if a.failed == nil {
		a.failed = make([]*replay.Failure, len(a.n.Failures))
		for i := range a.failed {
			a.failed[i] = &a.n.Failures[i]
		}
		host.Arrange(a.failed, func(x, y *replay.Failure) int { return cmp.Compare(x.End, y.End) })
	}
	o := a.lives.about(life)
	pod := o.Pod().Text(a.n.Interned)
	for i := sort.Search(len(a.failed), func(i int) bool { return a.failed[i].End > from }); i < len(a.failed) && a.failed[i].End < to; i++ {
		if f := a.failed[i]; f.Pod == pod || f.About(o.ID, o.PodUID, a.n.Interned) {
			return true
		}
	}
	return false
}

// shortLived finds containers that started and exited between two relists: PLEG reports
// their death and never saw them run. It is proven if two relists bracket the life, or
// if the life was shorter than a relist period and only the death was reported.
func (a *auditor) shortLived() {
	ls, text := a.lives, a.n.Interned.Text
	for i := range ls.rows {
		l := &ls.rows[i]
		started, ended := ls.at(l.started), ls.at(l.ended)
		if ls.about(int32(i)).IsSandbox || !started.Known() || !ended.Known() || l.sawStart || l.restarted {
			continue
		}
		begun := ls.earliest(l, host.TypeStarted)
		brief := begun != 0 && time.Duration(ended.At-begun) < cmp.Or(a.n.Kubelet.Period, pleg.Period)
		if _, listed := a.listedWithin(started.At, ended.At); listed || !a.between(begun, ended) && !(brief && l.sawEnd) {
			continue
		}
		o := ls.about(int32(i))
		s := ShortLived{ID: text(o.ID), Pod: cmp.Or(o.Pod().Text(a.n.Interned), text(o.PodUID)), Started: started.At, Ended: ended.At}
		for _, t := range [...]host.EventType{host.TypeStarted, host.TypeDied} {
			s.Evidence = append(s.Evidence, replay.Evidence{Record: ls.line(l, t)})
		}
		a.out.ShortLived = append(a.out.ShortLived, s)
	}
	slices.SortFunc(a.out.ShortLived, func(x, y ShortLived) int { return strings.Compare(x.ID, y.ID) })
}

// between reports whether two consecutive relists bracket an interval: the first had
// listed before it began, the second began after it.
func (a *auditor) between(from int64, to replay.Instant) bool {
	i := sort.Search(len(a.n.Relists), func(i int) bool { return a.n.Relists[i].Start.At > from })
	if i == 0 || i == len(a.n.Relists) {
		return false
	}
	r, next := &a.n.Relists[i-1], &a.n.Relists[i]
	if r.Run != next.Run || !r.ListEnd.Known() || r.ListEnd.Latest() > from ||
		next.Start.Earliest() < to.Latest() {
		return false
	}
	return !slices.ContainsFunc(a.n.Bounded, func(b replay.Bounded) bool { return b.CountMax > 0 && b.From < next.Start.At && b.To > r.Start.At })
}

// restarts holds the intervals in which a kubelet that had just started reported
// existing state, sorted by start.
type restarts []replay.Span

// reportSettle is how long after its first event a kubelet may still report what its
// first relist found.
const reportSettle = int64(15 * time.Second)

// newRestarts returns the interval from the start of each run to shortly after its
// first event: a first relist that hangs reports late.
func newRestarts(n *replay.Node, t *host.EventTable) restarts {
	var r restarts
	at := func(i int) int64 { return t.At(&t.Rows[n.Observed.Row(i)]) }
	for _, run := range n.Runs {
		s := replay.Span{From: cmp.Or(run.Start.At, run.First)}
		i := sort.Search(n.Observed.Len(), func(i int) bool { return at(i) >= s.From })
		s.To = s.From + reportSettle
		if i < n.Observed.Len() && run.Last >= at(i) {
			s.To = at(i) + reportSettle
		}
		r = append(r, s)
	}
	slices.SortFunc(r, func(a, b replay.Span) int { return cmp.Compare(a.From, b.From) })
	return r
}

// reports reports whether an event at a time is a new kubelet's report of a change from
// before it started.
func (r restarts) reports(at, cause int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].From > at })
	return i > 0 && at < r[i-1].To && cause < r[i-1].From
}

// podsKnown holds when the kubelet managed the pods in question, according to its own
// lines.
type podsKnown struct {
	uids  map[parse.StringID]int64 // by UID: first line that proves the pod known
	since map[host.PodID]int64     // the same by name
	until map[host.PodID]int64     // by name: line that ends it
}

func newPodsKnown(a *auditor) *podsKnown {
	k := &podsKnown{map[parse.StringID]int64{}, map[host.PodID]int64{}, map[host.PodID]int64{}}
	asked := make([]bool, a.n.Interned.Bound()) // UIDs and names in question: few of many
	named := false                              // any of them is known
	for _, u := range a.unseen {
		o := a.lives.about(u.life)
		asked[o.PodUID], asked[o.PodName] = true, true
		named = named || o.PodUID != 0 || o.PodName != 0
		k.uids[o.PodUID], k.since[o.Pod()] = 0, 0
	}
	asked[0] = false
	for i := 0; named && i < a.n.Observed.Len(); i++ {
		e := &a.table.Rows[a.n.Observed.Row(i)]
		of := a.table.Pod(e)
		if a.table.Lines[e.Line].Is(parse.SigEventIgnored) {
			continue // of a pod that the kubelet does not manage
		}
		if !asked[of.UID] && !asked[of.Pod.Name] {
			continue
		}
		if at := a.table.At(e); at != 0 {
			earliest(k.uids, of.UID, at)
			earliest(k.since, of.Pod, at)
		}
	}
	a.n.Index().Each(host.KindSync, func(_ int, e *parse.Event, _ host.Kinds) {
		if e.Basis == parse.NoTime {
			return
		}
		f := host.Fields(e.Fields())
		for pod := range strings.SplitSeq(f.Get("pods"), ",") {
			if pod, _, _ = strings.Cut(pod, "("); pod != "" {
				k.sync(host.PodOfText(a.n.Interned, pod), f.Get("op"), e.At)
			}
		}
	})
	delete(k.uids, 0) // 0 and the zero PodID mean unknown
	delete(k.since, host.PodID{})
	return k
}

// earliest records the earliest time of what is in question.
func earliest[K comparable](times map[K]int64, about K, at int64) {
	if have, asked := times[about]; asked && (have == 0 || at < have) {
		times[about] = at
	}
}

// sync records that a pod was added or removed.
func (k *podsKnown) sync(pod host.PodID, op string, at int64) {
	switch op {
	case "ADD":
		earliest(k.since, pod, at)
	case "DELETE", "REMOVE":
		if _, asked := k.since[pod]; asked && k.until[pod] == 0 {
			k.until[pod] = at
		}
	}
}

// at reports whether the kubelet certainly managed the object's pod at a time.
func (k *podsKnown) at(o *host.Object, at int64) bool {
	uid, name, until := k.uids[o.PodUID], k.since[o.Pod()], k.until[o.Pod()]
	return (uid != 0 && uid <= at || name != 0 && name <= at) && (until == 0 || until > at+int64(settle))
}
