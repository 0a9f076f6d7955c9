package bundle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

func TestSortEvents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	kinds := []parse.EventKind{{File: &parse.File{Path: "a"}}, {File: &parse.File{Path: "b"}}, {File: &parse.File{Path: "c"}}}
	for n := range 300 {
		var events []*parse.Event
		for range n {
			e := parse.NewEvent(&kinds[rnd.IntN(3)], parse.Text{}, parse.Event{Offset: int64(rnd.IntN(3))})
			e.At = int64(rnd.IntN(1 + n/2))
			events = append(events, e)
		}
		if n%2 == 0 { // two sorted files, one after the other
			slices.SortFunc(events[:n/3], byTime)
			slices.SortFunc(events[n/3:], byTime)
		}
		want := slices.Clone(events)
		slices.SortStableFunc(want, byTime)
		if sortEvents(events); !slices.Equal(events, want) {
			t.Fatalf("%d events are not in order, or equal ones have changed places", n)
		}
	}
}
