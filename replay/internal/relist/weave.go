package relist

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/serial"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// extent is a duration known to lie in [lo, hi]; the zero extent is unknown.
type extent struct{ lo, hi time.Duration }

func (x extent) mid() time.Duration { return x.lo + (x.hi-x.lo)/2 }

func (x extent) slack() time.Duration { return (x.hi - x.lo + 1) / 2 }

// timed is a relist whose duration the metrics measure, with bounds for its start and end.
type timed struct {
	*snapshots.Proof
	start, end host.Span
	took       extent
}

func timedOf(p *snapshots.Proof) timed {
	t := timed{Proof: p, took: extent{p.SumMin, p.SumMax},
		start: host.Span{From: p.Start.Earliest(), To: p.Start.Latest()}, end: host.Span{From: p.End.Earliest(), To: p.End.Latest()}}
	if p.SumMax == 0 {
		t.took.hi = 1 << 62
	}
	return t
}

// refute splits relists assembled from lines alone if the counters show that a relist ended in between: relists
// are serial, so lines are missing. The first relist then has no known end, and the error line belongs to a
// later relist.
func (l *ledger) refute(run int, marks []kubelet.Mark) {
	for _, c := range l.claims {
		end := c.end.At - int64(c.end.Slack)
		if !c.end.Known() || end-c.lo < int64(snapshots.LongRelist) || !slices.ContainsFunc(l.n.Proofs, func(p snapshots.Proof) bool {
			return p.Kind == snapshots.ProofCount && p.Count > 0 && p.From >= c.hi && 2*p.To-p.From < end // a snapshot may have been taken later than its timestamp
		}) {
			continue
		}
		i, failed := slices.BinarySearchFunc(marks, c.end.At, func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
		switch {
		case c.outcome != OutcomeListFailed:
			c.end, c.outcome = host.Instant{}, ""
		case c.exact && failed && marks[i].Kind == host.KindListFail:
			l.add(l.failed(run, marks[i], max(l.floorBy(run, marks[i].At), c.hi+l.gap(run, c.hi))))
			c.end, c.outcome, c.listed, c.basis, c.ev = host.Instant{}, "", nil, basisRelisting, c.ev[:1]
		}
	}
}

// weave merges the relists measured by metrics snapshots with those dated by the lines of the run: the lines
// give the time, the metrics the duration. A measured relist that no line dates becomes its own claim. Relists
// are serial: if a line dates another start well inside a measured relist, the sources contradict each other,
// and the lines win.
func (l *ledger) weave(run int) {
	if l.n.Kubelet.EventedSends() {
		return
	}
	dated := map[host.Span]bool{} // steps in which a relist is dated individually
	for i := range l.n.Proofs {
		if p := &l.n.Proofs[i]; p.Kind == snapshots.ProofRelist && l.runAt(p.Start.At) == run {
			dated[host.Span{From: p.Step, To: p.To}] = p.SumMax > 0
			t := timedOf(p)
			if p.Listed != nil && !*p.Listed && !p.Pods && l.n.Kubelet.OnDemandRelists() { // the on-demand relist of a pod may fill the pause
				q := *p
				q.Listed, t.Proof = nil, &q
			}
			l.join(run, t)
		}
	}
	for i := range l.n.Proofs {
		p := &l.n.Proofs[i]
		if p.Kind != snapshots.ProofLong || p.From == 0 || dated[host.Span{From: p.From, To: p.To}] || l.runAt(p.To-int64(p.SumMin)) != run {
			continue
		}
		if t, ok := l.remaining(p); ok {
			l.join(run, t)
		}
	}
	host.Arrange(l.claims, func(a, b *claim) int { return cmp.Compare(a.lo+a.hi, b.lo+b.hi) })
}

func (l *ledger) join(run int, t timed) {
	if k := l.place(run, &t); k >= 0 {
		l.claims[k].measure(&t)
	} else if c := l.inside(&t); c != nil {
		l.against = append(l.against, Contradiction{
			What: "the metrics show one relist where a line dates the start of another one", Evidence: t.Evidence, Against: c.ev})
	} else {
		l.claims = append(l.claims, t.claim(run))
	}
}

// place narrows the measured relist to the room that the others leave, and returns the index of the claim that
// it must be, -1 if none.
func (l *ledger) place(run int, t *timed) int {
	gap := l.gap(run, t.start.From)
	if step := cmp.Or(t.Step, t.From); !t.Whole && t.start.To <= step { // the relists that ended after it in the step ran serially
		for i := range l.n.Proofs {
			if p := &l.n.Proofs[i]; p.Kind == snapshots.ProofCount && p.From == step && p.To == t.To {
				t.start.To = max(t.start.From, min(t.start.To, snapshots.By(p.To)-int64(p.Sum)-int64(p.Count-1)*gap))
			}
		}
	}
	var all []serial.Relist
	var of []int
	for i, c := range l.claims {
		if c.hi-c.lo <= int64(2*time.Second) {
			r := serial.Relist{Start: host.Span{From: c.lo, To: c.hi}, End: max(c.lo, c.listEnd.At-int64(c.listEnd.Slack), c.end.At-int64(c.end.Slack))}
			if c.outcome == OutcomeHung && run >= 0 {
				r.End = max(r.End, cmp.Or(c.seen, l.s.Runs[run].Last))
			}
			all, of = append(all, r), append(of, i)
		}
	}
	room := serial.Fit(serial.Measured{Start: t.start, End: t.end, Took: int64(t.took.lo)}, all, gap, func(i int) bool {
		c := l.claims[of[i]]
		return c.step == 0 && (c.listed == nil || t.Listed == nil || *c.listed == *t.Listed) && (!c.end.Known() || l.fits(c, t))
	})
	if room.Apart || len(room.Same) > 0 {
		t.start = room.Start
		if t.end.To != 0 {
			t.end.From = max(t.end.From, t.start.From+int64(t.took.lo))
			t.end.To = max(t.end.From, min(t.end.To, t.start.To+min(int64(t.took.hi), math.MaxInt64-t.start.To)))
		}
	}
	if len(room.Same) == 1 && !room.Apart {
		return of[room.Same[0]]
	}
	return l.match(t)
}

// remaining returns the one relist of over 10 s that ended between two snapshots and is not dated by lines;
// false if there is none or more than one.
func (l *ledger) remaining(p *snapshots.Proof) (timed, bool) {
	n, took, to := p.Count, extent{p.SumMin, p.SumMax}, snapshots.By(p.To)
	for _, c := range l.claims {
		d, ok := c.length()
		if !ok || d < snapshots.LongRelist || c.step != 0 && c.step != p.To || c.end.Latest() <= p.From || c.end.Earliest() > to {
			continue
		}
		if c.step == 0 && (c.end.Earliest() <= p.From || c.end.Latest() > to) {
			return timed{}, false // it may have ended in this step or beside it
		}
		n--
		slack := cmp.Or(c.relist().TookSlack, c.end.Slack+time.Duration(c.hi-c.lo)/2)
		took.lo, took.hi = took.lo-d-slack, took.hi-d+slack
	}
	took.lo = max(took.lo, snapshots.LongRelist)
	if n != 1 || took.hi < took.lo {
		return timed{}, false
	}
	t := timed{Proof: p, took: took, end: host.Span{From: p.From, To: to}, start: host.Span{From: p.From - int64(took.hi), To: to - int64(took.lo)}}
	// Relists are serial: it began a period after the end of the relist before it, and ended a period before
	// the next one began.
	for _, c := range l.claims {
		gap := l.gap(c.run, c.lo)
		_, known := c.length()
		if other := known || !c.fits(&t); other && c.end.Known() && c.hi < t.start.To && c.end.At-int64(c.end.Slack) < t.start.To && c.lo < t.start.From {
			t.start.From = max(t.start.From, c.end.At-int64(c.end.Slack)+gap)
		}
		if c.lo > t.start.To && c.hi <= t.end.To {
			t.end.To = max(min(t.end.To, c.hi-gap), t.end.From)
		}
	}
	t.start.To = min(t.start.To, t.end.To-int64(took.lo))
	t.end.From = max(t.end.From, t.start.From+int64(took.lo))
	return t, t.start.From <= t.start.To && t.end.From <= t.end.To
}

// length returns how long the claim's relist ran, and whether that is known.
func (c *claim) length() (time.Duration, bool) {
	r := c.relist()
	return r.Duration()
}

// match returns the index of the claim that must be the measured relist, -1 if none: it began within the
// bounds, and its end, if known, agrees.
func (l *ledger) match(t *timed) int {
	best, either := -1, int64(math.MaxInt64) // start of the first that matches
	for i, c := range l.claims {
		if c.step != 0 || c.hi < t.start.From || c.lo > t.start.To || c.listed != nil && t.Listed != nil && *c.listed != *t.Listed || !l.ranOn(c, t) && !l.alone(c, t) && (!l.fits(c, t) || !c.aslong(t) && (l.anyOther(t) || l.orNext(c, t))) {
			continue
		}
		// Of several that match, those that ended before the last one began can have run that long only if there
		// was time for it.
		if either = min(either, c.lo); best < 0 || c.lo > l.claims[best].lo {
			best = i
		}
	}
	if best >= 0 && either < l.claims[best].lo && l.claims[best].hi-either >= int64(t.took.lo)+l.gap(l.claims[best].run, either) {
		return -1
	}
	return best
}

// ranOn reports whether the claimed relist was running at the last snapshot that shows the measured one
// running: by the counters, no relist but earlier ones ended up to then. Relists are serial, so the two are the
// same.
func (l *ledger) ranOn(c *claim, t *timed) bool {
	at := cmp.Or(t.Step, t.From)
	from, ended := snapshots.Ended(l.n.Proofs, c.lo, at)
	for _, d := range l.claims {
		if d.end.Known() && d.run == c.run && d.hi < c.lo && d.end.At-int64(d.end.Slack) > from+int64(time.Second) { // a snapshot may have been taken later than its timestamp
			ended--
		}
	}
	return ended == 0 && !c.end.Known() && t.end.To != 0 && t.start.To < at
}

// alone reports whether no relist but the claimed one can be the measured one: the measured one began less than
// a period after it, and the claimed one began before the measured one ended.
func (l *ledger) alone(c *claim, t *timed) bool {
	return !c.end.Known() && t.start.To-c.lo < l.gap(c.run, c.lo) && c.hi < t.end.From
}

// anyOther reports whether the measured relist may just as well be one that no line dates: it is known only to
// have ended before the first snapshot of its process, and it was too short for the loop to report it.
func (l *ledger) anyOther(t *timed) bool {
	return t.Whole && t.start.To-t.start.From > int64(t.took.lo+30*time.Second) && t.took.lo < l.n.Kubelet.Threshold
}

// orNext reports whether the measured relist may just as well be an undated one after the claimed relist. It
// may not if an older relist is still named when that one would have begun: the claimed one had not listed by
// then, and a failure would have been logged.
func (l *ledger) orNext(c *claim, t *timed) bool {
	if t.Listed != nil && !onlyMetrics(c.basis) || c.lo+l.gap(c.run, c.lo) > t.start.To || c.outcome == OutcomeHung {
		return false
	}
	return c.group != nil || !l.w.Trusts(c.run) || !slices.ContainsFunc(l.named[c.run], func(g *LastSeen) bool { return g.Hi < c.lo && g.Last() >= t.start.To })
}

// fits reports whether what is known of the claim agrees with the measurement, and the claim is not a relist
// after the measured one, whose end is hidden in a hole of the log: no hole hides a second relist of
// LongRelist where the counters show that one ended.
func (l *ledger) fits(c *claim, t *timed) bool {
	ran := t.To // it was still running at the snapshot
	if t.end.To != 0 {
		ran = t.end.From
	}
	lo, hi := c.end.At-int64(c.end.Slack), c.end.At+int64(c.end.Slack)
	long := t.SumMax != 0 && t.Count == 1 && lo > snapshots.By(cmp.Or(t.Step, t.From)) && hi <= t.To && lo-c.hi >= int64(snapshots.LongRelist)
	return c.fits(t) && (!c.end.Known() || long || c.hi <= ran || l.w.Whole(ran, c.end.At))
}

// fits reports whether what is known of the claim agrees with the measurement. A gauge value alone names a
// relist that listed pods, usually a quick one before the long one.
func (c *claim) fits(t *timed) bool {
	if !c.end.Known() {
		return !onlyMetrics(c.basis) || t.Listed != nil && *t.Listed
	}
	lo, hi := c.end.At-int64(c.end.Slack), c.end.At+int64(c.end.Slack)
	if t.end.To == 0 { // it was running at the snapshot
		return hi >= t.To-late
	}
	return hi >= t.end.From-late && lo <= t.end.To+late && hi-c.lo >= int64(t.took.lo)-late && lo-c.hi <= int64(t.took.hi)+late
}

// aslong reports whether the claim provably ran as long as the measured relist. One whose end has wide bounds
// may have ended immediately.
func (c *claim) aslong(t *timed) bool {
	return c.end.Known() && c.end.At-int64(c.end.Slack)-c.hi >= int64(t.took.lo)-late
}

// late is how far apart two sources may date the end of one relist, in ns.
const late = int64(100 * time.Millisecond)

func onlyMetrics(basis []string) bool { return len(basis) == 1 && basis[0] == BasisMetrics }

// inside finds a relist dated by a line that began while the measured one ran.
func (l *ledger) inside(t *timed) *claim {
	for _, c := range l.claims {
		if c.lo > t.start.To && c.hi < max(t.end.From, t.start.From+int64(t.took.lo)) {
			return c
		}
	}
	return nil
}

// measure narrows the claim by the duration that the metrics state.
func (c *claim) measure(t *timed) {
	c.step = t.To
	c.lo, c.hi = max(c.lo, t.start.From), min(c.hi, t.start.To)
	if t.end.To != 0 {
		lo, hi := max(t.end.From, c.lo+int64(t.took.lo)), t.end.To
		if took := t.length(); took.hi != 0 {
			hi = min(hi, c.hi+int64(took.hi))
		}
		if end := host.Between(min(lo, hi), hi); !c.end.Known() || c.end.Slack > end.Slack {
			c.end, c.took = end, t.length()
		}
	}
	if hi := c.end.At + int64(c.end.Slack); t.end.To == 0 && c.end.Known() {
		c.end = host.Between(min(max(c.end.At-int64(c.end.Slack), t.To), hi), hi)
	}
	c.listed = cmp.Or(c.listed, t.Listed)
	if c.outcome == "" || c.outcome == OutcomeHung {
		c.outcome, c.seen = t.outcome()
	}
	if !slices.Contains(c.basis, BasisMetrics) {
		c.basis = append(slices.Clip(c.basis), BasisMetrics)
	}
	c.ev = append(c.ev, t.Evidence...)
}

// claim returns a claim for the measured relist alone.
func (t *timed) claim(run int) *claim {
	c := &claim{step: t.To, lo: t.start.From, hi: t.start.To, run: run, listed: t.Listed, basis: basisMetrics, ev: t.Evidence}
	c.outcome, c.seen = t.outcome()
	if t.end.To != 0 {
		c.end, c.took = host.Between(t.end.From, t.end.To), t.length()
	}
	return c
}

// length returns how long it took; the zero extent if it has no upper bound.
func (t *timed) length() extent {
	if t.took.hi == 1<<62 {
		return extent{}
	}
	return t.took
}

// outcome returns how the relist went and, if it did not end, when it was last shown running.
func (t *timed) outcome() (out Outcome, seen int64) {
	switch {
	case t.end.To == 0:
		return OutcomeHung, t.To
	case t.Listed == nil:
		return "", 0
	case *t.Listed:
		return OutcomeOK, 0
	}
	return OutcomeListFailed, 0
}
