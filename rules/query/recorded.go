package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// recorded is one sample written by a rule or a test.
type recorded struct {
	t int64
	v float64
	h *histogram.FloatHistogram // nil for a float
}

// Forget removes all recorded series.
func (s *Store) Forget() {
	held := slices.DeleteFunc(s.all, func(x *Series) bool { return x.Kind == Recorded })
	*s = *emptyStore()
	for _, x := range held {
		s.add(x)
	}
}

// Append writes a sample at t, in Unix milliseconds, as a server does after each evaluation of a
// rule: h, or v if h is nil. Samples of a series must be appended in time order; a second one at
// the same time must be equal.
func (s *Store) Append(ls labels.Labels, t int64, v float64, h *histogram.FloatHistogram) error {
	x := s.find(ls.Hash(), ls)
	if x == nil {
		x = &Series{Labels: ls, Kind: Recorded, Type: "gauge", from: t, to: t, rec: []recorded{{t, v, h}}}
		x.iter = func() chunkenc.Iterator { return &recordedIterator{samples: x.rec} }
		s.add(x)
		return nil
	}
	if x.Kind != Recorded {
		return fmt.Errorf("series %s is in the input already", ls)
	}
	switch last := x.rec[len(x.rec)-1]; {
	case t < last.t:
		return fmt.Errorf("sample of %s is out of order", ls)
	case t == last.t && sameSample(last, recorded{t, v, h}):
		return nil
	case t == last.t:
		return fmt.Errorf("two different samples of %s at the same time", ls)
	}
	x.rec = append(x.rec, recorded{t, v, hinted(x.rec[len(x.rec)-1].h, h)})
	x.to = t
	s.to = max(s.to, t)
	return nil
}

// hinted returns h as a server would return it after the previous histogram of the series: with a
// hint whether its counters were reset in between (tsdb/chunkenc/float_histogram.go).
func hinted(last, h *histogram.FloatHistogram) *histogram.FloatHistogram {
	if h == nil || last == nil || value.IsStaleNaN(h.Sum) || value.IsStaleNaN(last.Sum) || h.CounterResetHint == histogram.GaugeType {
		return h
	}
	out := *h
	out.CounterResetHint = histogram.NotCounterReset
	if h.DetectReset(last) {
		out.CounterResetHint = histogram.CounterReset
	}
	return &out
}

func sameSample(a, b recorded) bool {
	if a.h != nil || b.h != nil {
		return a.h != nil && b.h != nil && a.h.Equals(b.h)
	}
	return math.Float64bits(a.v) == math.Float64bits(b.v)
}

// recordedIterator iterates over the samples of a recorded series.
type recordedIterator struct {
	cursor
	samples []recorded
	begun   bool
}

// Next implements chunkenc.Iterator.
func (r *recordedIterator) Next() chunkenc.ValueType {
	r.begun = true
	if len(r.samples) == 0 {
		return r.end()
	}
	p := r.samples[0]
	r.samples = r.samples[1:]
	if p.h != nil {
		return r.setHistogram(p.t, p.h)
	}
	return r.set(p.t, p.v)
}

// Seek implements chunkenc.Iterator.
func (r *recordedIterator) Seek(t unixMilli) chunkenc.ValueType {
	if r.begun && (r.kind == chunkenc.ValNone || r.t >= t) {
		return r.kind
	}
	r.samples = r.samples[lowerBound(len(r.samples), func(i int) bool { return r.samples[i].t >= t }):]
	return r.Next()
}
