package alerts

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Firing is one span in which an instance of an alert fired.
type Firing struct {
	Labels      []parse.Field
	Annotations []parse.Field
	ActiveAt    time.Time // since when the expression held
	From        time.Time // since when the alert fired
	To          time.Time // when it was resolved; zero if it fires at the end of the data
	Peak        float64   // largest value while firing
}

// record is what an audit keeps of an alerting rule. A nil record keeps nothing.
type record struct {
	written bool // some rule reads ALERTS
	firings []*Firing
	pending time.Duration // longest time that an instance was pending without firing
	since   time.Time     // when that time began
}

// here records an instance that is pending or firing at ts.
func (r *record) here(in *instance, ts time.Time) {
	switch {
	case r == nil:
	case !in.firing:
		if held := ts.Sub(in.since); held > r.pending || r.since.IsZero() {
			r.pending, r.since = held, in.since
		}
	case in.told == nil:
		in.told = &Firing{Labels: query.Fields(in.labels), Annotations: query.Fields(in.annotations),
			ActiveAt: in.since, From: ts, Peak: in.value}
		r.firings = append(r.firings, in.told)
	case in.current && !(in.value <= in.told.Peak):
		in.told.Peak = in.value
	}
}

// gone records that an instance is resolved at ts.
func (r *record) gone(in *instance, ts time.Time) {
	if in.told != nil {
		in.told.To = ts
	}
}

// labelsOf converts fields to labels.
func labelsOf(fs []parse.Field) labels.Labels {
	b := labels.NewScratchBuilder(len(fs))
	for _, f := range fs {
		b.Add(f.Name, f.Value)
	}
	b.Sort()
	return b.Labels()
}

// maxMoments is the maximum number of evaluations of a group. For windows of weeks the step is
// coarser.
const maxMoments = 100_000

// clock holds the times at which a group is evaluated: the multiples of its interval from the first
// sample to one interval after the last. Before the first sample there is nothing to see, which
// proves nothing.
type clock struct {
	from, to, step int64 // ms
	coarse         bool  // step is longer than the group's interval
}

func clockOf(db *query.DB, interval time.Duration) clock {
	from, to, _ := db.Span()
	step := max(interval.Milliseconds(), 1)
	c := clock{step: step}
	for (to-from)/c.step > maxMoments {
		c.step *= 2
	}
	c.coarse = c.step != step
	c.from, c.to = from+mod(-from, c.step), to+c.step
	return c
}

// mod is the non-negative remainder of a/b.
func mod(a, b int64) int64 { return ((a % b) + b) % b }

// plan holds the results of a rule's expression at each evaluation of its group, computed by one
// range query: the same values at a fraction of the cost.
type plan struct {
	series promql.Matrix
	floats []int // per series, number of floats consumed
	hists  []int
}

func newPlan(m promql.Matrix) *plan {
	return &plan{m, make([]int, len(m)), make([]int, len(m))}
}

// rewind restarts from the first time.
func (p *plan) rewind() {
	clear(p.floats)
	clear(p.hists)
}

// at returns the results at a time. Times must be ascending.
func (p *plan) at(ms int64) promql.Vector {
	var out promql.Vector
	for i := range p.series {
		s := &p.series[i]
		for p.floats[i] < len(s.Floats) && s.Floats[p.floats[i]].T < ms {
			p.floats[i]++
		}
		for p.hists[i] < len(s.Histograms) && s.Histograms[p.hists[i]].T < ms {
			p.hists[i]++
		}
		switch j, k := p.floats[i], p.hists[i]; {
		case j < len(s.Floats) && s.Floats[j].T == ms:
			out = append(out, promql.Sample{Metric: s.Metric, T: ms, F: s.Floats[j].F})
		case k < len(s.Histograms) && s.Histograms[k].T == ms:
			out = append(out, promql.Sample{Metric: s.Metric, T: ms, H: s.Histograms[k].H})
		}
	}
	return out
}

// evaluation is one run of rule groups over a database.
type evaluation struct {
	*Stepper
	clocks  []clock             // by group
	writers map[string][]int    // recorded series name to the ranks of the rules that write it
	needed  map[*ruleState]bool // alerts, and the rules that they depend on
}

// evaluate runs all groups from the first to the last sample, each at its own interval. Rules whose
// inputs are complete before they are evaluated are computed by one range query; the others step by
// step.
func evaluate(ctx context.Context, db *query.DB, defs []Group) (*evaluation, error) {
	e := &evaluation{Stepper: &Stepper{db: db}, writers: map[string][]int{}, needed: map[*ruleState]bool{}}
	for i := range defs {
		e.groups = append(e.groups, e.newGroup(&defs[i]))
		e.clocks = append(e.clocks, clockOf(db, defs[i].Interval))
	}
	written := e.survey()
	for _, g := range e.groups {
		g.rules = slices.DeleteFunc(g.rules, func(r *ruleState) bool { return !e.needed[r] })
		for _, r := range g.rules {
			if r.def.Alert != "" {
				r.seen = &record{written: written}
			}
		}
	}
	e.refuse()
	if complete := e.workOut(ctx); !complete {
		db.Forget()
		e.restart()
	}
	return e, e.walk(ctx)
}

// reads describes what an expression selects.
type reads struct {
	names []string
	any   bool // some selector does not name its metric
	odd   bool // a range query would evaluate it at other times than a server
}

func readsOf(expr string) reads {
	tree, err := query.Parser().ParseExpr(expr)
	if err != nil {
		return reads{}
	}
	var out reads
	for _, s := range query.Selectors(tree) {
		name := ""
		for _, m := range s.LabelMatchers {
			if m.Name == nameLabel && m.Type == labels.MatchEqual {
				name = m.Value
			}
		}
		out.any = out.any || name == ""
		out.names = append(out.names, name)
		out.odd = out.odd || s.Timestamp != nil || s.StartOrEnd != 0 || s.OriginalOffset < 0 || s.OriginalOffsetExpr != nil
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.SubqueryExpr); ok {
			out.odd = out.odd || s.Timestamp != nil || s.StartOrEnd != 0 || s.OriginalOffset < 0 || s.OriginalOffsetExpr != nil
		}
		return nil
	})
	return out
}

// survey finds out which rules write which series and which rules are needed. It reports whether
// some rule reads the states of alerts.
func (e *evaluation) survey() (written bool) {
	rank := 0
	var all []*ruleState
	for _, g := range e.groups {
		for _, r := range g.rules {
			if r.def.Record != "" {
				e.writers[r.def.Record] = append(e.writers[r.def.Record], rank)
			}
			all = append(all, r)
			rank++
		}
	}
	var need func(r *ruleState)
	need = func(r *ruleState) {
		if e.needed[r] {
			return
		}
		e.needed[r] = true
		in := readsOf(r.def.Expr)
		written = written || in.any || slices.Contains(in.names, alertsMetric) || slices.Contains(in.names, alertsForMetric)
		for _, name := range in.names {
			for _, w := range e.writers[name] {
				need(all[w])
			}
		}
		if in.any {
			for _, w := range all {
				need(w)
			}
		}
	}
	for _, r := range all {
		if r.def.Alert != "" {
			need(r)
		}
	}
	return written
}

// Limits on the total cost of the rules of an audit, in samples touched. ruleWork is the base cost
// of each rule. A long input with many series may cost more: up to passes times the cost of all its
// samples.
const (
	maxWork  = 30_000_000
	ruleWork = 1500
	passes   = 20
)

var errTogether = errors.New("the rules before it use up what all may cost together: give fewer rules or a shorter input")

// refuse removes rules that are too expensive, alone or after those before them, so that rule files
// that are too large, or crafted, do not run forever.
func (e *evaluation) refuse() {
	most, sum := float64(maxWork), 0.0
	for _, c := range e.clocks {
		most = max(most, passes*float64(e.db.Len())*float64((c.to-c.from)/c.step))
	}
	for i, g := range e.groups {
		c := e.clocks[i]
		for _, r := range g.rules {
			work := ruleWork + e.db.Work(r.def.Expr, time.UnixMilli(c.from), time.UnixMilli(c.to), time.Duration(c.step)*time.Millisecond)
			switch own := min(most, query.MaxWork); {
			case work > own:
				r.err = &query.WorkError{Work: work, Most: own}
			case sum+work > most:
				r.err = errTogether
			default:
				sum += work
				continue
			}
			r.refused, r.written = true, true
		}
	}
}

// workOut plans the rules that can be planned, in order, and reports whether those were all.
// Results of recording rules are written, so that later rules see them.
func (e *evaluation) workOut(ctx context.Context) (complete bool) {
	complete = true
	done := map[string]bool{} // recorded names whose samples are all written
	for i, g := range e.groups {
		for _, r := range g.rules {
			if r.refused { // it writes nothing
				done[r.def.Record] = len(e.writers[r.def.Record]) == 1
				continue
			}
			if !e.settled(g, r, done) || !e.planRule(ctx, i, r) {
				complete = false
				continue
			}
			switch {
			case r.def.Record == "":
			case len(e.writers[r.def.Record]) > 1:
				complete = false // several rules write the series, so they must take turns
			default:
				e.run(ctx, i, r)
				done[r.def.Record] = true
			}
		}
	}
	return complete
}

// settled reports whether all inputs of a rule are complete before it is evaluated: it reads no
// recorded series, or only series of earlier rules.
func (e *evaluation) settled(g *groupState, r *ruleState, done map[string]bool) bool {
	in := readsOf(r.def.Expr)
	if in.any && len(e.writers) > 0 || slices.Contains(in.names, alertsMetric) || slices.Contains(in.names, alertsForMetric) {
		return false
	}
	for _, name := range in.names {
		if len(e.writers[name]) > 0 && (!done[name] || in.odd || e.offsets()) {
			return false
		}
	}
	return !in.odd
}

// offsets reports whether some group has a query offset: its samples have earlier timestamps than
// their evaluation.
func (e *evaluation) offsets() bool {
	return slices.ContainsFunc(e.groups, func(g *groupState) bool { return g.def.Offset != 0 })
}

// planRule computes the results of a rule by a range query.
func (e *evaluation) planRule(ctx context.Context, i int, r *ruleState) bool {
	m, err := e.rangeOf(ctx, i, r.def.Expr)
	if err != nil {
		return false
	}
	r.plan = newPlan(m)
	return true
}

// rangeOf evaluates an expression at the evaluation times of a group.
func (e *evaluation) rangeOf(ctx context.Context, i int, expr string) (promql.Matrix, error) {
	c, off := e.clocks[i], e.groups[i].def.Offset
	res, err := e.db.Range(ctx, expr, time.UnixMilli(c.from).Add(-off), time.UnixMilli(c.to).Add(-off), time.Duration(c.step)*time.Millisecond)
	if err != nil {
		return nil, err
	}
	m, ok := res.Value.(promql.Matrix)
	if !ok {
		return nil, errNoVector
	}
	return m, nil
}

// run writes the results of a planned recording rule.
func (e *evaluation) run(ctx context.Context, i int, r *ruleState) {
	g, c := e.groups[i], e.clocks[i]
	for t := c.from; t <= c.to; t += c.step {
		if err := g.evalRule(ctx, r, time.UnixMilli(t).UTC()); err != nil && r.err == nil {
			r.err = err
		}
	}
	r.written = true
}

// restart resets planned recording rules, so that they write again step by step.
func (e *evaluation) restart() {
	for _, g := range e.groups {
		for _, r := range g.rules {
			if r.refused {
				continue
			}
			r.wrote, r.written, r.err = nil, false, nil
			if r.plan != nil {
				r.plan.rewind()
			}
		}
	}
}

// walk evaluates the groups in order of time; at the same time, in the order of the groups.
func (e *evaluation) walk(ctx context.Context) error {
	next := make([]int64, len(e.clocks))
	for i, c := range e.clocks {
		next[i] = c.from
	}
	for {
		now := int64(math.MaxInt64)
		for i, c := range e.clocks {
			if next[i] <= c.to {
				now = min(now, next[i])
			}
		}
		if now == math.MaxInt64 {
			return nil
		}
		for i, g := range e.groups {
			if next[i] != now || next[i] > e.clocks[i].to {
				continue
			}
			if err := g.eval(ctx, time.UnixMilli(now).UTC()); err != nil {
				return err
			}
			next[i] += e.clocks[i].step
		}
	}
}
