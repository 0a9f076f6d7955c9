package snapshots

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Counted summarizes all relists counted by the kubelet's metrics, in either generation
// of names. Values that the metrics do not state are -1.
type Counted struct {
	Metric   string        // name of the duration metric
	Count    int           // relists since the start of the process, in the last snapshot
	Total    time.Duration // their total duration
	P50, P99 time.Duration
	// Recent reports whether the quantiles come from a summary: then they cover the
	// last minutes before the snapshot. Those of a histogram cover all relists between
	// the first and last snapshot.
	Recent bool
	// Long counts the relists longer than Edge, the last finite bound of the histogram.
	// Quantiles cannot exceed it.
	Long     int
	Edge     time.Duration
	Rate     float64 // relists per second between the first and last snapshot
	Evidence []host.Evidence
}

// podRelistMetrics count the on-demand relists of single pods that kubelets make from
// 1.36 on. The metrics of node relists do not include them.
var podRelistMetrics = []relistMetric{{"kubelet_pleg_pod_relist_duration_seconds", "", 1}}

// CountedRelists summarizes the relists of the node. It returns false if no snapshot
// counts them.
func CountedRelists(series []*parse.Series) (Counted, bool) { return counted(series, relistMetrics) }

// CountedPodRelists summarizes the on-demand relists of single pods.
func CountedPodRelists(series []*parse.Series) (Counted, bool) {
	return counted(series, podRelistMetrics)
}

func counted(series []*parse.Series, gens []relistMetric) (Counted, bool) {
	c := Counted{Total: -1, P50: -1, P99: -1, Rate: -1}
	for _, g := range gens {
		last, src := lastValue(series, g.duration+"_count", "")
		if src == nil {
			continue
		}
		c.Metric, c.Count = g.duration, int(last)
		c.Evidence = []host.Evidence{{Record: src, Note: "relists since the start of the process"}}
		if sum, s := lastValue(series, g.duration+"_sum", ""); s != nil && s.At == src.At {
			c.Total = seconds(sum * g.unit)
		}
		shots, _ := shotsOf(series, gens)
		c.rate(shots)
		if g.unit == 1 {
			c.buckets(shots)
		} else {
			c.summary(series, g)
		}
		return c, true
	}
	return c, false
}

// lastValue returns the newest valid value of the series with a name and label quantile ("": without one).
func lastValue(series []*parse.Series, name, quantile string) (v float64, src *parse.Sample) {
	for _, s := range series {
		if s.Name != name || s.Label("quantile") != quantile {
			continue
		}
		for p := range s.Samples() {
			if p.V >= 0 && p.V < 1e15 && (src == nil || p.At >= src.At) {
				v, src = p.V, s.Cite(p)
			}
		}
	}
	return v, src
}

func (c *Counted) rate(shots []*shot) {
	if len(shots) < 2 {
		return
	}
	grown := 0.0
	for i := 1; i < len(shots); i++ {
		a, b := shots[i-1], shots[i]
		switch {
		case math.IsNaN(a.count) || math.IsNaN(b.count):
			return
		case restarted(a, b):
			grown += b.count
		default:
			grown += b.count - a.count
		}
	}
	if d := time.Duration(shots[len(shots)-1].at - shots[0].at).Seconds(); d > 0 {
		c.Rate = grown / d
	}
}

// buckets sets the quantiles of the relists between the first and last snapshot, or of
// all since the start of the process if there is one snapshot or the process restarted
// in between.
func (c *Counted) buckets(shots []*shot) {
	if len(shots) == 0 {
		return
	}
	last := shots[len(shots)-1]
	if n := len(last.buckets); endless(last.buckets) {
		c.Long, c.Edge = int(last.buckets[n-1].n-last.buckets[n-2].n), seconds(last.buckets[n-2].le)
	}
	bs, total := addBuckets(nil, last.buckets), last.sum
	if first := shots[0]; len(shots) > 1 && sameBounds(first.buckets, bs) && first.count <= last.count && first.sum <= last.sum {
		for i := range bs {
			bs[i].n -= first.buckets[i].n
		}
		total -= first.sum
	}
	if math.IsNaN(total) {
		total = 0
	}
	c.P50, _, _ = quantile(bs, 0.5, seconds(total))
	c.P99, _, _ = quantile(bs, 0.99, seconds(total))
}

func (c *Counted) summary(series []*parse.Series, g relistMetric) {
	for _, q := range []struct {
		label string
		at    *time.Duration
	}{{"0.5", &c.P50}, {"0.99", &c.P99}} {
		if v, src := lastValue(series, g.duration, q.label); src != nil {
			*q.at, c.Recent = seconds(v*g.unit), true
		}
	}
}

// Ended counts the relists that ended between the last snapshot that was taken by since
// (see By) and the snapshot at to, and returns the time of the former. n is -1 unless
// proofs cover this interval without a hole. Proofs must be in time order.
func Ended(proofs []Proof, since, to int64) (from int64, n int) {
	at := int64(0)
	i, _ := slices.BinarySearchFunc(proofs, since+1, func(p Proof, t int64) int { return cmp.Compare(By(p.To), t) })
	for ; i < len(proofs) && proofs[i].To <= to; i++ {
		p := &proofs[i]
		switch {
		case p.Kind != ProofCount && p.Kind != ProofSince:
			continue
		case from == 0 && By(p.From) <= since:
			from = p.From
		case p.From != at:
			return 0, -1
		}
		at, n = p.To, n+p.Count
	}
	if from == 0 || at != to {
		return 0, -1
	}
	return from, n
}
