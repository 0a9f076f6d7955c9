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
	Failures []kubelet.Failure
	Proofs   []snapshots.Proof
	Window   Window
}

// Account is what a kubelet did, as far as it is proven.
type Account struct {
	Relists        []Relist  // proven ones, oldest first
	Bounded        []Bounded // stretches in which only the number of relists is bounded
	Ready          []kubelet.ReadyChange
	Episodes       []Episode
	Contradictions []Contradiction
	Witness        *kubelet.Witness // where the log is complete
	Warnings       []parse.Warning
}

// Of rebuilds what the kubelet did: relists from the lines of their own, from ages
// and from the metrics; episodes from ages; the outcome of relists that were stuck
// from those. Each is a function of those before it.
func Of(n *Known) Account {
	var a Account
	w := kubelet.NewWitness(n.Log)
	l := newLedger(n, groupAges(n.Log), w)
	a.Relists, a.Bounded = l.relists()
	a.Contradictions, a.Witness, a.Warnings = l.against, w, l.folded
	a.Ready = kubelet.Readiness(n.Log)
	a.Episodes = episodes(n, &a, l.groups, w)
	a.Relists = l.outcomes(a.Relists, a.Episodes)
	return a
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
