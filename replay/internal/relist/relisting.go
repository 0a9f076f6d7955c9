package relist

import (
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// fromRelisting reads a log at verbosity 5, in which every relist begins with a line of its own.
func (l *ledger) fromRelisting(run int, marks []kubelet.Mark) {
	var c *claim
	var last int64
	failed := int64(0) // no relist begins earlier than this after the last failed one
	later := func(m kubelet.Mark) {
		l.add(l.failed(run, m, max(l.floorBy(run, m.At), failed)))
	}
	for _, m := range marks {
		if c != nil && !l.w.Whole(last, m.At) {
			c = nil // what ran in a hole of the log is unknown
		}
		last = m.At
		switch {
		case m.Kind == host.KindRelisting:
			if c != nil {
				l.nextStart(c, m)
			}
			c = l.room.claim(claim{lo: m.At - int64(relistingSlack)/2, hi: m.At + int64(relistingSlack), run: run, exact: true,
				basis: basisRelisting}, host.Evidence{Record: m.Line})
			l.claims = append(l.claims, c)
		case c == nil || c.end.Known() || l.skipped(c, m.At-c.lo) || l.w.Lossy(run) && m.At-c.lo >= int64(l.period()):
			c = nil // this line belongs to a later relist whose first line is missing
			if m.Kind == host.KindListFail {
				later(m)
			}
		case m.Kind == host.KindRetrieved:
			switch {
			case c.listed == nil:
				c.listEnd, c.listed = host.Instant{At: m.At, Slack: SameMoment}, &yes
			case c.listEnd.Known(): // one of the two list calls is another caller's
				c.listEnd = host.Between(c.listEnd.Earliest(), m.At+int64(SameMoment))
			}
		case m.Kind == host.KindListFail:
			if c.hi+int64(widest) < l.failed(run, m, l.floorBy(run, m.At)).lo || !l.n.Kubelet.Timeouts(m.At-c.lo) && !l.only(c, m.At) {
				later(m) // it belongs to a later relist whose first line is missing
				c = nil
			} else {
				c.fail(m)
			}
		case c.listed == nil:
			c.listed = &yes
		}
		if m.Kind == host.KindListFail {
			failed = m.At + l.gap(run, m.At)
		}
	}
	l.stillOpen(run, c)
}

// stillOpen marks the last relist of a log at verbosity 5 as hung if it had not ended by the last line:
// otherwise the next one would have begun a period after its end, with its own line.
func (l *ledger) stillOpen(run int, c *claim) {
	if c == nil || c.end.Known() || run < 0 || run+1 < len(l.s.Runs) || l.evented(run, c.lo) {
		return
	}
	last := l.s.Runs[run].Last
	if last-c.hi > int64(snapshots.LongRelist) && l.w.Trusts(run) && l.w.Paced(run, l.since(c)) && !l.skipped(c, last-c.lo) && l.w.Whole(c.hi, last) && l.only(c, last) {
		c.outcome = OutcomeHung
	}
}

// stillLists marks the last relist of a log as hung if it had not listed pods when the log ends and an older
// relist is still named: it began long before, and a failure would have been logged.
func (l *ledger) stillLists(run int) {
	named := l.named[run]
	if run < 0 || run+1 < len(l.s.Runs) || len(l.claims) == 0 || len(named) == 0 || l.evented(run, named[len(named)-1].Lo) || l.n.Kubelet.OnDemandRelists() {
		return
	}
	c, g := l.claims[len(l.claims)-1], named[len(named)-1]
	if last := g.Last(); last+int64(2*kubelet.BackoffMax) >= l.s.Runs[run].Last && g.Hi < c.lo && !c.end.Known() && c.outcome == "" && c.listed == nil && last-c.hi > int64(snapshots.LongRelist) && l.w.Trusts(run) && l.w.Whole(c.hi, last) {
		c.outcome, c.seen = OutcomeHung, last
	}
}

var (
	basisRelisting = []string{BasisRelisting}
	basisListError = []string{BasisListError}
	basisNextStart = []string{BasisNextStart}
	basisLastSeen  = []string{BasisLastSeen}
	basisMetrics   = []string{BasisMetrics}
	basisEvents    = []string{BasisEvents}
)

// nextStart closes a relist that is followed by another one: it ended one period before. Without an error line
// in between, its list call succeeded.
func (l *ledger) nextStart(c *claim, next kubelet.Mark) {
	if c.end.Known() {
		return
	}
	if c.listed == nil {
		if l.n.Kubelet.MayTimeOut(next.At - c.lo - int64(l.n.Kubelet.Period) + int64(relistingSlack)) {
			return // it lasted as long as a call timeout: the error line of its list may be missing
		}
		if l.w.Trusts(c.run) {
			c.listed = &yes // otherwise an error would be logged in between
		}
	}
	if c.listed != nil {
		c.outcome = OutcomeOK
	}
	hi := next.At - int64(l.period())
	if l.evented(c.run, c.lo) || hi < c.lo {
		return // forced relists follow at once, otherwise relists are minutes apart
	}
	if pause := next.At - c.lo; l.skipped(c, pause) || pause > 2*int64(l.period()) && !l.w.Paced(c.run, l.since(c)) || !l.only(c, next.At) {
		return // other relists' lines may be missing in between, or no relist was due
	}
	if hi-c.lo > int64(stoppedMin) && l.silent(c.run, c.lo, hi, next.At) {
		return // it may have ended long before: the process was not running
	}
	lo := max(c.lo, c.listEnd.At, hi-int64(TimerLate))
	if c.listEnd.Known() && next.At-c.listEnd.At >= 2*int64(l.period()) && l.cover.Lull(c.listEnd.At, next.At) > int64(widest) {
		lo = c.listEnd.At // a quick relist, whose lines may be missing, fits in between
	}
	if before, _ := l.cover.Around(next.At); next.At-before >= 2*int64(l.period()) && l.w.Misses(c.run) {
		lo = min(lo, max(c.lo, c.listEnd.At, before-int64(l.period()+TimerLate))) // a quick relist fits into the silence at its end
	}
	c.end = host.Between(min(lo, hi), hi)
}

// since returns the moment before which relists must have followed each other one period apart for a later one
// to be known to do so too: 0, meaning any moment, if the kind of PLEG is known.
func (l *ledger) since(c *claim) int64 {
	if l.n.Kubelet.PLEG == kubelet.PLEGUnknown {
		return c.lo
	}
	return 0
}

// skipped reports whether the line of another relist may be missing from the pause that begins with the relist
// of c.
func (l *ledger) skipped(c *claim, pause int64) bool {
	lull := max(int64(l.period()), min(pause-3*int64(l.period())/2, 3*int64(l.period())/2)) // the shortest silence that can hide a quick relist
	if pause > 2*int64(l.period()) && (l.w.Sum(c.run, pause) || pause < int64(snapshots.LongRelist)+l.gap(c.run, c.lo) && l.cover.Lull(c.lo, c.lo+pause) > lull) {
		return true // a hole no longer than the log's usual intervals
	}
	return l.w.Lossy(c.run) && pause > 3*int64(l.period())/2 || l.w.Comb(c.run, pause)
}

// only reports whether no relist but that of c can have begun up to the moment to. Reports that name no later one show
// it. Events of one container at three moments are of three relists, of which one may have begun before c.
func (l *ledger) only(c *claim, to int64) bool {
	if to-c.lo <= int64(pause.Most) {
		return true
	}
	var told []host.Span
	for _, g := range l.named[c.run] {
		if g.Lo <= c.hi+sameStart && g.Last() > c.lo {
			for _, a := range g.Lines {
				told = append(told, host.Span{From: min(a.At, to), To: min(a.At, to)})
			}
		}
	}
	return l.n.alone(c.run, host.Between(c.lo, c.hi), to, told) && l.distinct.Within(c.hi, to) < 3
}

// loosen widens the start of long relists in a lossy log that is silent when the next relist was due: the first
// claim may really be a quick relist, and the line of the long one that followed it may be missing. A relist
// that seems to have lasted until after another one began is not known to be long at all.
func (l *ledger) loosen() {
	for i, c := range l.claims {
		if c.outcome == OutcomeListFailed || !c.end.Known() || c.end.At-c.hi < int64(snapshots.LongRelist) {
			continue
		}
		least := int64(1 << 62)
		if len(l.w.Holes) > 0 && c.exact && c.group == nil && !c.listEnd.Known() {
			least = int64(widest) / 2
		}
		switch before, after := l.cover.Around(c.lo + l.gap(c.run, c.lo)); {
		case i+1 < len(l.claims) && l.claims[i+1].lo > c.hi && l.claims[i+1].hi < c.end.At, after-before > least && after >= c.end.At:
			c.end, c.outcome = host.Instant{}, "" // not even that it was long is known
		case after-before > least:
			c.hi = after
		}
	}
}

// stoppedMin is the shortest relist that is doubted when the log is silent during it: at verbosity 5 the
// kubelet writes several lines per second.
const stoppedMin = 20 * time.Second

// silent reports whether the process wrote nothing in the second half of [from, to], nor until a period before
// the next Relisting line. The period is allowed for because a process that resumes writes its lines in any
// order.
func (l *ledger) silent(run int, from, to, relisting int64) bool {
	t := l.cover.Next(run, from+(to-from)/2)
	return t != 0 && t >= relisting-int64(l.period())
}
