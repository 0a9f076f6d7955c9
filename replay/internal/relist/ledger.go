package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// claim is a relist whose start is known to lie in [lo, hi], in Unix ns.
type claim struct {
	lo, hi   int64
	seen     int64 // when a snapshot last showed it running, if its end is unknown
	run      int
	listEnd  host.Instant
	end      host.Instant
	took     extent // duration, if known more precisely than from end
	listed   *bool
	outcome  Outcome
	basis    []string
	ev       []host.Evidence
	exact    bool      // from a Relisting line
	measured bool      // its length was measured by metrics, which measure each relist once
	group    *LastSeen // the last-seen lines that name it
}

// ledger collects what is known about individual relists.
type ledger struct {
	n       *Known
	s       *kubelet.Log
	groups  []*LastSeen
	cover   *kubelet.Coverage
	w       *kubelet.Witness
	named   map[int][]*LastSeen        // groups by run, sorted by start
	starts  map[int][]*snapshots.Proof // relist starts from metrics, by run
	claims  []*claim
	against []Contradiction
	byRun   [][]kubelet.Mark // marks of each run, in time order
	dated   [][]kubelet.Mark // the subset of byRun used to date relists; see kubelet.Witness

	distinct *kubelet.Distinct
	room     claimRoom
}

var (
	yes = true
	no  = false
)

// claimRoom allocates single-line claims in blocks: a log at verbosity 5 has hundreds of thousands.
type claimRoom struct {
	claims []claim
	lines  []host.Evidence
}

func (r *claimRoom) claim(c claim, line host.Evidence) *claim {
	const block = 256
	if len(r.claims) == cap(r.claims) {
		r.claims, r.lines = make([]claim, 0, block), make([]host.Evidence, 0, block)
	}
	i := len(r.claims)
	r.lines = append(r.lines, line)
	c.ev = r.lines[i : i+1 : i+1]
	r.claims = append(r.claims, c)
	return &r.claims[i]
}

// Tolerances of the reconstruction and their origin.
const (
	// The Relisting line is written microseconds before the start is recorded.
	relistingSlack = 2 * time.Millisecond
	// TimerLate bounds how late a timer fires: never early, and up to 0.33 s late on a loaded machine (2,156
	// relists in 11 captures).
	TimerLate = 350 * time.Millisecond
	// A refused connection fails within microseconds; up to 0.19 s on a loaded machine.
	refusedLate = 200 * time.Millisecond
	// SameMoment: the relist goroutine writes its next line right after an error.
	SameMoment = 5 * time.Millisecond
	// Claims not backed by an error line must be at least this precise.
	widest = 500 * time.Millisecond
)

func newLedger(n *Known, groups []*LastSeen) *ledger {
	s := n.Log
	l := &ledger{n: n, s: s, groups: groups, cover: s.Cover, w: n.Witness, byRun: s.ByRun(s.Marks), distinct: kubelet.DistinctOf(s)}
	l.dated = l.byRun
	if len(l.w.Dating) < len(s.Marks) {
		l.dated = s.ByRun(l.w.Dating)
	}
	return l
}

// relists builds the ledger. For each run it merges claims from the relist goroutine's own lines, from
// last-seen ages, from the process start and from metrics, and bounds the number of relists in the intervals
// between them.
func (l *ledger) relists() ([]Relist, []Bounded) {
	named := map[int][]*LastSeen{}
	prev := map[int]*LastSeen{}
	for _, g := range l.groups {
		if b := g.Back; b != nil {
			l.stepped(b[0], b[1])
		}
		if p := prev[g.Run]; g.Stepped != 0 {
			l.stepped(p.Lines[len(p.Lines)-1], g.Lines[0])
		} else if !g.Doubt {
			named[g.Run] = append(named[g.Run], g)
		}
		prev[g.Run] = g
	}
	l.named = named
	l.starts = map[int][]*snapshots.Proof{}
	for i := range l.n.Proofs {
		if p := &l.n.Proofs[i]; p.Kind == snapshots.ProofStart && !l.n.Kubelet.EventedSends() {
			run := l.runAt(p.Start.At)
			l.starts[run] = append(l.starts[run], p)
		}
	}
	var all []*claim
	var bounded []Bounded
	for run := range l.byRun {
		l.claims = nil
		idx := run
		if run == len(l.s.Runs) {
			idx = -1
		}
		l.fromMarks(idx, l.dated[run])
		l.fromGroups(idx)
		l.fromStart(idx, l.byRun[run])
		l.fromMetrics(idx)
		l.merge()
		l.ends(idx, l.byRun[run])
		l.byLists(idx, l.byRun[run])
		l.loosen()
		l.stillLists(idx)
		l.refute(idx, l.byRun[run])
		l.weave(idx)
		bounded = append(bounded, l.stretches(idx)...)
		for _, c := range l.claims {
			c.blur()
			if first := c.ev[0].Record; slices.ContainsFunc(c.ev, func(e host.Evidence) bool { return !l.s.SameClock(first, e.Record) }) {
				c.end, c.listEnd, c.took = host.Instant{}, host.Instant{}, extent{} // its lines are stamped by a clock that was set back between them
			}
		}
		all = append(all, l.claims...)
	}
	host.Arrange(all, func(a, b *claim) int { return cmp.Compare(a.lo+a.hi, b.lo+b.hi) })
	bounded = append(bounded, l.counted()...)
	host.Arrange(bounded, func(a, b Bounded) int { return cmp.Compare(a.From, b.From) })
	l.claims = nil
	out := make([]Relist, len(all))
	for i, c := range all {
		out[i], all[i] = c.relist(), nil // release early: there may be a million claims
	}
	return out, bounded
}

// blur widens bounds that come from log lines by the resolution of their timestamps, which are truncated, for
// example to whole seconds.
func (c *claim) blur() {
	res := int64(0)
	for _, e := range c.ev {
		if e, ok := e.Record.(*parse.Event); ok && c.group == nil {
			res = max(res, int64(e.Res.Duration()))
		}
	}
	if res < int64(10*time.Millisecond) {
		return
	}
	c.hi += res
	for _, x := range []*host.Instant{&c.listEnd, &c.end} {
		if x.Known() {
			*x = host.Between(x.Earliest(), x.Latest()+res)
		}
	}
}

func (c *claim) relist() Relist {
	took := c.took
	if took.hi != 0 && c.end.Known() { // keep it consistent with start and end
		off := time.Duration(c.end.Slack)
		if lo, hi := max(took.lo, time.Duration(c.end.At-c.hi)-off), min(took.hi, time.Duration(c.end.At-c.lo)+off); lo <= hi {
			took = extent{lo, hi}
		}
	}
	r := Relist{Run: c.run, Start: host.Between(c.lo, c.hi), ListEnd: c.listEnd, End: c.end,
		Took: took.mid(), TookSlack: took.slack(), Outcome: c.outcome, Seen: c.seen, Listed: c.listed, Basis: c.basis, Evidence: c.ev}
	if r.Outcome == "" {
		r.Outcome = OutcomeUnknown
	}
	if r.End.Known() && r.End.At < r.Start.At {
		r.End.At = r.Start.At
	}
	return r
}

// basisNextFailed and basisFailedNext are shared by the many relists that follow a failed one and fail
// themselves.
var basisNextFailed, basisFailedNext = []string{BasisNextStart, BasisListError}, []string{BasisListError, BasisNextStart}

// bothBases returns the bases of a followed by those of b that a lacks.
func bothBases(a, b []string) []string {
	if len(a) == 1 && len(b) == 1 {
		switch [2]string{a[0], b[0]} {
		case [2]string{BasisNextStart, BasisListError}:
			return basisNextFailed
		case [2]string{BasisListError, BasisNextStart}:
			return basisFailedNext
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(slices.Clip(a), x)
		}
	}
	return a
}

// fromMarks adds claims from the relist goroutine's own lines.
func (l *ledger) fromMarks(run int, marks []kubelet.Mark) {
	verbose := slices.ContainsFunc(marks, func(m kubelet.Mark) bool { return m.Kind == host.KindRelisting })
	if verbose {
		l.fromRelisting(run, marks)
		return
	}
	l.fromFailures(run, marks)
	l.fromReinspections(run, marks)
	if !l.w.Lossy(run) {
		l.fromRetrieved(run, marks)
	}
}

// fromRelisting reads a log at verbosity 5, in which every relist begins with a line of its own.
func (l *ledger) fromRelisting(run int, marks []kubelet.Mark) {
	var c *claim
	var last int64
	failed := int64(0) // no relist begins earlier than this after the last failed one
	later := func(m kubelet.Mark) {
		l.claims = append(l.claims, l.failed(run, m, max(l.floorBy(run, m.At), failed)))
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
			if c.hi+int64(widest) < l.failed(run, m, l.floorBy(run, m.At)).lo {
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
	if last-c.hi > int64(snapshots.LongRelist) && l.w.Trusts(run) && l.w.Paced(run, l.since(c)) && !l.skipped(c, last-c.lo) && l.w.Whole(c.hi, last) {
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
		if l.failedUnsaid(c, next) {
			return
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
	if pause := next.At - c.lo; l.skipped(c, pause) || pause > 2*int64(l.period()) && !l.w.Paced(c.run, l.since(c)) {
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

// failedUnsaid reports whether a relist without a line for its list call lasted as long as a call timeout: its
// error line may be missing.
func (l *ledger) failedUnsaid(c *claim, next kubelet.Mark) bool {
	return l.n.Kubelet.MayTimeOut(next.At - c.lo - int64(l.n.Kubelet.Period) + int64(relistingSlack))
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

// fail closes the relist with its error line m.
func (c *claim) fail(m kubelet.Mark) {
	c.end, c.listEnd, c.outcome, c.listed = host.Instant{At: m.At, Slack: time.Millisecond}, host.Instant{}, OutcomeListFailed, &no
	c.ev = append(c.ev, host.Evidence{Record: m.Line, Note: "this attempt ended here"})
	if !slices.Contains(c.basis, BasisListError) {
		c.basis = append(slices.Clip(c.basis), BasisListError)
	}
}

// period returns the pause between two generic relists.
func (l *ledger) period() time.Duration {
	if l.n.Kubelet.EventedSends() && l.n.Kubelet.Period > kubelet.GenericPeriod {
		return kubelet.GenericPeriod // although evented PLEG is requested, the kubelet has fallen back to generic
	}
	return l.n.Kubelet.Period
}

// evented reports whether evented PLEG, as in kubelets up to 1.36, was in use at the moment. Its relists are
// minutes apart, except that a broken stream forces some immediately. After its fallback the kubelet relists as
// usual.
func (l *ledger) evented(run int, at int64) bool {
	if !l.n.Kubelet.EventedSends() {
		return false
	}
	fell := l.n.Asked.Of(run).Fell
	return fell == 0 || at < fell
}

// gap returns the minimum time between the end of a relist and the start of the next.
func (l *ledger) gap(run int, at int64) int64 {
	if l.evented(run, at) {
		return 0 // a broken stream forces relists immediately
	}
	return int64(l.period())
}

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
		if n := len(l.claims) - 1; none && l.claims[n].same(c) {
			l.claims[n] = l.claims[n].meet(c) // as merge would, but early: there may be a million
		} else {
			l.claims = append(l.claims, c)
		}
		floor = m.At + gap
		if gap > 0 && l.follows(run, marks, i) {
			next := m.At + int64(l.period())
			l.claims = append(l.claims, &claim{lo: next, hi: next + int64(TimerLate), run: run,
				basis: basisNextStart, ev: []host.Evidence{{Record: m.Line, Note: "the next attempt starts one period after this one ended"}}})
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

// floorBy is like floor, but for relists that end at the given moment: it also uses the relists last seen
// before it.
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
func (l *ledger) failed(run int, m kubelet.Mark, floor int64) *claim {
	c := &claim{run: run, basis: basisListError, end: host.Instant{At: m.At, Slack: time.Millisecond}, outcome: OutcomeListFailed,
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

// fromRetrieved reads a log at verbosity 4 of 1.27 and later, where each list of all pods ends with a line.
// Image garbage collection lists them too, so a line within a period of the previous one is not the relist's.
func (l *ledger) fromRetrieved(run int, marks []kubelet.Mark) {
	var prev int64 // the current relist began after this moment
	for _, m := range marks {
		switch {
		case m.Kind == host.KindListFail:
			prev = m.At
			continue
		case m.Kind != host.KindRetrieved:
			// A line of the previous relist, unless it is too close to the list.
			if m.Kind&host.KindInside != 0 && prev != 0 {
				prev = m.At
			}
			continue
		}
		gap := l.gap(run, prev)
		lo := prev + gap
		if prev != 0 && m.At < lo && gap > 0 {
			continue
		}
		if prev != 0 && gap > 0 && m.At-lo <= int64(widest) {
			l.claims = append(l.claims, l.room.claim(claim{lo: lo, hi: m.At, run: run, listed: &yes, listEnd: host.Instant{At: m.At, Slack: SameMoment},
				basis: basisNextStart}, host.Evidence{Record: m.Line, Note: "its list of all pods returned here"}))
		}
		prev = m.At
	}
}

// fromGroups adds the relists that last-seen ages name.
func (l *ledger) fromGroups(run int) {
	var prev *LastSeen
	for _, g := range l.named[run] {
		c := &claim{lo: g.Lo, hi: g.Hi, run: run, listed: &yes, basis: basisLastSeen, group: g}
		if prev != nil && prev.Last() > g.Hi && prev.Last() < g.First() {
			// Its list call returned after the last line that still named the older relist.
			c.listEnd = host.Between(prev.Last(), g.First())
		}
		prev = g
		for _, i := range []int{0, len(g.Lines) - 1} {
			if a := g.Lines[i]; i == 0 || len(g.Lines) > 1 {
				c.ev = append(c.ev, host.Evidence{Record: a.Record, Note: "last seen active " + parse.Least(a.Age) + " before this line"})
			}
		}
		l.claims = append(l.claims, c)
	}
}

// stepped records that the clock was set between two lines that name the same relist.
func (l *ledger) stepped(a, b kubelet.Age) {
	if l.s.Mixed[0] != nil {
		return
	}
	how := "set back"
	if b.At-a.At > int64(b.Age-a.Age) {
		how = "set, or the machine was suspended"
	}
	l.against = append(l.against, Contradiction{"between two reports of one relist the stamps move on by " + parse.Short(time.Duration(b.At-a.At)) + " and the age grows by " +
		parse.Short(b.Age-a.Age) + ", so that the clock was " + how, []host.Evidence{{Record: a.Record}}, []host.Evidence{{Record: b.Record}}})
}

// merge joins claims that must be the same relist: their bounds overlap, and two relists are at least a period
// apart.
func (l *ledger) merge() {
	host.Arrange(l.claims, func(a, b *claim) int { return cmp.Compare(a.lo+a.hi, b.lo+b.hi) })
	out := l.claims[:0]
	for _, c := range l.claims {
		if len(out) > 0 && out[len(out)-1].same(c) {
			out[len(out)-1].join(c)
			continue
		}
		out = append(out, c)
	}
	clear(l.claims[len(out):]) // release those that were joined
	l.claims = out
}

// sameStart is how far apart two sources may date the start of one relist, in ns.
const sameStart = int64(30 * time.Millisecond)

// same reports whether two claims are the same relist; both must be narrower than 1 s.
func (c *claim) same(d *claim) bool {
	if c.exact && d.exact || c.listed != nil && d.listed != nil && *c.listed != *d.listed {
		return false
	}
	near := int64(0)
	if c.hi-c.lo <= int64(widest) && d.hi-d.lo <= int64(widest) {
		near = sameStart
	}
	return c.lo <= d.hi+near && d.lo <= c.hi+near && c.hi-c.lo < int64(time.Second) && d.hi-d.lo < int64(time.Second)
}

// meet joins two claims, starting from the earlier one.
func (c *claim) meet(d *claim) *claim {
	if d.lo+d.hi < c.lo+c.hi {
		c, d = d, c
	}
	c.join(d)
	return c
}

// join narrows c by d.
func (c *claim) join(d *claim) {
	switch lo, hi := max(c.lo, d.lo), min(c.hi, d.hi); {
	case lo <= hi:
		c.lo, c.hi = lo, hi
	case d.hi-d.lo < c.hi-c.lo:
		c.lo, c.hi = d.lo, d.hi
	}
	if d.end.Known() {
		c.end = d.end
	}
	if d.listEnd.Known() {
		c.listEnd = d.listEnd
	}
	if d.listed != nil {
		c.listed = d.listed
	}
	if d.outcome != "" {
		c.outcome = d.outcome
	}
	c.exact = c.exact || d.exact
	if d.group != nil {
		c.group = d.group
	}
	c.basis = bothBases(c.basis, d.basis)
	c.ev = append(c.ev, d.ev...)
}
