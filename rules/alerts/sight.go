package alerts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/rules/query"
)

// sight determines what expressions can see in a database.
type sight struct {
	db     *query.DB
	writes map[string][]string    // recorded series name to the expressions of its rules
	failed map[string]*ruleState  // recorded series name to a rule that failed to write it
	ups    map[[2]string][2]int64 // job and instance to the span in which it was scraped, Unix ms
}

func newSight(e *evaluation) *sight {
	s := &sight{e.db, map[string][]string{}, map[string]*ruleState{}, map[[2]string][2]int64{}}
	for _, up := range e.db.Matching([]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, nameLabel, "up")}) {
		from, to := up.Span()
		if seen, ok := s.ups[targetOf(up)]; ok {
			from, to = min(from, seen[0]), max(to, seen[1])
		}
		s.ups[targetOf(up)] = [2]int64{from, to}
	}
	for _, g := range e.groups {
		for _, r := range g.rules {
			if r.def.Record != "" {
				s.writes[r.def.Record] = append(s.writes[r.def.Record], r.def.Expr)
				if r.err != nil {
					s.failed[r.def.Record] = r
				}
			}
		}
	}
	return s
}

// view is what an expression cannot see. Recorded series are traced to the series that they were
// recorded from.
type view struct {
	missing   []string // series that it needs and that are not there
	saturated []string // quantiles that cannot exceed a bound
	gaps      []gap    // in the series that it reads
	// needless are reasons why the absence of series, which the expression tests, proves nothing.
	needless []string
	asks     []*parser.VectorSelector                 // selectors whose absence it tests
	reach    map[*parser.VectorSelector]time.Duration // how far back range selectors look
	done     map[string]bool
	refused  bool // a rule that it reads is too expensive
}

func (s *sight) of(expr string) *view {
	v := &view{done: map[string]bool{}, reach: map[*parser.VectorSelector]time.Duration{}}
	s.look(expr, v)
	v.missing, v.saturated, v.needless = unique(v.missing), unique(v.saturated), unique(v.needless)
	return v
}

func (s *sight) look(expr string, v *view) {
	tree, err := query.Parser().ParseExpr(expr)
	if err != nil {
		v.missing = append(v.missing, err.Error())
		return
	}
	asks := absenceTests(tree)
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if m, ok := n.(*parser.MatrixSelector); ok {
			v.reach[m.VectorSelector.(*parser.VectorSelector)] = m.Range
		}
		return nil
	})
	for _, sel := range query.Selectors(tree) {
		if asks[sel] {
			v.asks = append(v.asks, sel)
		}
		if src, ok := s.writes[sel.Name]; ok && !s.real(sel) {
			if !v.done[sel.Name] {
				v.done[sel.Name] = true
				if r := s.failed[sel.Name]; r != nil {
					v.missing = append(v.missing, "the rule that records "+sel.Name+" failed: "+r.err.Error())
					v.refused = v.refused || r.refused
				}
				for _, e := range src {
					s.look(e, v)
				}
			}
			continue
		}
		why := s.absent(sel)
		switch {
		case sel.Name == alertsMetric || sel.Name == alertsForMetric:
		case why != "" && !asks[sel]:
			v.missing = append(v.missing, why)
		case why != "" && !s.targetSeen(sel):
			v.needless = append(v.needless, why)
		}
	}
	v.missing = append(v.missing, s.thin(tree)...)
	v.saturated = append(v.saturated, s.saturated(tree)...)
	v.gaps = append(v.gaps, s.gaps(tree)...)
}

// real reports whether the input itself has series that match a selector.
func (s *sight) real(sel *parser.VectorSelector) bool {
	return slices.ContainsFunc(s.db.Matching(sel.LabelMatchers), func(x *query.Series) bool { return x.Kind != query.Recorded })
}

// unproven says why the firings of an alert prove nothing: they depend on the absence of series
// that the input could not contain.
func (s *sight) unproven(a *Audit, v *view) []string {
	if len(v.asks) == 0 {
		return nil
	}
	if len(v.needless) > 0 {
		a.Firings = nil
		out := make([]string, len(v.needless))
		for i, why := range v.needless {
			out[i] = why + ", and nothing else of that target: its absence proves nothing"
		}
		return out
	}
	var why string
	a.Firings = slices.DeleteFunc(a.Firings, func(f Firing) bool {
		if s.looked(v, f.ActiveAt, f.From) {
			return false
		}
		why = fmt.Sprintf("the input holds nothing of that target from %s to %s: absence in that time proves nothing",
			f.ActiveAt.Format("15:04:05"), f.From.Format("15:04:05 MST"))
		return true
	})
	if len(a.Firings) == 0 && why != "" {
		return []string{why}
	}
	return nil
}

// unique removes duplicates.
func unique(ss []string) []string {
	var out []string
	for _, s := range ss {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// absenceTests returns the selectors whose absence can make an expression true: those in absent(),
// those on the right of "unless", and those on the left of "or" with a constant.
func absenceTests(tree parser.Expr) map[*parser.VectorSelector]bool {
	out := map[*parser.VectorSelector]bool{}
	add := func(e parser.Expr) {
		for _, s := range query.Selectors(e) {
			out[s] = true
		}
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.Call:
			if strings.HasPrefix(n.Func.Name, "absent") {
				add(n)
			}
		case *parser.BinaryExpr:
			switch {
			case n.Op == parser.LUNLESS:
				add(n.RHS)
			case n.Op == parser.LOR && len(query.Selectors(n.RHS)) == 0:
				add(n.LHS)
			}
		}
		return nil
	})
	return out
}

// absent says why a selector matches no series, "" if it matches some.
func (s *sight) absent(sel *parser.VectorSelector) string {
	if len(s.db.Matching(sel.LabelMatchers)) > 0 {
		return ""
	}
	if sel.Name == "" || !s.db.Has(sel.Name) {
		return "the input has no series " + strings.TrimSpace(sel.Name+jobOf(sel))
	}
	var bad []string
	byName := labels.MustNewMatcher(labels.MatchEqual, nameLabel, sel.Name)
	for _, m := range sel.LabelMatchers {
		if m.Name != nameLabel && len(s.db.Matching([]*labels.Matcher{byName, m})) == 0 {
			bad = append(bad, m.String())
		}
	}
	if len(bad) == 0 {
		for _, m := range sel.LabelMatchers {
			if m.Name != nameLabel {
				bad = append(bad, m.String())
			}
		}
	}
	return fmt.Sprintf("no series %s of the input has %s", sel.Name, strings.Join(bad, ", "))
}

// jobOf returns the job matcher of a selector in braces.
func jobOf(sel *parser.VectorSelector) string {
	for _, m := range sel.LabelMatchers {
		if m.Name == "job" {
			return "{" + m.String() + "}"
		}
	}
	return ""
}

// targetLabels are the labels that distinguish exporters.
var targetLabels = []string{"job", "instance", "namespace", "service", "endpoint", "metrics_path", "cluster"}

// target returns the matchers of a selector that identify the exporter, nil if it has none.
func target(sel *parser.VectorSelector) []*labels.Matcher {
	var out []*labels.Matcher
	for _, m := range sel.LabelMatchers {
		if slices.Contains(targetLabels, m.Name) && m.Type != labels.MatchNotEqual && m.Type != labels.MatchNotRegexp {
			out = append(out, m)
		}
	}
	return out
}

// targetSeen reports whether the input has anything from the exporter of a selector: only then is
// the absence of one of its series a fact. A selector without an exporter refers to that of metrics
// with the same prefix, and those must be complete, including the metrics of the process itself.
func (s *sight) targetSeen(sel *parser.VectorSelector) bool {
	ms := target(sel)
	if len(ms) > 0 {
		return slices.ContainsFunc(s.db.Matching(ms), func(x *query.Series) bool { return x.Kind == query.Real })
	}
	family, _, ok := strings.Cut(sel.Name, "_")
	if !ok {
		return false
	}
	for _, whole := range s.db.Matching([]*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, nameLabel, "process_start_time_seconds")}) {
		ms := []*labels.Matcher{labels.MustNewMatcher(labels.MatchRegexp, nameLabel, regexp.QuoteMeta(family)+"_.*")}
		for _, l := range []string{"job", "instance"} {
			ms = append(ms, labels.MustNewMatcher(labels.MatchEqual, l, whole.Labels.Get(l)))
		}
		if whole.Kind == query.Real && slices.ContainsFunc(s.db.Matching(ms), func(x *query.Series) bool { return x.Kind == query.Real }) {
			return true
		}
	}
	return false
}

// looked reports whether the targets of all selectors whose absence an expression tests were
// scraped between from and to, or as long before as the selector looks back: one of their series
// has a sample there, or one that says that the scrape failed.
func (s *sight) looked(v *view, from, to time.Time) bool {
	for _, sel := range v.asks {
		if s.absent(sel) != "" {
			continue // its target never exposed it
		}
		ms := target(sel)
		if len(ms) == 0 {
			ms = []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, nameLabel, "up")}
		}
		first := from.Add(-max(v.reach[sel], query.Lookback)).UnixMilli() + 1
		if !slices.ContainsFunc(s.db.Matching(ms), func(x *query.Series) bool {
			return x.Kind == query.Derived || x.Kind == query.Real && sampled(x, first, to.UnixMilli())
		}) {
			return false
		}
	}
	return true
}

// sampled reports whether a series has a sample between from and to, in Unix ms.
func sampled(x *query.Series, from, to int64) bool {
	it := x.Samples()
	for k := it.Seek(from); k != chunkenc.ValNone && it.AtT() <= to; k = it.Next() {
		if _, v := it.At(); k != chunkenc.ValFloat || !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// needTwo are the functions that need two samples in a range.
var needTwo = []string{"rate", "irate", "increase", "delta", "idelta", "deriv", "predict_linear", "double_exponential_smoothing"}

// thin finds ranges with fewer than two samples, for which rates are never known.
func (s *sight) thin(tree parser.Expr) []string {
	var out []string
	parser.Inspect(tree, func(n parser.Node, path []parser.Node) error {
		m, ok := n.(*parser.MatrixSelector)
		if !ok || !slices.ContainsFunc(path, func(p parser.Node) bool {
			c, ok := p.(*parser.Call)
			return ok && slices.Contains(needTwo, c.Func.Name)
		}) {
			return nil
		}
		sel := m.VectorSelector.(*parser.VectorSelector)
		best := int64(math.MaxInt64)
		series := s.db.Matching(sel.LabelMatchers)
		for _, x := range series {
			best = min(best, closest(x))
		}
		switch {
		case len(series) == 0:
		case best == math.MaxInt64:
			out = append(out, fmt.Sprintf("%s has a single sample, a range needs two", sel.Name))
		case best >= m.Range.Milliseconds():
			out = append(out, fmt.Sprintf("samples of %s are %s apart, the range of %s never holds two", sel.Name, short(time.Duration(best)*time.Millisecond), short(m.Range)))
		}
		return nil
	})
	return out
}

// closest returns the smallest distance of two samples in ms.
func closest(s *query.Series) int64 {
	best, last, first := int64(math.MaxInt64), int64(0), true
	it := s.Samples()
	for n := 0; it.Next() != chunkenc.ValNone && n < 1000; n++ {
		if t := it.AtT(); !first {
			best = min(best, t-last)
		}
		last, first = it.AtT(), false
	}
	return best
}

// saturated finds histogram quantiles that cannot exceed the last finite bucket.
func (s *sight) saturated(tree parser.Expr) []string {
	var out []string
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		c, ok := n.(*parser.Call)
		if !ok || c.Func.Name != "histogram_quantile" {
			return nil
		}
		for _, sel := range query.Selectors(c) {
			if top := s.topBucket(sel); top > 0 {
				out = append(out, fmt.Sprintf("the last finite bucket of %s ends at %s s: its quantile cannot exceed that, and a call that hangs is observed once, when it ends, among hundreds of quick ones",
					sel.Name, strconv.FormatFloat(top, 'g', -1, 64)))
			}
		}
		return nil
	})
	return out
}

func (s *sight) topBucket(sel *parser.VectorSelector) float64 {
	top := 0.0
	for _, x := range s.db.Matching(sel.LabelMatchers) {
		if le, err := strconv.ParseFloat(x.Labels.Get("le"), 64); err == nil && !math.IsInf(le, 1) {
			top = max(top, le)
		}
	}
	return top
}

// gap is a span in which a selected series has no samples.
type gap struct {
	name     string
	from, to time.Time
	through  time.Duration // the expression still sees what happened in a gap up to this long, because it counts across it
}

// blind returns the duration for which the expression sees nothing of what happened in the gap.
func (g *gap) blind() time.Duration {
	if d := g.to.Sub(g.from); d > g.through {
		return d
	}
	return 0
}

// gaps returns the longest gap of each selected series, if that is far longer than the usual
// distance of samples.
func (s *sight) gaps(tree parser.Expr) []gap {
	var out []gap
	parser.Inspect(tree, func(n parser.Node, path []parser.Node) error {
		sel, ok := n.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		series := s.db.Matching(sel.LabelMatchers)
		if len(series) == 0 || series[0].Kind == query.Recorded {
			return nil // the gap is that of the source series
		}
		from, to := longestGap(series[0])
		if usual := closest(series[0]); usual != math.MaxInt64 && to-from > 4*usual && to-from > 60_000 {
			out = append(out, gap{sel.Name, time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC(), counted(path)})
		}
		return nil
	})
	return out
}

// counted returns the range over which the function at the end of path counts what happens between
// two samples, 0 if it sees samples only.
func counted(path []parser.Node) time.Duration {
	if len(path) < 2 {
		return 0
	}
	m, ok := path[len(path)-1].(*parser.MatrixSelector)
	c, call := path[len(path)-2].(*parser.Call)
	if !ok || !call || !slices.Contains([]string{"rate", "increase", "delta"}, c.Func.Name) {
		return 0
	}
	return m.Range
}

// silences describes the gaps of at least a given length in which the view was blind; simultaneous
// gaps of several series are combined.
func (v *view) silences(least time.Duration) []string {
	var out []string
	for i, g := range v.gaps {
		same := func(o gap) bool {
			return o.from.Equal(g.from) && o.to.Equal(g.to) && o.blind() >= least && o.blind() > 0
		}
		if !same(g) || slices.ContainsFunc(v.gaps[:i], same) {
			continue
		}
		var names []string
		for _, o := range v.gaps[i:] {
			if same(o) && !slices.Contains(names, o.name) {
				names = append(names, o.name)
			}
		}
		has := map[bool]string{true: "has", false: "have"}[len(names) == 1]
		out = append(out, fmt.Sprintf("%s %s no sample from %s to %s", strings.Join(names, ", "), has, g.from.Format("15:04:05"), g.to.Format("15:04:05 MST")))
	}
	return out
}

// stale says that an alert fired during a gap, on the last samples before it: a server drops series
// whose scrapes fail.
func (s *sight) stale(expr string, firings []Firing) []string {
	tree, err := query.Parser().ParseExpr(expr)
	if err != nil || len(firings) == 0 || len(absenceTests(tree)) > 0 {
		return nil
	}
	for _, g := range s.gaps(tree) {
		if f := firings[0].From; f.After(g.from) && f.Before(g.to) {
			return []string{fmt.Sprintf("it lived on the sample of %s: a server whose scrapes failed until %s would not have fired",
				g.from.Format("15:04:05"), g.to.Format("15:04:05 MST"))}
		}
	}
	return nil
}

func longestGap(s *query.Series) (from, to int64) {
	last := int64(-1)
	it := s.Samples()
	for it.Next() != chunkenc.ValNone {
		t := it.AtT()
		if _, v := it.At(); math.IsNaN(v) {
			continue // a staleness marker is not a sample
		}
		if last >= 0 && t-last > to-from {
			from, to = last, t
		}
		last = t
	}
	return from, to
}
