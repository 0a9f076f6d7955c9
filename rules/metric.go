package rules

import (
	"strconv"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// evalMetric evaluates a metric clause over the subject's window. Only float samples are
// used. An increase treats a falling value as a reset to zero.
func (s *subject) evalMetric(c *Clause) outcome {
	o := outcome{state: CannotLook, source: string(parse.SrcMetrics)}
	for _, m := range s.series[c.Metric] {
		if !labelsMatch(m, c.Labels) {
			continue
		}
		ps := s.samples(m)
		v, at, ok := reduce(ps, c.Reduce)
		if !ok {
			continue
		}
		if o.state == CannotLook {
			o.state = NotThere
		}
		if !c.Num.OK(v) {
			continue
		}
		o.state, o.factor = Found, 1
		o.count++
		if len(o.records) < keepMax {
			o.records = append(o.records, replay.Evidence{Record: m.Cite(ps[at]), Note: reduceNote(c.Reduce, v)})
		}
		if o.vars == nil { // of the record that is quoted
			o.vars = map[string]string{"value": strconv.FormatFloat(v, 'g', 4, 64)}
		}
	}
	return o
}

func labelsMatch(m *parse.Series, want map[string]string) bool {
	for k, v := range want {
		if m.Label(k) != v {
			return false
		}
	}
	return true
}

// samples returns the samples of the window, the one before it, from which an increase
// starts, and the one after it. A scrape hangs while the runtime does, so the first sample
// after the stall is often the only one that captured it.
func (s *subject) samples(m *parse.Series) []parse.Point {
	if s.ep == nil && len(m.Chunks) == 0 {
		return m.Points
	}
	var out []parse.Point
	before := parse.Point{}
	for p := range m.Samples() {
		switch {
		case s.ep != nil && p.At < s.from:
			before = p
			continue
		case before.Src != nil:
			out = append(out, before)
			before = parse.Point{}
		}
		out = append(out, p)
		if s.ep != nil && p.At > s.to {
			break
		}
	}
	if before.Src != nil {
		out = append(out, before)
	}
	return out
}

// reduce aggregates samples and returns the value and the index of the sample to quote. ok
// is false if there are too few samples.
func reduce(ps []parse.Point, how string) (v float64, at int, ok bool) {
	if len(ps) == 0 {
		return 0, 0, false
	}
	at = len(ps) - 1
	switch how {
	case "max":
		for i, p := range ps {
			if p.V > ps[at].V {
				at = i
			}
		}
		return ps[at].V, at, true
	case "increase", "rate":
		for i := 1; i < len(ps); i++ {
			d := ps[i].V - ps[i-1].V
			if d < 0 {
				d = ps[i].V
			}
			v += d
		}
		secs := float64(ps[at].At-ps[0].At) / float64(second)
		if how == "rate" {
			v /= secs
		}
		return v, at, secs > 0
	}
	return ps[at].V, at, true
}

func reduceNote(how string, v float64) string {
	x := strconv.FormatFloat(v, 'g', 4, 64)
	switch how {
	case "increase":
		return "grew by " + x + " over the window"
	case "rate":
		return x + " a second over the window"
	case "max":
		return "highest value of the window"
	}
	return ""
}
