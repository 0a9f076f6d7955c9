package health

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
)

// unsaid handles unhealthy intervals that no skipped sync-loop iteration reports: the loop was blocked, or its
// lines are missing. It adds the time between the iterations around each.
func (h *claims) unsaid(run int, add func(from, to int64)) {
	r, turns := &h.s.Runs[run], h.s.Turns
	k, _ := slices.BinarySearchFunc(h.ill, r.First, func(x host.Span, t int64) int { return cmp.Compare(x.From, t) })
	for ; k < len(h.ill) && h.ill[k].From < r.Last; k++ {
		x := h.ill[k]
		i, j := h.s.TurnFrom(x.From), h.s.TurnFrom(x.To+1)
		if slices.ContainsFunc(turns[i:j], func(t kubelet.Turn) bool { return h.s.TurnKinds(t)&host.KindSkip != 0 }) {
			continue
		}
		from, to := r.First, r.Last
		if i > 0 {
			from = h.s.TurnAt(turns[i-1])
		}
		if j < len(turns) {
			to = h.s.TurnAt(turns[j])
		}
		add(from, to)
	}
}

// silence claims health where the log of a run would have reported the opposite. It reports nothing of a
// lower threshold than the kubelet's own.
func (h *claims) silence(run int) {
	r := &h.s.Runs[run]
	if h.n.Kubelet.Threshold < h.n.Kubelet.Reporting || !h.w.Trusts(run) || r.First == 0 || !h.w.Errors(run) && !h.n.Kubelet.Before(17) {
		return
	}
	if slices.ContainsFunc(h.n.Disputed, func(at int64) bool { return at >= r.First && at <= r.Last }) {
		return // it does report PLEG unhealthy
	}
	from, to := r.First, h.s.Attended(run, r.Last, h.silent(run, r.First, r.Last))
	if run+1 == len(h.s.Runs) {
		to = h.s.Tail(h.silent(run, r.First, r.Last))
	}
	if r.Loop == 0 { // the loop may be blocked and PLEG unhealthy since before the log begins
		if from = h.alive(run); from == 0 {
			return
		}
	}
	for _, d := range h.doubts(run, from, r.Last) {
		if d.From > from {
			h.add(from, min(d.From, to), Healthy, ProofSilence)
		}
		from = max(from, d.To)
	}
	h.add(from, to, Healthy, ProofSilence)
}

// alive returns the first moment of a run at which its sync loop worked or skipped for other reasons only; 0 if
// there is none.
func (h *claims) alive(run int) int64 {
	for _, t := range h.s.Turns[h.s.TurnFrom(h.s.Runs[run].First):] {
		if k := h.s.TurnKinds(t); h.s.TurnRun(t) == run && (k&host.KindSkip == 0 || h.s.ForOthers(t)) {
			return h.s.TurnAt(t)
		}
	}
	return 0
}

// keepingLists is the number of list calls that one housekeeping makes: of sandboxes and of containers, for the
// cache of the sync loop and again (HandlePodCleanups of 1.15 to 1.36).
const keepingLists = 4

// silent returns how long before the moment to, in a run that began at from, the sync loop may have hung without
// a line: a call that has not timed out. After reports or a hole since which the loop shows no work, it may be all the
// slow lists of a housekeeping, none of which times out: that begins as soon as PLEG is healthy for a moment, and so
// not before them.
func (h *claims) silent(run int, from, to int64) time.Duration {
	since, worked := int64(0), int64(0)
	for i := range h.past.Episodes {
		e := &h.past.Episodes[i]
		if e.LastReport >= from && e.LastReport <= to {
			since = max(since, e.LastReport)
		}
		if e.Recovered.Known() && e.Recovered.At <= to && !strings.HasPrefix(e.RecoveredBasis, relist.MissedTurns) {
			worked = max(worked, e.Recovered.At)
		}
	}
	for _, x := range h.w.Holes {
		if x.From >= from && x.To <= to {
			since = max(since, x.To)
		}
	}
	for _, c := range h.past.Ready {
		if c.Ready && c.At <= to {
			worked = max(worked, c.At)
		}
	}
	if since == 0 || worked > since || h.s.Attended(run, to, time.Duration(to-since)) > since {
		return h.n.Kubelet.Hangs()
	}
	return h.n.Kubelet.Hangs() + min((keepingLists-1)*h.n.Kubelet.Hangs(), time.Duration(to-since))
}

// doubts returns the intervals of a run in which a log without reports proves nothing: holes, and the time a
// skipping loop needs to report again after them; a sync loop blocked by its housekeeping; list calls that fail
// or hang; a node that is not ready for a reason that may be PLEG; and the start, until something shows that a
// relist listed pods.
func (h *claims) doubts(run int, first, last int64) []host.Span {
	var out []host.Span
	add := func(from, to int64) {
		if to > from && to > first && from < last {
			out = append(out, host.Span{From: from, To: to})
		}
	}
	for _, x := range h.w.Holes {
		add(h.s.Attended(run, x.From, h.silent(run, first, x.From)), h.told(run, x.To))
	}
	for i := range h.s.Stalls {
		if x := &h.s.Stalls[i]; x.Run == run {
			add(x.From-int64(kubelet.TurnMax), x.To)
		}
	}
	for _, t := range h.s.Turns[h.s.TurnFrom(first):h.s.TurnFrom(last+1)] {
		if h.s.TurnRun(t) == run && h.s.ForPLEG(t) {
			add(h.dated(h.s.TurnAt(t)-int64(kubelet.BackoffMax), h.s.TurnAt(t)), h.told(run, h.s.TurnAt(t)+1))
		}
	}
	h.failing(run, add)
	h.unready(run, add)
	h.unlisted(run, add)
	h.unsaid(run, add)
	h.unattended(run, last, add)
	h.paused(run, add)
	add(first, max(h.begun(run), h.told(run, first)))
	return kubelet.JoinSpans(out)
}

// unattended adds the time between two signs of the sync loop in which its housekeeping may have waited for a
// list that took longer than the threshold and returned before its deadline, so that no line tells of it. Lines
// of other goroutines go on all the while. Kubelets from 1.22 on report slow housekeeping once it is over.
func (h *claims) unattended(run int, last int64, add func(from, to int64)) {
	k := &h.n.Kubelet
	if k.Since(22) || k.LongestCall() < k.Threshold {
		return
	}
	before := h.s.Runs[run].First
	kept, _ := slices.BinarySearch(h.s.Housekept, before)
	see := func(at int64) {
		if at-before >= int64(k.Threshold-kubelet.BackoffMax) {
			add(before, at)
		}
		before = max(before, at)
	}
	until := func(at int64) {
		for ; kept < len(h.s.Housekept) && h.s.Housekept[kept] <= at; kept++ {
			if h.s.RunAt(h.s.Housekept[kept]) == run {
				see(h.s.Housekept[kept])
			}
		}
	}
	for _, t := range h.s.Turns[h.s.TurnFrom(before):] {
		if at := h.s.TurnAt(t); at > last {
			break
		} else if h.s.TurnRun(t) == run {
			until(at)
			see(at)
		}
	}
	until(last)
	see(last)
}

// keptLeast is how many lines about the start of housekeeping show that a log keeps them.
const keptLeast = 30

// paused adds the pauses between signs of the sync loop in a log that has a line at each start of its housekeeping,
// every 2 s, and when it skips, every 5 s at most. In a longer pause it hung, or lines of either kind are missing.
func (h *claims) paused(run int, add func(from, to int64)) {
	last, kept := int64(0), 0
	var pauses []host.Span
	for _, t := range h.s.Turns[h.s.TurnFrom(h.s.Runs[run].First):] {
		at := h.s.TurnAt(t)
		if h.s.TurnRun(t) != run {
			continue
		}
		if h.s.TurnKinds(t)&host.KindKeeping != 0 {
			kept++
		}
		if at-last > int64(2*kubelet.BackoffMax) {
			pauses = append(pauses, host.Span{From: last, To: at})
		}
		last = at
	}
	if kept >= keptLeast {
		for _, x := range pauses {
			add(x.From, x.To)
		}
	}
}

// told returns when silence begins to prove something after at, before which the log shows nothing. PLEG may
// have been unhealthy there for long; a skipping loop reports again within its longest pause. Work of the loop
// shows earlier that it does not skip, and so does the end of an episode.
func (h *claims) told(run int, at int64) int64 {
	until := at + int64(kubelet.BackoffMax)
	for i := range h.past.Episodes {
		if r := h.past.Episodes[i].Recovered; r.Known() && r.At >= at {
			until = min(until, r.At)
		}
	}
	return cmp.Or(h.s.TurnIn(run, at, until, host.KindWork), until)
}

// failing adds the time around each failed list call. It begins at the start of the call, or at the last work
// of a healthy loop while it ran, and ends when something shows that a list succeeded or when the next one
// would have failed too.
func (h *claims) failing(run int, add func(from, to int64)) {
	for i := range h.past.Relists {
		if r := &h.past.Relists[i]; r.Run == run && r.Outcome == relist.OutcomeListFailed && r.End.Known() {
			add(h.s.Attended(run, r.End.At, min(time.Duration(r.End.At-r.Start.At)+r.Start.Slack, h.n.Kubelet.Hangs())), h.listsAgain(run, r.End.At, int64(r.End.At-r.Start.At)+int64(r.Start.Slack)))
		}
	}
	for _, x := range h.s.Stalls { // the list call of housekeeping may have failed
		if took := x.To - x.From; x.Run == run && h.n.Kubelet.MayTimeOut(took) {
			add(x.From, h.listsAgain(run, x.To, took))
		}
	}
	timeout := int64(h.n.Kubelet.Hangs())
	r := &h.s.Runs[run]
	k, _ := slices.BinarySearchFunc(h.n.Failures, r.First, func(f kubelet.Failure, t int64) int { return cmp.Compare(f.End, t) })
	for ; k < len(h.n.Failures) && h.n.Failures[k].End-timeout <= r.Last; k++ {
		f := &h.n.Failures[k]
		if f.Code == "DeadlineExceeded" && f.Scope != "pod" && (f.Call == "ListPodSandbox" || f.Call == "ListContainers") {
			add(h.s.Attended(run, f.End, time.Duration(timeout)), h.listsAgain(run, f.End, timeout))
		}
	}
}

// listsAgain returns the first moment after a failed list call at which a list is shown to have succeeded: by
// pod events, lines that a relist writes after its list, or the end of an episode. Without such proof it
// returns when another call of the same duration would have failed.
func (h *claims) listsAgain(run int, failed, took int64) int64 {
	at := failed + took + 3*int64(time.Second)
	at = cmp.Or(h.s.TurnIn(run, failed+2*int64(kubelet.TurnMax), at, host.KindEvent), at)
	i, _ := slices.BinarySearchFunc(h.s.Marks, failed+1, func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
	for ; i < len(h.s.Marks) && h.s.Marks[i].At < at; i++ {
		if m := &h.s.Marks[i]; m.Run == run && m.Kind&(host.KindInside|host.KindRetrieved) != 0 {
			at = m.At
		}
	}
	for i := range h.past.Episodes {
		if r := h.past.Episodes[i].Recovered; r.Known() && r.At > failed {
			at = min(at, r.At)
		}
	}
	return at
}

// unlisted adds the time from a threshold after a list of all pods to the next one, in logs in which each list
// has its own line.
func (h *claims) unlisted(run int, add func(from, to int64)) {
	last := int64(0)
	for i := range h.s.Marks {
		if m := &h.s.Marks[i]; m.Run == run && m.Kind&(host.KindRelisting|host.KindRetrieved) != 0 {
			if due := h.n.Fresh(run, last); m.At > due && h.w.Paced(run, last) {
				add(due, h.told(run, m.At))
			}
			last = m.At
		}
	}
}

// unready adds the time in which the node was not ready and nothing rules out PLEG as the reason. The condition
// follows PLEG by up to conditionLate. A node that becomes ready was not ready before, for a reason that a log
// without its first lines does not tell.
func (h *claims) unready(run int, add func(from, to int64)) {
	if r := &h.s.Runs[run]; r.Loop == 0 && len(h.past.Ready) > 0 && h.past.Ready[0].Ready {
		add(r.First, h.past.Ready[0].At)
	}
	for i := range h.past.Ready {
		c := &h.past.Ready[i]
		if c.Ready || c.Record == nil || othersOnly(c.Record) {
			continue
		}
		to := h.s.Runs[run].Last
		if i+1 < len(h.past.Ready) {
			to = h.past.Ready[i+1].At
		}
		add(h.dated(c.At-int64(conditionLate), c.At), to)
	}
}

// dated returns the last breach up to at that an age dates, or from if that is later or there is none.
func (h *claims) dated(from, at int64) int64 {
	i, _ := slices.BinarySearchFunc(h.past.Episodes, at+1, func(e relist.Episode, t int64) int { return cmp.Compare(e.Breach, t) })
	if i > 0 && h.past.Episodes[i-1].LastStart.Known() {
		return max(from, h.past.Episodes[i-1].Breach-int64(h.past.Episodes[i-1].LastStart.Slack))
	}
	return from
}

// othersOnly reports whether a record that calls the node not ready states its reasons, and PLEG is not among
// them.
func othersOnly(r parse.Record) bool {
	msg := ""
	switch x := r.(type) {
	case *parse.Event:
		msg = x.Field("message")
	case *parse.Object:
		msg = x.Field("message")
	}
	return msg != "" && !strings.Contains(msg, "PLEG") && !strings.Contains(msg, "status check may not have completed")
}

// begun returns the first moment of a run at which a relist is known to have listed pods: when the first pod
// event was delivered or, in a log without a hole, twice BackoffMax after the last line to the contrary. A log
// that begins later than its process needs no such proof.
func (h *claims) begun(run int) int64 {
	r, never := &h.s.Runs[run], h.s.LastNever(run)
	from := max(r.First, r.Loop)
	if never != nil {
		from = max(from, never.At)
	} else if r.Loop == 0 {
		return r.First
	}
	if at := h.s.TurnIn(run, from, math.MaxInt64, host.KindEvent); at != 0 {
		return at
	}
	// Without any pod there are no events; an unhealthy loop would continue to skip.
	if h.w.Whole(from, from+int64(2*kubelet.BackoffMax)) {
		return from + int64(2*kubelet.BackoffMax)
	}
	return r.Last
}

// workFrom returns the first moment of a run, after the last line that says that no relist had succeeded, at
// which its sync loop worked or skipped for other reasons only; 0 if there is none.
func (h *claims) workFrom(run int) int64 {
	from, quiet := h.s.Runs[run].First, int64(kubelet.TurnMax)
	if t := h.s.LastNever(run); t != nil && t.At >= from {
		from = t.At
		if e, ok := t.Line.(*parse.Event); ok && e.Is(parse.SigSkip) {
			quiet = 0 // that line was an iteration itself
		}
	}
	for _, t := range h.s.Turns[h.s.TurnFrom(from+1):] {
		k := h.s.TurnKinds(t)
		switch {
		case h.s.TurnRun(t) != run:
		case k&kubelet.Reported != 0:
			return 0
		case k&host.KindSkip == 0 && (k&host.KindEvent != 0 || h.s.TurnAt(t) > from+quiet), k&host.KindSkip != 0 && h.s.ForOthers(t):
			return h.s.TurnAt(t)
		}
	}
	return 0
}
