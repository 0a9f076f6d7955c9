package alerts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Firing is one stretch in which one instance of an alert fired.
type Firing struct {
	Labels      []parse.Field
	Annotations []parse.Field
	ActiveAt    time.Time // since when the expression held
	From        time.Time // since when it fired
	To          time.Time // when it was resolved; zero while firing at the end of the data
	Peak        float64   // largest value while firing
}

// evaluator runs the rules of one group.
type evaluator struct {
	ctx      context.Context
	db       *query.DB
	from, to time.Time
	interval time.Duration
}

// newEvaluator covers the span of the database and one interval after it, on
// multiples of the interval.
func newEvaluator(ctx context.Context, db *query.DB, interval time.Duration) *evaluator {
	from, to, _ := db.Span()
	step := interval.Milliseconds()
	for (to-from)/step > 50_000 {
		step *= 2 // windows of months are looked at more coarsely
	}
	from -= from % step
	return &evaluator{ctx, db, time.UnixMilli(from).UTC(), time.UnixMilli(to + step).UTC(), time.Duration(step) * time.Millisecond}
}

// matrix evaluates an expression at every interval.
func (e *evaluator) matrix(expr string) (promql.Matrix, error) {
	r, err := e.db.Range(e.ctx, expr, e.from, e.to, e.interval)
	if err != nil {
		return nil, err
	}
	switch v := r.Value.(type) {
	case promql.Matrix:
		return v, nil
	}
	return nil, fmt.Errorf("the expression gives a %s, not a vector", r.Value.Type())
}

// record evaluates a recording rule and adds its series to the database.
func (e *evaluator) record(r *Rule) error {
	m, err := e.matrix(r.Expr)
	if err != nil {
		return err
	}
	for _, s := range m {
		b := labels.NewBuilder(s.Metric).Set(nameLabel, r.Record)
		for k, v := range r.Labels {
			b.Set(k, v)
		}
		e.db.Record(b.Labels(), s.Floats, s.Histograms)
	}
	return nil
}

// alert evaluates an alerting rule and returns its firings and the longest
// time for which an instance was pending without firing.
func (e *evaluator) alert(r *Rule) (out []Firing, pending time.Duration, err error) {
	m, err := e.matrix(r.Expr)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range m {
		fs, p := e.instance(r, s)
		out = append(out, fs...)
		pending = max(pending, p)
	}
	slices.SortStableFunc(out, func(a, b Firing) int { return a.From.Compare(b.From) })
	return out, pending, nil
}

// instance walks one result series through the states of an alert. A moment
// without a sample is one at which the expression did not hold.
func (e *evaluator) instance(r *Rule, s promql.Series) (out []Firing, longest time.Duration) {
	step := e.interval.Milliseconds()
	var cur *Firing
	var active, last int64 = -1, 0
	for _, p := range s.Floats {
		if active >= 0 && p.T-last > step {
			cur, out = e.lapse(r, cur, out, last, p.T)
			if cur == nil {
				active = -1
			}
		}
		if active < 0 {
			active = p.T
		}
		last = p.T
		held := time.Duration(p.T-active) * time.Millisecond
		switch {
		case cur != nil:
			cur.Peak = math.Max(cur.Peak, p.F)
		case held >= r.For:
			cur = e.fire(r, s.Metric, p, active)
		default:
			longest = max(longest, held)
		}
	}
	if cur != nil {
		if end := time.UnixMilli(last + step).UTC().Add(r.KeepFiringFor); !end.After(e.to) {
			cur.To = end
		}
		out = append(out, *cur)
	}
	return out, longest
}

// lapse handles a pause in which the expression did not hold: the alert
// resolves unless it keeps firing for longer than the pause.
func (e *evaluator) lapse(r *Rule, cur *Firing, out []Firing, last, next int64) (*Firing, []Firing) {
	if cur == nil {
		return nil, out
	}
	end := time.UnixMilli(last).Add(e.interval).UTC()
	if r.KeepFiringFor > 0 {
		if end = end.Add(r.KeepFiringFor); !end.Before(time.UnixMilli(next)) {
			return cur, out
		}
	}
	cur.To = end
	return nil, append(out, *cur)
}

// fire begins a firing; labels and annotations are expanded with the value of
// that moment.
func (e *evaluator) fire(r *Rule, metric labels.Labels, p promql.FPoint, active int64) *Firing {
	at := time.UnixMilli(p.T).UTC()
	ls := labels.NewBuilder(metric).Del(nameLabel)
	for _, f := range e.expand(r, r.Labels, metric, p) {
		ls.Set(f.Name, f.Value)
	}
	ls.Set(labels.AlertName, r.Alert)
	return &Firing{Labels: query.Fields(ls.Labels()), Annotations: e.expand(r, r.Annotations, metric, p),
		ActiveAt: time.UnixMilli(active).UTC(), From: at, Peak: p.F}
}

// expand runs templates over a moment of a series.
func (e *evaluator) expand(r *Rule, texts map[string]string, metric labels.Labels, p promql.FPoint) []parse.Field {
	x := Expander{Alert: r.Alert, Query: e.db.Vector}
	return x.Expand(e.ctx, texts, promql.Sample{Metric: metric, T: p.T, F: p.F})
}
