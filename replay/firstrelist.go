package replay

import (
	"slices"
	"time"
)

// fromStart dates the first relist of a process whose list took long: the loop
// reports that no relist has succeeded, and no attempt failed, so that it is one and
// the same that runs from the start of PLEG. It ends with the events of all that runs
// on the node, which it sends without a pause of a period.
func (l *ledger) fromStart(run int, marks []mark) {
	if run < 0 || l.s.runs[run].loop == 0 || !l.w.trusts(run) || l.evented(run, l.s.runs[run].loop) {
		return
	}
	r := &l.s.runs[run]
	last := saying{}
	for _, t := range l.s.nevers {
		if t.run == run {
			last = t
		}
	}
	events := l.burst(run, max(last.at, r.loop))
	if last.ev == nil || last.at-r.loop < int64(LongRelist) || events.From == 0 || !l.w.whole(r.loop, events.To) ||
		slices.ContainsFunc(marks, func(m mark) bool { return m.kind&(kListFail|kRelisting) != 0 && m.at < events.From }) {
		return
	}
	l.claims = append(l.claims, &claim{lo: r.loop - int64(sameMoment), hi: r.loop + int64(timerLate), run: run, listed: &yes,
		listEnd: between(last.at, events.From), end: between(last.at, events.To+int64(100*time.Millisecond)), outcome: OutcomeOK,
		basis: basisEvents, ev: []Evidence{{Record: last.ev, Note: "no relist has succeeded since the start, and none failed"},
			{Record: l.n.Events[l.s.turns[l.s.turnFrom(events.From)]], Note: "the events of the first relist"}}})
}

// burst is when the first pod events after a moment were delivered, up to the first
// pause of a period.
func (l *ledger) burst(run int, after int64) Span {
	var out Span
	for _, t := range l.s.turns[l.s.turnFrom(after+1):] {
		if l.s.turnRun(t) != run || l.s.turnKinds(t)&kEvent == 0 {
			continue
		}
		at := l.s.turnAt(t)
		switch {
		case out.From == 0:
			out = Span{From: at, To: at}
		case at-out.To >= int64(genericPeriod):
			return out
		default:
			out.To = at
		}
	}
	return out
}
