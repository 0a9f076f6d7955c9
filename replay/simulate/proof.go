package simulate

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Proof is what a log proves about a relist.
type Proof struct {
	End     int64       // Unix ns: its end, or a lower bound if Open; 0 unknown
	Open    bool        // it continued after End
	Assumed bool        // nothing dates it; it must have run about then
	Unsure  bool        // unknown whether it listed pods
	Dropped int         // number of its events that the kubelet logged as dropped
	Seen    []seenEvent // its events that the sync loop received and its listing does not explain
	Logged  bool        // Seen holds all its events of the types that the log shows
}

// attribute assigns the events that the kubelet received, and those that it dropped, to
// relists; log lines about drops do not name the events. Unless the log shows all
// events, it leaves out those that follow from the changes.
func (w *world) attribute(h *Past) {
	if !w.logged {
		w.seen = w.unexplained(h)
		for i := range w.seen {
			if k := sort.Search(len(h.times), func(k int) bool { return h.times[k] > w.seen[i].at }); k > 0 {
				w.seen[i].at = h.times[k-1]
			}
		}
	}
	slices.SortStableFunc(w.seen, func(a, b seenEvent) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(w.dropped)
}

// unexplained returns the events that the sync loop received beyond those that follow
// from the changes, such as those of a new kubelet about existing containers, or of an
// event stream.
func (w *world) unexplained(h *Past) []seenEvent {
	if len(w.changes) == 0 {
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
	var out []seenEvent
	for _, seen := range w.seen {
		e := seen.event()
		k := key{e.Type, e.Data}
		if made[k] > 0 {
			made[k]--
			continue
		}
		out = append(out, seen)
	}
	return out
}

// told corrects a relist, and the totals, by what the log proves about it.
func (t *Totals) told(r *Relist, p *Proof) {
	r.Open, r.Assumed, r.Unsure = p.Open, p.Assumed, p.Unsure
	if p.Logged {
		r.Events = slices.DeleteFunc(r.Events, func(e pleg.Event) bool {
			shown := e.Type == pleg.ContainerStarted || e.Type == pleg.ContainerDied
			if shown && e.Delivered {
				r.Sent--
				t.Events--
			}
			return shown
		})
	}
	for _, seen := range p.Seen {
		e := seen.event()
		r.Events = append(r.Events, pleg.Event{Pod: cmp.Or(e.PodUID, e.Pod), Type: pleg.EventType(e.Type), Data: e.Data, Delivered: true})
	}
	r.Sent += len(p.Seen)
	t.Events += len(p.Seen)
	left := max(p.Dropped-r.Discarded, 0)
	r.Discarded += left
	t.Discarded += left
	for i := len(r.Events) - len(p.Seen) - 1; i >= 0 && left > 0 && !p.Logged; i-- { // events that the sync loop received were not dropped
		if e := &r.Events[i]; e.Delivered {
			e.Delivered = false
			left--
			r.Sent--
			t.Events--
		}
	}
}

// Witness replaces the health of a simulated relist by that in the history of the node.
// The relists alone do not show it, because others ran between those that the log
// dates.
func Witness(n *replay.Node, r *Relist) {
	i := sort.Search(len(n.Health), func(i int) bool { return n.Health[i].To > r.End || n.Health[i].To == 0 })
	r.Health = replay.HealthUnknown
	if i < len(n.Health) && n.Health[i].From <= r.End {
		r.Health = n.Health[i].State
	}
	if alone := r.OK() && !r.Open && !r.Assumed && !r.Unsure && r.End-r.Start <= int64(n.Kubelet.Threshold); alone {
		r.Health = replay.Healthy // its own listing proves it
	}
	r.Healthy = r.Health == replay.Healthy
	if r.LastSeen != r.Start || r.Unsure {
		r.LastSeen = 0 // the last dated relist need not be the last one that listed pods
	}
}

// Witness replaces the unhealthy intervals by those in the history of the node, and
// drops the relist intervals, because dated relists need not be consecutive.
func (t *Totals) Witness(n *replay.Node) {
	t.Interval, t.Unhealthy = histogram{}, n.Ills()
}

// HistoryAssumptions lists the assumptions of the replay of a node's history, or of
// listings of container tools on it.
func HistoryAssumptions(n *replay.Node, listings bool) []string {
	if listings {
		return []string{"each listing of a container tool is taken for one relist; those between them are not shown"}
	}
	out := []string{"relists are those that the input proves or that a change of a container implies; those between them are not shown"}
	if n.History.Len() == 0 {
		return append(out, "the input does not show what became of containers: events are not replayed")
	}
	return append(out, "a relist that nothing dates ran soon after the change that it must have seen")
}
