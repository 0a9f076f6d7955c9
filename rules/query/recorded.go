package query

import (
	"fmt"
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// recorded is one sample that a rule or a test wrote.
type recorded struct {
	t int64
	v float64
	h *histogram.FloatHistogram // nil for a float
}

// Record adds the result of a recording rule: a series of samples.
func (s *Store) Record(ls labels.Labels, floats []promql.FPoint, hists []promql.HPoint) {
	x := &Series{Labels: ls, Kind: Recorded, Type: "gauge"}
	for len(floats)+len(hists) > 0 {
		if len(hists) == 0 || len(floats) > 0 && floats[0].T <= hists[0].T {
			x.rec = append(x.rec, recorded{t: floats[0].T, v: floats[0].F})
			floats = floats[1:]
			continue
		}
		x.rec = append(x.rec, recorded{t: hists[0].T, h: hists[0].H})
		hists = hists[1:]
	}
	if n := len(x.rec); n > 0 {
		x.from, x.to = x.rec[0].t, x.rec[n-1].t
		x.iter = func() chunkenc.Iterator { return &recordedIterator{samples: x.rec} }
		s.add(x)
	}
}

// Append writes one sample at t milliseconds, as a server does after each
// evaluation of a rule: h or, if that is nil, v. Samples of a series come in
// time order; one more of the same time must be the same.
func (s *Store) Append(ls labels.Labels, t int64, v float64, h *histogram.FloatHistogram) error {
	x := s.find(ls)
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
	x.rec = append(x.rec, recorded{t, v, h})
	x.to = t
	s.to = max(s.to, t)
	return nil
}

func sameSample(a, b recorded) bool {
	if a.h != nil || b.h != nil {
		return a.h != nil && b.h != nil && a.h.Equals(b.h)
	}
	return math.Float64bits(a.v) == math.Float64bits(b.v)
}

// recordedIterator walks the samples of a recorded series.
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
