package health

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// State is the health of PLEG over an interval.
type State string

// States.
const (
	Healthy       State = "healthy"
	Unhealthy     State = "unhealthy"
	NeverRelisted State = "never-relisted"
	RuntimeDown   State = "runtime-down"
	Unknown       State = "unknown"
)

// Span is an interval with one health state.
type Span struct {
	host.Span
	State State
	Proof string // kind of proof at its start, see Claim; "" if unknown
}

// spans flattens claims, of which a later one covers earlier ones, in one sweep; time that no claim covers is unknown.
func spans(layers []Claim, w host.Window) []Span {
	type edge struct {
		at    int64
		layer int
		open  bool
	}
	var edges []edge
	for i, l := range layers {
		from, to := max(l.From, w.Start), min(l.To, w.End)
		if to > from {
			edges = append(edges, edge{from, i, true}, edge{to, i, false})
		}
	}
	if w.End == w.Start { // a single moment
		st, proof := Unknown, ""
		for _, l := range layers {
			if l.From <= w.Start && l.To >= w.End {
				st, proof = l.State, l.Proof
			}
		}
		return []Span{{host.Span{From: w.Start, To: w.End}, st, proof}}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var out []Span
	add := func(from, to int64, st State, proof string) {
		if k := len(out); k > 0 && out[k-1].State == st && out[k-1].To == from && (out[k-1].Proof == ProofChannel) == (proof == ProofChannel) {
			out[k-1].To = to
		} else if to > from {
			out = append(out, Span{host.Span{From: from, To: to}, st, proof})
		}
	}
	var open []int // open layers, topmost last
	at := w.Start
	for _, e := range edges {
		if e.at > at {
			st, proof := Unknown, ""
			if k := len(open); k > 0 {
				st, proof = layers[open[k-1]].State, layers[open[k-1]].Proof
			}
			add(at, e.at, st, proof)
			at = e.at
		}
		if i, _ := slices.BinarySearch(open, e.layer); e.open {
			open = slices.Insert(open, i, e.layer)
		}
		for k := len(open) - 1; k >= 0 && layers[open[k]].To <= e.at; k-- { // lower layers that have ended are removed once they are topmost
			open = open[:k]
		}
	}
	if w.End > at {
		add(at, w.End, Unknown, "")
	}
	return out
}
