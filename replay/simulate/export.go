package simulate

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// jsonSnapshot is one line of schema plegforensics/snapshots/v1.
type jsonSnapshot struct {
	Time    string                 `json:"time"`
	List    *float64               `json:"list_seconds,omitempty"`
	ListErr string                 `json:"list_error,omitempty"`
	Pods    []jsonPod              `json:"pods,omitempty"`
	Inspect map[string]jsonInspect `json:"inspect,omitempty"`
	Drained *bool                  `json:"drained,omitempty"`
}

type jsonInspect struct {
	Seconds *float64 `json:"seconds,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// Exporter writes snapshots as lines. It holds the present listing.
type Exporter struct {
	pods map[string]*pleg.Pod
}

// Line is one snapshot as a line of JSON with its newline. Pods come by uid.
func (x *Exporter) Line(s *Snapshot) ([]byte, error) {
	if x.pods == nil {
		x.pods = make(map[string]*pleg.Pod)
	}
	j := jsonSnapshot{Time: time.Unix(0, s.At).UTC().Format("2006-01-02T15:04:05.000000000Z"), ListErr: s.ListErr}
	if s.List >= 0 {
		v := s.List.Seconds()
		j.List = &v
	}
	if !s.Drained {
		j.Drained = &s.Drained
	}
	if len(s.Inspect) > 0 {
		j.Inspect = make(map[string]jsonInspect, len(s.Inspect))
		for uid, o := range s.Inspect {
			in := jsonInspect{Error: o.Err}
			if o.Took >= 0 {
				v := o.Took.Seconds()
				in.Seconds = &v
			}
			j.Inspect[uid] = in
		}
	}
	if s.ListErr == "" {
		x.apply(s)
		j.Pods = x.listing()
	}
	b, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if s.ListErr == "" && len(j.Pods) == 0 { // an empty listing is not an absent one
		b = append(b[:len(b)-1], `,"pods":[]}`...)
	}
	return append(b, '\n'), nil
}

func (x *Exporter) apply(s *Snapshot) {
	for _, p := range s.Changed {
		x.pods[p.UID] = p
	}
	for _, uid := range s.Gone {
		delete(x.pods, uid)
	}
}

func (x *Exporter) listing() []jsonPod {
	out := make([]jsonPod, 0, len(x.pods))
	for _, p := range x.pods {
		out = append(out, jsonPod{UID: p.UID, Name: p.Name, Namespace: p.Namespace,
			Sandboxes: jsonItems(p.Sandboxes), Containers: jsonItems(p.Containers)})
	}
	slices.SortFunc(out, func(a, b jsonPod) int { return strings.Compare(a.UID, b.UID) })
	return out
}

func jsonItems(items []pleg.Item) []jsonItem {
	out := make([]jsonItem, len(items))
	for i, it := range items {
		out[i] = jsonItem{ID: it.ID, Name: it.Name, State: it.State.String(), ExitCode: it.ExitCode}
	}
	return out
}

// HistorySnapshots turns a node's container history into recorded relists:
// what the runtime held, at the relists that the log proves, and at the next
// tick of the relist period after a change that no proven relist follows
// soon. The second value counts the relists so assumed.
func HistorySnapshots(n *replay.Node, bs []blame.Blame) (out []*Snapshot, assumed int) {
	w := newWorld(n)
	if len(w.changes) == 0 {
		return nil, 0
	}
	times, assumed := w.schedule(n)
	for i, at := range times {
		s := &Snapshot{At: at, List: -1, Drained: true}
		if r, ok := w.relists[at]; ok {
			s.decorate(n, bs, r)
		}
		if i+1 < len(times) {
			s.Next = times[i+1]
		}
		if s.ListErr == "" {
			w.upTo(at, s)
		}
		out = append(out, s)
	}
	return out, assumed
}

// decorate adds what the ledger and its blame know about a relist.
func (s *Snapshot) decorate(n *replay.Node, bs []blame.Blame, i int) {
	r := &n.Relists[i]
	if r.ListEnd.Known() {
		s.List = max(time.Duration(r.ListEnd.At-r.Start.At), 0)
	}
	if r.Outcome == replay.OutcomeListFailed {
		s.ListErr = "the list calls failed"
		if d, ok := r.Duration(); ok {
			s.List = max(d, 0)
		}
		return
	}
	for k := range bs {
		if bs[k].Relist != i {
			continue
		}
		for _, p := range bs[k].ByPod {
			if p.ID == "" {
				continue
			}
			o := InspectOutcome{Took: p.Took / time.Duration(max(p.Calls, 1))}
			if p.TimedOut > 0 {
				o.Err = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
			}
			if s.Inspect == nil {
				s.Inspect = make(map[string]InspectOutcome)
			}
			s.Inspect[p.ID] = o
		}
	}
}

// world is the runtime's content through time.
type world struct {
	changes []*replay.Transition // in time order
	next    int
	pods    map[string]*worldPod
	relists map[int64]int // proven relists by start
}

// worldPod is one pod's objects in the order of their first sighting.
type worldPod struct {
	uid, name, ns string
	order         []string
	items         map[string]*worldItem
}

type worldItem struct {
	pleg.Item
	sandbox bool
}

// newWorld gathers the changes that name a pod. The runtime's own account is
// used where there is one; else the states that the relist goroutine logged.
func newWorld(n *replay.Node) *world {
	w := &world{pods: make(map[string]*worldPod), relists: make(map[int64]int)}
	own, all := false, n.History.Pointers()
	for _, t := range all {
		own = own || t.Src != parse.SrcKubelet
	}
	for _, t := range all {
		if t.At.Known() && worldUID(t) != "" && (t.Src != parse.SrcKubelet) == own {
			w.changes = append(w.changes, t)
		}
	}
	slices.SortStableFunc(w.changes, func(a, b *replay.Transition) int {
		return cmp.Or(cmp.Compare(a.At.At, b.At.At), cmp.Compare(a.ID, b.ID))
	})
	for i := range n.Relists {
		if r := &n.Relists[i]; r.Start.Known() {
			w.relists[r.Start.At] = i
		}
	}
	return w
}

// worldUID names a transition's pod: by uid, or by name where only that is
// known.
func worldUID(t *replay.Transition) string {
	return cmp.Or(t.PodUID, host.PodName(t.Namespace, t.PodName))
}

// schedule lists the relist starts: the proven ones, and assumed ones after
// changes that no proven one follows within two periods.
func (w *world) schedule(n *replay.Node) (times []int64, assumed int) {
	period := int64(cmp.Or(n.Kubelet.Period, pleg.Period))
	for at, i := range w.relists {
		if r := &n.Relists[i]; r.Listed == nil || *r.Listed || r.Outcome == replay.OutcomeListFailed {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	times, assumed = w.followers(n, times, period)
	proven := times
	last := int64(0)
	for _, c := range w.changes {
		if c.At.At < last {
			continue
		}
		i := sort.Search(len(proven), func(i int) bool { return proven[i] >= c.At.At })
		if i < len(proven) && proven[i]-c.At.At <= 2*period {
			continue
		}
		last = (c.At.At/period + 1) * period
		times = append(times, last)
		assumed++
	}
	slices.Sort(times)
	return slices.Compact(times), assumed
}

// followers adds the relist that came a period after the end of a long one,
// where the log proves that end but not what followed.
func (w *world) followers(n *replay.Node, times []int64, period int64) ([]int64, int) {
	var more []int64
	for i := range n.Relists {
		r := &n.Relists[i]
		if d, ok := r.Duration(); !ok || d < replay.LongRelist {
			continue
		}
		at := r.End.At + period
		k := sort.Search(len(times), func(k int) bool { return times[k] > r.Start.At })
		if (k == len(times) || times[k] > at+period) && at <= n.Window.End {
			more = append(more, at)
		}
	}
	times = append(times, more...)
	slices.Sort(times)
	return times, len(more)
}

// upTo applies the changes up to a time and notes which pods differ.
func (w *world) upTo(at int64, s *Snapshot) {
	touched := make(map[string]bool)
	for w.next < len(w.changes) && w.changes[w.next].At.At <= at {
		t := w.changes[w.next]
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
