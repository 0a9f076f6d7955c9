package promtest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/rules/alerts"
)

// group is a rule group and what it remembers from step to step.
type group struct {
	run   *run
	def   alerts.Group
	rules []*rule
}

// rule is one rule: the series that it wrote last, and its alerts.
type rule struct {
	def     *alerts.Rule
	wrote   []labels.Labels
	active  []*instance // in the order in which they became active
	byLabel map[uint64]*instance
}

// instance is one alert of a rule. An alert that was resolved is forgotten.
type instance struct {
	labelled
	since   time.Time // the expression has held since then
	firing  bool
	lapsed  time.Time // when it stopped to hold while it keeps firing; zero: it holds
	current bool      // it held at this step
}

func newGroup(r *run, def alerts.Group) *group {
	g := &group{run: r, def: def}
	for i := range def.Rules {
		g.rules = append(g.rules, &rule{def: &def.Rules[i], byLabel: map[uint64]*instance{}})
	}
	return g
}

// eval evaluates the rules one after the other and writes what they give.
func (g *group) eval(ts time.Time) error {
	for _, r := range g.rules {
		v, err := g.run.db.Vector(g.run.ctx, r.def.Expr, ts.Add(-g.def.Offset))
		if err == nil {
			v, err = g.results(r, v, ts)
		}
		if err == nil {
			err = g.write(r, v, ts.Add(-g.def.Offset).UnixMilli())
		}
		if err != nil {
			return fmt.Errorf("rule %s%s: %w", r.def.Alert, r.def.Record, err)
		}
	}
	return nil
}

// results are the samples that a rule writes.
func (g *group) results(r *rule, v promql.Vector, ts time.Time) (promql.Vector, error) {
	if r.def.Alert != "" {
		return g.alert(r, v, ts)
	}
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

func (g *group) within(n int) error {
	if g.def.Limit > 0 && n > g.def.Limit {
		return fmt.Errorf("%d results exceed the limit of the group, %d", n, g.def.Limit)
	}
	return nil
}

// write appends samples, and a stale mark to each series that is gone.
func (g *group) write(r *rule, v promql.Vector, ms int64) error {
	seen := map[uint64]bool{}
	var wrote []labels.Labels
	for _, s := range v {
		if err := g.run.db.Append(s.Metric, ms, s.F, s.H); err != nil {
			return err
		}
		seen[s.Metric.Hash()] = true
		wrote = append(wrote, s.Metric)
	}
	for _, ls := range r.wrote {
		if !seen[ls.Hash()] {
			_ = g.run.db.Append(ls, ms, math.Float64frombits(value.StaleNaN), nil) // another rule may write it now
		}
	}
	r.wrote = wrote
	return nil
}

// alert moves the instances of an alert on by one step.
func (g *group) alert(r *rule, v promql.Vector, ts time.Time) (promql.Vector, error) {
	x := alerts.Expander{Alert: r.def.Alert, ExternalLabels: g.run.test.labels, ExternalURL: g.run.test.url,
		Query: g.run.db.Vector}
	for _, in := range r.active {
		in.current = false
	}
	for _, s := range v {
		if err := r.see(g.run.ctx, &x, s, ts); err != nil {
			return nil, err
		}
	}
	r.judge(ts)
	if err := g.within(len(r.active)); err != nil {
		r.active, r.byLabel = nil, map[uint64]*instance{}
		return nil, err
	}
	var out promql.Vector
	ms := ts.Add(-g.def.Offset).UnixMilli()
	for _, in := range r.active {
		out = append(out, in.samples(ms)...)
	}
	return out, nil
}

// see takes in one result of the expression of an alert.
func (r *rule) see(ctx context.Context, x *alerts.Expander, s promql.Sample, ts time.Time) error {
	s.T = ts.UnixMilli() // templates ask at the moment of the evaluation
	b := labels.NewBuilder(s.Metric).Del(nameLabel)
	for _, f := range x.Expand(ctx, r.def.Labels, s) {
		b.Set(f.Name, f.Value)
	}
	ls := b.Set(labels.AlertName, r.def.Alert).Labels()
	as := ofFields(x.Expand(ctx, r.def.Annotations, s))
	in := r.byLabel[ls.Hash()]
	if in == nil {
		in = &instance{labelled: labelled{labels: ls}, since: ts}
		r.byLabel[ls.Hash()] = in
		r.active = append(r.active, in)
	}
	if in.current {
		return errSameLabels
	}
	in.current, in.annotations = true, as
	return nil
}

func ofFields(fs []parse.Field) labels.Labels {
	b := labels.NewScratchBuilder(len(fs))
	for _, f := range fs {
		b.Add(f.Name, f.Value)
	}
	b.Sort()
	return b.Labels()
}

// judge lets instances fire, keep firing, or go.
func (r *rule) judge(ts time.Time) {
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
			continue
		}
		in.firing = in.firing || ts.Sub(in.since) >= r.def.For
		kept = append(kept, in)
	}
	r.active = kept
}

// samples are the two series that a server keeps of an alert.
func (in *instance) samples(ms int64) promql.Vector {
	state := "pending"
	if in.firing {
		state = "firing"
	}
	b := labels.NewBuilder(in.labels).Set(nameLabel, "ALERTS").Set("alertstate", state)
	out := promql.Vector{{Metric: b.Labels(), T: ms, F: 1}}
	b = labels.NewBuilder(in.labels).Set(nameLabel, "ALERTS_FOR_STATE")
	return append(out, promql.Sample{Metric: b.Labels(), T: ms, F: float64(in.since.Unix())})
}

// firing are the instances of an alert that fire.
func (g *group) firing(name string) []labelled {
	var out []labelled
	for _, r := range g.rules {
		if r.def.Alert != name {
			continue
		}
		for _, in := range r.active {
			if in.firing {
				out = append(out, in.labelled)
			}
		}
	}
	return out
}
