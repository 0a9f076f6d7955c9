package relist

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
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
	Window   host.Window
	Parted   []int64 // the beginnings of holes in the log in which a kubelet without an ID of its own may have been restarted
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

// alone reports whether only the relist that began at start, and those that known spans, can have run up to a moment.
func (n *Known) alone(run int, start host.Instant, to int64, known []host.Span) bool {
	_, ill := n.Limit(run, start.Latest())
	return pause.Shown(n.Log, run, start.Earliest(), to, known) && !pause.Unannounced(n.Log, run, start.Earliest(), to) &&
		!pause.Worked(n.Log, run, max(ill, start.Latest()+int64(n.Kubelet.Reporting)), to)
}
