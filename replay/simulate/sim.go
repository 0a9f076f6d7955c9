// Package simulate runs the reference PLEG over the content of a runtime: listings that
// were recorded, or that the history of a node implies. It answers what would have
// happened with another kubelet or runtime, or without a pod, and reads and writes the
// snapshots that it runs on.
package simulate

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay"
)

// Sim runs the reference PLEG over recorded listings at the times at which they were
// recorded. It keeps one listing and the generator's state, not the history.
type Sim struct {
	Machine *pleg.Machine
	Totals  Totals

	health health
	end    int64 // end of the last relist
	stuck  bool  // ≤ 1.13: the relist blocks on a full channel that is not drained
}

// Relist is one simulated relist.
type Relist struct {
	pleg.Result
	Start, End int64 // Unix ns
	ListErr    string
	LastSeen   int64              // start of the last relist that listed pods, 0 if none
	Healthy    bool               // result of the health check at End
	Health     replay.HealthState // at End, from the history of a node; "" for a recording
	Blocked    bool               // ≤ 1.13: it blocks on the full channel and has not ended
	Stream     bool               // not a relist, but events received from the runtime's stream at one time
	Pods       int                // number listed, -1 unknown
	Open       bool               // it continued after End for an unknown time
	Slack      time.Duration      // of its length
	Part       bool               // not all relists around it are simulated one by one
	Assumed    bool               // nothing dates it
	Unsure     bool               // unknown whether it listed pods
	Undated    bool               // no time at all: Start gives only the order
}

// OK reports whether the relist listed pods.
func (r *Relist) OK() bool { return r.ListErr == "" }

// Totals sums up a simulation: the kubelet's own counters and figures derived from
// them.
type Totals struct {
	Duration  histogram // of relists, failed ones included
	Interval  histogram // from the last relist that listed pods to each start
	Failed    int       // relists that listed nothing
	Skipped   int       // recorded listings that a blocked relist never made
	Longest   time.Duration
	LongestAt int64
	Events    int // number sent
	Discarded int
	Unhealthy []Unhealthy
	To        int64 // end of the history
	AtLeast   bool  // PLEG may have been unhealthy for longer, and more often
}

// Unhealthy is an interval in which the health check fails.
type Unhealthy = replay.Ill

// NewSim returns a simulation of a kubelet that starts with the first
// listing.
func NewSim(p pleg.Profile) *Sim {
	return &Sim{Machine: pleg.NewMachine(p), health: health{threshold: p.Threshold}}
}

// Step runs the relist that made a recorded listing. It returns nil if that relist
// cannot have run because the one before never ended.
func (s *Sim) Step(in *Snapshot) *Relist {
	if s.stuck {
		if s.stuck = !in.Drained; s.stuck {
			s.Totals.Skipped++
			return nil
		}
		s.Machine.Drain()
	}
	w := &work{start: in.At, next: in.Next, list: in.List, listErr: in.ListErr, proof: in.Proof,
		inspect: func(uid string) (InspectOutcome, bool) { o, ok := in.Inspect[uid]; return o, ok }}
	r := s.run(w, pleg.Listing{Changed: in.Changed, Gone: in.Gone}, in.Pods)
	r.Undated = in.Undated
	if in.Proof != nil {
		s.Totals.told(r, in.Proof)
	}
	if in.Drained {
		s.Machine.Drain()
	} else if r.Waited > 0 {
		s.stuck, r.Blocked = true, true
	}
	return r
}

// run makes one relist and updates the totals.
func (s *Sim) run(w *work, l pleg.Listing, pods int) *Relist {
	m := s.Machine
	l.Start, l.Err = w.start, w.listErr
	l.Inspect = func(uid string) pleg.Inspection { o, _ := w.inspect(uid); return pleg.Inspection{Err: o.Err} }
	if m.LastSeen != 0 {
		s.Totals.Interval.observe(time.Duration(w.start - m.LastSeen))
	}
	r := &Relist{Result: m.Relist(l), Start: w.start, ListErr: w.listErr, Pods: pods}
	list, took := w.durations(r.Inspected, &m.Profile)
	if r.OK() {
		s.health.listed(w.start, w.start+int64(list))
	} else {
		s.health.failed(w.start)
	}
	r.End = w.start + int64(took)
	r.LastSeen = m.LastSeen
	_, r.Healthy = m.Healthy(r.End)
	s.Totals.count(r)
	s.end = max(s.end, r.End)
	return r
}

func (t *Totals) count(r *Relist) {
	if !r.OK() {
		t.Failed++
	}
	took := time.Duration(r.End - r.Start)
	t.Duration.observe(took)
	if took > t.Longest {
		t.Longest, t.LongestAt = took, r.Start
	}
	t.Events += r.Sent
	t.Discarded += r.Discarded
}

// Finish ends the simulation at the end of its last relist and returns the totals.
func (s *Sim) Finish() Totals {
	t := s.Totals
	t.To, t.Unhealthy = s.end, s.health.finish(s.end)
	return t
}

// health tracks the result of the health check through time.
type health struct {
	threshold time.Duration
	since     int64 // when threshold took effect, 0 from the start
	lastSeen  int64
	open      *Unhealthy
	past      []Unhealthy
}

// listed records a relist that began at start and whose list returned at end: from end
// on, not earlier, the age counts from start.
func (h *health) listed(start, end int64) {
	h.cross(end)
	h.lastSeen = start
	if h.open != nil && end-start <= int64(h.threshold) {
		h.open.To = end
		h.past = append(h.past, *h.open)
		h.open = nil
	}
}

// failed records a relist that listed nothing. Before the first success this makes the
// kubelet unhealthy from its start.
func (h *health) failed(start int64) {
	if h.lastSeen == 0 && h.open == nil {
		h.open = &Unhealthy{Span: replay.Span{From: start}, Never: true}
	}
}

// cross opens an unhealthy interval if the threshold was exceeded before now.
func (h *health) cross(now int64) {
	if at := max(h.lastSeen+int64(h.threshold), h.since); h.lastSeen != 0 && h.open == nil && now > at {
		h.open = &Unhealthy{Span: replay.Span{From: at}}
	}
}

func (h *health) finish(end int64) []Unhealthy {
	h.cross(end)
	if h.open == nil {
		return h.past
	}
	return append(h.past, *h.open)
}

// Simulation replays recorded relists, as they were or with changes.
type Simulation struct {
	Was, Is pleg.Profile
	what    WhatIf
	base    *Sim  // the recorded history
	plain   *Sim  // the same schedule with the changed profile
	free    *free // used instead of plain if the schedule changes too
}

// NewSimulation returns a simulation of a kubelet with profile was and the given
// changes.
func NewSimulation(was pleg.Profile, what WhatIf) (*Simulation, error) {
	is, err := what.Profile(was)
	if err != nil {
		return nil, err
	}
	s := &Simulation{Was: was, Is: is, what: what, base: NewSim(was), plain: NewSim(is)}
	switch {
	case what.reschedules():
		s.free = newFree(was, s.plain, what)
	case what.Empty():
		s.base = s.plain
	}
	return s, nil
}

// Step takes a recorded relist and returns the simulated ones that follow from it,
// oldest first.
func (s *Simulation) Step(in *Snapshot) []*Relist {
	r := s.base.Step(in)
	switch {
	case s.free != nil:
		return s.free.step(in, r)
	case s.base != s.plain:
		r = s.plain.Step(in)
	}
	if r == nil {
		return nil
	}
	return []*Relist{r}
}

// Finish returns the remaining relists, the totals, and what the changes mean, which is
// nil if nothing was changed.
func (s *Simulation) Finish() (rest []*Relist, is Totals, a *Answer) {
	if s.free != nil {
		rest = s.free.finish()
	}
	if is = s.plain.Finish(); !s.what.Empty() {
		was := s.base.Finish()
		a = recorded(&s.what, s.Was, s.Is, &was, &is)
	}
	return rest, is, a
}

// Machine returns the simulated generator, for its gauges.
func (s *Simulation) Machine() *pleg.Machine { return s.plain.Machine }

// Judge applies the current threshold of the generator, which may have changed, from a
// moment on.
func (s *Simulation) Judge(at int64) {
	h := &s.plain.health
	h.cross(at)
	h.threshold, h.since = s.Machine().Threshold, at
}

// Assumptions lists the assumptions of the replay.
func (s *Simulation) Assumptions() []string { return assume(&s.what, s.Was) }

// Feed turns lines of a snapshots file into steps. It holds one snapshot back so that
// each has the start of the next one.
type Feed struct {
	Decoder SnapshotDecoder
	held    *Snapshot
}

// Line reads one line and calls do with the previous snapshot, if there is one.
func (f *Feed) Line(text []byte, pos parse.Pos, do func(*Snapshot)) {
	if s := f.Decoder.Decode(text, pos); s != nil {
		if f.held != nil {
			f.held.Next = s.At
			do(f.held)
		}
		f.held = s
	}
}

// End calls do with the last snapshot.
func (f *Feed) End(do func(*Snapshot)) {
	if f.held != nil {
		do(f.held)
		f.held = nil
	}
}
