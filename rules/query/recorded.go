package query

import (
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// fpointIterator walks the samples of a recording rule.
type fpointIterator struct {
	cursor
	points []promql.FPoint
	begun  bool
}

func recordedIterator(points []promql.FPoint) func() chunkenc.Iterator {
	return func() chunkenc.Iterator { return &fpointIterator{points: points} }
}

// Next implements chunkenc.Iterator.
func (f *fpointIterator) Next() chunkenc.ValueType {
	f.begun = true
	if len(f.points) == 0 {
		return f.end()
	}
	p := f.points[0]
	f.points = f.points[1:]
	return f.set(p.T, p.F)
}

// Seek implements chunkenc.Iterator.
func (f *fpointIterator) Seek(t unixMilli) chunkenc.ValueType {
	if f.begun && (f.kind == chunkenc.ValNone || f.t >= t) {
		return f.kind
	}
	f.points = f.points[lowerBound(len(f.points), func(i int) bool { return f.points[i].T >= t }):]
	return f.Next()
}
