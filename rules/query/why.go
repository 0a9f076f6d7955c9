package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/internal/spell"
)

// renamed are kubelet metrics that were renamed: old name, new name.
var renamed = [][2]string{
	{"kubelet_pleg_relist_latency_microseconds", "kubelet_pleg_relist_duration_seconds"},
	{"kubelet_pleg_relist_interval_microseconds", "kubelet_pleg_relist_interval_seconds"},
	{"kubelet_runtime_operations", "kubelet_runtime_operations_total"},
	{"kubelet_runtime_operations_errors", "kubelet_runtime_operations_errors_total"},
	{"kubelet_runtime_operations_latency_microseconds", "kubelet_runtime_operations_duration_seconds"},
	{"kubelet_running_pod_count", "kubelet_running_pods"},
	{"kubelet_running_container_count", "kubelet_running_containers"},
	{"kubelet_pod_worker_latency_microseconds", "kubelet_pod_worker_duration_seconds"},
	{"kubelet_pod_start_latency_microseconds", "kubelet_pod_start_duration_seconds"},
	{"kubelet_cgroup_manager_latency_microseconds", "kubelet_cgroup_manager_duration_seconds"},
}

// OtherName returns the name that other versions of the kubelet use for a metric, if the store has
// that one.
func (s *Store) OtherName(name string) (other string, ok bool) {
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
		base, found := strings.CutSuffix(name, suffix)
		for _, r := range renamed {
			for i := range r {
				if !found || base != r[i] {
					continue
				}
				for _, end := range []string{suffix, suffix + "_bucket"} { // a summary became a histogram
					if s.Has(r[1-i] + end) {
						return r[1-i] + end, true
					}
				}
			}
		}
	}
	return "", false
}

// Why says why an expression returns no series at a time: selectors without a match in the store,
// ranges with too few samples, samples that are too old, or a comparison that nothing passes.
func (d *DB) Why(expr string, at time.Time) []string {
	tree, err := d.parser.ParseExpr(expr)
	if err != nil {
		return nil
	}
	var out []string
	parser.Inspect(tree, func(n parser.Node, path []parser.Node) error {
		sel, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		reach := d.lookback
		if m, ok := enclosing(path); ok {
			reach = m.Range
			if why := d.thin(sel, m.Range); why != "" {
				out = append(out, why)
				return nil
			}
		}
		if why := d.unselected(sel, at, reach); why != "" {
			out = append(out, why)
		}
		return nil
	})
	if len(out) == 0 && len(Selectors(tree)) > 0 {
		out = append(out, "the series that it selects have samples then; what is done with them leaves none: a comparison that does not hold, or sides whose labels do not match")
	}
	return slices.Compact(out)
}

// enclosing returns the range selector around the last node of a path.
func enclosing(path []parser.Node) (*parser.MatrixSelector, bool) {
	if len(path) == 0 {
		return nil, false
	}
	m, ok := path[len(path)-1].(*parser.MatrixSelector)
	return m, ok
}

// unselected says why a selector returns nothing at a time.
func (d *DB) unselected(sel *parser.VectorSelector, at time.Time, reach time.Duration) string {
	series := d.Matching(sel.LabelMatchers)
	if len(series) == 0 {
		return d.unmatched(sel)
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range series {
		first, last = min(first, x.from), max(last, x.to)
	}
	switch t := at.Add(-sel.OriginalOffset).UnixMilli(); {
	case t < first:
		return fmt.Sprintf("the first sample of %s is of %s, after the moment asked for", sel.Name, clockTime(first))
	case t-last >= reach.Milliseconds():
		return fmt.Sprintf("the last sample of %s is of %s, more than %s before the moment asked for", sel.Name, clockTime(last), model.Duration(reach))
	}
	return ""
}

// unmatched says which matcher of a selector matches no series.
func (d *DB) unmatched(sel *parser.VectorSelector) string {
	if sel.Name == "" {
		return "no series matches " + sel.String()
	}
	if !d.Has(sel.Name) {
		if other, ok := d.OtherName(sel.Name); ok {
			return fmt.Sprintf("no series is called %s; this kubelet calls it %s", sel.Name, other)
		}
		return "no series is called " + sel.Name
	}
	byName := labels.MustNewMatcher(labels.MatchEqual, nameLabel, sel.Name)
	for _, m := range sel.LabelMatchers {
		if m.Name == nameLabel || len(d.Matching([]*labels.Matcher{byName, m})) > 0 {
			continue
		}
		values := map[string]bool{}
		for _, x := range d.byName[sel.Name] {
			if v := x.Labels.Get(m.Name); v != "" {
				values[v] = true
			}
		}
		if len(values) == 0 {
			return fmt.Sprintf("no series %s has a label %s", sel.Name, m.Name)
		}
		return fmt.Sprintf("no series %s has %s; %s is %s", sel.Name, m, m.Name, nearestOf(m.Value, sortedKeys(values)))
	}
	return fmt.Sprintf("no series %s passes all of %s together", sel.Name, sel)
}

// nearestOf lists the values spelled most like value.
func nearestOf(value string, values []string) string {
	const most = 5
	away := make(map[string]int, len(values))
	for _, v := range values {
		away[v] = spell.Distance(value, v)
	}
	slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(away[a], away[b]) })
	var out []string
	for _, v := range values[:min(len(values), most)] {
		out = append(out, fmt.Sprintf("%q", v))
	}
	text := strings.Join(out, ", ")
	if n := len(values) - most; n > 0 {
		text += fmt.Sprintf(" or one of %d more", n)
	}
	return text
}

// thin says so if the samples of a range selector are too far apart for it.
func (d *DB) thin(sel *parser.VectorSelector, span time.Duration) string {
	best := int64(math.MaxInt64)
	series := d.Matching(sel.LabelMatchers)
	for _, x := range series {
		it, last := x.Samples(), int64(math.MinInt64)
		for n := 0; it.Next() != chunkenc.ValNone && n < 1000; n++ {
			if last != math.MinInt64 {
				best = min(best, it.AtT()-last)
			}
			last = it.AtT()
		}
	}
	switch {
	case len(series) == 0 || best < span.Milliseconds():
		return ""
	case best == math.MaxInt64:
		return fmt.Sprintf("%s has a single sample; a rate needs two", sel.Name)
	}
	step := time.Duration(best) * time.Millisecond
	return fmt.Sprintf("samples of %s are %s apart, so that a range of %s never holds two; try [%s]", sel.Name, model.Duration(step.Round(time.Second)), model.Duration(span), model.Duration((4 * step).Round(time.Second)))
}

func clockTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 MST") }

// Peak is the largest value of a series in a range result.
type Peak struct {
	Labels string
	V      float64
	T      int64 // Unix ms, when it was first reached
}

// Peaks returns the largest value of each series of a matrix.
func (r Result) Peaks() []Peak {
	var out []Peak
	for _, row := range r.Table().Rows {
		p := Peak{Labels: row.String(), V: math.NaN()}
		for _, s := range row.Samples {
			if s.H == nil && !math.IsNaN(s.V) && !(s.V <= p.V) {
				p.V, p.T = s.V, s.T
			}
		}
		if !math.IsNaN(p.V) {
			out = append(out, p)
		}
	}
	return out
}
