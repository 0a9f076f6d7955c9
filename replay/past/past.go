// Package past turns the history of a node into recorded relists. It does no I/O.
package past

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// Past holds the relists of a node's history: those that the input proves, with what the
// runtime held at the time, and assumed ones for changes that no proven relist can have
// seen.
type Past struct {
	Relists int  // number of relists
	Assumed int  // number of those that are assumed
	Known   bool // the input shows what became of containers

	n     *replay.Node
	bs    map[int]*blame.Blame // by relist
	world *world
	times []int64 // starts of the relists, in order
}

// New returns the relists of the history of n, which has the blames bs.
func New(n *replay.Node, bs []blame.Blame) *Past {
	w := newWorld(n)
	h := &Past{n: n, bs: blame.ByRelist(bs), world: w, times: w.schedule(n)}
	h.Relists, h.Known = len(h.times), len(h.times) > 0 && len(w.changes) > 0
	for _, at := range h.times {
		if _, ok := w.relists[at]; !ok {
			h.Assumed++
		}
	}
	w.attribute(h)
	return h
}

// Snapshots returns the relists in order as recorded ones.
func (h *Past) Snapshots() iter.Seq[*simulate.Snapshot] {
	return func(yield func(*simulate.Snapshot) bool) {
		seen, dropped := h.world.seen, h.world.dropped
		for s := range h.listings {
			s.Proof.Logged = h.world.logged
			for len(seen) > 0 && seen[0].At < s.At {
				seen = seen[1:]
			}
			k := 0
			for k < len(seen) && seen[k].At == s.At {
				k++
			}
			s.Proof.Seen, seen = seen[:k], seen[k:]
			for len(dropped) > 0 && dropped[0] <= s.At {
				if dropped[0] == s.At {
					s.Proof.Dropped++
				}
				dropped = dropped[1:]
			}
			if !yield(s) {
				return
			}
		}
	}
}

// listings yields the relists without their events.
func (h *Past) listings(yield func(*simulate.Snapshot) bool) {
	w := h.world
	w.next, w.pods = 0, make(map[string]*worldPod)
	for i, at := range h.times {
		s := &simulate.Snapshot{At: at, List: -1, Drained: true, Proof: &simulate.Proof{Assumed: true}}
		if r, ok := w.relists[at]; ok {
			decorate(s, h.n, h.bs[r], r)
		}
		if i+1 < len(h.times) {
			s.Next = h.times[i+1]
		}
		if s.ListErr == "" {
			w.upTo(at, s)
		}
		if len(w.changes) == 0 {
			s.Pods = -1
		}
		if !yield(s) {
			return
		}
	}
}

// decorate adds to s what relist i and its blame, which may be nil, say.
func decorate(s *simulate.Snapshot, n *replay.Node, b *blame.Blame, i int) {
	r := &n.Relists[i]
	s.Proof = &simulate.Proof{Unsure: r.Listed == nil && r.Outcome != replay.OutcomeListFailed}
	if took, ended := n.Lasted(i); took > 0 {
		s.Proof.End, s.Proof.Open, s.Proof.Slack = r.Start.At+int64(took), !ended, r.Slack()
	}
	if r.ListEnd.Known() {
		s.List = max(time.Duration(r.ListEnd.At-r.Start.At), 0)
	}
	if r.FailedToList() {
		s.ListErr = simulate.ListsFailed
		if d, ok := r.Duration(); ok {
			s.List = max(d, 0)
		}
		return
	}
	if b == nil {
		return
	}
	s.Inspect = make(map[string]simulate.InspectOutcome)
	for _, p := range b.ByPod {
		if p.ID == "" {
			continue
		}
		o := simulate.InspectOutcome{Took: p.Took / time.Duration(max(p.Calls, 1))}
		if p.TimedOut > 0 {
			o.Err = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
		}
		s.Inspect[p.ID] = o
	}
}

// world holds the pods and containers of the runtime through time.
type world struct {
	changes []sighting // in time order
	next    int
	pods    map[string]*worldPod
	relists map[int64]int        // proven relists: index by start
	told    bool                 // reported by the relist goroutine itself: each change belongs to the relist that logged it
	seen    []simulate.SeenEvent // events that the sync loop received and no change explains
	logged  bool                 // the log shows events when the sync loop receives them: seen holds them all
	dropped []int64              // times of dropped events; start of their relist after assign, then in order
}

// sighting is a change, with the earliest start of a relist whose listing shows it.
type sighting struct {
	*replay.Transition
	at int64 // Unix ns
}

// worldPod is a pod with its containers and sandboxes in the order they were first
// seen.
type worldPod struct {
	uid, name, ns string
	order         []string
	items         map[string]*worldItem
}

type worldItem struct {
	pleg.Item
	sandbox bool
}

// newWorld collects the reports of changes: those of the runtime if there are any, else
// the states that the relist goroutine logged. If that logged only exits, nothing shows
// what the runtime held, and the events that the kubelet received are all there is.
func newWorld(n *replay.Node) *world {
	w := &world{relists: make(map[int64]int)}
	own, starts, all := false, false, n.History.Pointers()
	for _, t := range all {
		own = own || t.Src != parse.SrcKubelet
		starts = starts || t.State == "running"
	}
	w.told = !own
	for _, t := range all {
		if (own || starts) && t.At.Known() && worldUID(t) != "" && (t.Src != parse.SrcKubelet) == own {
			w.changes = append(w.changes, sighting{t, t.At.At})
		}
	}
	slices.SortStableFunc(w.changes, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ID, b.ID))
	})
	w.logged = n.Observed.Len() > 0 && (own || len(w.changes) == 0 || n.Kubelet.EventedSends())
	w.seen = make([]simulate.SeenEvent, 0, n.Observed.Len())
	for i := range n.Observed.Len() {
		if at := host.EventTime(n.Observed, i); at != 0 {
			w.seen = append(w.seen, simulate.SeenEvent{Of: &n.Observed, Row: i, At: at})
		}
	}
	n.Index().Each(host.KindDiscard, func(_ int, e *parse.Event, _ host.Kinds) {
		if e.Basis != parse.NoTime {
			w.dropped = append(w.dropped, e.At)
		}
	})
	for i := range n.Relists {
		if r := &n.Relists[i]; r.Start.Known() {
			w.relists[r.Start.At] = i
		}
	}
	return w
}

// worldUID returns a transition's pod UID, or namespace/name if only that is known.
func worldUID(t *replay.Transition) string {
	return cmp.Or(t.PodUID, host.PodName(t.Namespace, t.PodName))
}

// schedule returns the relist starts, oldest first: proven ones, and assumed ones for
// changes that none of these can have seen.
func (w *world) schedule(n *replay.Node) []int64 {
	period := int64(cmp.Or(n.Kubelet.Period, pleg.Period))
	times := slices.Sorted(maps.Keys(w.relists))
	if !w.told {
		times = w.followers(n, times, period)
		slices.Sort(times)
		times = append(times, w.ticks(times, period)...)
		slices.Sort(times)
	}
	times = append(times, w.assign(n, times, period)...)
	slices.Sort(times)
	return slices.Compact(times)
}

// assign maps each change and event that the relist goroutine or the sync loop logged
// to the relist that logged it, and returns the starts of the relists that must be
// assumed for this.
func (w *world) assign(n *replay.Node, known []int64, period int64) (more []int64) {
	moments := make([]*int64, 0, len(w.changes)+len(w.seen)+len(w.dropped))
	for i := range w.changes {
		if w.told {
			moments = append(moments, &w.changes[i].at)
		}
	}
	for i := range w.seen {
		if w.logged { // otherwise most events follow from changes
			moments = append(moments, &w.seen[i].At)
		}
	}
	for i := range w.dropped {
		moments = append(moments, &w.dropped[i])
	}
	slices.SortStableFunc(moments, func(a, b *int64) int { return cmp.Compare(*a, *b) })
	last := int64(0) // start of the current assumed relist
	for _, at := range moments {
		k := sort.Search(len(known), func(k int) bool { return known[k] > *at }) - 1
		switch {
		case k >= 0 && w.within(n, known[k], *at, period):
			*at = known[k]
		case last != 0 && *at-last < period && (k < 0 || known[k] < last):
			*at = last
		default:
			last = *at
			more = append(more, last)
		}
	}
	return more
}

// within reports whether the relist that began at start may have logged a line at the
// given time: it had not ended, or, if its end is unknown, the next one cannot have
// begun yet.
func (w *world) within(n *replay.Node, start, at, period int64) bool {
	if i, proven := w.relists[start]; proven && n.Relists[i].End.Known() {
		return at <= n.Relists[i].End.Latest()+int64(settle)
	}
	return at < start+period
}

// settle is how long after the end of a relist the sync loop may still log its events.
const settle = 100 * time.Millisecond

// ticks assumes a relist at the next multiple of the period after each change that no
// proven relist follows within two periods.
func (w *world) ticks(proven []int64, period int64) (more []int64) {
	last := int64(0)
	for _, c := range w.changes {
		if c.at < last {
			continue
		}
		i := sort.Search(len(proven), func(i int) bool { return proven[i] >= c.at })
		if i < len(proven) && proven[i]-c.at <= 2*period {
			continue
		}
		last = (c.at/period + 1) * period
		more = append(more, last)
	}
	return more
}

// followers adds the relist a period after the end of each long one, if the log proves
// that end but not what followed.
func (w *world) followers(n *replay.Node, times []int64, period int64) []int64 {
	var more []int64
	for i := range n.Relists {
		r := &n.Relists[i]
		if d, ok := r.Duration(); !ok || d < replay.LongRelist || len(w.changes) == 0 {
			continue
		}
		at := cmp.Or(r.End.At, r.Start.At+int64(r.Took)) + period
		k := sort.Search(len(times), func(k int) bool { return times[k] > r.Start.At })
		if (k == len(times) || times[k] > at+period) && at <= n.Window.Lines.To {
			more = append(more, at)
		}
	}
	return append(times, more...)
}

// upTo applies the changes up to a time and records in s which pods differ.
func (w *world) upTo(at int64, s *simulate.Snapshot) {
	touched := map[string]bool{}
	for w.next < len(w.changes) && w.changes[w.next].at <= at {
		t := w.changes[w.next].Transition
		w.next++
		w.apply(t)
		touched[worldUID(t)] = true
	}
	for uid := range touched {
		p := w.pods[uid]
		if len(p.order) == 0 {
			delete(w.pods, uid)
			s.Gone = append(s.Gone, uid)
			continue
		}
		s.Changed = append(s.Changed, p.pod())
	}
	slices.Sort(s.Gone)
	slices.SortFunc(s.Changed, func(a, b *pleg.Pod) int { return strings.Compare(a.UID, b.UID) })
	s.Pods = len(w.pods)
}

func (w *world) apply(t *replay.Transition) {
	uid := worldUID(t)
	p := w.pods[uid]
	if p == nil {
		p = &worldPod{uid: uid, items: make(map[string]*worldItem)}
		w.pods[uid] = p
	}
	p.name, p.ns = cmp.Or(p.name, t.PodName), cmp.Or(p.ns, t.Namespace)
	if t.State == "removed" {
		delete(p.items, t.ID)
		p.order = slices.DeleteFunc(p.order, func(id string) bool { return id == t.ID })
		return
	}
	it := p.items[t.ID]
	if it == nil {
		it = &worldItem{Item: pleg.Item{ID: t.ID, Name: t.Name}, sandbox: t.Sandbox}
		p.items[t.ID] = it
		p.order = append(p.order, t.ID)
	}
	it.State, _ = pleg.RawState(t.State)
	it.ExitCode = t.ExitCode
}

func (p *worldPod) pod() *pleg.Pod {
	out := &pleg.Pod{UID: p.uid, Name: p.name, Namespace: p.ns}
	for _, id := range p.order {
		if it := p.items[id]; it.sandbox {
			out.Sandboxes = append(out.Sandboxes, it.Item)
		} else {
			out.Containers = append(out.Containers, it.Item)
		}
	}
	return out
}

// attribute assigns the events that the kubelet received, and those that it dropped, to
// relists; log lines about drops do not name the events. Unless the log shows all
// events, it leaves out those that follow from the changes.
func (w *world) attribute(h *Past) {
	if !w.logged {
		w.seen = w.unexplained(h)
		for i := range w.seen {
			if k := sort.Search(len(h.times), func(k int) bool { return h.times[k] > w.seen[i].At }); k > 0 {
				w.seen[i].At = h.times[k-1]
			}
		}
	}
	slices.SortStableFunc(w.seen, func(a, b simulate.SeenEvent) int { return cmp.Compare(a.At, b.At) })
	slices.Sort(w.dropped)
}

// unexplained returns the events that the sync loop received beyond those that follow
// from the changes, such as those of a new kubelet about existing containers, or of an
// event stream.
func (w *world) unexplained(h *Past) []simulate.SeenEvent {
	if len(w.changes) == 0 || len(w.seen) == 0 {
		return w.seen
	}
	type key struct{ typ, data string }
	made := map[key]int{}
	p, _ := pleg.New("")
	m := pleg.NewMachine(p)
	for s := range h.listings {
		for _, e := range m.Relist(pleg.Listing{Start: s.At, Err: s.ListErr, Changed: s.Changed, Gone: s.Gone}).Events {
			made[key{string(e.Type), e.Data}]++
		}
		m.Drain()
	}
	var out []simulate.SeenEvent
	for _, seen := range w.seen {
		e := seen.Event()
		k := key{e.Type, e.Data}
		if made[k] > 0 {
			made[k]--
			continue
		}
		out = append(out, seen)
	}
	return out
}
