package report

import (
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay"
)

// DurationStats sums up the relists of a node whose duration is known.
type DurationStats struct {
	Sorted        []time.Duration // ascending
	P50, P99, Max time.Duration
	Longest       []int // up to ten indexes into Node.Relists, longest first; hung ones of unknown end lead
}

// longestShown is how many relists "longest" lists.
const longestShown = 10

// Durations computes the statistics. Quantiles are nearest-rank: a value that
// occurred, never an interpolation.
func Durations(n *replay.Node) DurationStats {
	var s DurationStats
	var idx []int
	for i := range n.Relists {
		r := &n.Relists[i]
		if d, ok := r.Duration(); ok {
			s.Sorted = append(s.Sorted, d)
			idx = append(idx, i)
		} else if r.Outcome == replay.OutcomeHung {
			idx = append(idx, i)
		}
	}
	sort.Slice(s.Sorted, func(a, b int) bool { return s.Sorted[a] < s.Sorted[b] })
	if k := len(s.Sorted); k > 0 {
		s.P50, s.P99, s.Max = s.Sorted[rank(k, 50)], s.Sorted[rank(k, 99)], s.Sorted[k-1]
	}
	sort.SliceStable(idx, func(a, b int) bool {
		da, oka := n.Relists[idx[a]].Duration()
		db, okb := n.Relists[idx[b]].Duration()
		if oka != okb {
			return !oka
		}
		return da > db
	})
	s.Longest = idx[:min(len(idx), longestShown)]
	return s
}

// rank is the index of the p-th percentile of n ascending values.
func rank(n, p int) int { return max((n*p+99)/100-1, 0) }
