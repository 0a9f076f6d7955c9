package alerts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"

	"github.com/plegforensics/plegforensics/rules/query"
)

// Stepper evaluates rule groups step by step, as the rule manager of a server does: each rule sees
// what was written before it, at this step or an earlier one, and series that it no longer returns
// get a staleness marker. Groups and rules are evaluated in order; an alert that precedes the
// recording rule it reads sees the sample of the previous step.
type Stepper struct {
	db     *query.DB
	groups []*groupState
	// strict makes Step return the first error of a rule, as needed for unit tests. A server
	// continues with the next rule.
	strict bool
	labels map[string]string // external labels
	url    string
}

// NewStepper returns a strict stepper for unit tests: Step returns the error of the first rule that
// fails. labels and url are the external labels and URL of the server.
func NewStepper(db *query.DB, groups []Group, labels map[string]string, url string) *Stepper {
	s := &Stepper{db: db, strict: true, labels: labels, url: url}
	for i := range groups {
		s.groups = append(s.groups, s.newGroup(&groups[i]))
	}
	return s
}

// Step evaluates all groups at a time. Times must be ascending.
func (s *Stepper) Step(ctx context.Context, ts time.Time) error {
	for _, g := range s.groups {
		if err := g.eval(ctx, ts); err != nil {
			return err
		}
	}
	return nil
}

// Active is a firing instance of an alert.
type Active struct{ Labels, Annotations labels.Labels }

// Firing returns the firing instances of the alerts of a name.
func (s *Stepper) Firing(name string) []Active {
	var out []Active
	for _, g := range s.groups {
		for _, r := range g.rules {
			for _, in := range r.active {
				if r.def.Alert == name && in.firing {
					out = append(out, Active{in.labels, in.annotations})
				}
			}
		}
	}
	return out
}

// groupState is a rule group and its state between steps.
type groupState struct {
	*Stepper
	def   *Group
	rules []*ruleState
}

// ruleState is one rule with the series that it wrote last and its alerts.
type ruleState struct {
	def      *Rule
	wrote    []labels.Labels
	active   []*instance // in the order in which they became active
	byLabel  map[uint64]*instance
	expander Expander
	plan     *plan   // precomputed results, if any
	written  bool    // the plan was written completely
	refused  bool    // too expensive; err says so
	seen     *record // what to keep of its alerts; nil in unit tests
	err      error   // the first error
}

// instance is one alert of a rule. Resolved ones are removed.
type instance struct {
	labels      labels.Labels
	annotations labels.Labels
	since       time.Time // since when the expression holds
	firing      bool
	lapsed      time.Time // when the expression stopped holding while the alert keeps firing; zero if it holds
	current     bool      // the expression held at this step
	value       float64
	told        *Firing // the current firing
}

func (s *Stepper) newGroup(def *Group) *groupState {
	g := &groupState{Stepper: s, def: def}
	for i := range def.Rules {
		d := &def.Rules[i]
		g.rules = append(g.rules, &ruleState{def: d, byLabel: map[uint64]*instance{},
			expander: Expander{Alert: d.Alert, ExternalLabels: s.labels, ExternalURL: s.url, Query: s.db.Vector}})
	}
	return g
}

// eval evaluates the rules in order and writes their results.
func (g *groupState) eval(ctx context.Context, ts time.Time) error {
	for _, r := range g.rules {
		if r.written {
			continue
		}
		err := g.evalRule(ctx, r, ts)
		if err == nil {
			continue
		}
		err = fmt.Errorf("rule %s%s: %w", r.def.Alert, r.def.Record, err)
		switch {
		case g.strict:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case r.err == nil:
			r.err = err
		}
	}
	return nil
}

func (g *groupState) evalRule(ctx context.Context, r *ruleState, ts time.Time) error {
	at := ts.Add(-g.def.Offset)
	v, err := g.results(ctx, r, at)
	if err != nil {
		return err
	}
	if r.def.Alert != "" {
		v, err = g.alert(ctx, r, v, ts)
	} else {
		v, err = g.record(r, v)
	}
	if err != nil {
		return err
	}
	return g.write(r, v, at.UnixMilli())
}

// results returns the results of the expression of a rule.
func (g *groupState) results(ctx context.Context, r *ruleState, at time.Time) (promql.Vector, error) {
	if r.plan != nil {
		return r.plan.at(at.UnixMilli()), nil
	}
	return g.db.Vector(ctx, r.def.Expr, at)
}

// record gives samples the name and labels of a recording rule.
func (g *groupState) record(r *ruleState, v promql.Vector) (promql.Vector, error) {
	for i := range v {
		b := labels.NewBuilder(v[i].Metric).Set(nameLabel, r.def.Record)
		for k, x := range r.def.Labels {
			b.Set(k, x)
		}
		v[i].Metric = b.Labels()
	}
	if v.ContainsSameLabelset() {
		return nil, errSameLabels
	}
	return v, g.within(len(v))
}

// errSameLabels corresponds to the error of a server for a rule that returns the same series twice.
var errSameLabels = errors.New("the rule gives two results with the same labels")

var errNoVector = errors.New("the expression gives no vector")

func (g *groupState) within(n int) error {
	if g.def.Limit > 0 && n > g.def.Limit {
		return fmt.Errorf("%d results exceed the limit of the group, %d", n, g.def.Limit)
	}
	return nil
}

// write appends samples, and a staleness marker for each series that is gone. Samples of series in
// the input are kept: a server recorded them.
func (g *groupState) write(r *ruleState, v promql.Vector, ms int64) error {
	seen := make(map[uint64]bool, len(v))
	wrote := make([]labels.Labels, 0, len(v))
	for _, s := range v {
		if err := g.db.Append(s.Metric, ms, s.F, s.H); err != nil {
			if g.strict {
				return err
			}
			continue
		}
		seen[s.Metric.Hash()] = true
		wrote = append(wrote, s.Metric)
	}
	for _, ls := range r.wrote {
		if !seen[ls.Hash()] {
			_ = g.db.Append(ls, ms, math.Float64frombits(value.StaleNaN), nil) // fails if another rule writes the series now
		}
	}
	r.wrote = wrote
	return nil
}

// alert advances the instances of an alert by one step.
func (g *groupState) alert(ctx context.Context, r *ruleState, v promql.Vector, ts time.Time) (promql.Vector, error) {
	now := make(map[uint64]labels.Labels, len(v))
	hashes := make([]uint64, len(v))
	for i := range v {
		v[i].T = ts.UnixMilli() // template queries are evaluated at this time
		ls := g.alertLabels(ctx, r, v[i])
		hashes[i] = ls.Hash()
		if _, twice := now[hashes[i]]; twice {
			return nil, errSameLabels
		}
		now[hashes[i]] = ls
	}
	for _, in := range r.active {
		in.current = false
	}
	for i, s := range v {
		r.see(ctx, now[hashes[i]], hashes[i], s, ts)
	}
	n := r.judge(ts)
	if err := g.within(n); err != nil {
		r.drop(ts)
		return nil, err
	}
	if r.seen != nil && !r.seen.written {
		return nil, nil // no rule reads ALERTS
	}
	var out promql.Vector
	ms := ts.Add(-g.def.Offset).UnixMilli()
	for _, in := range r.active {
		out = append(out, in.samples(ms)...)
	}
	return out, nil
}

// alertLabels returns the labels of the alert for a sample.
func (g *groupState) alertLabels(ctx context.Context, r *ruleState, s promql.Sample) labels.Labels {
	b := labels.NewBuilder(s.Metric).Del(nameLabel)
	for _, f := range r.expander.Expand(ctx, r.def.Labels, s) {
		b.Set(f.Name, f.Value)
	}
	return b.Set(labels.AlertName, r.def.Alert).Labels()
}

// see updates or adds the instance for one result of the expression.
func (r *ruleState) see(ctx context.Context, ls labels.Labels, hash uint64, s promql.Sample, ts time.Time) {
	in := r.byLabel[hash]
	if in == nil {
		in = &instance{labels: ls, since: ts}
		r.byLabel[hash] = in
		r.active = append(r.active, in)
	}
	in.current, in.value = true, s.F
	// Over a bundle only the annotations at the moment of firing are reported; unit tests may check
	// them at any time.
	if r.seen == nil || !in.firing && ts.Sub(in.since) >= r.def.For {
		in.annotations = labelsOf(r.expander.Expand(ctx, r.def.Annotations, s))
	}
}

// judge lets instances fire, keep firing, or resolve, and returns the number that remain.
func (r *ruleState) judge(ts time.Time) int {
	kept := r.active[:0]
	for _, in := range r.active {
		switch {
		case in.current:
			in.lapsed = time.Time{}
		case in.firing && r.def.KeepFiringFor > 0 && in.lapsed.IsZero():
			in.lapsed = ts
		}
		if !in.current && (in.lapsed.IsZero() || ts.Sub(in.lapsed) >= r.def.KeepFiringFor) {
			delete(r.byLabel, in.labels.Hash())
			r.seen.gone(in, ts)
			continue
		}
		in.firing = in.firing || ts.Sub(in.since) >= r.def.For
		r.seen.here(in, ts)
		kept = append(kept, in)
	}
	r.active = kept
	return len(kept)
}

// drop removes all instances.
func (r *ruleState) drop(ts time.Time) {
	for _, in := range r.active {
		r.seen.gone(in, ts)
	}
	r.active, r.byLabel = nil, map[uint64]*instance{}
}

// samples returns the two series that a server keeps for an alert.
func (in *instance) samples(ms int64) promql.Vector {
	state := "pending"
	if in.firing {
		state = "firing"
	}
	b := labels.NewBuilder(in.labels).Set(nameLabel, alertsMetric).Set("alertstate", state)
	out := promql.Vector{{Metric: b.Labels(), T: ms, F: 1}}
	b = labels.NewBuilder(in.labels).Set(nameLabel, alertsForMetric)
	return append(out, promql.Sample{Metric: b.Labels(), T: ms, F: float64(in.since.Unix())})
}

// The metrics in which a server keeps the states of alerts.
const (
	alertsMetric    = "ALERTS"
	alertsForMetric = "ALERTS_FOR_STATE"
)
