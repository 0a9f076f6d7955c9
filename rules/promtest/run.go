package promtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Outcome is the result of one test.
type Outcome struct {
	Test  *Test
	Fails []Failure // empty if it passed
}

// Failure is one expectation that was not met.
type Failure struct {
	Line int    // of the expectation in the test file
	What string // alert or expression, and time
	Err  string // why it could not be evaluated; Diff is empty then
	Diff []Change
}

// Change is one line of a difference.
type Change struct {
	Got  bool // found but not expected; otherwise expected but missing
	Text string
}

// maxSteps limits the number of evaluations in one test.
const maxSteps = 1_000_000

// Run runs all tests of a file over the groups of its rule files.
func (f *File) Run(ctx context.Context, groups []alerts.Group) []Outcome {
	ordered := f.arrange(groups)
	out := make([]Outcome, len(f.Tests))
	for i := range f.Tests {
		t := &f.Tests[i]
		out[i] = Outcome{t, f.newRun(ctx, t, ordered).all()}
	}
	return out
}

// arrange sorts the groups by group_eval_order. As in the format, groups not named there rank like
// the first one.
func (f *File) arrange(groups []alerts.Group) []alerts.Group {
	rank := func(g alerts.Group) int { return max(slices.Index(f.Order, g.Name), 0) }
	out := slices.Clone(groups)
	slices.SortStableFunc(out, func(a, b alerts.Group) int { return rank(a) - rank(b) })
	return out
}

// run is one test in progress.
type run struct {
	ctx   context.Context
	file  *File
	test  *Test
	db    *query.DB
	rules *alerts.Stepper
	next  []int // per input series, the index of the first value not yet written
	fails []Failure
}

func (f *File) newRun(ctx context.Context, t *Test, groups []alerts.Group) *run {
	r := &run{ctx: ctx, file: f, test: t, next: make([]int, len(t.series))}
	r.db = query.OpenWith(query.NewStore(nil), query.Options{SubqueryStep: f.Interval})
	r.rules = alerts.NewStepper(r.db, groups, t.labels, t.url)
	return r
}

// all evaluates the groups at each step up to the last expectation, compares alerts along the way,
// and expressions at the end.
func (r *run) all() []Failure {
	last := r.last()
	if last/r.file.Interval > maxSteps {
		return []Failure{{Line: r.test.Line, What: "test", Err: fmt.Sprintf("%s of %s each are too many steps", last, r.file.Interval)}}
	}
	for k := range last/r.file.Interval + 1 {
		at := k * r.file.Interval
		if err := r.step(at); err != nil {
			r.fails = append(r.fails, Failure{Line: r.test.Line, What: "at " + short(at), Err: err.Error()})
			return r.fails
		}
		for i := range r.test.alerts {
			if c := &r.test.alerts[i]; at <= c.at && c.at-at < r.file.Interval {
				r.compareAlerts(c)
			}
		}
	}
	for i := range r.test.exprs {
		r.compareExpr(&r.test.exprs[i])
	}
	return r.fails
}

// last returns the latest time of an expectation.
func (r *run) last() time.Duration {
	last := time.Duration(0)
	for i := range r.test.alerts {
		last = max(last, r.test.alerts[i].at)
	}
	for i := range r.test.exprs {
		last = max(last, r.test.exprs[i].at)
	}
	return last
}

// step writes the input up to a time and evaluates all groups at it.
func (r *run) step(at time.Duration) error {
	ts := r.test.start.Add(at)
	if err := r.feed(ts); err != nil {
		return err
	}
	return r.rules.Step(r.ctx, ts)
}

// feed writes the input samples up to a time.
func (r *run) feed(until time.Time) error {
	for i := range r.test.series {
		s := &r.test.series[i]
		for ; r.next[i] < len(s.values); r.next[i]++ {
			at := r.test.start.Add(time.Duration(r.next[i]) * r.test.step)
			if at.After(until) {
				break
			}
			v := s.values[r.next[i]]
			if v.Omitted {
				continue
			}
			if err := r.db.Append(s.labels, at.UnixMilli(), v.Value, v.Histogram); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) compareAlerts(c *alertCase) {
	diff := differences(c.want, r.rules.Firing(c.name), func(a, b alerts.Active) bool {
		return labels.Equal(a.Labels, b.Labels) && labels.Equal(a.Annotations, b.Annotations)
	},
		func(a alerts.Active) string { return a.Labels.String() + " annotations " + a.Annotations.String() })
	if len(diff) > 0 {
		r.fails = append(r.fails, Failure{Line: c.line, What: fmt.Sprintf("alert %s at %s", c.name, short(c.at)), Diff: diff})
	}
}

func (r *run) compareExpr(c *exprCase) {
	f := Failure{Line: c.line, What: fmt.Sprintf("expr %s at %s", c.expr, short(c.at))}
	v, err := r.db.Vector(r.ctx, c.expr, r.test.start.Add(c.at))
	if err != nil {
		f.Err = err.Error()
		r.fails = append(r.fails, f)
		return
	}
	var got []sample
	for _, s := range v {
		got = append(got, sample{s.Metric, s.F, s.H})
	}
	f.Diff = differences(c.want, got, func(a, b sample) bool { return labels.Equal(a.labels, b.labels) && r.sameValue(a, b) }, sample.String)
	if len(f.Diff) > 0 {
		r.fails = append(r.fails, f)
	}
}

// sameValue compares as promtool does, except that NaN equals itself.
func (r *run) sameValue(a, b sample) bool {
	if a.hist != nil || b.hist != nil {
		return text(a.hist) == text(b.hist)
	}
	x, y := a.value, b.value
	return x == y || math.IsNaN(x) && math.IsNaN(y) ||
		r.file.Fuzzy && (math.Nextafter(x, math.Inf(-1)) == y || math.Nextafter(x, math.Inf(1)) == y)
}

// text formats a histogram in the notation of test files, "" for none.
func text(h *histogram.FloatHistogram) string {
	if h == nil {
		return ""
	}
	return h.TestExpression()
}

func (s sample) String() string {
	if s.hist != nil {
		return s.labels.String() + " " + text(s.hist)
	}
	return fmt.Sprintf("%s %v", s.labels, s.value)
}

// differences removes matching pairs of wanted and found results and returns the rest of both,
// sorted.
func differences[T any](want, got []T, same func(a, b T) bool, show func(T) string) []Change {
	left := slices.Clone(got)
	var out []Change
	for _, w := range want {
		if i := slices.IndexFunc(left, func(g T) bool { return same(w, g) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		out = append(out, Change{Text: show(w)})
	}
	for _, g := range left {
		out = append(out, Change{Got: true, Text: show(g)})
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		switch {
		case a.Got == b.Got:
			return 0
		case b.Got:
			return -1
		}
		return 1
	})
	return out
}

// short formats a duration without trailing zero units.
func short(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
