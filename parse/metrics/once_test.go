package metrics

import (
	"iter"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

func TestOnce(t *testing.T) {
	src := &parse.Scrape{File: &parse.File{Path: "f"}, Stamp: parse.Stamp{Basis: parse.Stated}}
	series := func(name string, at ...int64) *parse.Series {
		x := &parse.Series{Name: name}
		for _, t := range at {
			x.Points = append(x.Points, parse.Point{At: t, V: float64(t), Src: src})
		}
		return x
	}
	got := Once([]*parse.Series{series("b", 1, 3), series("a", 2), series("b", 1, 2, 3, 4), series("c")})
	if len(got) != 3 || got[0].Name != "a" || len(got[1].Points) != 4 || got[1].Points[1].At != 2 || got[2].Name != "c" {
		t.Errorf("%v", got)
	}
}

func TestSamplesCountOncePackedOrNot(t *testing.T) {
	src := &parse.Scrape{}
	x := &parse.Series{Points: []parse.Point{{At: 1, Src: src}, {At: 2, Src: src}, {At: 3, Src: src}}, Chunks: make([]parse.Chunk, 1),
		Unpack: func(*parse.Series) iter.Seq[parse.Point] {
			return func(yield func(parse.Point) bool) { _ = yield(parse.Point{At: 2}) && yield(parse.Point{At: 4}) }
		}}
	var at []int64
	for p := range x.Samples() {
		at = append(at, p.At)
	}
	if len(at) != 4 || at[1] != 2 || at[3] != 4 {
		t.Error(at)
	}
}
