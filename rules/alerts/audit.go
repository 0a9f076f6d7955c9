package alerts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
	"github.com/plegforensics/plegforensics/rules/query"
)

// Outcome is the outcome of an alert over a bundle.
type Outcome string

// Outcomes.
const (
	Fired Outcome = "fired" // see Firings
	Never Outcome = "never" // it had the data, and its condition was not met
	Blind Outcome = "blind" // it lacked data; see Reasons
)

// Audit is the result of auditing one alert.
type Audit struct {
	File, Group, Alert string
	Expr               string
	For                time.Duration
	Severity           string
	Outcome            Outcome
	Firings            []Firing
	Pending            time.Duration // longest time pending without firing
	Reasons            []string      // why it was blind, or what limited its view
	Sightless          bool          // the series it reads are not in the input
	Refused            bool          // it, or a rule that it reads, is too expensive
	// Missed is what an alert on PLEG should have reported but did not.
	Missed []Missed
}

// Missed is an episode of unhealthy PLEG, or a breach proven only by metrics, during which an alert
// did not fire.
type Missed struct {
	Node     string
	Episode  int           // -1 for a breach
	Rule     string        // of the breach
	Value    time.Duration // duration of the breach
	From, To int64         // Unix ns; To is 0 if unknown
}

// Watched is a node with its breaches.
type Watched struct {
	*replay.Node
	Breaches []rules.Breach
}

// Evaluate runs rule groups over a database and audits every alert. nodes are the nodes of the
// database; an alert on PLEG should report their episodes. Alerts whose rules the engine refuses
// are Blind, with its error as the reason.
func Evaluate(ctx context.Context, db *query.DB, groups []Group, nodes []Watched) []Audit {
	e, err := evaluate(ctx, db, groups)
	s := newSight(e)
	var out []Audit
	for i, g := range e.groups {
		for _, r := range g.rules {
			if r.def.Alert == "" {
				continue
			}
			a := e.judge(ctx, i, r, s, nodes)
			if err != nil {
				a.Outcome, a.Reasons = Blind, []string{err.Error()}
			}
			out = append(out, a)
		}
	}
	return out
}

func (e *evaluation) judge(ctx context.Context, i int, r *ruleState, s *sight, nodes []Watched) Audit {
	g, d := e.groups[i].def, r.def
	a := Audit{File: g.File, Group: g.Name, Alert: d.Alert, Expr: d.Expr, For: d.For, Severity: d.Labels["severity"], Pending: r.seen.pending}
	if r.refused {
		a.Outcome, a.Sightless, a.Refused, a.Reasons = Blind, true, true, []string{"it was not evaluated: " + r.err.Error()}
		return a
	}
	for _, f := range r.seen.firings {
		a.Firings = append(a.Firings, *f)
	}
	slices.SortStableFunc(a.Firings, func(x, y Firing) int { return x.From.Compare(y.From) })
	v := s.of(d.Expr)
	if len(a.Firings) > 0 || !r.seen.since.IsZero() {
		v.missing = append(v.missing, s.unproven(&a, v)...)
	}
	if r.err != nil {
		v.missing = append(v.missing, "the expression failed: "+errors.Unwrap(r.err).Error())
	}
	a.Sightless, a.Refused = len(v.missing) > 0, v.refused
	a.Missed = missed(&a, nodes, s.writes)
	dark := v.missing
	if len(dark) == 0 {
		dark = slices.Concat(s.short(g, d), v.silences(d.For))
	}
	if len(a.Missed) > 0 {
		dark = unique(slices.Concat(dark, v.saturated, v.silences(0)))
	}
	switch {
	case len(a.Firings) > 0:
		a.Outcome, a.Reasons = Fired, slices.Concat(v.missing, v.saturated, v.silences(0), s.stale(d.Expr, a.Firings))
	case len(dark) > 0:
		a.Outcome, a.Reasons = Blind, dark
	default:
		a.Outcome = Never
	}
	if a.Outcome != Fired && len(v.needless) == 0 {
		a.Reasons = append(a.Reasons, e.near(ctx, i, r)...)
	}
	if c := e.clocks[i]; c.coarse {
		a.Reasons = append(a.Reasons, fmt.Sprintf("evaluated every %s, not every %s, because the input is long", short(time.Duration(c.step)*time.Millisecond), short(g.Interval)))
	}
	return a
}

// short formats a duration as Prometheus does: 1h30m.
func short(d time.Duration) string { return model.Duration(d).String() }

// hang is the minimum duration of a relist outside of episodes that an alert on PLEG should report.
const hang = time.Minute

// missed lists the episodes and hangs during which an alert on PLEG did not fire.
func missed(a *Audit, nodes []Watched, recorded map[string][]string) []Missed {
	expr := a.Expr
	for name, es := range recorded {
		if strings.Contains(a.Expr, name) {
			expr += strings.Join(es, "")
		}
	}
	if !onRelists(expr) {
		return nil
	}
	var out []Missed
	for i := range nodes {
		for _, m := range nodes[i].trouble() {
			if !slices.ContainsFunc(a.Firings, func(f Firing) bool {
				return f.From.UnixNano() <= m.told() && (f.To.IsZero() || f.To.UnixNano() >= m.From)
			}) {
				out = append(out, m)
			}
		}
	}
	return out
}

// onRelists reports whether an expression depends on relists or PLEG's health, and not just on the
// presence of their metrics.
func onRelists(expr string) bool {
	if !strings.Contains(expr, "_pleg_relist") && !strings.Contains(expr, "_pleg_last_seen") && !strings.Contains(expr, "_pleg_unhealthy") {
		return false
	}
	return !strings.Contains(expr, "absent")
}

// end returns the end of the trouble as far as known.
func (m *Missed) end() int64 { return max(m.To, m.From) }

// late is how long after a relist of more than 10 s, which metrics count only when it ends, an
// alert may still fire for it. Troubles closer together than that are one.
const late = 5 * time.Minute

// told returns the latest time for an alert to report the trouble. An alert on PLEG's health must
// fire while the trouble lasts.
func (m *Missed) told() int64 {
	if m.Rule == "slow-relist" {
		return m.end() + int64(late)
	}
	return m.end()
}

// trouble returns what an alert on PLEG should report: the episodes of the node, and other breaches
// of PLEG's health and hung relists proven only by metrics.
func (w *Watched) trouble() []Missed {
	var out []Missed
	for i := range w.Episodes {
		e := &w.Episodes[i]
		from, to := cmp.Or(e.Breach, e.FirstReport), max(e.Recovered.At, e.LastReport)
		if from == 0 || e.Never && to-from < int64(time.Minute) {
			continue // undated, or the normal start of a kubelet
		}
		out = append(out, Missed{Node: w.Name, Episode: e.ID, From: from, To: to})
	}
	for _, rule := range []string{"relist-threshold-exceeded", "slow-relist"} {
		for i := range w.Breaches {
			b := &w.Breaches[i]
			long := time.Duration(b.Value * float64(time.Second))
			m := Missed{w.Name, -1, b.Rule, long, b.Start, b.End}
			if b.Rule == rule && long >= hang && !slices.ContainsFunc(out, func(o Missed) bool { return o.From <= m.end()+int64(late) && m.From <= o.end()+int64(late) }) {
				out = append(out, m)
			}
		}
	}
	return out
}

// String says what was missed.
func (m *Missed) String() string {
	at := moment(time.Unix(0, m.From))
	if m.Rule == "slow-relist" {
		if m.From == 0 {
			return fmt.Sprintf("a relist took %s%s", parse.Short(m.Value), on(m.Node))
		}
		return fmt.Sprintf("a relist took %s after %s%s", parse.Short(m.Value), at, on(m.Node))
	}
	if m.To > m.From {
		at = between(time.Unix(0, m.From), time.Unix(0, m.To))
	}
	return fmt.Sprintf("PLEG was unhealthy from %s%s", at, on(m.Node))
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// between formats a time span; its end includes the day only if that differs from the start's.
func between(from, to time.Time) string {
	layout := time.DateTime
	if from.UTC().Format(time.DateOnly) == to.UTC().Format(time.DateOnly) {
		layout = time.TimeOnly
	}
	return moment(from) + " to " + to.UTC().Format(layout)
}

// on returns " on NODE", or "" if the name is unknown.
func on(node string) string {
	if node == "" || node == "unknown" {
		return ""
	}
	return " on " + node
}

// Sentence describes the outcome of the alert.
func (a *Audit) Sentence() string {
	var b strings.Builder
	switch a.Outcome {
	case Fired:
		f := a.Firings[0]
		when := moment(f.From) + " on"
		if !f.To.IsZero() {
			when = between(f.From, f.To)
		}
		fmt.Fprintf(&b, "%s would have fired from %s", a.Alert, when)
		fmt.Fprintf(&b, ", peak %s", strconv.FormatFloat(f.Peak, 'g', 4, 64))
		if n := len(a.Firings) - 1; n > 0 {
			fmt.Fprintf(&b, ", and %s", parse.Plural(n, "more time"))
		}
	case Blind:
		fmt.Fprintf(&b, "%s was blind", a.Alert)
	default:
		fmt.Fprintf(&b, "%s would not have fired", a.Alert)
	}
	if n := len(a.Missed); n > 0 {
		word := "although"
		if a.Outcome == Fired {
			word = "but not while"
		}
		fmt.Fprintf(&b, ", %s %s", word, &a.Missed[0])
	}
	if n := len(a.Reasons); a.Outcome == Fired && n > 0 && strings.HasPrefix(a.Reasons[n-1], "it lived on") {
		b.WriteString("; " + a.Reasons[n-1])
	}
	if a.Outcome != Fired && len(a.Reasons) > 0 {
		b.WriteString(", because " + strings.Join(a.Reasons, "; "))
	}
	return b.String()
}
