package tsdb

import (
	"cmp"
	"iter"
	"slices"

	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse"
)

// unpacked returns the float samples of the packed chunks of a series in time order
// (parse.Series.Unpack). It unpacks only chunks that overlap each other at a time.
// Damaged chunks are skipped silently; the reader has already checked every chunk.
func unpacked(x *parse.Series) iter.Seq[parse.Point] {
	return func(yield func(parse.Point) bool) {
		var buf []parse.Point
		for cs := x.Chunks; len(cs) > 0; {
			n, end := 1, cs[0].Max
			for n < len(cs) && cs[n].Min <= end {
				end = max(end, cs[n].Max)
				n++
			}
			buf = floats(buf[:0], cs[:n])
			for _, p := range buf {
				if !yield(p) {
					return
				}
			}
			cs = cs[n:]
		}
	}
}

// floats appends the float samples of chunks in time order, each time once.
func floats(to []parse.Point, cs []parse.Chunk) []parse.Point {
	for _, c := range cs {
		ch, err := chunkenc.FromData(chunkenc.Encoding(c.Encoding), c.Data)
		if err != nil {
			continue
		}
		it := ch.Iterator(nil)
		for k := it.Next(); k != chunkenc.ValNone; k = it.Next() {
			if k == chunkenc.ValFloat {
				t, v := it.At()
				to = append(to, parse.Point{At: t * 1e6, V: v, Src: c.Src})
			}
		}
	}
	if len(cs) > 1 {
		slices.SortStableFunc(to, func(a, b parse.Point) int { return cmp.Compare(a.At, b.At) })
		to = slices.CompactFunc(to, func(a, b parse.Point) bool { return a.At == b.At })
	}
	return to
}
