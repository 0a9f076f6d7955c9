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

// listWindow is a stretch within which at least one relist listed the
// runtime's containers, whatever schedule is assumed.
type listWindow struct {
	from, to int64
}

// listingWindows derives the windows from the ledger and the events: a relist that
// listed did so between its start and the return of its list calls; a stretch
// with at least one relist holds one listing; and an event whose cause is known
// proves a listing between the two.
func listingWindows(n *replay.Node, proved tightest) []listWindow {
	var dated []listWindow
	for i := range n.Relists {
		r := &n.Relists[i]
		if r.Listed == nil || !*r.Listed || !r.Start.Known() {
			continue
		}
		end := r.ListEnd
		if !end.Known() {
			end = r.End
		}
		if !end.Known() {
			continue
		}
		dated = append(dated, listWindow{from: r.Start.Earliest(), to: end.Latest()})
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

// tightest are windows of which none holds another one: the inner one says
// more. They are sorted by both ends.
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

// listedWithin returns the first window that lies wholly after from and
// before to (0: no end).
func (a *auditor) listedWithin(from, to int64) (listWindow, bool) {
	i := sort.Search(len(a.windows), func(i int) bool { return a.windows[i].from > from })
	if i == len(a.windows) || to != 0 && a.windows[i].to >= to {
		return listWindow{}, false
	}
	return a.windows[i], true
}

// missing looks for events that every schedule sends and no line shows.
func (a *auditor) missing() {
	ls := a.lives
	for i := range ls.rows {
		l := &ls.rows[i]
		if !l.known {
			continue
		}
		a.expect(int32(i), host.TypeStarted, ls.at(l.started), ls.at(l.ended))
		a.expect(int32(i), host.TypeDied, ls.at(l.ended), replay.Instant{})
		if ls.at(l.removed).Known() {
			a.out.Replayed++
			a.hidden++ // ContainerRemoved never reaches the log
		}
	}
	a.judgeUnseen()
}

// expect counts one event of a life and says whether it is missing: the state
// must have lasted over a listing, the pod be known to the kubelet, and the
// log be able to show the line.
func (a *auditor) expect(i int32, t host.EventType, from, to replay.Instant) {
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
	if to.Known() {
		before = to.Earliest()
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

// unseen is an event of which every schedule sends one and the log would show a
// line by then, if the kubelet knew the pod.
type unseen struct {
	life int32
	typ  host.EventType
	by   int64
}

// judgeUnseen tells those that are missing from those of pods that the kubelet
// may not have known yet, or any more.
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

// noticed reports whether PLEG knew the container before it died, or could
// see it dead: only then its death is news.
func (a *auditor) noticed(l *Life) bool {
	if l.sawStart {
		return true
	}
	started, ended, removed := a.lives.at(l.started), a.lives.at(l.ended), a.lives.at(l.removed)
	if started.Known() {
		if _, ok := a.listedWithin(started.Latest(), ended.Earliest()); ok {
			return true
		}
	}
	gone := int64(0)
	if removed.Known() {
		gone = removed.Earliest()
	}
	_, ok := a.listedWithin(ended.Latest(), gone)
	return ok
}

// settle is how long after a listing the line of an event may take to appear
// before its absence means anything.
const settle = 30 * time.Second

// logged reports whether "SyncLoop (PLEG)" lines stand before and after a
// stretch: the log shows such lines and goes on.
func (a *auditor) logged(from, to int64) bool {
	rows := a.table.Rows // in order of time, those of none first
	i := sort.Search(len(rows), func(i int) bool { return a.table.At(&rows[i]) != 0 })
	return i < len(rows) && a.table.At(&rows[i]) <= from && a.table.At(&rows[len(rows)-1]) >= to
}

// disturbed reports whether something else explains a missing line: an
// inspection of the pod that failed, unhealthy times in which the channel is
// not drained, a gap in the log, or a kubelet that ended.
func (a *auditor) disturbed(life int32, w listWindow) bool {
	from, to := w.from-int64(settle), w.to+int64(settle)
	meets := func(s replay.Span) bool { return s.From < to && (s.To == 0 || s.To > from) }
	return slices.ContainsFunc(a.n.Health, func(h replay.HealthSpan) bool { return h.State != replay.Healthy && meets(h.Span) }) ||
		slices.ContainsFunc(a.n.Gaps, func(g replay.LogGap) bool { return meets(g.Span) }) ||
		slices.ContainsFunc(a.n.Runs, func(r replay.Run) bool { return r.Last > from && r.Last < to || r.First > from && r.First < to }) ||
		a.failedFor(life, from, to)
}

// failedFor reports whether a call about a life failed within a stretch.
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

// shortLived finds containers that lived and died between two relists: PLEG
// reports their death and never saw them run. That is proved where two relists
// bracket the life, or where it was shorter than a relist period and only the
// death was reported.
func (a *auditor) shortLived() {
	ls, text := a.lives, a.n.Interned.Text
	for i := range ls.rows {
		l := &ls.rows[i]
		started, ended := ls.at(l.started), ls.at(l.ended)
		if ls.about(int32(i)).IsSandbox || !started.Known() || !ended.Known() || l.sawStart || l.restarted {
			continue
		}
		brief := time.Duration(ended.At-started.At) < cmp.Or(a.n.Kubelet.Period, pleg.Period)
		if _, listed := a.listedWithin(started.At, ended.At); listed || !a.between(started, ended) && !(brief && l.sawEnd) {
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

// between reports whether two relists that followed one another bracket a
// stretch: the first had listed before it began, the second began after.
func (a *auditor) between(from, to replay.Instant) bool {
	i := sort.Search(len(a.n.Relists), func(i int) bool { return a.n.Relists[i].Start.At > from.Earliest() })
	if i == 0 || i == len(a.n.Relists) {
		return false
	}
	r, next := &a.n.Relists[i-1], &a.n.Relists[i]
	if r.Run != next.Run || !r.ListEnd.Known() || r.ListEnd.Latest() > from.Earliest() ||
		next.Start.Earliest() < to.Latest() {
		return false
	}
	return !slices.ContainsFunc(a.n.Bounded, func(b replay.Bounded) bool { return b.CountMax > 0 && b.From < next.Start.At && b.To > r.Start.At })
}

// restarts knows when a kubelet that had just begun reported the world.
type restarts []replay.Span

// reportSettle is how long after its first event a kubelet may go on to
// report what its first relist found.
const reportSettle = int64(15 * time.Second)

// newRestarts takes the stretch from the start of each run to shortly after
// the first event in it: a first relist that hangs reports late.
func newRestarts(n *replay.Node, t *host.EventTable) restarts {
	var r restarts
	at := func(i int) int64 { return t.At(&t.Rows[n.Observed.Row(i)]) }
	for _, run := range n.Runs {
		s := replay.Span{From: run.First}
		if run.Start.Known() {
			s.From = run.Start.At
		}
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

// reports reports whether an event at a time is how a new kubelet tells of a
// change that happened before it began.
func (r restarts) reports(at, cause int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].From > at })
	return i > 0 && at < r[i-1].To && cause < r[i-1].From
}

// podsKnown knows when the kubelet managed the pods that are asked about, from
// its own lines.
type podsKnown struct {
	uids  map[parse.StringID]int64 // first line that proves the pod of a uid known
	since map[host.PodID]int64     // the same by name
	until map[host.PodID]int64     // line that ends it
}

func newPodsKnown(a *auditor) *podsKnown {
	k := &podsKnown{map[parse.StringID]int64{}, map[host.PodID]int64{}, map[host.PodID]int64{}}
	asked := make([]bool, a.n.Interned.Bound()) // about uids and names: few of many
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
	delete(k.uids, 0) // of pods without a uid, or a name, nothing is known
	delete(k.since, host.PodID{})
	return k
}

// earliest keeps the least of the times of what is asked about.
func earliest[K comparable](times map[K]int64, about K, at int64) {
	if have, asked := times[about]; asked && (have == 0 || at < have) {
		times[about] = at
	}
}

// sync notes that a pod came or went.
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

// at reports whether the kubelet certainly managed the pod of an object then.
func (k *podsKnown) at(o *host.Object, at int64) bool {
	uid, name, until := k.uids[o.PodUID], k.since[o.Pod()], k.until[o.Pod()]
	return (uid != 0 && uid <= at || name != 0 && name <= at) && (until == 0 || until > at+int64(settle))
}
