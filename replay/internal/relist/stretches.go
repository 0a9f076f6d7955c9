package relist

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// fromMetrics adds the relists that the last-seen gauge names. Under evented PLEG, each health check sets the
// gauge, so it names none.
func (l *ledger) fromMetrics(run int) {
	for _, p := range l.starts[run] {
		l.add(claim{lo: p.Start.At - int64(p.Start.Slack), hi: p.Start.At + int64(p.Start.Slack) - 1,
			run: run, listed: &yes, basis: basisMetrics, ev: p.Evidence})
	}
}

// counted bounds the number of relists by the metrics counters, and adds how long they took if any was long or
// no snapshot succeeded in between.
func (l *ledger) counted() []Bounded {
	by := map[host.Span]int{} // index in out
	var out []Bounded
	for i := range l.n.Proofs {
		if p := &l.n.Proofs[i]; p.Kind == snapshots.ProofCount && p.Count > 0 {
			by[host.Span{From: p.From, To: p.To}] = len(out)
			out = append(out, Bounded{From: p.From, To: p.To, CountMin: p.Count, CountMax: p.Count, Counted: true, Sum: p.Sum})
		}
	}
	for i := range l.n.Proofs {
		p := &l.n.Proofs[i]
		k, counted := by[host.Span{From: p.From, To: p.To}]
		switch {
		case !counted:
		case p.Kind == snapshots.ProofLong:
			out[k].Long, out[k].Evidence = p.Count, append(out[k].Evidence, p.Evidence...)
		case p.Kind == snapshots.ProofGap:
			out[k].Silent, out[k].Evidence = true, append(out[k].Evidence, p.Evidence...)
		}
	}
	return out
}

// runAt returns the run that was alive at the moment, -1 if unknown.
func (l *ledger) runAt(at int64) int {
	i := l.s.RunAt(at + int64(time.Second))
	if i >= 0 && at > l.s.Runs[i].Last && i+1 < len(l.s.Runs) {
		return -1
	}
	return i
}

// ends dates the ends of relists that are known to be directly followed by the next one.
func (l *ledger) ends(run int, marks []kubelet.Mark) {
	for i, c := range l.claims {
		if l.s.Mixed[0] != nil || c.end.Known() || i+1 == len(l.claims) || c.group == nil || l.evented(c.run, c.lo) {
			continue
		}
		d := l.claims[i+1]
		hi := d.hi - int64(l.period())
		if hi < c.lo || d.group != nil && d.group.Doubt {
			continue
		}
		switch last := c.group.Last(); {
		case slices.Contains(d.basis, BasisListError) && last >= d.lo && d.hi-d.lo <= int64(l.period()):
			// It is still named while a later attempt ran and failed, so no relist that listed pods ran in
			// between.
			lo, _ := l.s.Shown(c.ev[0].Record, c.lo, hi)
			if m := lastInside(marks, lo, hi); m > lo {
				lo = m
			} else {
				lo = c.lo
			}
			c.end, c.outcome = host.Between(lo, hi), OutcomeOK
		case d.group != nil && last >= d.lo-int64(l.period()) && l.w.Trusts(run): // otherwise attempts that failed may be missing
			c.end, c.outcome = host.Between(max(c.lo, d.lo-int64(l.period()+TimerLate)), hi), OutcomeOK
		}
	}
}

// byLists dates the ends of relists in a log at verbosity 4, where each relist writes a line when its list
// returns and others after it has inspected a pod: it ended after its last such line and a period before the
// next list. If there is more room than that, the next list may be the image garbage collection's, or a line is
// missing. The end of the last relist stays unknown: it may have ended while the list call of the next one
// hangs, and neither writes a line.
func (l *ledger) byLists(run int, marks []kubelet.Mark) {
	for k, c := range l.claims {
		if c.end.Known() || !c.listEnd.Known() || l.gap(run, c.lo) == 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(marks, c.listEnd.At+int64(l.period()), func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
		for i < len(marks) && marks[i].Kind != host.KindRetrieved && marks[i].Kind != host.KindListFail {
			i++
		}
		if i == len(marks) || marks[i].Kind != host.KindRetrieved || !l.w.Whole(c.listEnd.At, marks[i].At) {
			continue
		}
		if l.skipped(c, marks[i].At-c.listEnd.At) {
			continue
		}
		hi := marks[i].At - int64(l.period())
		if k+1 < len(l.claims) && l.claims[k+1].hi < hi {
			continue // the line of its list is missing
		}
		if lo := max(c.listEnd.At, lastInside(marks, c.listEnd.At, marks[i].At-1)); lo <= hi && hi-lo <= int64(widest) {
			c.end, c.outcome = host.Between(lo, hi), cmp.Or(c.outcome, OutcomeOK)
			if before, after := l.cover.Around(c.listEnd.At + int64(l.period())); hi-c.hi >= int64(snapshots.LongRelist) && after-before > int64(quietMost) && c.group == nil {
				c.hi, c.listEnd = min(after, lo), host.Between(c.listEnd.At, min(after, lo)) // the list line of the long relist may be missing there
			}
		}
	}
}

// quietMost is the longest that an unblocked sync loop is silent from verbosity 4 on: housekeeping runs every
// two seconds.
const quietMost = 2*time.Second + TimerLate

// lastInside returns when the relist goroutine wrote its last line in [lo, hi), lo if it wrote none.
func lastInside(marks []kubelet.Mark, lo, hi int64) int64 {
	i, _ := slices.BinarySearchFunc(marks, hi, func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
	if i > 0 && marks[i-1].At >= lo {
		return marks[i-1].At
	}
	return lo
}

// stretches bounds the number of relists between dated ones by the pod events delivered: two events of one
// container need two relists. Events right after a dated relist may be its own.
func (l *ledger) stretches(run int) []Bounded {
	if run < 0 || l.period() <= 0 {
		return nil
	}
	r := &l.s.Runs[run]
	if l.n.Kubelet.PLEG == kubelet.PLEGUnknown {
		return nil // the events may come from the runtime itself
	}
	var out []Bounded
	from, dated := r.First, false
	close := func(to int64) {
		if to-from <= int64(l.period()) || l.evented(run, from) || !dated && l.s.After(from, to) {
			return
		}
		least := l.distinct.Within(from, to)
		if dated {
			least--
		}
		if least > 0 {
			out = append(out, Bounded{From: from, To: to, CountMin: least, CountMax: int((to-from)/int64(l.period())) + 1})
		}
	}
	for _, c := range l.claims {
		close(c.lo)
		from, dated = max(from, c.hi, c.end.At), true
	}
	close(r.Last)
	return out
}

// outcomes completes the ledger from the episodes: the end of relists that were stuck in inspection, and
// relists that hang until the end of the log.
func (l *ledger) outcomes(relists []Relist, eps []Episode) []Relist {
	for i := range eps {
		e := &eps[i]
		for _, s := range e.LastStarts {
			k := sort.Search(len(relists), func(k int) bool { return relists[k].Start.At > s.Latest()+sameStart }) - 1
			if k >= 0 && relists[k].Run == e.Run && relists[k].Start.At >= s.Earliest()-sameStart && slices.Contains(relists[k].Basis, BasisLastSeen) {
				l.settle(relists, e, k, Over(eps, i))
			}
		}
	}
	for i := range relists {
		if r := &relists[i]; r.Outcome == OutcomeUnknown && r.End.Known() && r.Listed != nil && *r.Listed {
			r.Outcome = OutcomeOK
		}
	}
	return joined(relists)
}

// joined merges a relist measured by the metrics with one dated by lines if one began before the other was
// over: relists are serial, so they are the same.
func joined(relists []Relist) []Relist {
	out := relists[:0]
	for _, r := range relists {
		if k := len(out) - 1; k >= 0 && out[k].is(&r) {
			r, out = out[k].measured(r), out[:k]
		} else if k >= 0 && r.is(&out[k]) {
			r, out = r.measured(out[k]), out[:k]
		}
		out = append(out, r)
	}
	return out
}

// is reports whether r, dated by lines, is the relist m, measured by the metrics.
func (r *Relist) is(m *Relist) bool {
	if onlyMetrics(r.Basis) || !onlyMetrics(m.Basis) || m.Took == 0 || r.Took != 0 || r.Run != m.Run || !r.End.Known() {
		return false
	}
	apart, off := time.Duration(m.Start.At-r.Start.At), m.Took-time.Duration(r.End.At-r.Start.At)
	return apart.Abs() <= m.Start.Slack+r.Start.Slack && off.Abs() <= m.TookSlack+r.Slack() && m.Start.At+int64(m.Start.Slack) < r.End.At-int64(r.End.Slack)
}

// measured returns r with its duration taken from m, which the metrics measured.
func (r Relist) measured(m Relist) Relist {
	r.End, r.Took, r.TookSlack = host.Instant{At: r.Start.At + int64(m.Took), Slack: r.Start.Slack + m.TookSlack}, m.Took, m.TookSlack
	r.Basis = append(slices.DeleteFunc(slices.Clone(r.Basis), func(b string) bool { return b == BasisMetrics }), BasisMetrics)
	r.Evidence = append(slices.Clip(r.Evidence), m.Evidence...)
	return r
}

// settle dates the end of a relist that was stuck in inspection or delivery during an episode: it ran until
// PLEG was last reported unhealthy and ended a period before the next one that listed pods. over is when the
// episode ended; 0 if unknown. Since 1.36 on-demand relists of single pods run between relists, so none of the
// relists need have been long.
func (l *ledger) settle(relists []Relist, e *Episode, i int, over int64) {
	r := &relists[i]
	if r.End.Known() || e.Stepped != 0 || e.StuckStep != StepInspect && e.StuckStep != StepDeliver || l.evented(r.Run, r.Start.At) || !l.n.Kubelet.Before(36) {
		return
	}
	// PLEG stays unhealthy until the next relist has listed pods: a period, the timer's lateness and a list
	// call after this one ended. Slow list calls may become slower.
	lo := max(r.Start.At, e.LastReport-int64(2*l.period())-3*l.listed(r))
	if over == 0 {
		r.Outcome, r.Seen = OutcomeHung, lo // the next one may have been listing since then
		return
	}
	hi := over - int64(l.period())
	if next := nextListed(relists, i); next != 0 {
		hi = next - int64(l.period())
	}
	if m := l.lastAligned(r, over); m > lo && l.w.Whole(e.LastReport, m) { // otherwise another relist may be running
		lo = m
	} else if m == 0 {
		lo = min(lo, l.lastLine(r, e.LastReport, lo))
	}
	if hi >= lo && hi-lo <= int64(10*time.Second) {
		r.End, r.Outcome = host.Between(lo, hi), OutcomeOK
	}
}

// nextListed returns the start of the first later relist of the same run that a last-seen age names, 0 if none.
func nextListed(relists []Relist, i int) int64 {
	for j := i + 1; j < len(relists); j++ {
		if s := &relists[j]; s.Run == relists[i].Run && slices.Contains(s.Basis, BasisLastSeen) {
			return s.Start.At
		}
	}
	return 0
}

// lastLine returns when the relist wrote its last line about an inspection up to the moment, none if it wrote
// none. The relist may have ended right then, and the next list may have been slow.
func (l *ledger) lastLine(r *Relist, before, none int64) int64 {
	run := r.Run
	if run < 0 {
		run = len(l.byRun) - 1
	}
	marks := l.byRun[run]
	i, _ := slices.BinarySearchFunc(marks, before+1, func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
	for i--; i >= 0 && marks[i].At > r.Start.At; i-- {
		if marks[i].Kind&host.KindInside != 0 {
			return marks[i].At
		}
	}
	return none
}

// listed returns the maximum duration of the list calls of a relist, in ns, from its first inspection that
// timed out; 0 if there is none or they were quick. If the timeout is unknown, they may have taken all the time
// before it.
func (l *ledger) listed(r *Relist) int64 {
	timeout := int64(l.n.Kubelet.CallTimeout())
	fails := l.n.Failures
	i, _ := slices.BinarySearchFunc(fails, r.Start.At+timeout, func(f kubelet.Failure, t int64) int { return cmp.Compare(f.End, t) })
	for ; i < len(fails) && (timeout == 0 || fails[i].End <= r.Start.At+2*timeout); i++ {
		if f := &fails[i]; f.Call == "PodSandboxStatus" && f.Code == "DeadlineExceeded" {
			if took := f.End - r.Start.At - timeout; took > int64(l.period()) {
				return took
			}
			break
		}
	}
	return 0
}

// lastAligned returns when the last inspection of the relist timed out up to the moment, 0 if none did. It lies
// a whole number of timeouts after the start, since pods are inspected serially and each stuck one costs one
// timeout.
func (l *ledger) lastAligned(r *Relist, before int64) (best int64) {
	fails := l.n.Failures
	i, _ := slices.BinarySearchFunc(fails, r.Start.At, func(f kubelet.Failure, t int64) int { return cmp.Compare(f.End, t) })
	for ; i < len(fails) && fails[i].End <= before; i++ {
		if f := &fails[i]; f.Code == "DeadlineExceeded" && f.Scope != "all" && l.n.Kubelet.Timeouts(f.End-r.Start.At) {
			best = max(best, f.End)
		}
	}
	return best
}
