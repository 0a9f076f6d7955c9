package relist

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// symptoms is what the log shows between the last relist that listed pods and the end of an episode.
type symptoms struct {
	listFails  []kubelet.Mark // list calls of relists that failed
	lists      []*kubelet.Failure
	pods       []*kubelet.Failure
	onDemand   *kubelet.Mark  // the on-demand relist of one pod that waited from the last relist until after the breach
	inspecting []kubelet.Mark // lines written by the relist goroutine after its list call
	restarted  *kubelet.Mark  // a relist began after the last seen one
	began      *kubelet.Mark  // the Relisting line of the last seen relist
	slowList   *LastSeen      // names a relist whose list call alone outlasted the threshold
	stall      *kubelet.Stall // housekeeping, which makes the same list calls, blocked as long as the episode
	sent       []kubelet.Turn // first and last pod event delivered before the breach, if far enough apart
}

// stuck is a relist phase in which an episode was stuck, with the reason and evidence. The zero stuck is none.
type stuck struct {
	step Step
	why  string
	ev   []host.Evidence
}

// stuckIn returns a stuck with one record as evidence.
func stuckIn(step Step, why string, r parse.Record, note string) stuck {
	return stuck{step, why, []host.Evidence{{Record: r, Note: note}}}
}

// step finds the relist phase in which the episode was stuck, and adds the evidence for it to that of the episode.
func (w *episodeBuilder) step(e *Episode, gs []*LastSeen) {
	from, to := e.Breach, max(e.LastReport, e.Recovered.At)
	switch {
	case len(gs) > 0:
		from = gs[0].Lo
	case e.LastStart.Known():
		from = e.LastStart.At
	}
	open := to // until when a call in flight at the last report may fail
	if !e.Recovered.Known() && e.LastReport != 0 {
		open = max(to, e.LastReport+int64(w.n.Kubelet.CallTimeout()))
	}
	y := w.symptoms(e, gs, from, to, open)
	judges := []func(*symptoms, *Episode) stuck{w.listStep, w.inspectStep, w.deliverStep}
	if w.s.Twice(from, to) {
		judges = judges[:1] // the lines that would deny the others may be those of another moment
	}
	e.StuckStep, e.StepBasis = StepUnknown, "neither a failed call nor a line of the relist goroutine nor a blocked list was recognized in the stretch"
	for _, judge := range judges {
		if s := judge(y, e); s.step != "" {
			e.StuckStep, e.StepBasis, e.Evidence = s.step, s.why, append(e.Evidence, s.ev...)
			break
		}
	}
}

// symptoms collects what the log shows in [from, to], and calls that were in flight at to and failed by open.
func (w *episodeBuilder) symptoms(e *Episode, gs []*LastSeen, from, to, open int64) *symptoms {
	y := &symptoms{}
	ms := w.s.Marks
	i, _ := slices.BinarySearchFunc(ms, from-int64(time.Second), func(m kubelet.Mark, t int64) int { return cmp.Compare(m.At, t) })
	lastStart, breach := from, e.Breach
	if len(gs) > 0 {
		lastStart = gs[len(gs)-1].Hi
		breach = lastStart + int64(w.limit(gs[len(gs)-1])) // until then it may list, and the age is that of the relist before
	}
	// The relist after the recovery is already healthy.
	end := e.LastReport
	for ; i < len(ms) && ms[i].At <= open; i++ {
		m := &ms[i]
		if m.Run != e.Run || m.At > to && !(m.Kind == host.KindListFail && m.Deadline) {
			continue
		}
		switch {
		case m.Kind == host.KindListFail && m.At > from:
			y.listFails = append(y.listFails, *m)
		case m.Kind == host.KindRelisting && m.At > lastStart && m.At <= end:
			y.restarted = m
		case m.Kind == host.KindRelisting && m.At <= lastStart && m.At >= lastStart-int64(20*time.Millisecond):
			y.began = m
		case m.Kind&host.KindInside != 0 && m.At > max(breach, lastStart) && m.At <= end:
			y.inspecting = append(y.inspecting, *m)
		}
	}
	w.failedCalls(y, from, to, open)
	y.onDemand = w.onDemand(e, lastStart, open)
	y.sent = w.sent(e, lastStart)
	for i := 1; i < len(gs); i++ {
		if gs[i].Stepped == 0 && w.outlasted(gs[i-1], gs[i]) {
			y.slowList = gs[i]
		}
	}
	i, _ = slices.BinarySearchFunc(w.s.Stalls, e.Breach, func(t kubelet.Stall, at int64) int { return cmp.Compare(t.To, at) })
	for ; i < len(w.s.Stalls) && w.s.Stalls[i].To <= to; i++ {
		// It began with the episode, allowing for the two seconds between housekeeping runs and for the
		// duration of a list call.
		if t := &w.s.Stalls[i]; t.Run == e.Run && len(gs) > 0 && t.To > e.Breach && t.From >= gs[0].Lo-int64(2*time.Second) && t.From <= gs[0].Lo+int64(30*time.Second) {
			y.stall = t
		}
	}
	return y
}

// onDemand finds the on-demand relist of one pod that waited for its deadline from within 5 s of the last
// relist's start until after the breach.
func (w *episodeBuilder) onDemand(e *Episode, start, open int64) *kubelet.Mark {
	for i := range w.s.PodLists {
		p := &w.s.PodLists[i]
		began := p.At - int64(w.n.Kubelet.CallTimeout())
		if p.Run == e.Run && p.Deadline && p.At > e.Breach && p.At <= open && began >= start && began < start+int64(5*time.Second) {
			return p
		}
	}
	return nil
}

// sentApart is the minimum distance between pod events that are not just the backlog of a loop that had been
// skipping.
const sentApart = 5 * time.Second

// sent finds pod events delivered while the loop was still healthy and the relist that began at start was the
// last seen one, up to shortly before the breach. That relist sent them, so it was past its list call. If it
// stopped sending earlier, it may have ended, and the list call of the next one may hang; sent then returns
// nil.
func (w *episodeBuilder) sent(e *Episode, start int64) []kubelet.Turn {
	if w.n.Kubelet.EventedSends() || e.Never || start == 0 {
		return nil
	}
	breach := start + int64(e.Threshold)
	var out []kubelet.Turn
	for _, t := range w.s.Turns[w.s.TurnFrom(start+int64(sentApart)):] {
		if w.s.TurnAt(t) > breach {
			break
		}
		if w.s.TurnRun(t) != e.Run || w.s.TurnKinds(t)&host.KindEvent == 0 {
			continue
		}
		if len(out) == 2 {
			out = out[:1]
		}
		out = append(out, t)
	}
	if len(out) < 2 || w.s.TurnAt(out[1])-w.s.TurnAt(out[0]) < int64(sentApart) || breach-w.s.TurnAt(out[1]) > int64(2*sentApart) {
		return nil
	}
	return out
}

// failedCalls collects failed calls that hit their deadline, split into lists and calls about single pods.
func (w *episodeBuilder) failedCalls(y *symptoms, from, to, open int64) {
	fs := w.n.Failures
	i, _ := slices.BinarySearchFunc(fs, from, func(f kubelet.Failure, t int64) int { return cmp.Compare(f.End, t) })
	for ; i < len(fs) && fs[i].End <= open; i++ {
		f := &fs[i]
		if f.Code != "DeadlineExceeded" || f.End > to && !(f.Start.Known() && f.Start.At <= to) {
			continue
		}
		switch list := f.Call == "ListPodSandbox" || f.Call == "ListContainers"; {
		case list && f.Scope == "pod", f.Call == "PodSandboxStatus", f.Call == "ContainerStatus":
			y.pods = append(y.pods, f)
		case list && f.Scope != "unknown":
			y.lists = append(y.lists, f)
		}
	}
}

func (w *episodeBuilder) listStep(y *symptoms, e *Episode) stuck {
	switch {
	case len(y.listFails) > 0:
		for _, m := range y.listFails {
			e.Counted = append(e.Counted, m.At)
		}
		return stuckIn(StepList, parse.Plural(len(y.listFails), "relist")+" failed in the list call",
			y.listFails[0].Line, "the list call of a relist failed")
	case y.slowList != nil:
		return stuckIn(StepList, "the list call of one relist lasted longer than the threshold",
			y.slowList.Lines[0].Record, "names a relist that began long before it became the last seen")
	case y.restarted != nil && len(y.inspecting) == 0:
		return stuckIn(StepList, "a relist began after the last seen one and did not list pods",
			y.restarted.Line, "begins after the last seen relist")
	case len(y.inspecting)+len(y.sent) > 0:
		return stuck{}
	case len(y.lists) > 0 && len(y.pods) == 0:
		return stuckIn(StepList, "list calls timed out and no call about a single pod did",
			y.lists[0].Evidence[0].Record, "a list call timed out")
	case y.stall != nil && len(y.pods) == 0 && w.alive(e):
		return stuckIn(StepList, "housekeeping, which makes the same list calls, was blocked as long as PLEG",
			y.stall.Line, "blocked since "+clock(y.stall.From))
	}
	return stuck{}
}

// alive reports whether the kubelet wrote lines in the middle of the episode: if the whole process was stopped,
// it did not hang in a call.
func (w *episodeBuilder) alive(e *Episode) bool {
	mid := e.LastStart.At + (e.Breach-e.LastStart.At)/2
	t := w.cover.Next(e.Run, mid)
	return t != 0 && t < e.Breach
}

func (w *episodeBuilder) inspectStep(y *symptoms, e *Episode) stuck {
	switch {
	case len(y.inspecting) > 0:
		m := y.inspecting[len(y.inspecting)-1]
		return stuckIn(StepInspect, "the relist goroutine worked past its list call while PLEG was unhealthy",
			m.Line, "written by the relist after its list call")
	case len(y.sent) > 0:
		return stuck{StepInspect, "the last relist that listed pods went on to send pod events, one by one, until PLEG was unhealthy",
			[]host.Evidence{{Record: w.s.Events[y.sent[0]], Note: "sent by that relist"}, {Record: w.s.Events[y.sent[1]], Note: "and still"}}}
	case len(y.lists) == 0 && y.onDemand != nil:
		e.OnDemand = true
		return stuckIn(StepInspect, "the relist of one pod on demand waited for its deadline, and while it does no relist of the node begins",
			y.onDemand.Line, "the relist of one pod on demand timed out")
	case len(y.pods) > 0 && len(y.lists) == 0:
		f := y.pods[0]
		for _, f := range y.pods {
			e.Counted = append(e.Counted, f.End)
		}
		return stuckIn(StepInspect, parse.Plural(len(y.pods), "call")+" about single pods timed out and no list call did",
			f.Evidence[0].Record, "a status call timed out")
	case len(y.pods) > 0 && len(e.LastStarts) > 0 && w.aligned(y.pods, e):
		return stuckIn(StepInspect, "status calls timed out a whole number of timeouts after the start of the relist",
			y.pods[0].Evidence[0].Record, "a status call timed out")
	case y.began != nil && y.restarted == nil && len(y.lists) == 0 && !w.n.Kubelet.Before(14): // older ones may be blocked by an event, see deliverStep
		return stuckIn(StepInspect, "no relist began after the last seen one, which had listed pods", y.began.Line, "the relist that did not end")
	}
	return stuck{}
}

// aligned reports whether a failure lies a whole number of timeouts after the start of a relist of the episode.
func (w *episodeBuilder) aligned(fs []*kubelet.Failure, e *Episode) bool {
	return slices.ContainsFunc(fs[:min(len(fs), 32)], func(f *kubelet.Failure) bool {
		return slices.ContainsFunc(e.LastStarts[:min(len(e.LastStarts), 32)], func(s host.Instant) bool { return w.n.Kubelet.Timeouts(f.End - s.At) })
	})
}

// deliverStep finds the deadlock of kubelets before 1.14: the relist blocks on a full event channel, which an
// unhealthy sync loop does not drain.
func (w *episodeBuilder) deliverStep(y *symptoms, e *Episode) stuck {
	if !w.n.Kubelet.Before(14) || len(y.pods)+len(y.lists) > 0 {
		return stuck{}
	}
	for _, f := range w.s.Facts {
		if f.Key == facts.KeyGoroutine && relistSends(f) {
			return stuckIn(StepDeliver, "the relist goroutine waits to send an event, which blocks before 1.14", f, "goroutine that waits")
		}
	}
	if timeout := w.n.Kubelet.LongestCall(); y.began != nil && y.restarted == nil && e.PeakAge > 4*timeout {
		return stuckIn(StepDeliver, "before 1.14 a relist blocks on a full event channel; no call failed for longer than any may take",
			y.began.Line, "the relist that did not end")
	}
	return stuck{}
}

// relistSends reports whether a goroutine dump shows the relist blocked in a channel send.
func relistSends(f *parse.Fact) bool {
	return host.Mentions(f, "chan send") && (host.Mentions(f, "pleg") || host.Mentions(f, "relist"))
}
