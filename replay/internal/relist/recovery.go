package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
)

// proof is a moment by which PLEG was healthy again, with the reason. The zero proof is none.
type proof struct {
	at    int64
	basis string
}

// or returns the earlier one of two proofs.
func (p proof) or(q proof) proof {
	if p.at == 0 || q.at != 0 && q.at < p.at {
		return q
	}
	return p
}

// recovered finds the earliest proof that PLEG was healthy again after the last report of an episode. Slack
// reaches back to the last moment at which it was certainly unhealthy.
func (w *episodeBuilder) recovered(run int, g *LastSeen, last int64) (host.Instant, string) {
	if w.s.Mixed[0] != nil {
		return host.Instant{}, "lines of another node stand in the log"
	}
	last = w.failing(run, last)
	var best proof
	for _, p := range [...]proof{w.byTurns(run, g, last), w.byStall(run, last), w.byNode(run, last), w.byRelist(run, g, last)} {
		if p.at > last {
			best = best.or(p)
		}
	}
	if best.at == 0 {
		if run >= 0 && run+1 < len(w.s.Runs) {
			return w.byNextRun(run, last)
		}
		return host.Instant{}, "no proof of health after the last report in the input"
	}
	if res := g.Lines[len(g.Lines)-1].Res; res >= 10*time.Millisecond { // the proof was written that much later at most
		best.at += int64(res)
	}
	return host.Instant{At: best.at, Slack: time.Duration(best.at - last)}, best.basis
}

// failing extends the last report over a streak of failing lists: as long as no relist can have succeeded
// between two failures, PLEG stayed unhealthy.
func (w *episodeBuilder) failing(run int, last int64) int64 {
	ms := w.s.Marks
	i, _ := slices.BinarySearchFunc(ms, last, func(m kubelet.Mark, at int64) int { return cmp.Compare(m.At, at) })
	prev := int64(0)
	for j := i - 1; j >= 0 && prev == 0 && last-ms[j].At < int64(10*time.Minute); j-- {
		if ms[j].Run == run && ms[j].Kind == host.KindListFail {
			prev = ms[j].At
		} else if ms[j].Run == run && ms[j].Kind&(host.KindInside|host.KindRetrieved) != 0 {
			break
		}
	}
	if prev == 0 {
		return last
	}
	for ; i < len(ms); i++ {
		m := &ms[i]
		if m.Run != run || m.Kind == host.KindRelisting {
			continue
		}
		if m.Kind != host.KindListFail || m.At-prev >= w.attempt(m) {
			break
		}
		prev, last = m.At, max(last, m.At)
	}
	return last
}

// attempt returns the minimum distance between failure m and the one before it that leaves room for a relist in
// between, in ns.
func (w *episodeBuilder) attempt(m *kubelet.Mark) int64 {
	d := 2 * int64(w.n.Kubelet.Period)
	if m.Deadline {
		d += int64(w.n.Kubelet.CallTimeout())
	}
	return d
}

// byNextRun looks for proof of health in the next process. A restart alone is no recovery; the first relist after
// it is. A process that may have needed longer than StartUp for it had trouble of its own.
func (w *episodeBuilder) byNextRun(run int, last int64) (host.Instant, string) {
	next := run + 1
	from, began := w.s.Runs[next].First, last
	if w.s.Runs[next].Loop != 0 {
		began = from
	}
	if l := w.nevers[next]; len(l) > 0 {
		from = max(from, l[len(l)-1].At)
	}
	best := w.firstWork(next, from, 0).or(w.byNode(next, from))
	if best.at <= last || best.at-began > int64(pause.StartUp) {
		return host.Instant{}, "the kubelet process ended while PLEG was unhealthy"
	}
	return host.Instant{At: best.at, Slack: time.Duration(best.at - last)}, "a new kubelet process: " + best.basis
}

// byTurns uses the sync loop: an iteration that skipped for other reasons only, work that the loop does only
// when healthy, or the missing next line of a loop that backs off.
func (w *episodeBuilder) byTurns(run int, g *LastSeen, last int64) proof {
	i := w.s.TurnFrom(last + 1)
	end := g.Lines[len(g.Lines)-1]
	quiet := int64(0) // until when work may stem from an iteration that began before the report
	if !end.Skip {
		quiet = int64(kubelet.TurnMax)
	}
	p := w.firstWork(run, last, quiet)
	if end.Skip {
		p = p.or(w.missed(run, i, last, end.Record.(*parse.Event))).or(w.anew(run, i, last))
	}
	return p
}

// sameTurn is less than the shortest pause between two skipped iterations: lines closer together are one, as when
// two forms of a log hold it.
const sameTurn = int64(kubelet.BackoffFirst - kubelet.BackoffEarly)

// anew finds a skipped iteration whose pause is short again. After the last report of a skipping loop, only an
// iteration that did not skip resets the doubling of the pauses.
func (w *episodeBuilder) anew(run, after int, last int64) proof {
	before := int64(0)
	for _, t := range w.s.Turns[after:] {
		at := w.s.TurnAt(t)
		switch pause := at - before; {
		case w.s.TurnRun(t) > run && run >= 0:
			return proof{}
		case w.s.TurnRun(t) != run:
		case w.s.TurnKinds(t)&host.KindSkip == 0:
			return proof{}
		case before == 0 || pause < sameTurn:
			before = at
		case pause < int64(kubelet.BackoffMax-kubelet.BackoffLate) && before-last > pause+int64(kubelet.BackoffMax): // the lines before it belong to an earlier streak
			return proof{before, "the sync loop paused as after its first skipped turn"}
		case before-last > int64(2*time.Minute):
			return proof{}
		default:
			before = at
		}
	}
	return proof{}
}

// firstWork finds the first iteration more than quiet after last that did not skip because of PLEG.
func (w *episodeBuilder) firstWork(run int, last, quiet int64) proof {
	for _, t := range w.s.Turns[w.s.TurnFrom(last+quiet+1):] {
		k, at := w.s.TurnKinds(t), w.s.TurnAt(t)
		switch {
		case w.s.TurnRun(t) != run && run >= 0:
			if w.s.TurnRun(t) > run {
				return proof{}
			}
		case k&host.KindSkip != 0 && k&kubelet.Reported != 0:
			return proof{}
		case k&host.KindSkip != 0 && !w.s.ForOthers(t):
		case k&host.KindSkip != 0:
			return proof{at, "the sync loop skipped for other reasons only"}
		default:
			return proof{at, "the sync loop worked again"}
		}
	}
	return proof{}
}

// missed returns the iteration at which a second line like report, the last one, would have followed if PLEG had still
// been unhealthy: a single one may be lost. It requires a log in which a missing line proves something and which goes
// on; after a hole it waits for an iteration beyond the hole.
func (w *episodeBuilder) missed(run, after int, last int64, report *parse.Event) proof {
	pause := w.pause(run, after, last)
	if pause == 0 || !w.log.Trusts(run) {
		return proof{}
	}
	basis := MissedTurns + pause.Round(time.Millisecond).String() + " of the last sign of trouble, ran normally"
	at, from, kept := last+int64(pause), last, report.At
	for hop := 0; hop < 16; hop++ {
		next := w.cover.NextOf(report.Severity, run, kept, at+int64(kubelet.BackoffLate))
		if next == 0 || w.skipped(run, after, at+int64(kubelet.BackoffLate)) {
			break
		}
		if w.log.Whole(from, next) && next-at <= int64(kubelet.BackoffMax+kubelet.BackoffLate) && !w.s.Seam(at) {
			return proof{at, basis}
		}
		basis = "the kubelet logs again and its sync loop did not skip a turn"
		from, kept, at = next, next, next+int64(kubelet.BackoffMax)
	}
	return proof{}
}

// MissedTurns begins the basis of a recovery that only missing lines prove.
const MissedTurns = "the next two sync-loop iterations, due within "

// skipped reports whether an iteration from index i on skipped because of PLEG up to the moment by.
func (w *episodeBuilder) skipped(run, i int, by int64) bool {
	return slices.ContainsFunc(w.s.Turns[i:max(i, w.s.TurnFrom(by+1))], func(t kubelet.Turn) bool {
		return w.s.TurnRun(t) == run && w.s.ForPLEG(t)
	})
}

// pause returns how long after last the next iteration of the loop but one is due at the latest. After the skipped
// iteration before index i the loop sleeps twice as long as before it, and twice as long again after the next; the
// iteration before that one gives the earlier sleep. It returns 0 if either is missing, since the log may have lost more.
func (w *episodeBuilder) pause(run, i int, last int64) time.Duration {
	skipped := func(by int64) int64 {
		for i--; i >= 0 && (w.s.TurnRun(w.s.Turns[i]) != run || w.s.TurnAt(w.s.Turns[i]) > by); i-- {
		}
		if i < 0 || w.s.TurnKinds(w.s.Turns[i])&host.KindSkip == 0 {
			return 0
		}
		return w.s.TurnAt(w.s.Turns[i])
	}
	turn := skipped(last)
	before := skipped(turn - sameTurn)
	if turn == 0 || before == 0 {
		return 0
	}
	step := kubelet.BackoffFirst
	for 2*step <= time.Duration(turn-before)+kubelet.BackoffEarly && step < kubelet.BackoffMax {
		step *= 2
	}
	due := turn + int64(min(2*step, kubelet.BackoffMax))
	if due <= last {
		return 2 * kubelet.BackoffMax
	}
	return time.Duration(due-last) + min(4*step, kubelet.BackoffMax)
}

// byStall uses slow housekeeping: the iteration in which it began was a healthy one. If a log that is
// otherwise complete has a hole while it ran, the clock may have been set forward by that much, and it began earlier.
func (w *episodeBuilder) byStall(run int, last int64) proof {
	i, _ := slices.BinarySearchFunc(w.s.Stalls, last+1, func(t kubelet.Stall, at int64) int { return cmp.Compare(t.To, at) })
	for _, t := range w.s.Stalls[i:min(i+8, len(w.s.Stalls))] { // housekeeping runs serially
		if t.Run == run && t.From > last && (!w.log.Trusts(run) || t.From-w.log.Missing(t.From, t.To) > last) {
			return proof{t.From, "housekeeping began, which only a healthy sync loop starts"}
		}
	}
	return proof{}
}

// byNode uses the node status, which is computed from the same health check.
func (w *episodeBuilder) byNode(run int, last int64) proof {
	i, _ := slices.BinarySearchFunc(w.s.ReadyLines, last+1, func(l kubelet.ReadyLine, at int64) int { return cmp.Compare(l.At, at) })
	for ; i < len(w.s.ReadyLines); i++ {
		if l := &w.s.ReadyLines[i]; l.Ready && l.At > last && (l.Run == run || run < 0) {
			return proof{l.By(), "the node became ready"}
		}
	}
	return proof{}
}

// byRelist uses lines of the relist goroutine. In a log at verbosity 5 a relist that logged no error and is
// followed by another one listed pods. If only failed lists made the age grow, any line written after a list
// call proves one that succeeded. A list call slower than the threshold does not make PLEG healthy.
func (w *episodeBuilder) byRelist(run int, g *LastSeen, last int64) proof {
	ms := w.s.Marks
	i, _ := slices.BinarySearchFunc(ms, g.Hi+1, func(m kubelet.Mark, at int64) int { return cmp.Compare(m.At, at) })
	started, failed := int64(0), false
	for ; i < len(ms); i++ {
		m := &ms[i]
		if m.Run != run {
			continue
		}
		switch {
		case m.Kind == host.KindListFail:
			started, failed = 0, true
		case m.Kind == host.KindRelisting:
			if started != 0 && m.At > last && m.At < w.n.Fresh(run, started) && w.log.Trusts(run) && w.log.Whole(started, m.At) {
				return proof{m.At, "a relist ran to its end before this one began"}
			}
			started = m.At
		case m.At <= last:
		case started != 0 && m.At < w.n.Fresh(run, started):
			return proof{m.At, "a relist listed pods"}
		case started == 0 && failed && m.Kind&host.KindInside != 0:
			return proof{m.At, "a relist got past its list call"}
		}
	}
	return proof{}
}
