package rules

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// metricBreaches applies the breach rules to the node's metrics and to what relists prove
// without a report. It omits what the log already breached.
func metricBreaches(v *view, logged []Breach) []Breach {
	m := &metricView{view: v, logged: logged, evented: evented(v), steps: v.n.Calls}
	out := m.proven()
	m.logged = append(slices.Clip(logged), out...)
	out = m.stale(out)
	if len(v.n.Series) == 0 {
		return out
	}
	for _, find := range []func() []Breach{m.longRelists, m.running, m.intervals, m.discards, m.restarts, m.gaps, m.slowCalls, m.failedCalls} {
		out = append(out, find()...)
	}
	return out
}

// metricView is a node together with the breaches that its log shows.
type metricView struct {
	*view
	logged  []Breach
	evented bool
	steps   []replay.CallStep
}

// evented reports whether the evented PLEG (up to 1.36) is in use: it relists only every
// five minutes and is unhealthy after ten.
func evented(v *view) bool {
	k := v.n.Kubelet
	if k.PLEG != "" && k.PLEG != "unknown" {
		return k.EventedSends()
	}
	if k.PLEG = "evented"; !k.EventedSends() {
		return false
	}
	for _, s := range v.series["kubelet_evented_pleg_connection_success_count"] {
		for p := range s.Samples() {
			if p.V > 0 {
				return true
			}
		}
	}
	return false
}

// proofs iterates over the proofs of a kind in time order.
func (m *metricView) proofs(kind replay.ProofKind) iter.Seq[*replay.MetricProof] {
	return func(yield func(*replay.MetricProof) bool) {
		for i := range m.n.Proofs {
			if p := &m.n.Proofs[i]; p.Kind == kind && !yield(p) {
				return
			}
		}
	}
}

// said reports whether one of the rules is breached by the log at some time between from
// and to.
func (m *metricView) said(from, to int64, ids ...string) bool {
	return slices.ContainsFunc(m.logged, func(b Breach) bool {
		return slices.Contains(ids, b.Rule) && b.Start <= to && (b.End == 0 || b.End >= from)
	})
}

// stuck lists the rules that say that relists failed or hung.
var stuck = []string{"relist-threshold-exceeded", "relist-never-succeeded", "relist-list-failed", "slow-relist"}

// gaugeSlack is how long after a relist the gauge of its start may change: the kubelet sets
// it when it checks its own health, at least every 10 s.
const gaugeSlack = 10 * time.Second

// threshold returns the threshold of the health check.
func (m *metricView) threshold() time.Duration {
	switch {
	case m.n.Kubelet.Threshold > 0:
		return m.n.Kubelet.Threshold
	case m.evented:
		return 10 * time.Minute
	}
	return 3 * time.Minute
}

// gauged returns the start, truncated to a second, of the relist that a sample of the gauge
// refers to. ok is false if either time is uncertain.
func gauged(p parse.Point) (start int64, ok bool) {
	return int64(p.V) * second, p.V > 0 && p.V < 1e10 && p.Src.Basis >= parse.ZoneInferred
}

// unseen states for how long at most the kubelet's gauge showed no successful relist. The
// cause may be a long relist, several failed ones, or a health check that did not run. It
// returns "" if the trouble is dated, or no longer than the gauge lags anyway.
func (v *view) unseen(r *Result) string {
	m := metricView{view: v, logged: r.Breaches}
	most, at := replay.LongRelist+gaugeSlack, int64(0)
	for _, s := range v.series["kubelet_pleg_last_seen_seconds"] {
		for p := range s.Samples() {
			start, ok := gauged(p)
			if age := time.Duration(p.At - start - second); ok && age > most && !m.said(start, p.At, stuck...) {
				most, at = age, p.At
			}
		}
	}
	if at == 0 || evented(v) {
		return ""
	}
	return "at " + clock(at) + " the kubelet had seen no relist succeed that began in the " + parse.Least(most) + " before (kubelet_pleg_last_seen_seconds); why, nothing tells"
}

// stale adds the breaches of the health check that only the interval histogram shows.
func (m *metricView) stale(out []Breach) []Breach {
	r, limit := LookupBreach("relist-threshold-exceeded"), m.threshold()
	for p := range m.proofs(replay.ProofAge) {
		if p.SumMin <= limit {
			continue
		}
		// The relist that observed the interval began before To, so PLEG was unhealthy that
		// long before To at the latest.
		b := m.breach(r, p.To-int64(p.SumMin-limit), p.To, secs(p.SumMin), p.Evidence)
		b.Threshold, b.Least = secs(limit), true
		if p.Whole {
			b.Start = p.From // at some time since then
		}
		// It began after From, so PLEG may have been unhealthy that long before From
		// already.
		if !covered(out, &b) && !m.said(p.From-int64(p.SumMin-limit), p.To, stuck[:2]...) {
			out = append(out, b)
		}
	}
	return out
}

// proven returns the breaches outside episodes that serial relists, or the gauge of the
// last relist, prove. They end where PLEG is next proven healthy.
func (m *metricView) proven() (out []Breach) {
	for _, x := range m.n.Unreported() {
		k := slices.IndexFunc(m.n.Claims, func(c replay.Claim) bool {
			return c.State == replay.Unhealthy && c.From <= x.From && c.To > x.From && (c.Proof == replay.ProofSerial || c.Proof == replay.ProofGauge)
		})
		if k < 0 {
			continue
		}
		b := m.breach(LookupBreach("relist-threshold-exceeded"), x.From, 0, secs(m.threshold()+time.Duration(x.To-x.From)), m.n.Claims[k].Evidence)
		if k := slices.IndexFunc(m.n.Health, func(h replay.HealthSpan) bool { return h.State == replay.Healthy && h.From >= x.To }); k >= 0 {
			b.End = m.n.Health[k].From
			b.EndSlack = time.Duration(b.End - x.To)
		}
		b.Threshold, b.Least = secs(m.threshold()), true
		if !covered(out, &b) {
			out = append(out, b)
		}
	}
	return out
}

// relistEdge is the upper bound of the last finite bucket of the relist histogram, in
// seconds.
const relistEdge = 10

// longRelists turns relists over 10 s, as proven by the relist histogram, into breaches,
// except those that the log dates individually.
func (m *metricView) longRelists() []Breach {
	r := LookupBreach("slow-relist")
	var out []Breach
	for p := range m.proofs(replay.ProofLong) {
		if p.Count < 1 || m.known(p.From, p.To) >= p.Count || m.said(p.From, p.To, stuck[:3]...) {
			continue
		}
		from, mean := p.From, p.SumMin/time.Duration(p.Count)
		if secs(mean) < m.limit(r.ID) && m.limit(r.ID) > relistEdge {
			continue
		}
		for q := range m.proofs(replay.ProofRunning) {
			if q.To == p.From {
				from = cmp.Or(q.From, from)
				break
			}
		}
		b := m.breach(r, from, p.To, secs(mean), p.Evidence)
		b.StartSlack, b.EndSlack = time.Duration(p.To-p.From), time.Duration(p.To-p.From)
		if b.Least = true; p.Count == 1 {
			m.measure(&b, p)
		}
		out = append(out, b)
	}
	return out
}

// measure takes the times of the only relist over 10 s that ended in a metrics step from
// the history, which has them with their uncertainty.
func (m *metricView) measure(b *Breach, p *replay.MetricProof) {
	for i := range m.n.Relists {
		l := &m.n.Relists[i]
		if d, ok := l.Duration(); ok && d >= replay.LongRelist && l.End.Latest() > p.From && l.End.Earliest() <= p.To &&
			d+l.Slack() >= p.SumMin && (d-l.Slack() <= p.SumMax || p.SumMax == 0) {
			b.Start, b.End, b.Value, b.Slack, b.Least = l.Start.At, l.End.At, secs(d), secs(l.Slack()), false
			b.StartSlack, b.EndSlack = l.Start.Slack, l.End.Slack
		}
	}
}

// known counts the relists of 10 s and more that ended in a period and are dated by the
// log.
func (m *metricView) known(from, to int64) int {
	n := 0
	for i := range m.n.Relists {
		l := &m.n.Relists[i]
		if d, ok := l.Duration(); ok && !byMetrics(l) && d >= 10*time.Second && l.End.At > from-int64(l.End.Slack) && l.End.At <= to+int64(l.End.Slack) {
			n++
		}
	}
	return n
}

// running finds relists that consecutive snapshots show running. It omits those whose
// length the histogram shows when they end.
func (m *metricView) running() []Breach {
	r := LookupBreach("slow-relist")
	var out []Breach
	for i := range m.n.Proofs {
		p := &m.n.Proofs[i]
		if p.Kind != replay.ProofRunning || p.From == 0 || m.proof(replay.ProofRunning, i, p.From) != nil {
			continue
		}
		d := time.Duration(p.To - p.From)
		if secs(d) < m.limit(r.ID) || m.said(p.From, p.To, stuck...) || m.dated(p.From, p.To) || m.proof(replay.ProofLong, -1, p.To) != nil {
			continue
		}
		end := int64(0)
		if q := m.proof(replay.ProofCount, -1, p.To); q != nil && q.Count > 0 {
			end = q.To
		}
		es := append([]replay.Evidence{}, p.Evidence...)
		es[0].Note = fmt.Sprintf("the same relist was running %v before already", d.Round(time.Second))
		b := m.breach(r, p.From, end, secs(d), es)
		b.Least = true
		out = append(out, b)
	}
	return out
}

// proof returns the first proof of a kind, after index i, that begins at the snapshot from,
// or nil.
func (m *metricView) proof(kind replay.ProofKind, i int, from int64) *replay.MetricProof {
	for i++; i < len(m.n.Proofs); i++ {
		if p := &m.n.Proofs[i]; p.Kind == kind && p.From == from {
			return p
		}
	}
	return nil
}

// dated reports whether a single relist of the log spans the period.
func (m *metricView) dated(from, to int64) bool {
	return slices.ContainsFunc(m.n.Relists, func(l replay.Relist) bool {
		return l.Start.Known() && l.End.Known() && !byMetrics(&l) && l.Start.Earliest() <= from && l.End.Latest() >= to
	})
}

// intervals returns long intervals between two relists that were not spent relisting.
func (m *metricView) intervals() []Breach {
	if m.evented {
		return nil
	}
	r := LookupBreach("relist-interval-long")
	var out []Breach
	for p := range m.proofs(replay.ProofFrozen) {
		if secs(p.Sum) >= m.limit(r.ID) {
			b := m.breach(r, p.From, p.To, secs(p.Sum), p.Evidence)
			slack := max(time.Duration(p.To-p.From)-p.Sum, 0) / 2 // it lies somewhere between the snapshots
			b.Start, b.End, b.StartSlack, b.EndSlack, b.Least = p.From+int64(slack), p.To-int64(slack), slack, slack, true
			out = append(out, b)
		}
	}
	return out
}

// discards returns the increases of the counter of discarded events.
func (m *metricView) discards() []Breach {
	r := LookupBreach("pleg-events-discarded")
	var out []Breach
	for _, s := range m.series["kubelet_pleg_discard_events"] {
		var cur *Breach
		last := parse.Point{}
		for p := range s.Samples() {
			if math.IsNaN(p.V) {
				continue
			}
			if last.Src == nil && m.n.Since != 0 { // the count so far may predate the window
				last = p
				continue
			}
			before, from := last.V, last.At
			last = p
			if p.V < before {
				before = 0
			}
			n := p.V - before
			if !(n > 0 && n < 1e15) || p.Src.Basis == parse.NoTime || m.said(from, p.At, r.ID) {
				continue
			}
			if cur != nil && from-cur.End <= stretchGap {
				cur.Value, cur.End = cur.Value+n, p.At
			} else {
				out = append(out, m.breach(r, from, p.At, n, nil))
				cur = &out[len(out)-1]
			}
			cur.Evidence = append(cur.Evidence[:min(len(cur.Evidence), keepMax-1)], replay.Evidence{Record: s.Cite(p), Note: parse.Plural(int(n), "discarded event") + " more than before"})
		}
	}
	return slices.DeleteFunc(out, func(b Breach) bool { return b.Value < m.limit(r.ID) })
}

// restarts returns the kubelet restarts that the log does not show.
func (m *metricView) restarts() []Breach {
	r := LookupBreach("kubelet-restarted")
	var first, last int64
	var es []replay.Evidence
	for p := range m.proofs(replay.ProofRestart) {
		ran := slices.ContainsFunc(m.n.Runs, func(run replay.Run) bool { // the log shows it
			at := max(run.Start.At, run.First)
			return at >= p.From-minute && at <= p.To+minute
		})
		if ran || len(p.Evidence) == 0 {
			continue
		}
		at := cmp.Or(p.Start.At, p.To)
		if len(es) == 0 {
			first = at
		}
		last, es = at, append(es, p.Evidence[len(p.Evidence)-1])
	}
	if len(es) == 0 {
		return nil
	}
	return m.restarted(r, first, last, es)
}

// gaps returns gaps in /metrics during trouble with relists, or across which relists took
// long. A gap alone says nothing about the kubelet.
func (m *metricView) gaps() []Breach {
	r := LookupBreach("metrics-gap")
	var out []Breach
	for p := range m.proofs(replay.ProofGap) {
		long := func(q replay.MetricProof) bool { return q.Kind == replay.ProofLong && q.From == p.From && q.To == p.To }
		if d := secs(time.Duration(p.To - p.From)); d >= m.limit(r.ID) && (m.said(p.From, p.To, stuck[:3]...) || slices.ContainsFunc(m.n.Proofs, long)) {
			out = append(out, m.breach(r, p.From, p.To, d, p.Evidence))
		}
	}
	return out
}

// slowCalls returns the runtime operations that are slow on average, or that at least once
// exceeded both their limit and 10 s.
func (m *metricView) slowCalls() []Breach {
	r := LookupBreach("runtime-operation-slow")
	return m.calls(r, func(s *replay.CallStep) (value, threshold float64, weight Severity) {
		limit := m.limit(r.ID + "." + s.Operation) // 0: no limit; pulls, probes and stops take as long as images, commands and grace periods do
		if limit == 0 || s.Calls < 1 {
			return 0, 0, ""
		}
		weight = r.Severity
		if mean := secs(s.Sum) / float64(s.Calls); mean > limit && secs(s.Sum) >= m.limit(limitSlowTotal) {
			value = mean
		}
		if s.Long > 0 && secs(s.LongMean) > limit {
			if value == 0 && perHour(s, s.Long) < 1 {
				weight = Info
			}
			value = math.Max(value, secs(s.LongMean))
		}
		return value, limit, weight
	})
}

// perHour returns the rate of n occurrences in a step, or 0 if the start of the step is
// unknown.
func perHour(s *replay.CallStep, n int) float64 {
	if s.From == 0 || s.To <= s.From {
		return 0
	}
	return float64(n) / time.Duration(s.To-s.From).Hours()
}

// retried lists operations whose failure the kubelet expects: images are pulled by
// user-supplied names, and cleanup is retried in the next round.
var retried = []string{"remove_container", "remove_podsandbox", "stop_container", "pull_image", "remove_image", "image_status", "exec", "attach", "port_forward"}

// sayErrors maps an operation to the rules by which the log itself reports its failures.
var sayErrors = map[string][]string{
	"list_podsandbox": stuck[:3], "list_containers": stuck[:3],
	"status": {"runtime-down"}, "version": {"runtime-down"},
}

// failedCalls returns the operations that failed often. Failing probes and containers that
// are gone when inspected are routine.
func (m *metricView) failedCalls() []Breach {
	r := LookupBreach("runtime-operation-errors")
	return m.calls(r, func(s *replay.CallStep) (value, threshold float64, weight Severity) {
		if float64(s.Errors) < m.limit(limitFailedCalls) || s.Calls < s.Errors || s.Operation == "exec_sync" || m.said(s.From, s.To, sayErrors[s.Operation]...) {
			return 0, 0, ""
		}
		weight = r.Severity
		if slices.Contains(retried, s.Operation) || perHour(s, s.Errors) < m.limit(limitFailedCalls) {
			weight = Info
		}
		if share := 100 * float64(s.Errors) / float64(s.Calls); share > m.limit(r.ID) {
			value = share
		}
		return value, m.limit(r.ID), weight
	})
}

// calls merges steps that exceed a limit into one breach per operation and period, with the
// largest value and severity. judge returns value 0 for a step within the limit.
func (m *metricView) calls(r *BreachRule, judge func(*replay.CallStep) (value, threshold float64, weight Severity)) (out []Breach) {
	var cur *Breach
	for i := range m.steps {
		s := &m.steps[i]
		value, limit, weight := judge(s)
		if value == 0 || len(s.Evidence) == 0 {
			continue
		}
		value = math.Round(value*1000) / 1000
		if cur != nil && cur.Subject == s.Operation && s.From >= cur.End && s.From-cur.End <= stretchGap {
			cur.Value, cur.End = math.Max(cur.Value, value), s.To
			if weight.Rank() > cur.Severity.Rank() {
				cur.Severity = weight
			}
			cur.Evidence = append(cur.Evidence[:min(len(cur.Evidence), keepMax-1)], s.Evidence...)
			continue
		}
		b := m.breach(r, s.From, s.To, value, append([]replay.Evidence{}, s.Evidence...))
		b.Threshold, b.Subject, b.Severity = limit, s.Operation, weight
		if !covered(out, &b) {
			out = append(out, b)
			cur = &out[len(out)-1]
		}
	}
	return out
}

// covered reports whether the same breach was already found, by other evidence or in
// another copy of the metrics. A breach without an end is open.
func covered(out []Breach, b *Breach) bool {
	return slices.ContainsFunc(out, func(o Breach) bool {
		return o.Subject == b.Subject && (b.End == 0 || o.Start <= b.End) && (o.End == 0 || o.End >= b.Start)
	})
}
