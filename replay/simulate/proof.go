package simulate

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Proof is what a log proves of a relist.
type Proof struct {
	End     int64       // Unix ns: when it ended, or until when it ran at least; 0 unknown
	Open    bool        // it ran on after End
	Assumed bool        // nothing dates it: it must have been about then
	Unsure  bool        // nothing tells whether it listed pods
	Dropped int         // events of it that the kubelet says it dropped
	Seen    []seenEvent // events of it that the sync loop got and that its listing does not explain
	Logged  bool        // Seen are all of the kinds that the log shows
}

// prove gives each relist the events that the kubelet got, and those that it says
// it dropped: the lines name none. Events that follow from the changes come of
// these.
func (w *world) prove(ss []*Snapshot, times []int64) {
	at := make(map[int64]*Proof, len(ss))
	for _, s := range ss {
		at[s.At] = s.Proof
		s.Proof.Logged = w.logged
	}
	if !w.logged {
		w.seen = w.unexplained(ss)
		for i := range w.seen {
			if k := sort.Search(len(times), func(k int) bool { return times[k] > w.seen[i].at }); k > 0 {
				w.seen[i].at = times[k-1]
			}
		}
	}
	for _, e := range w.seen {
		if p := at[e.at]; p != nil {
			p.Seen = append(p.Seen, e)
		}
	}
	for _, start := range w.dropped {
		if p := at[start]; p != nil {
			p.Dropped++
		}
	}
}

// unexplained are the events that the sync loop got beyond those that follow from
// the changes: a new kubelet reports what it finds, an event stream what it hears.
func (w *world) unexplained(ss []*Snapshot) []seenEvent {
	if len(w.changes) == 0 {
		return w.seen
	}
	type key struct{ typ, data string }
	made := map[key]int{}
	p, _ := pleg.New("")
	m := pleg.NewMachine(p)
	for _, s := range ss {
		for _, e := range m.Relist(pleg.Listing{Start: s.At, Err: s.ListErr, Changed: s.Changed, Gone: s.Gone}).Events {
			made[key{string(e.Type), e.Data}]++
		}
		m.Drain()
	}
	var out []seenEvent
	for _, e := range w.seen {
		k := key{e.Type, e.Data}
		if made[k] > 0 {
			made[k]--
			continue
		}
		out = append(out, e)
	}
	return out
}

// told corrects a relist by what the log proves of it.
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
	for _, e := range p.Seen {
		r.Events = append(r.Events, pleg.Event{Pod: cmp.Or(e.PodUID, e.PodEvent.Pod), Type: pleg.EventType(e.Type), Data: e.Data, Delivered: true})
	}
	r.Sent += len(p.Seen)
	t.Events += len(p.Seen)
	left := max(p.Dropped-r.Discarded, 0)
	r.Discarded += left
	t.Discarded += left
	for i := len(r.Events) - len(p.Seen) - 1; i >= 0 && left > 0 && !p.Logged; i-- { // what the sync loop got was not dropped
		if e := &r.Events[i]; e.Delivered {
			e.Delivered = false
			left--
			r.Sent--
			t.Events--
		}
	}
}

// Witness puts what the history of a node says of the health of PLEG in the place
// of what follows from the relists alone: between those that the log dates others
// ran.
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
		r.LastSeen = 0 // the last one that the log dates need not be the last one that listed
	}
}

// Witness is the same for the sums: what was unhealthy is told by the history, and the
// intervals between dated relists are none between relists.
func (t *Totals) Witness(n *replay.Node) {
	t.Interval, t.Unhealthy = histogram{}, n.Ills()
}

// HistoryAssumptions lists what the replay of a node, or of listings of container
// tools on it, takes for granted.
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
