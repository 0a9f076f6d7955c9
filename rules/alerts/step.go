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

// Stepper evaluates rule groups moment by moment, as the rule manager of a
// server does: each rule sees what was written before it, at this moment or an
// earlier one, and what it gives no longer gets a stale mark. The order of the
// groups and their rules is that of a server; an alert may stand before the
// recording rule that it reads, and then sees the sample of the moment before.
type Stepper struct {
	db     *query.DB
	groups []*group
	// Strict makes the first mistake of a rule an error of Step, as in unit
	// tests. A server goes on with the next rule.
	strict bool
	labels map[string]string // external ones
	url    string
}

// NewStepper returns a stepper for unit tests: the first rule that fails is an
// error of Step. labels and url are the external ones of the server.
func NewStepper(db *query.DB, groups []Group, labels map[string]string, url string) *Stepper {
	s := &Stepper{db: db, strict: true, labels: labels, url: url}
	for i := range groups {
		s.groups = append(s.groups, s.newGroup(&groups[i]))
	}
	return s
}

// Step evaluates all groups at a moment. Moments come in order.
func (s *Stepper) Step(ctx context.Context, ts time.Time) error {
	for _, g := range s.groups {
		if err := g.eval(ctx, ts); err != nil {
			return err
		}
	}
	return nil
}

// Active is an instance of an alert that fires.
type Active struct{ Labels, Annotations labels.Labels }

// Firing returns the instances of the alerts of a name that fire.
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

// group is a rule group and what it remembers from step to step.
type group struct {
	*Stepper
	def   *Group
	rules []*rule
}

// rule is one rule: the series that it wrote last, and its alerts.
type rule struct {
	def      *Rule
	wrote    []labels.Labels
	active   []*instance // in the order in which they became active
	byLabel  map[uint64]*instance
	expander Expander
	plan     *plan   // its results, where they were worked out before
	written  bool    // the plan was written whole
	refused  bool    // it would cost too much; err says so
	seen     *record // what to keep of its alerts; nil in unit tests
	err      error   // the first mistake
}

// instance is one alert of a rule. One that was resolved is forgotten.
type instance struct {
	labels      labels.Labels
	annotations labels.Labels
	since       time.Time // the expression has held since then
	firing      bool
	lapsed      time.Time // when it stopped to hold while it keeps firing; zero: it holds
	current     bool      // it held at this step
	value       float64
	told        *Firing // the firing under way
}

func (s *Stepper) newGroup(def *Group) *group {
	g := &group{Stepper: s, def: def}
	for i := range def.Rules {
		d := &def.Rules[i]
		g.rules = append(g.rules, &rule{def: d, byLabel: map[uint64]*instance{},
			expander: Expander{Alert: d.Alert, ExternalLabels: s.labels, ExternalURL: s.url, Query: s.db.Vector}})
	}
	return g
}

// eval evaluates the rules one after the other and writes what they give.
func (g *group) eval(ctx context.Context, ts time.Time) error {
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

func (g *group) evalRule(ctx context.Context, r *rule, ts time.Time) error {
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

// results are those of the expression of a rule.
func (g *group) results(ctx context.Context, r *rule, at time.Time) (promql.Vector, error) {
	if r.plan != nil {
		return r.plan.at(at.UnixMilli()), nil
	}
	return g.db.Vector(ctx, r.def.Expr, at)
}

// record names the samples of a recording rule.
func (g *group) record(r *rule, v promql.Vector) (promql.Vector, error) {
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

// errSameLabels is what a server says of a rule that gives a series twice.
var errSameLabels = errors.New("the rule gives two results with the same labels")

var errNoVector = errors.New("the expression gives no vector")

func (g *group) within(n int) error {
	if g.def.Limit > 0 && n > g.def.Limit {
		return fmt.Errorf("%d results exceed the limit of the group, %d", n, g.def.Limit)
	}
	return nil
}

// write appends samples, and a stale mark to each series that is gone. What
// the input says already stands: a server recorded it there.
func (g *group) write(r *rule, v promql.Vector, ms int64) error {
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
			_ = g.db.Append(ls, ms, math.Float64frombits(value.StaleNaN), nil) // another rule may write it now
		}
	}
	r.wrote = wrote
	return nil
}

// alert moves the instances of an alert on by one step.
func (g *group) alert(ctx context.Context, r *rule, v promql.Vector, ts time.Time) (promql.Vector, error) {
	now := make(map[uint64]labels.Labels, len(v))
	hashes := make([]uint64, len(v))
	for i := range v {
		v[i].T = ts.UnixMilli() // templates ask at the moment of the evaluation
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

// alertLabels are the labels of the alert that a sample makes.
func (g *group) alertLabels(ctx context.Context, r *rule, s promql.Sample) labels.Labels {
	b := labels.NewBuilder(s.Metric).Del(nameLabel)
	for _, f := range r.expander.Expand(ctx, r.def.Labels, s) {
		b.Set(f.Name, f.Value)
	}
	return b.Set(labels.AlertName, r.def.Alert).Labels()
}

// see takes in one result of the expression of an alert.
func (r *rule) see(ctx context.Context, ls labels.Labels, hash uint64, s promql.Sample, ts time.Time) {
	in := r.byLabel[hash]
	if in == nil {
		in = &instance{labels: ls, since: ts}
		r.byLabel[hash] = in
		r.active = append(r.active, in)
	}
	in.current, in.value = true, s.F
	// Over a bundle the texts of the moment at which it fires are all that is
	// told; in a unit test those of any moment.
	if r.seen == nil || !in.firing && ts.Sub(in.since) >= r.def.For {
		in.annotations = labelsOf(r.expander.Expand(ctx, r.def.Annotations, s))
	}
}

// judge lets instances fire, keep firing, or go, and counts those that stay.
func (r *rule) judge(ts time.Time) int {
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

// drop forgets all instances.
func (r *rule) drop(ts time.Time) {
	for _, in := range r.active {
		r.seen.gone(in, ts)
	}
	r.active, r.byLabel = nil, map[uint64]*instance{}
}

// samples are the two series that a server keeps of an alert.
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
