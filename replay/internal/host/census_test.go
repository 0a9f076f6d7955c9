package host

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestCensusBeside wants the same census of stretches as of all lines at once.
func TestCensusBeside(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	origins := []*parse.Origin{{Source: parse.SrcKubelet}, {Source: parse.SrcKernel}, {Source: parse.SrcContainerd}}
	var kinds []*parse.EventKind
	for i, id := range []string{parse.SigEvent, parse.SigRPC, parse.SigAge, parse.SigFinished} {
		f := &parse.File{Path: id}
		for k, o := range origins {
			sig := &parse.Sig{ID: id}
			kinds = append(kinds, &parse.EventKind{File: f, Origin: o, Sigs: &parse.SigSet{Sigs: []*parse.Sig{sig}}})
			if i == k { // another kind of the same class
				kinds = append(kinds, &parse.EventKind{File: f, Origin: o, Sigs: kinds[len(kinds)-1].Sigs, Severity: 'E'})
			}
		}
	}
	bases := []parse.Basis{parse.NoTime, parse.LowerBound, parse.SinceBoot, parse.Stated}
	var events []*parse.Event
	for i := range 100_000 {
		shown := kinds[:min(len(kinds), 1+i/9000)] // some come up late, and some seldom
		k := shown[rng.IntN(len(shown))]
		if rng.IntN(50) > 0 {
			k = shown[0]
		}
		e := parse.NewEvent(k, parse.Text{}, parse.Event{Line: uint32(i)})
		e.Stamp = parse.Stamp{At: int64(1 + rng.IntN(1e9)), Basis: bases[rng.IntN(1+i*4/100_000)]}
		events = append(events, e)
	}
	whole := &Census{Events: events, Of: make([]uint32, len(events))}
	newRegistrar(whole).take(0, len(events))
	got := takeCensus(events, nil)
	if !slices.Equal(got.Of, whole.Of) || !slices.Equal(got.Forms, whole.Forms) || len(got.Classes) != len(whole.Classes) {
		t.Fatalf("%d classes and %d forms, want %d and %d, or lines of others", len(got.Classes), len(got.Forms), len(whole.Classes), len(whole.Forms))
	}
	for i, x := range got.Classes {
		want := whole.Classes[i]
		if *x.set != *want.set {
			t.Errorf("class %d: set %v, want %v", i, *x.set, *want.set)
		}
		if x.set, want.set = nil, nil; x != want {
			t.Errorf("class %d: %+v, want %+v", i, x, want)
		}
	}
}
