package scenario

import (
	"math"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

// Outcome is the result of a scenario.
type Outcome struct {
	Totals  simulate.Totals
	Machine *pleg.Machine
	Cut     bool // ended early because of too many relists
}

// Epoch is the start of all runs, Unix ns: 2026-01-01T00:00:00Z.
const Epoch = 1767225600 * int64(time.Second)

// timedOut is the error of a call that does not answer.
const timedOut = "rpc error: code = DeadlineExceeded desc = context deadline exceeded (scenario)"

// Run runs the reference PLEG over a scenario and calls do, if it is not nil, with each
// relist. The first relist of a warm kubelet is not reported.
func Run(s Spec, p pleg.Profile, do func(*simulate.Relist)) Outcome {
	p = s.Profile(p)
	r := &run{w: newWorld(&s), p: p, sim: simulate.NewSim(p), pods: make(map[string]*pleg.Pod), again: make(map[string]bool)}
	now := time.Duration(0)
	out := Outcome{Machine: r.sim.Machine}
	for n := 0; now <= s.For; n++ {
		if out.Cut = n == maxRelists; out.Cut {
			break
		}
		x := r.relist(now, n == 0)
		if x == nil { // up to 1.13: the relist before never ends
			break
		}
		if do != nil && (n > 0 || s.Cold) {
			do(x)
		}
		if x.Blocked { // up to 1.13: forever
			break
		}
		now = time.Duration(x.End-Epoch) + p.Period
	}
	out.Totals = r.sim.Finish()
	return out
}

// Profile returns p with the settings of the scenario.
func (s *Spec) Profile(p pleg.Profile) pleg.Profile {
	p.Parallel = s.Workers
	if s.Timeout > 0 {
		p.RPCTimeout = s.Timeout
	}
	return p
}

// run is the state of a run.
type run struct {
	w     *world
	p     pleg.Profile
	sim   *simulate.Sim
	pods  map[string]*pleg.Pod // pods as last listed, by UID
	again map[string]bool      // UIDs of pods to inspect again
	owed  []*pleg.Pod          // changes missed because the list failed
}

// relist makes one relist at a time since the start. It returns nil if the relist
// cannot run.
func (r *run) relist(at time.Duration, first bool) *simulate.Relist {
	r.w.advance(at)
	in := &simulate.Snapshot{At: Epoch + int64(at), Drained: true, Inspect: make(map[string]simulate.InspectOutcome), Pods: len(r.w.pods)}
	free := first && !r.w.s.Cold // a warm kubelet already knows its pods
	in.List, in.ListErr = r.listing(at, free)
	changed := append(r.owed, r.w.list()...)
	if in.ListErr != "" {
		r.owed = changed
	} else {
		r.owed = nil
		in.Changed = changed
		r.inspections(in, at, free)
	}
	x := r.sim.Step(in)
	if x == nil {
		return nil
	}
	clear(r.again)
	for _, uid := range x.Reinspect {
		r.again[uid] = true
	}
	told := make(map[string]bool)
	for _, e := range x.Events {
		told[e.Pod] = told[e.Pod] || e.Delivered
	}
	if free {
		r.sim.Totals = simulate.Totals{}
	}
	r.w.revive(told)
	return x
}

// listing returns the duration of the two list calls, and their error.
func (r *run) listing(at time.Duration, free bool) (time.Duration, string) {
	if free {
		return 0, ""
	}
	left := r.w.hanging(nil, at)
	if left >= r.p.RPCTimeout {
		return r.p.RPCTimeout, timedOut
	}
	took, failed := r.w.calls(r.w.s.List, 2, at, r.p.RPCTimeout)
	if failed {
		return left + took, timedOut
	}
	return left + took, ""
}

// inspections draws the duration of inspecting each pod that the relist may inspect,
// and sets up the event channel: the sync loop takes events as they come until the
// relist exceeds the threshold, and afterwards they accumulate.
func (r *run) inspections(in *simulate.Snapshot, at time.Duration, free bool) {
	events := 0
	var sum time.Duration
	one := func(p *pleg.Pod) {
		o := simulate.InspectOutcome{}
		if !free {
			o = r.inspect(p, at+in.List, r.again[p.UID])
		}
		in.Inspect[p.UID] = o
		sum += o.Took
	}
	for _, p := range in.Changed {
		events += len(pleg.Diff(r.pods[p.UID], p))
		r.pods[p.UID] = p
		one(p)
		delete(r.again, p.UID)
	}
	for uid := range r.again {
		one(r.pods[uid])
	}
	m := r.sim.Machine
	m.Capacity = math.MaxInt32
	if total := in.List + sum/time.Duration(max(r.p.Parallel, 1)); total > r.p.Threshold {
		in.Drained = false
		m.Drain()
		m.Capacity = r.p.Capacity + int(float64(events)*float64(r.p.Threshold)/float64(total))
	}
}

// inspect returns the result of inspecting a pod at a time since the start: list calls
// by its UID if the version makes them, and a status call for each sandbox and
// container. The first call that does not answer ends the inspection. Up to 1.31 a pod
// that failed in the relist before and fails again is inspected twice; each inspection
// counts half of the total.
func (r *run) inspect(p *pleg.Pod, at time.Duration, again bool) simulate.InspectOutcome {
	lists, status := r.p.Calls([]*pleg.Pod{p})
	timeout := r.p.RPCTimeout
	took, failed := r.w.calls(r.w.s.List, lists-2, at, timeout)
	if failed {
		return simulate.InspectOutcome{Took: took, Err: timedOut}
	}
	left := r.w.hanging(p, at+took)
	if left >= timeout {
		first := timeout
		if again && r.p.Deadlines() == 2 {
			first = (timeout + min(timeout, left-timeout)) / 2
		}
		return simulate.InspectOutcome{Took: took + first, Err: timedOut}
	}
	checks, failed := r.w.calls(r.w.s.Status, status, at, timeout)
	o := simulate.InspectOutcome{Took: took + left + checks}
	if failed {
		o.Err = timedOut
	}
	return o
}

// Assumptions returns the assumptions of a run.
func Assumptions(s *Spec) []string {
	out := []string{
		"the sync loop takes events as fast as they come while PLEG is healthy",
		"nothing else asks the runtime: its calls take the times stated whatever the number of callers",
	}
	if s.Churn > 0 {
		out = append(out, "restarts fall on containers of any pod with the same chance; the kubelet keeps one dead instance of each container")
	}
	if s.Changed.Pods > 0 {
		out = append(out, "the kubelet starts the containers that exited again as soon as PLEG has told of them, and keeps the dead ones")
	}
	if s.Workers > 1 {
		out = append(out, "the runtime serves parallel calls as fast as single ones; no release of the kubelet inspects pods in parallel (kubernetes#139788, #139827 are open)")
	}
	if len(s.Hangs) > 0 {
		out = append(out, "a pod whose status hangs changes at that moment, or no relist would inspect it")
	}
	return out
}
