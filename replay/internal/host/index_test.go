package host

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestIndexBeside checks that indexing in parts gives the same index as one pass.
func TestIndexBeside(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	origins := []*parse.Origin{{Source: parse.SrcKubelet}, {Source: parse.SrcKernel}, {Source: parse.SrcContainerd}}
	var kinds []*parse.EventKind
	for i, id := range []string{parse.SigEvent, parse.SigRPC, parse.SigAge, parse.SigFinished} {
		f := &parse.File{Path: id}
		for k, o := range origins {
			sig := &parse.Sig{ID: id}
			kinds = append(kinds, &parse.EventKind{File: f, Origin: o, Sigs: &parse.SigSet{Sigs: []*parse.Sig{sig}}})
			if i == k { // another kind of the same group
				kinds = append(kinds, &parse.EventKind{File: f, Origin: o, Sigs: kinds[len(kinds)-1].Sigs, Severity: 'E'})
			}
		}
	}
	bases := []parse.Basis{parse.NoTime, parse.LowerBound, parse.SinceBoot, parse.Stated}
	var events []*parse.Event
	for i := range 100_000 {
		shown := kinds[:min(len(kinds), 1+i/9000)] // some kinds appear late, and some are rare
		k := shown[rng.IntN(len(shown))]
		if rng.IntN(50) > 0 {
			k = shown[0]
		}
		e := parse.NewEvent(k, parse.Text{}, parse.Event{Line: uint32(i)})
		e.Stamp = parse.Stamp{At: int64(1 + rng.IntN(1e9)), Basis: bases[rng.IntN(1+i*4/100_000)]}
		events = append(events, e)
	}
	whole := &Index{Events: events, Of: make([]uint32, len(events))}
	newRegistrar(whole).take(0, len(events))
	got := NewIndex(events, nil)
	if !slices.Equal(got.Of, whole.Of) || !slices.Equal(got.Forms, whole.Forms) || len(got.Groups) != len(whole.Groups) {
		t.Fatalf("%d groups and %d forms, want %d and %d, or lines of others", len(got.Groups), len(got.Forms), len(whole.Groups), len(whole.Forms))
	}
	for i, x := range got.Groups {
		want := whole.Groups[i]
		if *x.set != *want.set {
			t.Errorf("group %d: set %v, want %v", i, *x.set, *want.set)
		}
		if x.set, want.set = nil, nil; x != want {
			t.Errorf("group %d: %+v, want %+v", i, x, want)
		}
	}
}
