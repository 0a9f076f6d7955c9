package simulate

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Proof is what a log proves about a relist.
type Proof struct {
	End     int64         // Unix ns: its end, or a lower bound if Open; 0 unknown
	Slack   time.Duration // of its length
	Open    bool          // it continued after End
	Assumed bool          // nothing dates it; it must have run about then
	Unsure  bool          // unknown whether it listed pods
	Dropped int           // number of its events that the kubelet logged as dropped
	Seen    []SeenEvent   // its events that the sync loop received and its listing does not explain
	Logged  bool          // Seen holds all its events of the types that the log shows
}

// SeenEvent is an event that the sync loop received, with the start of its relist.
type SeenEvent struct {
	Of  *replay.PodEvents
	Row int
	At  int64 // Unix ns
}

// Event returns the event itself.
func (e SeenEvent) Event() replay.PodEvent { return e.Of.Item(e.Row) }

// told corrects a relist, and the totals, by what the log proves about it.
func (t *Totals) told(r *Relist, p *Proof) {
	r.Open, r.Assumed, r.Unsure, r.Slack = p.Open || p.End == 0, p.Assumed, p.Unsure, p.Slack
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
		e := seen.Event()
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
// drops the relist intervals, because dated relists need not be consecutive. A line
// counts as a relist that failed even if nothing dates that relist.
func (t *Totals) Witness(n *replay.Node) {
	t.Interval, t.Unhealthy = histogram{}, n.Ills()
	t.Failed = max(t.Failed, n.Index().Count(host.KindListFail))
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
