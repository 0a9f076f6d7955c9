package snapshots

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestCountedRelists checks that both generations of names give the number, durations
// and rate of the relists, and nothing that the snapshots do not state.
func TestCountedRelists(t *testing.T) {
	at := func(s int) int64 { return time.Date(2026, 3, 1, 12, 0, s, 0, time.UTC).UnixNano() }
	series := func(name, label, is string, values ...float64) *parse.Series {
		s := &parse.Series{Name: name}
		if label != "" {
			s.Labels = append(s.Labels, parse.Field{Name: label, Value: is})
		}
		for i, v := range values {
			s.Points = append(s.Points, parse.Point{At: at(60 * i), V: v, Src: &parse.Scrape{Stamp: parse.Stamp{At: at(60 * i), Basis: parse.Stated}}})
		}
		return s
	}
	const old = "kubelet_pleg_relist_latency_microseconds"
	c, ok := CountedRelists([]*parse.Series{series(old+"_count", "", "", 5106), series(old, "quantile", "0.5", 53438), series(old, "quantile", "0.99", 115232)})
	if !ok || c.Count != 5106 || c.P50 != 53438*time.Microsecond || c.P99 != 115232*time.Microsecond || !c.Recent || c.Total != -1 || c.Rate != -1 || len(c.Evidence) != 1 {
		t.Errorf("one old snapshot: %+v, %v", c, ok)
	}
	c, _ = CountedRelists([]*parse.Series{series(old+"_count", "", "", 100, 154), series(old+"_sum", "", "", 1e6, 3e6)})
	if c.Count != 154 || c.Total != 3*time.Second || c.Rate != 0.9 || c.P99 != -1 {
		t.Errorf("two old snapshots: %+v", c)
	}
	const now = "kubelet_pleg_relist_duration_seconds"
	c, _ = CountedRelists([]*parse.Series{series(now+"_count", "", "", 100, 160), series(now+"_sum", "", "", 1, 1.6), series(now+"_bucket", "le", "0.005", 50, 50),
		series(now+"_bucket", "le", "0.025", 100, 160), series(now+"_bucket", "le", "+Inf", 100, 160), series(old+"_count", "", "", 7, 8)})
	if c.Metric != now || c.Count != 160 || c.Rate != 1 || c.Recent || c.P50 <= 5*time.Millisecond || c.P50 > 25*time.Millisecond {
		t.Errorf("two new snapshots: %+v", c)
	}
	if _, ok := CountedRelists([]*parse.Series{series("kubelet_running_pods", "", "", 3)}); ok {
		t.Error("relists from nothing")
	}
}

// TestCountedPodRelists checks that on-demand relists of single pods are read from their
// own metric and not counted as relists of the node.
func TestCountedPodRelists(t *testing.T) {
	series := func(name, le string, v float64) *parse.Series {
		s := &parse.Series{Name: name, Points: []parse.Point{{At: 1, V: v, Src: &parse.Scrape{Stamp: parse.Stamp{At: 1, Basis: parse.Stated}}}}}
		if le != "" {
			s.Labels = []parse.Field{{Name: "le", Value: le}}
		}
		return s
	}
	const pod = "kubelet_pleg_pod_relist_duration_seconds"
	all := []*parse.Series{series(pod+"_count", "", 16), series(pod+"_sum", "", 240.15), series(pod+"_bucket", "0.01", 11), series(pod+"_bucket", "10", 15), series(pod+"_bucket", "+Inf", 16)}
	c, ok := CountedPodRelists(all)
	if !ok || c.Metric != pod || c.Count != 16 || c.Total != 240150*time.Millisecond || c.Long != 1 || c.Edge != 10*time.Second || c.Rate != -1 {
		t.Errorf("%+v, %v", c, ok)
	}
	if c, ok := CountedRelists(all); ok {
		t.Errorf("taken for relists of the node: %+v", c)
	}
}
