package alerts

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/plegforensics/plegforensics/rules/query"
)

// window determines how much of the past the verdict on an alert depends on: an alert that looks
// back ten minutes and then waits for five needs a quarter of an hour of samples; a single snapshot
// proves nothing.
type window struct {
	*sight
	seen map[string]bool          // recorded series being followed
	on   []*parser.VectorSelector // selectors that need samples over the whole window
}

// short says why the input is too short to conclude anything from an alert's silence, nil if it is
// long enough.
func (s *sight) short(g *Group, r *Rule) []string {
	tree, err := query.Parser().ParseExpr(r.Expr)
	if err != nil {
		return nil
	}
	w := window{sight: s, seen: map[string]bool{}}
	back := w.reach(tree)
	for _, sel := range w.on {
		var span, pace time.Duration
		for _, x := range s.db.Matching(sel.LabelMatchers) {
			from, to := s.watched(x)
			if d := time.Duration(to-from) * time.Millisecond; d >= span {
				span, pace = d, time.Duration(min(closest(x), time.Hour.Milliseconds()))*time.Millisecond
			}
		}
		if need := back + r.For; span == 0 && need > 0 || span+max(pace, g.Interval) < need {
			return []string{fmt.Sprintf("%s has %s, and %s", sel.Name, samplesOver(span), needs(back, r.For))}
		}
	}
	return nil
}

// watched returns the span, in ms, in which the target of a series was scraped: a series that
// appears late did not exist before.
func (s *sight) watched(x *query.Series) (from, to int64) {
	from, to = x.Span()
	if up, ok := s.ups[targetOf(x)]; ok {
		from, to = min(from, up[0]), max(to, up[1])
	}
	return from, to
}

// targetOf returns the job and instance of a series.
func targetOf(x *query.Series) [2]string {
	return [2]string{x.Labels.Get("job"), x.Labels.Get("instance")}
}

func samplesOver(span time.Duration) string {
	if span == 0 {
		return "a single sample"
	}
	return "samples over " + short(span.Round(time.Second))
}

func needs(back, wait time.Duration) string {
	switch {
	case wait == 0:
		return "the alert looks back " + short(back)
	case back == 0:
		return "the alert waits for " + short(wait)
	}
	return fmt.Sprintf("the alert looks back %s and then waits for %s", short(back), short(wait))
}

// reach returns how far back an expression looks. Operands that only remove results, and those used
// only if the first choice has no series, are ignored: without them an alert fires sooner, not
// later.
func (w *window) reach(e parser.Expr) time.Duration {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return w.selector(e, 0)
	case *parser.MatrixSelector:
		return w.selector(e.VectorSelector.(*parser.VectorSelector), e.Range)
	case *parser.SubqueryExpr:
		return max(e.OriginalOffset, 0) + e.Range + w.reach(e.Expr)
	case *parser.BinaryExpr:
		return w.sides(e)
	case *parser.ParenExpr:
		return w.reach(e.Expr)
	case *parser.UnaryExpr:
		return w.reach(e.Expr)
	case *parser.StepInvariantExpr:
		return w.reach(e.Expr)
	case *parser.AggregateExpr:
		return w.reach(e.Expr)
	case *parser.Call:
		most := time.Duration(0)
		for _, arg := range e.Args {
			most = max(most, w.reach(arg))
		}
		return most
	}
	return 0
}

func (w *window) sides(e *parser.BinaryExpr) time.Duration {
	left := w.reach(e.LHS)
	switch {
	case e.Op == parser.LUNLESS, e.Op == parser.LOR && w.found(e.LHS) && !conditional(e.RHS):
		return left
	case e.Op == parser.LAND && !conditional(e.RHS): // only its presence matters
		for _, sel := range query.Selectors(e.RHS) {
			left = max(left, sel.OriginalOffset)
		}
		return left
	}
	return max(left, w.reach(e.RHS))
}

// found reports whether an expression selects any existing series.
func (w *window) found(e parser.Expr) bool {
	return slices.ContainsFunc(query.Selectors(e), func(sel *parser.VectorSelector) bool { return len(w.db.Matching(sel.LabelMatchers)) > 0 })
}

// conditional reports whether an expression returns only what passes a comparison.
func conditional(e parser.Expr) bool {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return conditional(e.Expr)
	case *parser.BinaryExpr:
		switch e.Op {
		case parser.LAND, parser.LUNLESS:
			return conditional(e.LHS)
		case parser.LOR:
			return conditional(e.LHS) || conditional(e.RHS)
		}
		return e.Op.IsComparisonOperator() && !e.ReturnBool
	}
	return false
}

// selector returns the reach of a selector. That of a recorded series is added to the reach of the
// rules that write it.
func (w *window) selector(sel *parser.VectorSelector, over time.Duration) time.Duration {
	back := max(sel.OriginalOffset, 0) + over
	src, ok := w.writes[sel.Name]
	switch {
	case !ok || w.real(sel):
		if len(w.db.Matching(sel.LabelMatchers)) > 0 && !slices.Contains(w.on, sel) {
			w.on = append(w.on, sel)
		}
	case !w.seen[sel.Name]:
		w.seen[sel.Name] = true
		most := time.Duration(0)
		for _, expr := range src {
			if tree, err := query.Parser().ParseExpr(expr); err == nil {
				most = max(most, w.reach(tree))
			}
		}
		return back + most
	}
	return back
}
