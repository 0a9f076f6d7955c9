package query

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// MaxWork is the maximum cost of one expression, in samples touched, approximately. That takes some
// seconds.
const MaxWork = 100_000_000

// seriesWork is the cost of a series, however few samples it has, in samples: its labels are copied,
// hashed and compared.
const seriesWork = 50

// WorkError is returned for an expression that is too expensive.
type WorkError struct{ Work, Most float64 }

// Error states the estimated cost, the limit, and how to reduce it.
func (e *WorkError) Error() string {
	return fmt.Sprintf("it would touch about %.3g samples, more than %.3g: a longer step, a shorter range or fewer series cost less", e.Work, e.Most)
}

// Work estimates how many samples the engine touches to evaluate an expression from start to end.
// It is 0 for an invalid expression.
func (d *DB) Work(expr string, start, end time.Time, step time.Duration) float64 {
	tree, err := d.parser.ParseExpr(expr)
	if err != nil {
		return 0
	}
	span := max(end.Sub(start), 0)
	w := worker{d, span.Seconds(), 1}
	if step > 0 {
		w.steps += math.Floor(span.Seconds() / step.Seconds())
	}
	cost, _ := w.of(tree)
	return cost
}

// bounded returns an error if an expression is too expensive.
func (d *DB) bounded(expr string, start, end time.Time, step time.Duration) error {
	if work := d.Work(expr, start, end, step); work > MaxWork {
		return &WorkError{work, MaxWork}
	}
	return nil
}

// worker estimates the cost of expressions evaluated at steps times over span seconds.
type worker struct {
	d           *DB
	span, steps float64
}

// of estimates the cost of an expression and the number of series it returns.
func (w worker) of(e parser.Expr) (cost, series float64) {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return w.of(e.Expr)
	case *parser.StepInvariantExpr:
		return w.of(e.Expr)
	case *parser.UnaryExpr:
		cost, series = w.of(e.Expr)
	case *parser.AggregateExpr:
		cost, series = w.of(e.Expr)
		cost += w.steps * series
		if len(e.Grouping) == 0 && !e.Without && e.Op.IsAggregator() && !e.Op.IsAggregatorWithParam() {
			return cost, 1
		}
		return cost, series
	case *parser.BinaryExpr:
		a, n := w.of(e.LHS)
		b, m := w.of(e.RHS)
		cost, series = a+b, max(n, m)
		if e.Op == parser.LOR {
			series = n + m
		}
	case *parser.Call:
		series = 1
		for _, arg := range e.Args {
			a, n := w.of(arg)
			cost, series = cost+a, max(series, n)
		}
	case *parser.VectorSelector:
		series = float64(len(w.d.Matching(e.LabelMatchers)))
		cost = series * seriesWork
	case *parser.MatrixSelector:
		ms := e.VectorSelector.(*parser.VectorSelector).LabelMatchers
		series = float64(len(w.d.Matching(ms)))
		// A sample in a range costs a fraction of a series.
		return series*seriesWork + w.steps*series*(1+w.d.samplesIn(ms, e.Range)/8), series
	case *parser.SubqueryExpr:
		every := e.Step
		if every <= 0 {
			every = w.d.subqueryStep
		}
		window := e.Range.Seconds() / every.Seconds()
		cost, series = worker{w.d, w.span + e.Range.Seconds(), (w.span+e.Range.Seconds())/every.Seconds() + 1}.of(e.Expr)
		return cost + w.steps*series*window/8, series
	default:
		series = 1
	}
	return cost + w.steps*series, series
}

// samplesIn estimates the number of samples of a series in a range.
func (d *DB) samplesIn(ms []*labels.Matcher, over time.Duration) float64 {
	series := d.Matching(ms)
	if len(series) == 0 {
		return 0
	}
	return min(over.Seconds(), float64(series[0].to-series[0].from)/1000) / max(float64(d.pace(series[0]))/1000, 0.001)
}

// pace returns the typical distance of the samples of a series in ms.
func (d *DB) pace(x *Series) int64 {
	it, n, first, last := x.Samples(), int64(0), int64(0), int64(0)
	for ; n < 20 && it.Next() != 0; n++ {
		if last = it.AtT(); n == 0 {
			first = last
		}
	}
	if n < 2 {
		return math.MaxInt32
	}
	return max((last-first)/(n-1), 1)
}
