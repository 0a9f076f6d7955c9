package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// fromFailures dates relists whose list call failed, and the attempt that follows each.
func (l *ledger) fromFailures(run int, marks []kubelet.Mark) {
	floor := l.floor(run) // no later relist can have started before
	named := l.named[run]
	alone := len(l.n.Proofs) == 0 && !slices.ContainsFunc(marks, func(m kubelet.Mark) bool { return m.Kind != host.KindListFail })
	before := int64(0) // latest start of a relist named as last seen before
	for i, m := range marks {
		// A relist that fails is not one that was last seen.
		gap := l.gap(run, m.At)
		for len(named) > 0 && named[0].Hi+gap <= m.At {
			floor, before = max(floor, named[0].Lo+gap), max(before, named[0].Hi)
			named = named[1:]
		}
		if m.Kind != host.KindListFail {
			floor = max(floor, m.At+gap)
			continue
		}
		c := l.failed(run, m, floor)
		const far = int64(time.Second)
		none := alone && i > 1 && before < marks[i-1].At-far && (len(named) == 0 || named[0].Lo > m.At+far)
		if n := len(l.claims) - 1; none && l.claims[n].same(&c) {
			*l.claims[n] = *l.claims[n].meet(&c) // as merge would, but early: there may be a million
		} else {
			l.add(c)
		}
		floor = m.At + gap
		if gap > 0 && l.follows(run, marks, i) {
			next := m.At + int64(l.period())
			ev := append(make([]host.Evidence, 0, 2), host.Evidence{Record: m.Line, Note: "the next attempt starts one period after this one ended"})
			l.add(claim{lo: next, hi: next + int64(TimerLate), run: run, basis: basisNextStart, ev: ev})
		}
	}
}

// floor returns the earliest moment at which a relist of the run can start; 0 if unknown.
func (l *ledger) floor(run int) int64 {
	if run < 0 {
		return 0
	}
	r := &l.s.Runs[run]
	switch {
	case r.Loop != 0:
		return r.Loop - int64(SameMoment)
	case r.Start.Known():
		return r.Start.At - int64(r.Start.Slack)
	}
	return 0
}

// floorBy is like floor, but for relists that end at the given moment: it also uses the relists last seen before it.
func (l *ledger) floorBy(run int, at int64) int64 {
	floor, gap := l.floor(run), l.gap(run, at)
	for _, g := range l.named[run] {
		if g.Hi+gap > at {
			break
		}
		floor = max(floor, g.Lo+gap)
	}
	return floor
}

// failed dates the start of a relist from its error line.
func (l *ledger) failed(run int, m kubelet.Mark, floor int64) claim {
	c := claim{run: run, basis: basisListError, end: host.Instant{At: m.At, Slack: time.Millisecond}, outcome: OutcomeListFailed,
		listed: &no, ev: []host.Evidence{{Record: m.Line}}}
	timeout := int64(l.n.Kubelet.CallTimeout())
	switch {
	case m.Deadline && timeout > 0:
		c.hi = m.At - timeout + int64(time.Millisecond)
		c.lo = c.hi - int64(kubelet.DeadlineLate)
		if l.failing(run, m.At) != "ListPodSandbox" {
			c.lo = c.hi - timeout // the first of the two list calls may have been slow
		}
		if c.hi < floor {
			// The kubelet waits less than assumed, or the clock was set.
			c.hi, floor = m.At, c.lo
		}
	case m.AtOnce && (floor == 0 || m.At-floor > int64(TimerLate)):
		c.lo, c.hi = m.At-int64(refusedLate), m.At
	case timeout > 0:
		c.lo, c.hi = m.At-2*timeout-int64(kubelet.DeadlineLate), m.At
	default:
		c.lo, c.hi = m.At-2*int64(l.n.Kubelet.LongestCall()), m.At
	}
	c.lo = min(max(c.lo, floor), c.hi)
	return c
}

// failing returns the name of the unfiltered list call whose error was logged just before the relist's, "" if
// there is none.
func (l *ledger) failing(run int, at int64) string {
	calls := l.s.Calls
	i, _ := slices.BinarySearchFunc(calls, at, func(c kubelet.Call, t int64) int { return cmp.Compare(c.Line.At, t) })
	for i < len(calls) && calls[i].Line.At == at {
		i++
	}
	for i--; i >= 0 && at-calls[i].Line.At <= int64(SameMoment); i-- {
		c := &calls[i]
		if name := l.s.Interned.Text(c.Name); int(c.Run) == run && (name == "ListPodSandbox" || name == "ListContainers") && l.s.Interned.Text(c.Scope) == "all" {
			return name
		}
	}
	return ""
}

// follows reports whether the process ran long enough after mark i to start another relist.
func (l *ledger) follows(run int, marks []kubelet.Mark, i int) bool {
	due := marks[i].At + int64(l.period()+TimerLate)
	if run < 0 {
		return i+1 < len(marks) && marks[i+1].At < due
	}
	// A process that falls silent afterwards may have been stopped.
	next := l.cover.Next(run, due)
	return next != 0 && next-due <= int64(10*time.Second)
}
