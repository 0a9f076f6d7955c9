package relist

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Known is what has been read of a node before its relists are dated.
type Known struct {
	Log      *kubelet.Log
	Kubelet  kubelet.Profile
	Witness  *kubelet.Witness // where the log is complete
	Asked    generator.All    // which PLEG relists, per run
	Failures []kubelet.Failure
	Proofs   []snapshots.Proof
	Calls    []snapshots.CallStep
	Window   Window
	Disputed []int64 // when reports were made that relists contradict, and that Log is without
}

// Account is what a kubelet did, as far as the evidence proves it.
type Account struct {
	Relists        []Relist  // proven ones, oldest first
	Bounded        []Bounded // intervals in which only the number of relists is bounded
	Ready          []kubelet.ReadyChange
	Episodes       []Episode
	Contradictions []Contradiction
	Warnings       []parse.Warning
}

// Of reconstructs what the kubelet did, in order: relists from their own lines, from ages and from the metrics;
// episodes from ages; and then, from the episodes, the outcome of relists that were stuck.
func Of(n *Known) Account {
	var a Account
	l := newLedger(n, groupAges(n.Log))
	a.Relists, a.Bounded = l.relists()
	a.Contradictions, a.Warnings = l.against, slices.Clip(n.Witness.Folded)
	if l.steps > parse.Many {
		a.Warnings = append(a.Warnings, parse.Counted(l.against[0].Evidence[0].Where(), l.steps, "contradicted time stamp", parse.Many, "the first"))
	}
	a.Ready = kubelet.Readiness(n.Log)
	a.Episodes = episodes(n, &a, l.groups)
	a.Relists = l.outcomes(a.Relists, a.Episodes)
	return a
}

// Limit returns, for a relist of the run that began at start, until when it keeps PLEG healthy (well) and from
// when on PLEG is unhealthy without a newer one (ill), in Unix ns. See package generator.
func (n *Known) Limit(run int, start int64) (well, ill int64) {
	return n.Asked.Of(run).Limit(&n.Kubelet, start)
}

// Fresh returns the first result of Limit: until when such a relist keeps PLEG healthy.
func (n *Known) Fresh(run int, start int64) int64 {
	well, _ := n.Limit(run, start)
	return well
}

// Window is the time span that the node's records cover.
type Window struct {
	Start, End    int64     // Unix ns, 0 unknown
	Lines         host.Span // of log lines only, within [Start, End]; zero if there are none
	Timezone      string
	TimezoneBasis string
	YearBasis     string        // how the year was determined; "" if every line states it
	Step          time.Duration // largest step of the clock within the window, which makes its length meaningless; 0 if none
}

// SawStep notes a step of the clock.
func (w *Window) SawStep(d time.Duration) {
	if d.Abs() > w.Step.Abs() {
		w.Step = d
	}
}
