package relist

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Known is what was read of a node before its relists are dated.
type Known struct {
	Log      *kubelet.Log
	Kubelet  kubelet.Profile
	Witness  *kubelet.Witness   // where the log is complete
	Asked    kubelet.Generators // of a kubelet that may be asked for the evented PLEG
	Failures []kubelet.Failure
	Proofs   []snapshots.Proof
	Calls    []snapshots.CallStep
	Window   Window
}

// Account is what a kubelet did, as far as it is proven.
type Account struct {
	Relists        []Relist  // proven ones, oldest first
	Bounded        []Bounded // stretches in which only the number of relists is bounded
	Ready          []kubelet.ReadyChange
	Episodes       []Episode
	Contradictions []Contradiction
	Warnings       []parse.Warning
}

// Of rebuilds what the kubelet did: relists from the lines of their own, from ages
// and from the metrics; episodes from ages; the outcome of relists that were stuck
// from those. Each is a function of those before it.
func Of(n *Known) Account {
	var a Account
	l := newLedger(n, groupAges(n.Log))
	a.Relists, a.Bounded = l.relists()
	a.Contradictions, a.Warnings = l.against, l.folded
	a.Ready = kubelet.Readiness(n.Log)
	a.Episodes = episodes(n, &a, l.groups)
	a.Relists = l.outcomes(a.Relists, a.Episodes)
	return a
}

// Limit is until when a relist of a run leaves PLEG healthy, by its start, and from when
// on PLEG is unhealthy: see kubelet.Profile.
func (n *Known) Limit(run int, start int64) (well, ill int64) {
	return n.Kubelet.Limit(n.Asked.Of(run), start)
}

// Fresh is the first of the two.
func (n *Known) Fresh(run int, start int64) int64 {
	well, _ := n.Limit(run, start)
	return well
}

// Window is the span of time of which the node's records tell.
type Window struct {
	Start, End    int64     // Unix ns, 0 unknown
	Lines         host.Span // of the lines alone, within it; zero where there are none
	Timezone      string
	TimezoneBasis string
	YearBasis     string        // how the year is known, "" where each line states it
	Step          time.Duration // the largest of the clock within it: its length tells nothing then; 0 for none
}
