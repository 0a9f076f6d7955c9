package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// proofIn returns the first evidence of the node's breaches between from and to.
func proofIn(n *model.Node, from, to model.Time) []model.Evidence {
	for i := range n.Episodes {
		if e := &n.Episodes[i]; (e.Breach >= from && e.Breach <= to || from == 0) && e.Evidence.Len() > 0 {
			return e.Evidence.First(1)
		}
	}
	for i := range n.Breaches {
		if b := &n.Breaches[i]; b.Start >= from && b.Start <= to && b.Evidence.Len() > 0 {
			return b.Evidence.First(1)
		}
	}
	return nil
}

// Outlier is a node that differs from the fleet.
type Outlier struct {
	Node          string
	What          string
	Value, Median float64
	Unit          string
}

// Minimum number of nodes for robust statistics, and the usual bound of the modified z-score.
const (
	outlierNodes = 5
	outlierScore = 3.5
)

// outliers compares each node with the median of the fleet.
func outliers(ms []*Member) []Outlier {
	var out []Outlier
	for _, f := range []struct {
		what, unit string
		value      func(*Member) (float64, bool)
	}{
		{"episodes", "", func(m *Member) (float64, bool) { return float64(len(m.Episodes)), true }},
		{"99th percentile of relist durations", "seconds", func(m *Member) (float64, bool) { return m.P99, m.P99 > 0 }},
		{"breaches", "", func(m *Member) (float64, bool) { return breachesOf(m), true }},
	} {
		var who []*Member
		var xs []float64
		for _, m := range ms {
			if x, ok := f.value(m); ok {
				who, xs = append(who, m), append(xs, x)
			}
		}
		med, score := scores(xs)
		for i, m := range who {
			if score[i] > outlierScore {
				out = append(out, Outlier{m.Name, f.what, xs[i], med, f.unit})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Outlier) int { return strings.Compare(a.Node, b.Node) })
	return out
}

func breachesOf(m *Member) float64 {
	n := 0
	for _, b := range m.Breaches {
		n += b.Count
	}
	return float64(n)
}

// scores returns the median of xs and the modified z-score of each value: its signed distance from
// the median, divided by the scaled median of the absolute distances. If more than half of the
// values are equal, that median is 0 and the mean absolute distance is used instead.
func scores(xs []float64) (med float64, score []float64) {
	score = make([]float64, len(xs))
	if len(xs) < outlierNodes {
		return 0, score
	}
	med = median(xs)
	dist := make([]float64, len(xs))
	mean := 0.0
	for i, x := range xs {
		dist[i] = math.Abs(x - med)
		mean += dist[i] / float64(len(xs))
	}
	scale := median(dist) * 1.4826
	if scale == 0 {
		scale = mean * 1.2533
	}
	if scale == 0 {
		return med, score
	}
	for i, x := range xs {
		score[i] = (x - med) / scale
	}
	return med, score
}

func median(xs []float64) float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// rare is the probability below which a version is considered to correlate with breaches.
const rare = 0.01

// sharedVersions finds versions that are significantly more frequent on unhealthy nodes, by
// Fisher's exact test.
func sharedVersions(ms []*Member) []Correlation {
	var out []Correlation
	for _, f := range []struct {
		what string
		of   func(*Member) string
	}{
		{"kubelet", func(m *Member) string { return m.Kubelet }},
		{"container runtime", func(m *Member) string { return m.Runtime }},
		{"kernel", func(m *Member) string { return m.Kernel }},
		{"operating system", func(m *Member) string { return m.OS }},
	} {
		out = append(out, versionLinks(ms, f.what, f.of)...)
	}
	return out
}

// tally counts the sick nodes and all nodes of a version, and names the sick ones.
type tally struct {
	sick, all int
	names     []string
}

func versionLinks(ms []*Member, what string, of func(*Member) string) []Correlation {
	byVersion := map[string]*tally{}
	var total tally
	for _, m := range ms {
		v := of(m)
		if v == "" {
			continue
		}
		t := byVersion[v]
		if t == nil {
			t = &tally{}
			byVersion[v] = t
		}
		t.all++
		total.all++
		if len(m.Episodes) > 0 {
			t.sick++
			total.sick++
			t.names = append(t.names, m.Name)
		}
	}
	var out []Correlation
	for v, t := range byVersion {
		if t.sick < fewestAny || t.all == total.all {
			continue
		}
		if p := fisher(t.sick, t.all, total.sick, total.all); p < rare {
			out = append(out, Correlation{Kind: SharedVersion, Nodes: t.names, Object: what + " " + v,
				Summary: fmt.Sprintf("%d of %d nodes with %s %s were unhealthy, %d of the %d others (chance %.2g): %s",
					t.sick, t.all, what, v, total.sick-t.sick, total.all-t.all, p, strings.Join(t.names, ", "))})
		}
	}
	slices.SortFunc(out, func(a, b Correlation) int {
		return cmp.Or(len(b.Nodes)-len(a.Nodes), strings.Compare(a.Object, b.Object))
	})
	return out
}

// fisher returns the probability that at least k of the drawn nodes are sick if sick of n nodes
// are: the upper tail of the hypergeometric distribution.
func fisher(k, drawn, sick, n int) float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := 0.0
	for i := k; i <= min(drawn, sick); i++ {
		if drawn-i <= n-sick {
			p += math.Exp(choose(sick, i) + choose(n-sick, drawn-i) - choose(n, drawn))
		}
	}
	return min(p, 1)
}
