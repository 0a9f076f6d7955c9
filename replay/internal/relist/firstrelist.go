package relist

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// fromStart dates the first relist of a process if its list call took long. The sync loop reports that no
// relist has succeeded and no attempt failed, so a single relist has been running since PLEG started. It ends
// with the events of everything that runs on the node, which are sent without a pause of a period. The events
// must come within one call timeout plus one backoff pause of the loop; later ones belong to another attempt,
// whatever lines are missing.
func (l *ledger) fromStart(run int, marks []kubelet.Mark) {
	if run < 0 || l.s.Runs[run].Loop == 0 || !l.w.Trusts(run) || l.evented(run, l.s.Runs[run].Loop) {
		return
	}
	r := &l.s.Runs[run]
	last := l.s.LastNever(run)
	if last == nil || last.At-r.Loop < int64(snapshots.LongRelist) || l.s.Quiet(r.Loop, last.At) > int64(kubelet.BackoffMax+kubelet.BackoffLate) { // the clock may have been set
		return
	}
	events := l.burst(run, last.At)
	if events.From == 0 || events.From-r.Loop > int64(l.n.Kubelet.CallTimeout()+kubelet.BackoffMax+l.period()) || !l.w.Whole(r.Loop, events.To) ||
		slices.ContainsFunc(marks, func(m kubelet.Mark) bool {
			return m.Kind&(host.KindListFail|host.KindRelisting) != 0 && m.At < events.From
		}) {
		return
	}
	l.add(claim{lo: r.Loop - int64(SameMoment), hi: r.Loop + int64(TimerLate), run: run, listed: &yes,
		listEnd: host.Between(last.At, events.From), end: host.Between(last.At, events.To+int64(100*time.Millisecond)), outcome: OutcomeOK,
		basis: basisEvents, ev: []host.Evidence{{Record: last.Line, Note: "no relist has succeeded since the start, and none failed"},
			{Record: l.s.Events[l.s.Turns[l.s.TurnFrom(events.From)]], Note: "the events of the first relist"}}})
}

// burst returns when the first pod events after a moment were delivered, up to the first pause of a period.
func (l *ledger) burst(run int, after int64) host.Span {
	var out host.Span
	for _, t := range l.s.Turns[l.s.TurnFrom(after+1):] {
		if l.s.TurnRun(t) != run || l.s.TurnKinds(t)&host.KindEvent == 0 {
			continue
		}
		at := l.s.TurnAt(t)
		switch {
		case out.From == 0:
			out = host.Span{From: at, To: at}
		case at-out.To >= int64(kubelet.GenericPeriod):
			return out
		default:
			out.To = at
		}
	}
	return out
}
