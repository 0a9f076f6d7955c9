package replay

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// listWindow is a stretch within which at least one relist listed the
// runtime's containers, whatever schedule is assumed.
type listWindow struct {
	from, to int64
}

// listingWindows derives the windows from the ledger: a relist that listed
// did so between its start and the return of its list calls; a stretch with
// at least one relist holds one listing; and an event whose cause is known
// proves a listing between the two.
func listingWindows(n *Node, lives map[string]*life) []listWindow {
	var out []listWindow
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
		out = append(out, listWindow{from: r.Start.At - int64(r.Start.Slack), to: end.At + int64(end.Slack)})
	}
	for _, b := range n.Bounded {
		if b.CountMin > 0 && b.To > b.From {
			out = append(out, listWindow{from: b.From, to: b.To})
		}
	}
	for _, e := range n.Observed {
		if l := lives[e.Data]; l != nil && e.At != 0 {
			if at, _ := l.cause(pleg.EventType(e.Type)); at.Known() && at.At < e.At {
				out = append(out, listWindow{from: at.At - int64(at.Slack), to: e.At})
			}
		}
	}
	slices.SortFunc(out, func(a, b listWindow) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return tightest(out)
}

// tightest drops windows that hold another one: the inner one says more. What
// is left is sorted by both ends.
func tightest(in []listWindow) []listWindow {
	var out []listWindow
	for _, w := range in {
		for len(out) > 0 && out[len(out)-1].to >= w.to {
			out = out[:len(out)-1]
		}
		out = append(out, w)
	}
	return out
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
	for _, l := range sortedLives(a.lives) {
		a.expect(l, pleg.ContainerStarted, l.started, l.ended)
		a.expect(l, pleg.ContainerDied, l.ended, Instant{})
		if l.removed.Known() {
			a.out.Replayed++
			a.hidden++ // ContainerRemoved never reaches the log
		}
	}
}

// expect counts one event of a life and says whether it is missing: the state
// must have lasted over a listing, the pod be known to the kubelet, and the
// log be able to show the line.
func (a *auditor) expect(l *life, t pleg.EventType, from, to Instant) {
	if !from.Known() || l.restarted {
		return
	}
	after := from.At + int64(from.Slack)
	before := int64(0)
	if to.Known() {
		before = to.At - int64(to.Slack)
	}
	w, certain := a.listedWithin(after, before)
	if t == pleg.ContainerDied && !l.noticed(a) {
		certain = false
	}
	if l.saw(t) {
		a.out.Replayed++
		return
	}
	switch {
	case !certain:
		a.maybe++
	case !a.visible(l, w):
		a.out.Replayed++
		a.hidden++
	default:
		a.out.Replayed++
		a.out.Missing++
		a.out.Events = append(a.out.Events, missingEvent(l, t, w, from))
	}
}

// noticed reports whether PLEG knew the container before it died, or could
// see it dead: only then its death is news.
func (l *life) noticed(a *auditor) bool {
	if l.saw(pleg.ContainerStarted) {
		return true
	}
	if l.started.Known() {
		if _, ok := a.listedWithin(l.started.At+int64(l.started.Slack), l.ended.At-int64(l.ended.Slack)); ok {
			return true
		}
	}
	gone := int64(0)
	if l.removed.Known() {
		gone = l.removed.At - int64(l.removed.Slack)
	}
	_, ok := a.listedWithin(l.ended.At+int64(l.ended.Slack), gone)
	return ok
}

func missingEvent(l *life, t pleg.EventType, w listWindow, from Instant) *PodEvent {
	e := &PodEvent{At: w.to, PodUID: l.podUID, Pod: l.pod, Type: string(t), Data: l.id, Status: StatusMissing, RuntimeTime: from.At}
	if t == pleg.ContainerDied {
		e.ExitCode = l.exit
	}
	e.Change = l.line(string(t))
	return e
}

// settle is how long after a listing the line of an event may take to appear
// before its absence means anything.
const settle = 30 * time.Second

// visible reports whether the log would show an event found by a listing: the
// kubelet knew the pod then, logged such lines before and after, inspected
// pods without failure, drained its channel, and lived on.
func (a *auditor) visible(l *life, w listWindow) bool {
	return a.known.at(l, w.to) && a.known.logged(w.from, w.to+int64(settle)) && !a.disturbed(l, w)
}

// disturbed reports whether something else explains a missing line: an
// inspection of the pod that failed, unhealthy times in which the channel is
// not drained, a gap in the log, or a kubelet that ended.
func (a *auditor) disturbed(l *life, w listWindow) bool {
	from, to := w.from-int64(settle), w.to+int64(settle)
	for _, h := range a.n.Health {
		if h.State != Healthy && h.From < to && (h.To == 0 || h.To > from) {
			return true
		}
	}
	for _, g := range a.n.Gaps {
		if g.From < to && (g.To == 0 || g.To > from) {
			return true
		}
	}
	for _, r := range a.n.Runs {
		if r.Last > from && r.Last < to || r.First > from && r.First < to {
			return true
		}
	}
	for i := sort.Search(len(a.failed), func(i int) bool { return a.failed[i].End > from }); i < len(a.failed) && a.failed[i].End < to; i++ {
		if f := a.failed[i]; f.PodUID == l.podUID || f.Pod == l.pod || f.ObjectID == l.id {
			return true
		}
	}
	return false
}

func sortedLives(m map[string]*life) []*life {
	out := make([]*life, 0, len(m))
	for _, l := range m {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *life) int { return strings.Compare(a.id, b.id) })
	return out
}

// shortLived finds containers that lived and died between two relists: PLEG
// reports their death and never saw them run. That is proved where two relists
// bracket the life, or where it was shorter than a relist period and only the
// death was reported.
func (a *auditor) shortLived() {
	for _, l := range sortedLives(a.lives) {
		if l.sandbox || !l.started.Known() || !l.ended.Known() || l.saw(pleg.ContainerStarted) || l.restarted {
			continue
		}
		brief := time.Duration(l.ended.At-l.started.At) < cmp.Or(a.n.Kubelet.Period, pleg.Period)
		if _, listed := a.listedWithin(l.started.At, l.ended.At); listed {
			continue
		}
		if !a.between(l.started, l.ended) && !(brief && l.saw(pleg.ContainerDied)) {
			continue
		}
		s := ShortLived{ID: l.id, Pod: cmp.Or(l.pod, l.podUID), Started: l.started.At, Ended: l.ended.At}
		for _, line := range [...]parse.Record{l.ran, l.died} {
			if line != nil {
				s.Evidence = append(s.Evidence, Evidence{Record: line})
			}
		}
		a.out.ShortLived = append(a.out.ShortLived, s)
	}
}

// between reports whether two relists that followed one another bracket a
// stretch: the first had listed before it began, the second began after.
func (a *auditor) between(from, to Instant) bool {
	i := sort.Search(len(a.n.Relists), func(i int) bool { return a.n.Relists[i].Start.At > from.At-int64(from.Slack) })
	if i == 0 || i == len(a.n.Relists) {
		return false
	}
	r, next := &a.n.Relists[i-1], &a.n.Relists[i]
	if r.Run != next.Run || !r.ListEnd.Known() || r.ListEnd.At+int64(r.ListEnd.Slack) > from.At-int64(from.Slack) {
		return false
	}
	if next.Start.At-int64(next.Start.Slack) < to.At+int64(to.Slack) {
		return false
	}
	for _, b := range a.n.Bounded {
		if b.CountMax > 0 && b.From < next.Start.At && b.To > r.Start.At {
			return false
		}
	}
	return true
}

// restarts knows when a kubelet that had just begun reported the world.
type restarts []Span

// reportSettle is how long after its first event a kubelet may go on to
// report what its first relist found.
const reportSettle = int64(15 * time.Second)

// newRestarts takes the stretch from the start of each run to shortly after
// the first event in it: a first relist that hangs reports late.
func newRestarts(n *Node) restarts {
	var r restarts
	for _, run := range n.Runs {
		s := Span{From: run.First}
		if run.Start.Known() {
			s.From = run.Start.At
		}
		i := sort.Search(len(n.Observed), func(i int) bool { return n.Observed[i].At >= s.From })
		s.To = s.From + reportSettle
		if i < len(n.Observed) && run.Last >= n.Observed[i].At {
			s.To = n.Observed[i].At + reportSettle
		}
		r = append(r, s)
	}
	slices.SortFunc(r, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	return r
}

// reports reports whether an event at a time is how a new kubelet tells of a
// change that happened before it began.
func (r restarts) reports(at, cause int64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i].From > at })
	return i > 0 && at < r[i-1].To && cause < r[i-1].From
}

// podsKnown knows which pods the kubelet managed when, from its own lines.
type podsKnown struct {
	since map[string]int64 // pod uid or ns/name -> first line that proves it known
	until map[string]int64 // -> line that ends it
	lines []int64          // times of "SyncLoop (PLEG)" lines, sorted
}

func newPodsKnown(n *Node) *podsKnown {
	k := &podsKnown{since: make(map[string]int64), until: make(map[string]int64)}
	note := func(m map[string]int64, key string, at int64) {
		if _, ok := m[key]; !ok && key != "" {
			m[key] = at
		}
	}
	for _, e := range n.Observed {
		if e.At == 0 {
			continue
		}
		k.lines = append(k.lines, e.At)
		note(k.since, e.PodUID, e.At)
		note(k.since, e.Pod, e.At)
	}
	slices.Sort(k.lines)
	for _, e := range n.Events {
		if !e.Is(parse.SigSync) || e.Basis == parse.NoTime {
			continue
		}
		f := fields(e.Fields())
		for _, pod := range strings.Split(f.get("pods"), ",") {
			pod, _, _ = strings.Cut(pod, "(")
			switch f.get("op") {
			case "ADD":
				if at, ok := k.since[pod]; !ok || e.At < at {
					k.since[pod] = e.At
				}
			case "DELETE", "REMOVE":
				note(k.until, pod, e.At)
			}
		}
	}
	return k
}

// at reports whether the kubelet certainly managed the pod then.
func (k *podsKnown) at(l *life, at int64) bool {
	for _, key := range [...]string{l.podUID, l.pod} {
		if since, ok := k.since[key]; key != "" && ok && since <= at {
			until, ended := k.until[l.pod]
			return !ended || until > at+int64(settle)
		}
	}
	return false
}

// logged reports whether "SyncLoop (PLEG)" lines stand before and after a
// stretch: the log shows such lines and goes on.
func (k *podsKnown) logged(from, to int64) bool {
	return len(k.lines) > 0 && k.lines[0] <= from && k.lines[len(k.lines)-1] >= to
}
