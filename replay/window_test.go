package replay

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// TestWindowCoversSnapshots checks that the window includes what snapshots prove before the first line or after
// the last one. Neither the start of their process nor times known only as lower bounds widen it.
func TestWindowCoversSnapshots(t *testing.T) {
	const sec = int64(time.Second)
	by := func(b parse.Basis) []Evidence {
		return []Evidence{{Record: &parse.Scrape{Stamp: parse.Stamp{At: 1, Basis: b}}}}
	}
	for name, c := range map[string]struct {
		proof    MetricProof
		from, to int64
	}{
		"after the last line":       {MetricProof{Kind: ProofCount, From: 1150 * sec, To: 1400 * sec, Evidence: by(parse.Stated)}, 1000, 1400},
		"before the first":          {MetricProof{Kind: ProofCount, From: 900 * sec, To: 1050 * sec, Evidence: by(parse.Stated)}, 900, 1200},
		"since the process started": {MetricProof{Kind: ProofLong, Whole: true, From: 5 * sec, To: 950 * sec, Evidence: by(parse.Stated)}, 950, 1200},
		"at a moment or later":      {MetricProof{Kind: ProofCount, From: 1150 * sec, To: 1400 * sec, Evidence: by(parse.LowerBound)}, 1000, 1200},
	} {
		n := &Node{Window: Window{Start: 1000 * sec, End: 1200 * sec}, Proofs: []MetricProof{c.proof}}
		if n.widen(&kubelet.Log{}); n.Window.Start != c.from*sec || n.Window.End != c.to*sec {
			t.Errorf("%s: from %d to %d s, want %d to %d", name, n.Window.Start/sec, n.Window.End/sec, c.from, c.to)
		}
	}
}

// TestDistinctGauges checks that two different gauge values, which are whole seconds, are two relists.
func TestDistinctGauges(t *testing.T) {
	gauge := func(s int64) Relist {
		return Relist{Start: Instant{At: s*int64(time.Second) + 5e8 - 1, Slack: time.Second / 2}}
	}
	if n := (&Node{Relists: []Relist{gauge(4), gauge(5)}}); len(n.Distinct()) != 2 {
		t.Errorf("%d of two relists are distinct", len(n.Distinct()))
	}
}
