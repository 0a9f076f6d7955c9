package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// Node is everything that was rebuilt about one node.
type Node struct {
	Kubelet Kubelet
	Window  Window

	Runs     []Run
	Relists  []Relist  // proven ones, oldest first
	Bounded  []Bounded // stretches in which only the number of relists is bounded
	Episodes []Episode
	Health   []HealthSpan
	Claims   []Claim // of which Health is the merger
	// Contradictions are where two sources cannot both be right.
	Contradictions []Contradiction
	Ready          []ReadyChange
	Gaps           []LogGap
	Holes          []Span             // where the kubelet's log is not known to be complete: silences beyond its habit, lost lines
	tail           int64              // until when a log without reports proves something
	asked          kubelet.Generators // of a kubelet that may be asked for the evented PLEG
	Lags           []LogLag
	OnDemand       OnDemand
	Failures       []Failure // CRI calls that failed, one per call (layers merged)
	Ops            []Operation
	Observed       PodEvents // "SyncLoop (PLEG)" lines in time order
	History        History
	Proofs         []MetricProof // what snapshots of the metrics prove about relists
	Calls          []CallStep    // and what they say of the runtime calls
	Requests       Requests      // calls that the runtime logged, by their first line

	Records // what the input holds of it
}

// OnDemand are the relists of single pods that kubelets from 1.36 on make between those
// of the node, as lines tell of them. They are no relists of the node: the age of the
// last one counts on while they run, and none of the node begins.
type OnDemand struct {
	Begun  []Evidence // at verbosity 5
	Failed []Evidence // their list did not come
	// Dropped are requests for one that were dropped since 200 waited: the pod is next
	// looked at by a relist of the node.
	Dropped []Evidence
}

// SaysDown reports whether an object of the API calls the container runtime down: an
// event in a stretch of time, or a condition that held in it, from its transition to
// its heartbeat. One that states no time may be of any.
func (n *Node) SaysDown(in Span) bool {
	return slices.ContainsFunc(n.Objects, func(o *parse.Object) bool {
		if !strings.Contains(host.FieldOf(o.Fields, "message"), "container runtime is down") {
			return false
		}
		seen, _ := kubelet.ParseStamp(host.FieldOf(o.Fields, "heartbeat"))
		return o.Basis == parse.NoTime || max(o.At, seen) >= in.From && (in.To == 0 || o.At <= in.To)
	})
}

// Lasted is how long the relist with index i took, from start to end; one that
// hung lasted at least to the last line that speaks of its run, or shows it to run. It is 0 and
// false when the start is not known, false when the end is not: then the
// duration is a lower bound.
func (n *Node) Lasted(i int) (took time.Duration, ended bool) {
	r := &n.Relists[i]
	d, ok := r.Duration()
	switch {
	case ok:
		return d, true
	case r.Outcome == OutcomeHung && r.Start.Known():
	case r.Took > 0:
		return max(d-r.TookSlack, 0), false
	default:
		return max(d-r.Start.Slack-r.End.Slack, 0), false
	}
	end := cmp.Or(n.Window.Lines.To, n.Window.End)
	if r.Run >= 0 && r.Run < len(n.Runs) {
		end = cmp.Or(n.Runs[r.Run].Last, end)
	}
	end = cmp.Or(r.Seen, end)
	return max(time.Duration(end-r.Start.At)-r.Start.Slack, 0), false
}

// StillRuns reports whether the relist with index i, which hung, is shown to run to the
// end of the input, give or take the distance of two reports.
func (n *Node) StillRuns(i int) bool {
	r, k := &n.Relists[i], len(n.Episodes)-1
	seen := cmp.Or(r.Seen, n.Window.Lines.To)
	return r.Outcome == OutcomeHung && (seen == 0 || seen+int64(10*time.Second) >= n.Window.End) &&
		(k < 0 || !n.Episodes[k].Recovered.Known() || n.Episodes[k].Recovered.At <= r.Start.At)
}

// TimedOut reports whether an error text says that a call ran into its
// deadline.
func TimedOut(err string) bool { return kubelet.TimedOut(err) }
