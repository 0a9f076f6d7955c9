// Package timeout bounds what another runtimeRequestTimeout would have meant for the
// long relists of a node whose history leaves too much open to simulate them. It does
// no I/O.
package timeout

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/blame"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// open is the upper bound of an extent that has none.
const open = time.Duration(1 << 62)

// extent is a duration of at least lo and at most hi.
type extent struct{ lo, hi time.Duration }

func (x extent) String() string {
	if x.hi >= open {
		return "at least " + parse.Least(x.lo)
	}
	return parse.Between(x.lo, x.hi)
}

// verdict says whether the age of the last relist would have exceeded the threshold.
type verdict int

const (
	not verdict = iota // certainly not
	undecided
	passed // certainly
)

// relist is one that took long, or the last one that listed pods before PLEG was
// unhealthy.
type relist struct {
	start    int64
	was      extent
	list     time.Duration // upper bound of the duration of its list calls
	failed   bool          // its list failed
	hung     int           // its calls about pods that are known to have timed out
	again    int           // of these, second calls about a pod, which follow a failed first one
	ended    int           // all calls that timed out while it ran, its own or not
	unlisted time.Duration // lower bound of its age while no later list was answered
	onDemand bool          // what lasted was an on-demand relist of one pod
	would    extent
	verdict  verdict
}

// Bound answers a what-if about the timeout, which may change the threshold too. It
// returns nil if the what-if changes more than that, or if the history bounds no
// relist. why is the reason why only bounds are available.
func Bound(n *replay.Node, bs []blame.Blame, was pleg.Profile, what *simulate.WhatIf, why string) *simulate.Answer {
	is, err := what.Profile(was)
	if err != nil || what.RPCTimeout == 0 || n.Kubelet.EventedSends() || slices.ContainsFunc(what.Said, func(s string) bool {
		return !strings.HasPrefix(s, "rpc-timeout=") && !strings.HasPrefix(s, "threshold=")
	}) {
		return nil
	}
	rs := relists(n, bs)
	told := false
	for i := range rs {
		r := &rs[i]
		r.ask(&was, &is)
		told = told || r.would.lo > 0 || r.would.hi < open || r.verdict == passed
	}
	if !told {
		return nil
	}
	slices.SortStableFunc(rs, func(a, b relist) int {
		return cmp.Or(cmp.Compare(b.verdict, a.verdict), cmp.Compare(b.would.lo, a.would.lo), cmp.Compare(b.was.lo, a.was.lo))
	})
	return answer(n, rs, what, &is, why)
}

// relists returns the long relists of the node: first those that begin an episode, then
// the others. An episode is represented by the last relist that had listed pods, not by
// those that failed to.
func relists(n *replay.Node, bs []blame.Blame) []relist {
	divided := blame.ByRelist(bs)
	var out []relist
	stands := map[int64]bool{}
	for k := range n.Episodes {
		e := &n.Episodes[k]
		to := max(e.LastReport, e.Recovered.Earliest())
		for i, s := range append(slices.Clone(e.LastStarts), e.LastStart) {
			if !s.Known() || stands[s.At] {
				continue
			}
			r := relist{start: s.At, was: extent{0, open}, list: open, onDemand: e.OnDemand, unlisted: e.Threshold + 1}
			if i+1 >= len(e.LastStarts) {
				r.unlisted = time.Duration(to - s.At)
			}
			if e.StuckStep != replay.StepList {
				r.unlisted = 0
			}
			if e.Recovered.Known() {
				r.was.hi = time.Duration(e.Recovered.At-s.At) + s.Slack
			}
			stands[s.At] = true
			out = append(out, r)
		}
	}
	for i := range n.Relists {
		x := &n.Relists[i]
		r := relist{start: x.Start.At, was: lengthOf(n, i), failed: x.FailedToList()}
		if k := slices.IndexFunc(out, func(o relist) bool {
			return max(o.start-x.Start.At, x.Start.At-o.start) < int64(pleg.Period/2) && x.Start.Slack < pleg.Period/2
		}); k >= 0 {
			out[k].was = extent{r.was.lo, max(min(r.was.hi, out[k].was.hi), r.was.lo)}
			out[k].parts(n, x, divided[i])
		} else if r.was.lo >= replay.LongRelist && !(r.failed && slices.ContainsFunc(n.Episodes, func(e replay.Episode) bool {
			return r.start > e.LastStart.At && r.start <= max(e.LastReport, e.Recovered.At)
		})) {
			r.parts(n, x, divided[i])
			out = append(out, r)
		}
	}
	return out
}

// parts takes the durations and counts of the relist's calls from the relist and its
// blame.
func (r *relist) parts(n *replay.Node, x *replay.Relist, b *blame.Blame) {
	if r.list = r.was.hi; x.ListEnd.Known() {
		r.list = min(r.list, time.Duration(x.ListEnd.At-x.Start.At)+x.ListEnd.Slack+x.Start.Slack)
	}
	if b != nil {
		for _, s := range b.ByPod {
			r.hung += s.TimedOut
			r.again += s.TimedOut / 2
		}
	}
	for k := range n.Failures {
		if f := &n.Failures[k]; f.Code == "DeadlineExceeded" && f.End > x.Start.At && (r.was.hi >= open || f.End <= x.Start.At+int64(r.was.hi)) {
			r.ended++
		}
	}
}

// lengthOf bounds the duration of a relist: it ended at least a period before the next
// one began.
func lengthOf(n *replay.Node, i int) extent {
	r := &n.Relists[i]
	took, ended := n.Lasted(i)
	if ended {
		return extent{max(took-r.Slack(), 0), took + r.Slack()}
	}
	x := extent{took, open}
	if r.Took > 0 {
		x.hi = r.Took + r.TookSlack
	}
	if i+1 < len(n.Relists) && n.Relists[i+1].Run == r.Run && !n.MayGoOn(i) {
		next := &n.Relists[i+1].Start
		x.hi = min(x.hi, time.Duration(next.At-r.Start.At)+next.Slack+r.Start.Slack-n.Kubelet.Period)
	}
	return extent{x.lo, max(x.lo, x.hi)}
}

// ask bounds how long the relist would have run. An unknown timeout is no longer than
// any call that timed out, and may be shorter or longer than the new one.
func (r *relist) ask(was, is *pleg.Profile) {
	known, to := was.RPCTimeout > 0, is.RPCTimeout
	shorter := !known || was.RPCTimeout > to
	if known && !shorter {
		r.would = r.longer(was, to)
	} else if r.would = r.shorter(was.RPCTimeout, to); !known {
		x := r.longer(was, to)
		r.would = extent{min(r.would.lo, x.lo), max(r.would.hi, x.hi)}
	}
	// The age grows until the next relist has listed. If the list of this relist may
	// fail, it counts from the relist before, until a list that began after this one is
	// answered.
	mayFail := r.failed || shorter && r.list > to
	peak, unlisted := r.would.hi, r.unlisted
	if mayFail {
		peak = r.was.hi + to + 2*is.Period
		unlisted -= r.list
	}
	switch {
	case !mayFail && r.would.lo > is.Threshold, known && shorter && unlisted > is.Threshold:
		r.verdict = passed
	case peak < open && peak+2*is.Period <= is.Threshold && r.unlisted == 0 && !r.onDemand && !(r.failed && !shorter):
		r.verdict = not
	default:
		r.verdict = undecided
	}
}

// shorter bounds the relist with a timeout shorter than it was. Calls that timed out
// still do, and others may. A call that fails ends the list, and with it the relist, or
// the inspection of its pod.
func (r *relist) shorter(was, to time.Duration) extent {
	out := r.was
	hung := time.Duration(r.hung)
	if was > 0 {
		if r.failed {
			return extent{min(r.was.lo, to), min(r.was.hi, 2*to)}
		}
		if out.hi < open {
			out.hi = max(out.hi-hung*(was-to), 0)
		}
	}
	free := extent{max(r.was.lo-hung*was, 0), r.was.hi}
	if was == 0 && hung > 0 {
		free.lo = 0
	}
	if r.was.hi < open {
		free.hi = max(r.was.hi-hung*max(was, to), 0)
	}
	switch {
	case r.list > to || r.failed:
		out.lo = min(out.lo, to)
	case free.hi > to:
		out.lo = min(out.lo, free.lo+hung*to, max(hung, 1)*to)
	default:
		out.lo = min(out.lo, free.lo+hung*to)
	}
	return extent{out.lo, max(out.lo, out.hi)}
}

// longer bounds the relist with a timeout no shorter than it was. Nothing ends sooner,
// except that second inspections of pods are absent if the first one would have
// succeeded.
func (r *relist) longer(was *pleg.Profile, to time.Duration) extent {
	out := r.was
	if was.Has(pleg.InspectTwice) && r.again > 0 {
		out.lo = max(out.lo-time.Duration(r.again)*cmp.Or(was.RPCTimeout, out.lo), 0)
	}
	if r.failed || r.was.hi >= open {
		out.hi = open
	} else {
		out.hi += time.Duration(max(r.hung, r.ended)) * (to - was.RPCTimeout)
	}
	return out
}
