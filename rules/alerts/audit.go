package alerts

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Outcome of an alert over a bundle.
type Outcome string

// Outcomes.
const (
	Fired Outcome = "fired" // see Firings
	Never Outcome = "never" // it could see, and its condition was not met
	Blind Outcome = "blind" // it could not see: Reasons say why
)

// Audit is what became of one alert.
type Audit struct {
	File, Group, Alert string
	Expr               string
	For                time.Duration
	Severity           string
	Outcome            Outcome
	Firings            []Firing
	Pending            time.Duration // longest time pending without firing
	Reasons            []string      // why it was blind, or what narrowed its view
	Sightless          bool          // the series that it looks at are not in the input
	// Missed is what an alert on PLEG ought to have told and did not.
	Missed []Missed
}

// Missed is an episode of unhealthy PLEG, or a hung relist that only metrics
// prove, over which an alert did not fire.
type Missed struct {
	Node     string
	Episode  int           // -1: Rule says what it is
	Rule     string        // of the breach
	Value    time.Duration // of the breach: how long
	From, To int64         // Unix ns; To as far as is known, 0: not at all
}

// Watched is a node and the breaches that metrics prove on it.
type Watched struct {
	*replay.Node
	Breaches []rules.Breach
}

// Evaluate runs rule groups over a database and judges every alert. nodes are
// those of the database; their episodes are what an alert on PLEG ought to
// report. Rules that the engine refuses are blind, with its error.
func Evaluate(ctx context.Context, db *query.DB, groups []Group, nodes []Watched) []Audit {
	var out []Audit
	for _, g := range groups {
		e := newEvaluator(ctx, db, g.Interval)
		recorded := map[string]string{}
		for i := range g.Rules {
			r := &g.Rules[i]
			if r.Record != "" {
				_ = e.record(r) // a failure shows as a missing series in the alerts that use it
				recorded[r.Record] = r.Expr
				continue
			}
			out = append(out, e.judge(&g, r, recorded, nodes))
		}
	}
	return out
}

func (e *evaluator) judge(g *Group, r *Rule, recorded map[string]string, nodes []Watched) Audit {
	a := Audit{File: g.File, Group: g.Name, Alert: r.Alert, Expr: r.Expr, For: r.For, Severity: r.Labels["severity"]}
	var err error
	a.Firings, a.Pending, err = e.alert(r)
	if err != nil {
		a.Outcome, a.Reasons = Blind, []string{err.Error()}
		return a
	}
	missing, limits := e.sight(r.Expr, recorded)
	a.Reasons, a.Sightless = append(missing, limits...), len(missing) > 0
	a.Missed = missed(&a, nodes, recorded)
	switch {
	case len(a.Firings) > 0:
		a.Outcome = Fired
		a.Reasons = append(a.Reasons, e.stale(r.Expr, a.Firings)...)
	case len(missing) > 0, len(a.Missed) > 0 && len(limits) > 0:
		a.Outcome = Blind
	default:
		a.Outcome, a.Reasons = Never, nil // what limits its view did not matter
	}
	if a.Outcome == Never && a.Pending > 0 {
		a.Reasons = append(a.Reasons, fmt.Sprintf("pending for %s at most, it asks for %s", a.Pending, a.For))
	}
	return a
}

// hang is from how long on a relist that no episode covers is one that an
// alert on PLEG ought to tell of.
const hang = time.Minute

// missed lists the episodes and hangs over which an alert on PLEG was silent.
func missed(a *Audit, nodes []Watched, recorded map[string]string) []Missed {
	expr := a.Expr
	for name, e := range recorded {
		if strings.Contains(expr, name) {
			expr += e
		}
	}
	if !onRelists(expr) {
		return nil
	}
	var out []Missed
	for i := range nodes {
		for _, m := range nodes[i].trouble() {
			if !slices.ContainsFunc(a.Firings, func(f Firing) bool {
				return f.From.UnixNano() <= m.told() && (f.To.IsZero() || f.To.UnixNano() >= m.From)
			}) {
				out = append(out, m)
			}
		}
	}
	return out
}

// onRelists reports whether an expression looks at relists or PLEG's health,
// and not just at whether their metrics are there.
func onRelists(expr string) bool {
	if !strings.Contains(expr, "_pleg_relist") && !strings.Contains(expr, "_pleg_last_seen") && !strings.Contains(expr, "_pleg_unhealthy") {
		return false
	}
	return !strings.Contains(expr, "absent")
}

// end is when the trouble was over, as far as is known.
func (m *Missed) end() int64 { return max(m.To, m.From) }

// late is how long after a relist over 10 s, which metrics count when it ends, an
// alert may still fire for it; and how far apart troubles are that are one.
const late = 5 * time.Minute

// told is until when an alert that fires has told of the trouble. One of PLEG's
// health must do so while it lasts.
func (m *Missed) told() int64 {
	if m.Rule == "slow-relist" {
		return m.end() + int64(late)
	}
	return m.end()
}

// trouble is what happened on a node that an alert on PLEG ought to tell of:
// its episodes, and beside them breaches of PLEG's health and hung relists that
// metrics alone prove.
func (w *Watched) trouble() []Missed {
	var out []Missed
	for i := range w.Episodes {
		e := &w.Episodes[i]
		from, to := cmp.Or(e.Breach, e.FirstReport), max(e.Recovered.At, e.LastReport)
		if e.Never && to-from < int64(time.Minute) {
			continue // every start of a kubelet
		}
		out = append(out, Missed{Node: w.Name, Episode: e.ID, From: from, To: to})
	}
	for _, rule := range []string{"relist-threshold-exceeded", "slow-relist"} {
		for i := range w.Breaches {
			b := &w.Breaches[i]
			long := time.Duration(b.Value * float64(time.Second))
			m := Missed{w.Name, -1, b.Rule, long, b.Start, b.End}
			if b.Rule == rule && long >= hang && !slices.ContainsFunc(out, func(o Missed) bool { return o.From <= m.end()+int64(late) && m.From <= o.end()+int64(late) }) {
				out = append(out, m)
			}
		}
	}
	return out
}

// String says what was missed.
func (m *Missed) String() string {
	at := time.Unix(0, m.From).UTC().Format(time.RFC3339)
	if m.Rule == "slow-relist" {
		return fmt.Sprintf("a relist took %s after %s%s", m.Value.Round(time.Second), at, on(m.Node))
	}
	if m.To > m.From {
		at += " to " + time.Unix(0, m.To).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("PLEG was unhealthy from %s%s", at, on(m.Node))
}

// on names the node, if its name is known.
func on(node string) string {
	if node == "" || node == "unknown" {
		return ""
	}
	return " on " + node
}

// sight says what an expression cannot see: series that are missing, and what
// limits those that are there. Recorded series are followed to their sources.
func (e *evaluator) sight(expr string, recorded map[string]string) (missing, limits []string) {
	tree, err := query.Parser().ParseExpr(expr)
	if err != nil {
		return []string{err.Error()}, nil
	}
	tests := absenceTests(tree)
	for _, s := range query.Selectors(tree) {
		if src, ok := recorded[s.Name]; ok {
			m, l := e.sight(src, recorded)
			missing, limits = append(missing, m...), append(limits, l...)
			continue
		}
		if why := e.absent(s); why != "" && !tests[s] {
			missing = append(missing, why)
		}
	}
	missing = append(missing, e.thin(tree)...)
	limits = append(limits, e.saturated(expr, tree, recorded)...)
	limits = append(limits, e.silent(tree)...)
	return unique(missing), unique(limits)
}

func unique(ss []string) []string {
	var out []string
	for _, s := range ss {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// absenceTests are the selectors whose absence is what the expression asks for.
func absenceTests(tree parser.Expr) map[*parser.VectorSelector]bool {
	out := map[*parser.VectorSelector]bool{}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if c, ok := n.(*parser.Call); ok && strings.HasPrefix(c.Func.Name, "absent") {
			for _, s := range query.Selectors(c) {
				out[s] = true
			}
		}
		return nil
	})
	return out
}

// absent says why a selector picks no series, "" if it picks some.
func (e *evaluator) absent(s *parser.VectorSelector) string {
	if len(e.db.Matching(s.LabelMatchers)) > 0 {
		return ""
	}
	if s.Name == "" || !e.db.Has(s.Name) {
		return fmt.Sprintf("the input has no series %s", s.Name)
	}
	var bad []string
	byName := labels.MustNewMatcher(labels.MatchEqual, nameLabel, s.Name)
	for _, m := range s.LabelMatchers {
		if m.Name != nameLabel && len(e.db.Matching([]*labels.Matcher{byName, m})) == 0 {
			bad = append(bad, m.String())
		}
	}
	return fmt.Sprintf("no series %s of the input has %s", s.Name, strings.Join(bad, ", "))
}

// thin finds ranges that hold fewer than two samples, so that rates are never
// known.
func (e *evaluator) thin(tree parser.Expr) []string {
	var out []string
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		m, ok := n.(*parser.MatrixSelector)
		if !ok {
			return nil
		}
		sel := m.VectorSelector.(*parser.VectorSelector)
		best := int64(math.MaxInt64)
		series := e.db.Matching(sel.LabelMatchers)
		for _, s := range series {
			best = min(best, closest(s))
		}
		switch {
		case len(series) == 0:
		case best == math.MaxInt64:
			out = append(out, fmt.Sprintf("%s has a single sample, a range needs two", sel.Name))
		case best > m.Range.Milliseconds():
			out = append(out, fmt.Sprintf("samples of %s are %s apart, the range of %s never holds two", sel.Name, time.Duration(best)*time.Millisecond, m.Range))
		}
		return nil
	})
	return out
}

// closest is the smallest distance of two samples, ms.
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

// saturated finds quantiles of histograms that cannot exceed their last finite
// bucket.
func (e *evaluator) saturated(expr string, tree parser.Expr, recorded map[string]string) []string {
	var out []string
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		c, ok := n.(*parser.Call)
		if !ok || c.Func.Name != "histogram_quantile" {
			return nil
		}
		for _, s := range query.Selectors(c) {
			if top := e.topBucket(s); top > 0 {
				out = append(out, fmt.Sprintf("the last finite bucket of %s ends at %s s: its quantile cannot exceed that, and a call that hangs is observed once, when it ends, among hundreds of quick ones",
					s.Name, strconv.FormatFloat(top, 'g', -1, 64)))
			}
		}
		return nil
	})
	return out
}

func (e *evaluator) topBucket(s *parser.VectorSelector) float64 {
	top := 0.0
	for _, x := range e.db.Matching(s.LabelMatchers) {
		if le, err := strconv.ParseFloat(x.Labels.Get("le"), 64); err == nil && !math.IsInf(le, 1) {
			top = max(top, le)
		}
	}
	return top
}

// silent finds gaps of the selected series that are far longer than their
// usual distance.
func (e *evaluator) silent(tree parser.Expr) []string {
	var out []string
	for _, g := range e.gaps(tree) {
		out = append(out, fmt.Sprintf("%s has no sample from %s to %s", g.name,
			g.from.Format("15:04:05"), g.to.Format("15:04:05 MST")))
	}
	return out
}

// gap is a stretch in which a series that an expression selects is silent.
type gap struct {
	name     string
	from, to time.Time
}

// gaps are the longest silences of the selected series, where they are far
// longer than the usual distance of samples.
func (e *evaluator) gaps(tree parser.Expr) []gap {
	var out []gap
	for _, s := range query.Selectors(tree) {
		series := e.db.Matching(s.LabelMatchers)
		if len(series) == 0 || series[0].Kind == query.Recorded {
			continue // the gap is that of what it was recorded from
		}
		from, to := longestGap(series[0])
		if usual := closest(series[0]); usual != math.MaxInt64 && to-from > 4*usual && to-from > 60_000 {
			out = append(out, gap{s.Name, time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()})
		}
	}
	return out
}

// stale says that an alert that fired did so in a silence of its series, where
// it lived on their last samples: a server that scrapes in vain forgets them.
func (e *evaluator) stale(expr string, firings []Firing) []string {
	tree, err := query.Parser().ParseExpr(expr)
	if err != nil || len(firings) == 0 || len(absenceTests(tree)) > 0 {
		return nil
	}
	for _, g := range e.gaps(tree) {
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
			continue // a stale mark is no sample
		}
		if last >= 0 && t-last > to-from {
			from, to = last, t
		}
		last = t
	}
	return from, to
}

// Sentence says in words what became of the alert.
func (a *Audit) Sentence() string {
	var b strings.Builder
	switch a.Outcome {
	case Fired:
		f := a.Firings[0]
		fmt.Fprintf(&b, "%s would have fired at %s", a.Alert, f.From.Format(time.RFC3339))
		if !f.To.IsZero() {
			fmt.Fprintf(&b, " until %s", f.To.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, ", peak %s", strconv.FormatFloat(f.Peak, 'g', 4, 64))
		if n := len(a.Firings) - 1; n > 0 {
			fmt.Fprintf(&b, ", and %d more times", n)
		}
	case Blind:
		fmt.Fprintf(&b, "%s would not have fired: it was blind", a.Alert)
	default:
		fmt.Fprintf(&b, "%s would not have fired", a.Alert)
	}
	if n := len(a.Missed); n > 0 {
		word := "although"
		if a.Outcome == Fired {
			word = "but not while"
		}
		fmt.Fprintf(&b, ", %s %s", word, &a.Missed[0])
	}
	if n := len(a.Reasons); a.Outcome == Fired && n > 0 && strings.HasPrefix(a.Reasons[n-1], "it lived on") {
		b.WriteString("; " + a.Reasons[n-1])
	}
	if a.Outcome != Fired && len(a.Reasons) > 0 {
		b.WriteString(", because " + strings.Join(a.Reasons, "; "))
	}
	return b.String()
}
