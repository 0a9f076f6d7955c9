package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/generator"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// Claim says that a state held over an interval, with the kind of proof and its records.
type Claim struct {
	host.Span
	State    State
	Proof    string // one of the Proof constants
	Evidence []host.Evidence
}

// Kinds of proof for the health of PLEG.
const (
	// ProofListing: a relist began and its list call returned. From then until a threshold after its start, it
	// is the last relist seen.
	ProofListing = "listing"
	// ProofPace: the relist-interval histogram shows that no relist in an interval began late.
	ProofPace = "relist-interval"
	// ProofGauge: the kubelet_pleg_last_seen_seconds metric.
	ProofGauge = "last-seen-gauge"
	// ProofSilence: a log shown to be complete reports nothing, and the sync loop that would have reported was
	// not blocked.
	ProofSilence = "complete-log"
	// ProofReport: lines that state how old the last relist is, or that none has succeeded.
	ProofReport = "report"
	// ProofSerial: relists dated by lines run serially and leave no room for one that listed pods.
	ProofSerial = "serial-relists"
	// ProofDown: lines that report the container runtime down.
	ProofDown = "runtime-status"
	// ProofChannel: lines that report the event channel of the evented PLEG full. They say nothing about relists.
	ProofChannel = "event-channel"
)

// Of merges all claims about the health of PLEG into one sequence of spans over the window. Time that no claim
// covers is unknown. If claims conflict, the kubelet's own reports take precedence.
func Of(n *relist.Known, past *relist.Account) ([]Span, []Claim) {
	if n.Window.Start == 0 {
		return nil, nil
	}
	h := claims{n: n, past: past, s: n.Log, w: n.Witness, gone: snapshots.Replacements(n.Proofs)}
	h.over = h.overdue()
	h.ill = h.ailing()
	for i := range h.s.Runs {
		h.silence(i)
	}
	h.listings(false)
	h.unproven()
	h.listings(true)
	h.metrics()
	h.out = append(h.out, h.over...)
	h.first()
	h.well()
	for _, b := range h.s.Backs { // what proves health at a moment may be a line of the other one of that name
		h.add(b.Twice.From, b.Twice.To, Unknown, "")
	}
	h.said(h.s.Down, 2*kubelet.BackoffMax, 0, RuntimeDown, ProofDown) // the loop reports it at least every 5 s
	h.nevers()
	h.said(h.s.Full, kubelet.BackoffMax+kubelet.BackoffLate, 1, Unhealthy, ProofChannel)
	h.said(h.s.Cuts, kubelet.BackoffMax+kubelet.BackoffLate, 1, Unhealthy, ProofReport)
	h.episodes()
	p, over := &painter{}, n.Window
	for _, c := range h.out {
		p.paint(c.From, c.To, c.State, c.Proof)
		if c.State == Unhealthy {
			over.Start = min(over.Start, c.From) // an age also covers time before the log
		}
	}
	return p.spans(over), h.out
}

// claims collects claims; a later claim overrides earlier ones.
type claims struct {
	n    *relist.Known
	past *relist.Account
	s    *kubelet.Log
	w    *kubelet.Witness
	over []Claim // unhealthiness proven by relists; see overdue
	ill  []host.Span
	gone snapshots.Replaced
	out  []Claim
}

func (h *claims) add(from, to int64, st State, proof string, ev ...host.Evidence) {
	if len(ev) > 0 {
		from, to = h.s.Shown(ev[0].Record, from, to)
	}
	if to > from {
		h.out = append(h.out, Claim{host.Span{From: from, To: to}, st, proof, ev})
	}
}

// listings claims health from relists whose start and list end are dated: those dated by lines, which recovery
// uses too, or if measured is set, those measured by the metrics. A process that has ended relists no more.
func (h *claims) listings(measured bool) {
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		if r.Listed == nil || !*r.Listed || (slices.Contains(r.Basis, relist.BasisMetrics) && !r.Own()) != measured {
			continue
		}
		seen := r.ListEnd
		if !seen.Known() {
			seen = r.End
		}
		if !seen.Known() {
			continue
		}
		h.add(seen.At+int64(seen.Slack), h.until(seen.At, h.n.Fresh(r.Run, r.Start.Earliest())), Healthy, ProofListing, r.Evidence...)
	}
}

// until cuts a claim about the process that ran at the moment at. If its log or the metrics show that another
// process followed, it may have ended right after its last line or snapshot.
func (h *claims) until(at, to int64) int64 {
	if i := h.s.RunAt(at); i >= 0 && i+1 < len(h.s.Runs) {
		to = min(to, max(at, h.s.Runs[i].Last))
	} else if i < 0 && len(h.s.Runs) > 0 && h.s.Runs[0].Start.At-int64(h.s.Runs[0].Start.Slack) > at {
		to = min(to, at)
	}
	return h.gone.Until(at, to)
}

// overdue claims unhealthiness that no line need report: from a threshold after the start of the last relist
// that can have listed pods until that relist ended, or until the last of the failed ones directly after it
// ended. A run of failures makes one claim.
func (h *claims) overdue() (out []Claim) {
	since, goes, first := int64(0), false, 0 // goes: whether the last claim continues; first: how many records it began with
	var evidence []host.Evidence             // evidence of the last claim
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		follows := i > 0 && r.Follows(&h.past.Relists[i-1])
		if failed := r.Listed != nil && !*r.Listed; !failed || !follows {
			since, goes = r.Start.Latest(), false
		}
		well, from := h.n.Limit(r.Run, since)
		to := r.End.Earliest()
		if h.n.Kubelet.PLEG == kubelet.PLEGUnknown && to > well {
			if follows {
				from = well // relists one period apart show that the generic PLEG is in use
			} else if fell := h.fell(since); fell != 0 {
				from = min(from, max(well, fell))
			}
		}
		switch {
		case !r.Start.Known() || to <= from:
		case !goes:
			goes, first, evidence = true, len(r.Evidence), slices.Clone(r.Evidence)
			out = append(out, Claim{host.Span{From: from, To: to}, Unhealthy, ProofSerial, evidence})
		default:
			c := &out[len(out)-1]
			evidence = append(evidence[:first], r.Evidence...)
			c.From, c.To, c.Evidence = min(c.From, from), max(c.To, to), evidence
		}
	}
	return out
}

// fell returns when the counters first show that generic PLEG relists in the process that ran at the moment at: in one
// step more relists ended than evented PLEG begins. It returns 0 if they never do.
func (h *claims) fell(at int64) int64 {
	for i := range h.n.Proofs {
		p := &h.n.Proofs[i]
		to := max(p.To, at)
		if p.Kind == snapshots.ProofCount && generator.Quick(p.Count, time.Duration(p.To-p.From)) && h.gone.Until(min(p.From, at), to) == to {
			return snapshots.By(p.To)
		}
	}
	return 0
}

// ailing returns the intervals in which relists prove PLEG unhealthy, sorted by start. A relist that outlasted
// the threshold somewhere within its bounds proves it only for a part of its interval.
func (h *claims) ailing() (out []host.Span) {
	for i := range h.over {
		out = append(out, h.over[i].Span)
	}
	for i := range h.past.Relists {
		r := &h.past.Relists[i]
		if from := h.n.Fresh(r.Run, r.Start.Earliest()); r.Start.Earliest()+int64(r.Took-r.TookSlack) > from && r.Start.Known() {
			out = append(out, host.Span{From: from, To: r.Start.Latest() + int64(r.Took+r.TookSlack)})
		}
	}
	slices.SortFunc(out, func(a, b host.Span) int { return cmp.Compare(a.From, b.From) })
	return out
}

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

// metrics claims health, and unhealthiness, from metrics snapshots.
func (h *claims) metrics() {
	for i := range h.n.Proofs {
		p := &h.n.Proofs[i]
		well := h.n.Well(p)
		switch p.Kind {
		case snapshots.ProofStart:
			h.add(well.From, h.until(p.From, well.To), Healthy, ProofGauge, p.Evidence...)
			// Under evented PLEG each health check sets the gauge, so it shows no relist.
			if ill := h.n.Fresh(h.s.RunAt(p.From), p.Start.Latest()); !h.n.Kubelet.EventedSends() && !h.unjudged(ill, p.To) {
				h.add(ill, p.To-int64(conditionLate), Unhealthy, ProofGauge, p.Evidence...)
			}
		case snapshots.ProofPaced:
			h.add(well.From, h.until(p.To, well.To), Healthy, ProofPace, p.Evidence...)
		}
	}
}

// unjudged reports whether several relists ended without a failed list call in a step between two snapshots
// that ended within (from, to]. The gauge value is then stale, not the relist.
func (h *claims) unjudged(from, to int64) bool {
	return slices.ContainsFunc(h.n.Proofs, func(p snapshots.Proof) bool {
		return p.Kind == snapshots.ProofCount && p.Count >= 3 && p.To > from && p.To <= to && !slices.ContainsFunc(h.n.Calls, func(s snapshots.CallStep) bool {
			return s.From < p.To && p.To <= s.To && s.Errors > 0 && (s.Operation == "list_podsandbox" || s.Operation == "list_containers")
		})
	})
}

// silence claims health where the log of a run would have reported the opposite.
func (h *claims) silence(run int) {
	r := &h.s.Runs[run]
	if !h.w.Trusts(run) || r.First == 0 || !h.w.Errors(run) && !h.n.Kubelet.Before(17) {
		return
	}
	from, to := r.First, h.s.Attended(run, r.Last, h.n.Kubelet.Hangs())
	if run+1 == len(h.s.Runs) {
		to = h.s.Tail(h.n.Kubelet.Hangs())
	}
	if r.Loop == 0 {
		// The loop may be blocked and PLEG unhealthy since before the log begins.
		if from = h.alive(run); from == 0 {
			return
		}
	}
	doubts := h.doubts(run, from, r.Last)
	for _, d := range doubts {
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
		add(h.s.Attended(run, x.From, h.n.Kubelet.Hangs()), h.told(run, x.To))
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
	for _, t := range h.s.Turns[h.s.TurnFrom(at):] {
		if h.s.TurnAt(t) >= until {
			break
		}
		if h.s.TurnRun(t) == run && h.s.TurnKinds(t)&(host.KindEvent|host.KindSync) != 0 {
			return h.s.TurnAt(t)
		}
	}
	return until
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
	for _, t := range h.s.Turns[h.s.TurnFrom(failed+2*int64(kubelet.TurnMax)):] {
		if h.s.TurnAt(t) >= at {
			break
		}
		if h.s.TurnRun(t) == run && h.s.TurnKinds(t)&host.KindEvent != 0 {
			at = h.s.TurnAt(t)
			break
		}
	}
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

// conditionLate is how long after a breach the node condition may follow: it is computed every 10 s, up to 4 %
// later since 1.23.
const conditionLate = 10400 * time.Millisecond

// othersOnly reports whether a record that calls the node not ready states its reasons, and PLEG is not among
// them.
func othersOnly(r parse.Record) bool {
	msg := ""
	switch x := r.(type) {
	case *parse.Event:
		msg = x.Field("message")
	case *parse.Object:
		msg = host.FieldOf(x.Fields, "message")
	}
	return msg != "" && !strings.Contains(msg, "PLEG") && !strings.Contains(msg, "status check may not have completed")
}

// begun returns the first moment of a run at which a relist is known to have listed pods: when the first pod
// event was delivered or, in a log without a hole, twice BackoffMax after the last line to the contrary. A log
// that begins later than its process needs no such proof.
func (h *claims) begun(run int) int64 {
	r := &h.s.Runs[run]
	if r.Loop == 0 && !slices.ContainsFunc(h.s.Nevers, func(t kubelet.Saying) bool { return t.Run == run }) {
		return r.First
	}
	from := max(r.First, r.Loop)
	for _, t := range h.s.Nevers {
		if t.Run == run {
			from = max(from, t.At)
		}
	}
	for _, t := range h.s.Turns[h.s.TurnFrom(from):] {
		if h.s.TurnRun(t) == run && h.s.TurnKinds(t)&host.KindEvent != 0 {
			return h.s.TurnAt(t)
		}
	}
	// Without any pod there are no events; an unhealthy loop would continue to skip.
	if h.w.Whole(from, from+int64(2*kubelet.BackoffMax)) {
		return from + int64(2*kubelet.BackoffMax)
	}
	return r.Last
}

// nevers claims that no relist had succeeded from the start of a run to the last line that says so.
func (h *claims) nevers() {
	last := map[int]*kubelet.Saying{}
	for i := range h.s.Nevers {
		if t := &h.s.Nevers[i]; t.Run >= 0 && (last[t.Run] == nil || t.At > last[t.Run].At) {
			last[t.Run] = t
		}
	}
	for run := range h.s.Runs {
		if t := last[run]; t != nil && (h.s.Runs[run].Start.Known() || len(h.s.Backs) == 0) { // by a clock that was set back, its first line may be a later one
			h.add(h.s.Runs[run].First, t.At, NeverRelisted, ProofReport, host.Evidence{Record: t.Line})
		}
	}
}

// said claims a state from the first to the last of consecutive lines of a run that are at most pause apart.
// instant, in ns, extends the claim past the last line.
func (h *claims) said(all []kubelet.Saying, pause time.Duration, instant int64, st State, proof string) {
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1].Run == all[i].Run && all[j+1].At-all[j].At <= int64(pause) {
			j++
		}
		h.add(all[i].At, all[j].At+instant, st, proof, host.Evidence{Record: all[i].Line}, host.Evidence{Record: all[j].Line})
		i = j + 1
	}
}

// well claims health at the moments at which a line reports PLEG healthy.
func (h *claims) well() {
	for _, t := range h.s.Well {
		h.add(t.At, t.At+1, Healthy, ProofReport, host.Evidence{Record: t.Line})
	}
}

// first claims health from the first moment at which a process is known to have been healthy. The relist that
// made it so began after the sync loop did, so the claim ends a threshold after the loop's start.
func (h *claims) first() {
	for i := range h.s.Runs {
		r := &h.s.Runs[i]
		if r.Loop == 0 {
			continue
		}
		if at := h.workFrom(i); at != 0 {
			h.add(at, min(h.n.Fresh(i, r.Loop-int64(relist.SameMoment)), r.Last), Healthy, ProofListing, r.Evidence...)
		}
	}
}

// workFrom returns the first moment of a run, after the last line that says that no relist had succeeded, at
// which its sync loop worked or skipped for other reasons only; 0 if there is none.
func (h *claims) workFrom(run int) int64 {
	from, quiet := h.s.Runs[run].First, int64(kubelet.TurnMax)
	for _, t := range h.s.Nevers {
		if t.Run == run && t.At >= from {
			from, quiet = t.At, int64(kubelet.TurnMax)
			if e, ok := t.Line.(*parse.Event); ok && e.Is(parse.SigSkip) {
				quiet = 0 // that line was an iteration itself
			}
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

// certain returns until when an episode is certain: its last report, or the earliest end that the proof of
// recovery allows.
func certain(e *relist.Episode) int64 {
	return max(e.LastReport, e.Breach, e.Recovered.At-int64(e.Recovered.Slack))
}

// unproven revokes what silence and lines claim between the certain end of an episode and its recovery. Claims
// from metrics are added later and stay.
func (h *claims) unproven() {
	for i := range h.past.Episodes {
		e := &h.past.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		sure, to := certain(e), cmp.Or(relist.Over(h.past.Episodes, i), h.n.Window.End)
		if e.Recovered.Known() {
			to = max(e.Recovered.At, sure)
			if strings.HasPrefix(e.RecoveredBasis, relist.MissedTurn) {
				to += int64(e.Recovered.Slack - e.Stepped) // one line may be missing; two consecutive iterations prove it
			}
		} else if e.Run >= 0 && e.Run+1 < len(h.s.Runs) {
			to = max(sure, h.s.Runs[e.Run+1].First)
		}
		h.add(sure, to, Unknown, "", e.Evidence...)
	}
}

// episodes claims each episode from its breach to its certain end.
func (h *claims) episodes() {
	for i := range h.past.Episodes {
		e := &h.past.Episodes[i]
		if e.Breach == 0 {
			continue
		}
		st := Unhealthy
		if e.Never {
			st = NeverRelisted
		}
		from := e.Breach
		if e.LastStart.Slack >= 10*time.Millisecond { // the lines are stamped in whole seconds
			from += int64(e.LastStart.Slack)
		}
		h.add(from, certain(e), st, ProofReport, e.Evidence...)
	}
}
