package relist

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// TestJoined: a relist that the metrics measure is the one that lines date where it began
// before that was over; one that may have begun after it, or took another time, is not.
func TestJoined(t *testing.T) {
	at := func(s, slack float64) host.Instant {
		return host.Instant{At: 1767323045e9 + int64(s*1e9), Slack: time.Duration(slack * 1e9)}
	}
	dated := Relist{Start: at(10, 0), End: at(262, 2.6), Basis: []string{BasisLastSeen}}
	for name, c := range map[string]struct {
		measured Relist
		want     int
	}{
		"the same":       {Relist{Start: at(12, 2.3), End: at(262.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 1},
		"began before":   {Relist{Start: at(8, 2.3), End: at(258.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 1},
		"a shorter one":  {Relist{Start: at(12, 2.3), End: at(42, 2.4), Took: 30 * time.Second, TookSlack: time.Second, Basis: basisMetrics}, 2},
		"the next one":   {Relist{Start: at(264, 3), End: at(515, 3), Took: 251 * time.Second, TookSlack: time.Second, Basis: basisMetrics}, 2},
		"of another run": {Relist{Run: 1, Start: at(12, 2.3), End: at(262.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 2},
	} {
		in := []Relist{dated, c.measured}
		if c.measured.Start.At < dated.Start.At {
			in[0], in[1] = in[1], in[0]
		}
		got := joined(in)
		if len(got) != c.want {
			t.Errorf("%s: %d relists, want %d: %+v", name, len(got), c.want, got)
		}
		if c.want == 1 && (got[0].Took != c.measured.Took || got[0].Start != dated.Start || len(got[0].Basis) != 2) {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}
