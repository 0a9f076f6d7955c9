package relist

import (
	"slices"

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
	Health         []HealthSpan
	Claims         []Claim // of which Health is the merger
	Contradictions []Contradiction
	Holes          []host.Span // silences beyond the log's habit and stretches with lost lines
}

// Of rebuilds what the kubelet did: relists from the lines of their own, from ages
// and from the metrics; episodes from ages; the outcome of relists that were stuck
// from those; health from all of these. Each is a function of those before it.
func Of(n *Known) Account {
	var a Account
	w := kubelet.NewWitness(n.Log)
	l := newLedger(n, kubelet.GroupAges(n.Log), w)
	a.Relists, a.Bounded = l.relists()
	a.Contradictions, a.Holes = l.against, w.Holes
	a.Ready = kubelet.Readiness(n.Log)
	a.Episodes = episodes(n, &a, l.groups, w)
	l.outcomes(a.Relists, a.Episodes)
	a.Health, a.Claims = health(n, &a, w)
	return a
}

// Window is the span of time that the node's records cover.
type Window struct {
	Start, End    int64 // Unix ns, 0 unknown
	Timezone      string
	TimezoneBasis string
	YearBasis     string // how the year is known, "" where each line states it
}

// Well returns the stretch that the kubelet's log and metrics cover when
// PLEG is proven healthy all through it, and false when anything else is: unhealthy,
// or not known. The first minute of a process, in which PLEG starts, and the moments
// after the last line from which a report could be missing, do not count.
func Well(health []HealthSpan, runs []kubelet.Run) (host.Span, bool) {
	var out host.Span
	for _, h := range health {
		switch {
		case h.State == Healthy:
			if out.From == 0 {
				out.From = h.From
			}
			out.To = h.To
		case starting(h, runs):
		case h.State == HealthUnknown && outside(h, runs):
		default:
			return host.Span{}, false
		}
	}
	return out, out.To > out.From
}

// starting reports whether a span belongs to the start of a kubelet process.
func starting(h HealthSpan, runs []kubelet.Run) bool {
	if h.State != NeverRelisted && h.State != HealthUnknown {
		return false
	}
	return slices.ContainsFunc(runs, func(r kubelet.Run) bool {
		return r.Loop != 0 && h.To <= r.First+int64(startUp) && (h.From >= r.First || h.From >= r.First-int64(startUp) && r.First != runs[0].First)
	})
}

// outside reports whether a span lies before or after all lines of the kubelet, give
// or take the time to its first relist, or is nothing but the margin after which a
// missing report would prove something.
func outside(h HealthSpan, runs []kubelet.Run) bool {
	if len(runs) == 0 {
		return false
	}
	last := runs[len(runs)-1].Last
	return h.To <= runs[0].First+2*int64(kubelet.TurnMax) || h.From >= last || h.From == last-int64(kubelet.TailMargin)
}
