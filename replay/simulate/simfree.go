package simulate

import (
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
)

// free replays a changed history on its own schedule. Each recorded listing says what
// the runtime held until the next recorded relist, and how long its calls took. The
// simulated relists run when the changed kubelet would have run them, and see what the
// runtime held at that time.
type free struct {
	sim  *Sim // simulates the changed history
	what WhatIf
	was  pleg.Profile

	now *Snapshot // the current recorded relist
	// idle is the pause after now, until the next recorded relist.
	idle  time.Duration
	fresh bool // now has not been listed yet
	// next is the start of the next simulated relist, Unix ns.
	next    int64
	changed map[string]*pleg.Pod // since the last simulated listing
	gone    map[string]struct{}
	known   map[string]InspectOutcome // last stated cost by pod
	dropped map[string]struct{}       // UIDs of the pods left out
	sight   map[string]*pleg.Pod      // pods as last reported by the event stream
	// until is the end of the recording so far, Unix ns.
	until int64
	out   []*Relist
}

// maxFreeRelists bounds the number of relists in one recorded gap: a year-long gap with
// a period of a nanosecond must not exhaust memory.
const maxFreeRelists = 1 << 20

// newFree returns a replay of the changed history by sim; was is the recorded kubelet's
// profile.
func newFree(was pleg.Profile, sim *Sim, what WhatIf) *free {
	return &free{sim: sim, what: what, was: was, changed: make(map[string]*pleg.Pod),
		gone: make(map[string]struct{}), known: make(map[string]InspectOutcome),
		dropped: make(map[string]struct{}), sight: make(map[string]*pleg.Pod)}
}

// step takes a recorded relist, as simulated for the recorded kubelet, and returns the
// simulated ones that begin before it, oldest first.
func (f *free) step(in *Snapshot, made *Relist) []*Relist {
	f.out = nil
	f.advance(in.At)
	f.world(in, made)
	return f.out
}

// finish returns the remaining relists. The last recorded listing is valid to the end
// of its relist and is used at least once.
func (f *free) finish() []*Relist {
	f.out = nil
	if f.now != nil {
		f.advance(max(f.until, f.now.At+1))
		if f.fresh {
			f.relist()
		}
	}
	return f.out
}

// world makes a recorded relist the current one.
func (f *free) world(in *Snapshot, made *Relist) {
	end := in.At
	if made != nil {
		end = made.End
	}
	f.idle = f.was.Period
	if in.Next > end {
		f.idle = time.Duration(in.Next - end)
	}
	f.until = max(f.until, end)
	f.now, f.fresh = in, true
	if f.next == 0 {
		f.next = in.At
	}
	if in.ListErr == "" {
		f.listing(in)
	}
	for uid, o := range in.Inspect {
		if o.Err == "" && o.Took >= 0 {
			f.known[uid] = o
		}
	}
}

// listing adds a recorded listing to what the next simulated relist will find.
func (f *free) listing(in *Snapshot) {
	if f.sim.Machine.Evented {
		f.stream(in)
	}
	for _, p := range in.Changed {
		if f.what.drops(p.UID, p.Namespace+"/"+p.Name) {
			f.dropped[p.UID] = struct{}{}
			continue
		}
		f.changed[p.UID] = p
		delete(f.gone, p.UID)
	}
	for _, uid := range in.Gone {
		delete(f.changed, uid)
		delete(f.known, uid)
		if _, out := f.dropped[uid]; !out {
			f.gone[uid] = struct{}{}
		}
		delete(f.dropped, uid)
		delete(f.sight, uid)
	}
}

// stream passes a change to evented PLEG as a working event stream would. Up to 1.36
// that sends events, and the next relist still finds the change; from 1.37 on it
// requests relists of the pods whose containers stopped.
func (f *free) stream(in *Snapshot) {
	m := f.sim.Machine
	r := &Relist{Start: in.At, End: in.At, Stream: true, LastSeen: m.LastSeen, Pods: -1}
	_, r.Healthy = m.Healthy(in.At)
	e, now := &pleg.Evented{Generic: m}, make(map[string]*pleg.Pod)
	told := func(old, p *pleg.Pod, uid string) {
		if now[uid] = p; m.LastSeen == 0 { // no events for containers that ran before the kubelet
			return
		}
		for _, s := range pleg.Stream(old, p) {
			s.At = in.At
			r.Result.Events = append(r.Result.Events, e.Receive(s)...)
		}
	}
	for _, p := range in.Changed {
		if !f.what.drops(p.UID, p.Namespace+"/"+p.Name) {
			told(f.sight[p.UID], p, p.UID)
			f.sight[p.UID] = p
		}
	}
	for _, uid := range in.Gone {
		told(f.sight[uid], nil, uid)
	}
	for _, x := range e.RelistPods(in.At, func(uid string) (*pleg.Pod, pleg.Inspection) { return now[uid], pleg.Inspection{} }) {
		r.Result.Events = append(r.Result.Events, x.Events...)
		r.Inspected = append(r.Inspected, x.Inspected...)
	}
	for i := range r.Events {
		if r.Events[i].Delivered {
			r.Sent++
		}
	}
	sort.SliceStable(r.Events, func(i, j int) bool { return r.Events[i].Pod < r.Events[j].Pod })
	f.sim.Totals.Events += r.Sent
	if len(r.Events) > 0 {
		f.out = append(f.out, r)
	}
}

// advance runs the relists that begin before a time.
func (f *free) advance(to int64) {
	for n := 0; f.now != nil && f.next < to; n++ {
		if n >= maxFreeRelists {
			f.next = to
			return
		}
		f.relist()
	}
}

// relist runs the relist that is due.
func (f *free) relist() {
	w := f.cost()
	l := pleg.Listing{}
	if w.listErr == "" {
		for _, p := range f.changed {
			l.Changed = append(l.Changed, p)
		}
		for uid := range f.gone {
			l.Gone = append(l.Gone, uid)
		}
		clear(f.changed)
		clear(f.gone)
	}
	r := f.sim.run(w, l, f.now.Pods)
	if f.now.Drained {
		f.sim.Machine.Drain()
	}
	f.out = append(f.out, r)
	pause := f.sim.Machine.Period
	if f.fresh { // it pauses as long as recorded, adjusted to the changed period
		pause += f.idle - f.was.Period
	}
	f.fresh, f.next = false, max(r.End+int64(max(pause, 0)), r.Start+1)
}

// cost returns the work of the next relist in the changed history.
func (f *free) cost() *work {
	is := f.sim.Machine.RPCTimeout
	list := f.what.outcome(f.now.List, f.now.ListErr, f.was.RPCTimeout, is)
	return &work{start: f.next, list: list.Took, listErr: list.Err, inspect: func(uid string) (InspectOutcome, bool) {
		o, ok := f.now.Inspect[uid]
		if !ok {
			if o, ok = f.known[uid]; !ok {
				return o, false
			}
		}
		return f.what.outcome(o.Took, o.Err, f.was.RPCTimeout, is), true
	}}
}
