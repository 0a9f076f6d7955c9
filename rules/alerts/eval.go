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

// Firing is one stretch in which one instance of an alert fired.
type Firing struct {
	Labels      []parse.Field
	Annotations []parse.Field
	ActiveAt    time.Time // since when the expression held
	From        time.Time // since when it fired
	To          time.Time // when it was resolved; zero while firing at the end of the data
	Peak        float64   // largest value while firing
}

// record is what an audit keeps of an alerting rule. A nil one keeps nothing.
type record struct {
	written bool // some rule reads ALERTS
	firings []*Firing
	pending time.Duration // longest time that an instance held without firing
	since   time.Time     // when that began
}

// here notes an instance that holds or keeps firing at a moment.
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

// gone notes that an instance is no longer there at a moment.
func (r *record) gone(in *instance, ts time.Time) {
	if in.told != nil {
		in.told.To = ts
	}
}

// labelsOf turns fields into labels.
func labelsOf(fs []parse.Field) labels.Labels {
	b := labels.NewScratchBuilder(len(fs))
	for _, f := range fs {
		b.Add(f.Name, f.Value)
	}
	b.Sort()
	return b.Labels()
}

// maxMoments is how often a group is evaluated at most. Windows of weeks are
// looked at more coarsely.
const maxMoments = 100_000

// clock says when a group is evaluated: at the multiples of its interval from
// the first sample to one interval after the last. Before the first sample a
// server would see nothing, which tells nothing.
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

// mod is the remainder of a division that rounds down.
func mod(a, b int64) int64 { return ((a % b) + b) % b }

// plan is what the expression of a rule gives at each moment of its group,
// worked out by one range query: the same values for a fraction of the cost.
type plan struct {
	series promql.Matrix
	floats []int // of each series, how many were used up
	hists  []int
}

func newPlan(m promql.Matrix) *plan {
	return &plan{m, make([]int, len(m)), make([]int, len(m))}
}

// rewind begins anew.
func (p *plan) rewind() {
	clear(p.floats)
	clear(p.hists)
}

// at returns the results at a moment. Moments come in order.
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
	clocks  []clock          // of the groups
	writers map[string][]int // name of a recorded series to the ranks of the rules that write it
	needed  map[*rule]bool   // alerts, and what they read
}

// evaluate runs all groups from the first to the last sample, each at its own
// interval. Rules whose inputs are complete when they are reached are worked
// out by one range query; the others are evaluated moment by moment.
func evaluate(ctx context.Context, db *query.DB, defs []Group) (*evaluation, error) {
	e := &evaluation{Stepper: &Stepper{db: db}, writers: map[string][]int{}, needed: map[*rule]bool{}}
	for i := range defs {
		e.groups = append(e.groups, e.newGroup(&defs[i]))
		e.clocks = append(e.clocks, clockOf(db, defs[i].Interval))
	}
	written := e.survey()
	for _, g := range e.groups {
		g.rules = slices.DeleteFunc(g.rules, func(r *rule) bool { return !e.needed[r] })
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

// reads says what an expression selects.
type reads struct {
	names []string
	any   bool // a selector does not name its metric
	odd   bool // it looks at moments that a range query would see other than a server
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

// survey finds who writes what and which rules are needed, and reports whether
// some rule reads the states of alerts.
func (e *evaluation) survey() (written bool) {
	rank := 0
	var all []*rule
	for _, g := range e.groups {
		for _, r := range g.rules {
			if r.def.Record != "" {
				e.writers[r.def.Record] = append(e.writers[r.def.Record], rank)
			}
			all = append(all, r)
			rank++
		}
	}
	var need func(r *rule)
	need = func(r *rule) {
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

// What the rules of an audit may cost together, in samples touched; ruleWork is
// what each costs before it touches any. A long input with many series may cost
// more: what all its samples cost twenty times.
const (
	maxWork  = 30_000_000
	ruleWork = 1500
	passes   = 20
)

var errTogether = errors.New("the rules before it use up what all may cost together: give fewer rules or a shorter input")

// refuse takes out the rules that cost too much, alone or after those before them,
// so that files which are too large for this, or made to be, end in time.
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

// workOut plans the rules that can be, in order, and reports whether that were
// all. What recording rules among them give is written, so that those behind
// them see it.
func (e *evaluation) workOut(ctx context.Context) (complete bool) {
	complete = true
	done := map[string]bool{} // names whose samples are all written
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
				complete = false // rules that may write one series do so in turn
			default:
				e.run(ctx, i, r)
				done[r.def.Record] = true
			}
		}
	}
	return complete
}

// settled reports whether all that a rule reads is there when it is reached:
// it reads no recorded series, or only those of rules before it.
func (e *evaluation) settled(g *group, r *rule, done map[string]bool) bool {
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

// offsets reports whether some group looks into the past: its samples are
// older than the moment at which they are written.
func (e *evaluation) offsets() bool {
	return slices.ContainsFunc(e.groups, func(g *group) bool { return g.def.Offset != 0 })
}

// planRule works a rule out.
func (e *evaluation) planRule(ctx context.Context, i int, r *rule) bool {
	m, err := e.rangeOf(ctx, i, r.def.Expr)
	if err != nil {
		return false
	}
	r.plan = newPlan(m)
	return true
}

// rangeOf evaluates an expression at the moments of a group.
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

// run writes what a planned recording rule gives.
func (e *evaluation) run(ctx context.Context, i int, r *rule) {
	g, c := e.groups[i], e.clocks[i]
	for t := c.from; t <= c.to; t += c.step {
		if err := g.evalRule(ctx, r, time.UnixMilli(t).UTC()); err != nil && r.err == nil {
			r.err = err
		}
	}
	r.written = true
}

// restart lets planned recording rules write again, moment by moment.
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

// walk evaluates the groups in order of time and, at one moment, in their own.
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
