package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

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
	steps   int              // number of steps of the clock between two reports of one relist
	byRun   [][]kubelet.Mark // marks of each run, in time order
	dated   [][]kubelet.Mark // the subset of byRun used to date relists; see kubelet.Witness

	distinct *pause.Distinct
	room     claimRoom
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
	l := &ledger{n: n, s: s, groups: groups, cover: s.Cover, w: n.Witness, byRun: s.ByRun(s.Marks), distinct: pause.DistinctOf(s)}
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

// stepped records that the clock was set between two lines that name the same relist. Of very many such steps the
// first are kept: the report quotes both lines of each, in no order of the log.
func (l *ledger) stepped(a, b kubelet.Age) {
	if l.s.Mixed[0] != nil {
		return
	}
	if l.steps++; l.steps > parse.Many {
		return
	}
	how := "set back"
	if b.At-a.At > int64(b.Age-a.Age) {
		how = "set, or the machine was suspended"
	}
	l.against = append(l.against, Contradiction{What: "between two reports of one relist the stamps move on by " + parse.Short(time.Duration(b.At-a.At)) + " and the age grows by " +
		parse.Short(b.Age-a.Age) + ", so that the clock was " + how, Evidence: []host.Evidence{{Record: a.Record}}, Against: []host.Evidence{{Record: b.Record}}})
}

// add adds a claim.
func (l *ledger) add(c claim) { l.claims = append(l.claims, &c) }

// merge joins claims that must be the same relist: their bounds overlap, and two relists are at least a period apart.
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
