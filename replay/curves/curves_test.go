package curves

import (
	"math"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// series returns a series with a sample every 15 s from time 0.
func series(name string, values ...float64) *parse.Series {
	s := &parse.Series{Name: name}
	for i, v := range values {
		s.Points = append(s.Points, parse.Point{At: int64(i) * 15e9, V: v})
	}
	return s
}

func node(s ...*parse.Series) *replay.Node {
	n := &replay.Node{}
	n.Series, n.Window.End = s, 1e15
	return n
}

// TestOf checks that a mean is over the calls between two samples and unknown if there
// were none, and that a rate is summed over the series and ignores a counter that fell.
func TestOf(t *testing.T) {
	got := map[string]Curve{}
	for _, c := range Of(node(
		series("kubelet_pleg_relist_latency_microseconds_sum", 0, 6e6, 6e6, 36e6),
		series("kubelet_pleg_relist_latency_microseconds_count", 0, 3, 3, 6),
		series("kubelet_runtime_operations_total", 0, 15, 30, 45), series("kubelet_runtime_operations_total", 0, 30, 0, 30),
		series("node_load1", 1, 2, 5), series("unknown", 1, 2, 3))) {
		got[c.Name] = c
	}
	for name, want := range map[string][]float64{"relist, mean": {2, math.NaN(), 10}, "operations": {3, 1, 3}, "load, 1 min": {1, 2, 5}} {
		c := got[name]
		if len(c.Points) != len(want) || c.Gap != 45e9 {
			t.Errorf("%s: %+v", name, c)
			continue
		}
		for i, p := range c.Points {
			if p.Value != want[i] && !(math.IsNaN(p.Value) && math.IsNaN(want[i])) || (p.By == nil) != math.IsNaN(want[i]) {
				t.Errorf("%s: point %d is %+v, want %g", name, i, p, want[i])
			}
		}
	}
	if len(got) != 3 {
		t.Errorf("%d curves: %v", len(got), got)
	}
}

// TestThinned checks that the peaks remain when points are thinned out.
func TestThinned(t *testing.T) {
	values := make([]float64, 3*most)
	values[5001] = 7
	c := Of(node(series("node_load1", values...)))[0]
	peak := 0.0
	for _, p := range c.Points {
		peak = max(peak, p.Value)
	}
	if peak != 7 || len(c.Points) > most {
		t.Errorf("peak %g of %d points", peak, len(c.Points))
	}
}
