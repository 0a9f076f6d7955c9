package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// Limits of one query.
const (
	maxSamples = 10_000_000 // held in memory by the engine at a time
	timeout    = 5 * time.Minute
	maxSteps   = 110_000 // of a range query
	// Lookback is the default time for which a sample stays current, as in Prometheus.
	Lookback = 5 * time.Minute
)

// DB is a store with the engine over it.
type DB struct {
	*Store
	engine   *promql.Engine
	parser   parser.Parser
	lookback time.Duration
	// subqueryStep is the step of subqueries without one.
	subqueryStep time.Duration
	asked        map[string]error // cache of bounded for instant queries, by expression
}

// Options configure a DB. The zero value has the defaults of a Prometheus server.
type Options struct {
	Lookback     time.Duration // how long a sample stays current; 0: Lookback
	SubqueryStep time.Duration // of subqueries without a step; 0: 1m
}

// Open returns a DB over a filled store.
func Open(s *Store) *DB { return OpenWith(s, Options{}) }

// OpenWith is Open with options.
func OpenWith(s *Store, opt Options) *DB {
	p := Parser()
	step := cmp.Or(opt.SubqueryStep, time.Minute)
	return &DB{Store: s, parser: p, lookback: cmp.Or(opt.Lookback, Lookback), subqueryStep: step, asked: map[string]error{}, engine: promql.NewEngine(promql.EngineOpts{
		MaxSamples: maxSamples, Timeout: timeout, LookbackDelta: cmp.Or(opt.Lookback, Lookback),
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: p,
		NoStepSubqueryIntervalFn: func(int64) int64 { return step.Milliseconds() },
	})}
}

// Parser returns the PromQL parser for expressions and rule files. It accepts what promtool does.
func Parser() parser.Parser {
	return parser.NewParser(parser.Options{})
}

// Result is the value of an expression, owned by the caller.
type Result struct {
	Value    parser.Value // promql.Vector, promql.Matrix, promql.Scalar or promql.String
	Warnings []string
}

// Instant evaluates expr at one time.
func (d *DB) Instant(ctx context.Context, expr string, at time.Time) (Result, error) {
	err, known := d.asked[expr]
	if !known {
		err = d.bounded(expr, at, at, 0)
		d.asked[expr] = err
	}
	if err != nil {
		return Result{}, err
	}
	q, err := d.engine.NewInstantQuery(ctx, d.Store, nil, expr, at)
	if err != nil {
		return Result{}, err
	}
	return run(ctx, q)
}

// Vector evaluates expr at one time as a rule does: a scalar becomes a vector of one sample without
// labels. Other types than these two are errors.
func (d *DB) Vector(ctx context.Context, expr string, at time.Time) (promql.Vector, error) {
	r, err := d.Instant(ctx, expr, at)
	if err != nil {
		return nil, err
	}
	switch v := r.Value.(type) {
	case promql.Vector:
		return v, nil
	case promql.Scalar:
		return promql.Vector{{T: v.T, F: v.V}}, nil
	}
	return nil, fmt.Errorf("the expression gives a %s, not a vector", r.Value.Type())
}

// ErrSteps is wrapped by the error of Range if there are too many steps.
var ErrSteps = errors.New("steps exceed the limit")

// Range evaluates expr from start to end, both inclusive, in steps of step.
func (d *DB) Range(ctx context.Context, expr string, start, end time.Time, step time.Duration) (Result, error) {
	switch {
	case step < time.Millisecond:
		return Result{}, errors.New("step must be at least 1ms")
	case end.Before(start):
		return Result{}, errors.New("end lies before start")
	case int64(end.Sub(start)/step) > maxSteps:
		return Result{}, fmt.Errorf("%d %w of %d", int64(end.Sub(start)/step), ErrSteps, maxSteps)
	}
	if err := d.bounded(expr, start, end, step); err != nil {
		return Result{}, err
	}
	q, err := d.engine.NewRangeQuery(ctx, d.Store, nil, expr, start, end, step)
	if err != nil {
		return Result{}, err
	}
	return run(ctx, q)
}

// run executes a query. The engine reuses the memory of the result after Close, so the result is
// copied.
func run(ctx context.Context, q promql.Query) (Result, error) {
	defer q.Close()
	r := q.Exec(ctx)
	if r.Err != nil {
		return Result{}, r.Err
	}
	out := Result{Value: own(r.Value)}
	for _, w := range r.Warnings.AsErrors() {
		out.Warnings = append(out.Warnings, w.Error())
	}
	slices.Sort(out.Warnings)
	return out, nil
}

func own(v parser.Value) parser.Value {
	switch v := v.(type) {
	case promql.Vector:
		return slices.Clone(v)
	case promql.Matrix:
		m := make(promql.Matrix, len(v))
		for i, s := range v {
			m[i] = promql.Series{Metric: s.Metric, Floats: slices.Clone(s.Floats), Histograms: slices.Clone(s.Histograms)}
		}
		return m
	}
	return v
}

// MetricNames returns the sorted metric names that an expression selects, or the parser's error.
func MetricNames(expr string) ([]string, error) {
	e, err := Parser().ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, s := range Selectors(e) {
		for _, m := range s.LabelMatchers {
			if m.Name == nameLabel && m.Type == labels.MatchEqual {
				set[m.Value] = true
			}
		}
	}
	return sortedKeys(set), nil
}

// Selectors returns the vector selectors of an expression in order.
func Selectors(e parser.Expr) []*parser.VectorSelector {
	var out []*parser.VectorSelector
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			out = append(out, v)
		}
		return nil
	})
	return out
}

// Matching returns the series that match, at any time.
func (s *Store) Matching(ms []*labels.Matcher) []*Series {
	var out []*Series
	for _, x := range (&querier{s: s}).candidates(ms) {
		if x.matches(ms) {
			out = append(out, x)
		}
	}
	return out
}
