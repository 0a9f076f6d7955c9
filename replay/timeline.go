package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// Node is everything reconstructed about one node.
type Node struct {
	Kubelet Kubelet
	Window  Window

	Runs     []Run
	Relists  []Relist  // proven ones, oldest first
	Bounded  []Bounded // intervals in which only the number of relists is bounded
	Episodes []Episode
	Health   []HealthSpan
	Claims   []Claim // merged into Health
	// Contradictions are conflicts between two sources.
	Contradictions []Contradiction
	Ready          []ReadyChange
	Gaps           []LogGap
	Holes          []Span        // where the kubelet's log may be incomplete: silences longer than usual, lost lines
	tail           int64         // until when a log without reports proves anything
	asked          generator.All // which PLEG relists, per run
	backs          []Span        // what the clock shows twice, or a mix of two nodes: relists have no order there
	Lags           []LogLag
	OnDemand       OnDemand
	Failures       []Failure // CRI calls that failed, one per call (layers merged)
	Ops            []Operation
	Observed       PodEvents // "SyncLoop (PLEG)" lines, in time order
	History        History
	Proofs         []MetricProof // what metrics snapshots prove about relists
	Calls          []CallStep    // what they show about runtime calls
	Requests       Requests      // calls logged by the runtime, by their first line

	Records // what the input holds of the node
}

// OnDemand holds the on-demand relists of single pods that lines show. Kubelets from 1.36 on make them between
// relists of the node. While one runs, the age of the last node relist keeps growing and no node relist begins.
type OnDemand struct {
	Begun  []Evidence // logged at verbosity 5
	Failed []Evidence // their list call failed
	// Dropped holds requests that were dropped because 200 were waiting; the pod is next inspected by a relist
	// of the node.
	Dropped []Evidence
}

// SaysDown reports whether an API object reports the container runtime down: an event within the interval, or a
// condition that held in it, from its transition to its heartbeat. An undated object always counts.
func (n *Node) SaysDown(in Span) bool {
	return slices.ContainsFunc(n.Objects, func(o *parse.Object) bool {
		if !strings.Contains(o.Field("message"), "container runtime is down") {
			return false
		}
		seen, _ := host.ParseStamp(o.Field("heartbeat"))
		return o.Basis == parse.NoTime || max(o.At, seen) >= in.From && (in.To == 0 || o.At <= in.To)
	})
}

// Lasted returns how long relist i took. If ended is false, took is a lower bound: a hung relist lasted at
// least until it was last shown running, or until the last line of its run. took is 0 if the start is unknown.
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

// StillRuns reports whether relist i, which hung, was shown running until the end of the input, within 10 s,
// the distance of two reports.
func (n *Node) StillRuns(i int) bool {
	r, k := &n.Relists[i], len(n.Episodes)-1
	seen := cmp.Or(r.Seen, n.Window.Lines.To)
	return r.Outcome == OutcomeHung && (seen == 0 || seen+int64(10*time.Second) >= n.Window.End) &&
		(k < 0 || !n.Episodes[k].Recovered.Known() || n.Episodes[k].Recovered.At <= r.Start.At)
}

// TimedOut reports whether an error text says that a call hit its deadline.
func TimedOut(err string) bool { return kubelet.TimedOut(err) }
