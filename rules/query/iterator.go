package query

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse"
)

// unixMilli is the engine's unit of time. Using it instead of int64 keeps vet from mistaking Seek
// for that of io.Seeker.
type unixMilli = int64

// cursor is the current sample of an iterator. Embedding it leaves only Next and Seek of
// chunkenc.Iterator to be implemented.
type cursor struct {
	t    int64
	v    float64
	h    *histogram.FloatHistogram
	kind chunkenc.ValueType
	err  error
}

func (c *cursor) At() (int64, float64) { return c.t, c.v }
func (c *cursor) AtT() int64           { return c.t }
func (c *cursor) AtST() int64          { return 0 }
func (c *cursor) Err() error           { return c.err }

// AtHistogram is never called: all histograms are float histograms.
func (c *cursor) AtHistogram(*histogram.Histogram) (int64, *histogram.Histogram) { return c.t, nil }

func (c *cursor) AtFloatHistogram(into *histogram.FloatHistogram) (int64, *histogram.FloatHistogram) {
	if c.h == nil {
		return c.t, nil
	}
	if into == nil {
		return c.t, c.h.Copy()
	}
	c.h.CopyTo(into)
	return c.t, into
}

func (c *cursor) set(t int64, v float64) chunkenc.ValueType {
	c.t, c.v, c.h, c.kind = t, v, nil, chunkenc.ValFloat
	return c.kind
}

func (c *cursor) setHistogram(t int64, h *histogram.FloatHistogram) chunkenc.ValueType {
	c.t, c.h, c.kind = t, h, chunkenc.ValFloatHistogram
	return c.kind
}

func (c *cursor) end() chunkenc.ValueType { c.kind = chunkenc.ValNone; return c.kind }

// pointIterator iterates over points, histograms and staleness markers of a series in time order.
type pointIterator struct {
	cursor
	points []parse.Point
	hists  []parse.HistogramPoint
	stale  []int64
	begun  bool
}

func newPointIterator(x *parse.Series, stale []int64) *pointIterator {
	return &pointIterator{points: x.Points, hists: x.Histograms, stale: stale}
}

var staleNaN = math.Float64frombits(value.StaleNaN)

// Next implements chunkenc.Iterator. Of samples within the same millisecond, the engine's
// resolution, only the first is returned.
func (p *pointIterator) Next() chunkenc.ValueType {
	last := p.t
	for {
		k := p.step()
		if k == chunkenc.ValNone || !p.begun || p.t > last {
			p.begun = true
			return k
		}
	}
}

func (p *pointIterator) step() chunkenc.ValueType {
	const never = math.MaxInt64
	a, b, c := int64(never), int64(never), int64(never)
	if len(p.points) > 0 {
		a = millis(p.points[0].At)
	}
	if len(p.hists) > 0 {
		b = millis(p.hists[0].At)
	}
	if len(p.stale) > 0 {
		c = p.stale[0]
	}
	switch least := min(a, b, c); {
	case least == never:
		return p.end()
	case a == least:
		v := p.points[0].V
		p.points = p.points[1:]
		return p.set(a, v)
	case b == least:
		h, ok := p.hists[0].H.(*histogram.FloatHistogram)
		p.hists = p.hists[1:]
		if !ok {
			return p.step()
		}
		return p.setHistogram(b, h)
	}
	p.stale = p.stale[1:]
	return p.set(c, staleNaN)
}

// Seek implements chunkenc.Iterator.
func (p *pointIterator) Seek(t unixMilli) chunkenc.ValueType {
	if p.begun && (p.kind == chunkenc.ValNone || p.t >= t) {
		return p.kind
	}
	p.points = p.points[lowerBound(len(p.points), func(i int) bool { return millis(p.points[i].At) >= t }):]
	p.hists = p.hists[lowerBound(len(p.hists), func(i int) bool { return millis(p.hists[i].At) >= t }):]
	p.stale = p.stale[lowerBound(len(p.stale), func(i int) bool { return p.stale[i] >= t }):]
	return p.Next()
}

// lowerBound returns the smallest i in [0, n) for which ok holds, or n.
func lowerBound(n int, ok func(int) bool) int {
	lo, hi := 0, n
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); ok(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// chunkIterator iterates over consecutive packed chunks of a TSDB.
type chunkIterator struct {
	cursor
	chunks []parse.Chunk
	it     chunkenc.Iterator
	begun  bool
}

// packedIterator iterates over a series with chunks and its other samples: the WAL of a database
// has unpacked histograms.
func packedIterator(x *parse.Series) chunkenc.Iterator {
	it := newChunkIterator(x)
	if len(x.Points)+len(x.Histograms) == 0 {
		return it
	}
	return storage.ChainSampleIteratorFromIterators(nil, []chunkenc.Iterator{it, newPointIterator(x, nil)})
}

func newChunkIterator(x *parse.Series) chunkenc.Iterator {
	ls := lanes(x.Chunks)
	if len(ls) == 1 {
		return &chunkIterator{chunks: ls[0]}
	}
	its := make([]chunkenc.Iterator, len(ls))
	for i, l := range ls {
		its[i] = &chunkIterator{chunks: l}
	}
	return storage.ChainSampleIteratorFromIterators(nil, its)
}

// lanes distributes chunks, sorted by their first sample, over lanes without overlaps. Blocks that
// are not compacted yet, and a WAL replayed over a block, need more than one lane.
func lanes(chunks []parse.Chunk) [][]parse.Chunk {
	var out [][]parse.Chunk
next:
	for _, c := range chunks {
		for i, l := range out {
			if l[len(l)-1].Max < c.Min {
				out[i] = append(l, c)
				continue next
			}
		}
		out = append(out, []parse.Chunk{c})
	}
	return out
}

// Next implements chunkenc.Iterator.
func (c *chunkIterator) Next() chunkenc.ValueType {
	for {
		if c.it == nil && !c.open() {
			return c.end()
		}
		k := c.it.Next()
		if k == chunkenc.ValNone {
			if err := c.it.Err(); err != nil {
				c.err = err
			}
			c.it = nil
			continue
		}
		if t := c.it.AtT(); !c.begun || t > c.t {
			c.begun = true
			return c.take(k)
		}
	}
}

func (c *chunkIterator) take(k chunkenc.ValueType) chunkenc.ValueType {
	if k == chunkenc.ValFloat {
		return c.set(c.it.At())
	}
	return c.setHistogram(c.it.AtFloatHistogram(nil))
}

// open starts the next chunk.
func (c *chunkIterator) open() bool {
	if len(c.chunks) == 0 {
		return false
	}
	head := c.chunks[0]
	c.chunks = c.chunks[1:]
	ch, err := chunkenc.FromData(chunkenc.Encoding(head.Encoding), head.Data)
	if err != nil {
		c.err = err
		return c.open()
	}
	c.it = ch.Iterator(nil)
	return true
}

// Seek implements chunkenc.Iterator.
func (c *chunkIterator) Seek(t unixMilli) chunkenc.ValueType {
	if c.begun && (c.kind == chunkenc.ValNone || c.t >= t) {
		return c.kind
	}
	for len(c.chunks) > 0 && millis(c.chunks[0].Max) < t {
		c.it, c.chunks = nil, c.chunks[1:]
	}
	for {
		k := c.Next()
		if k == chunkenc.ValNone || c.t >= t {
			return k
		}
	}
}
