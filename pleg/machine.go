package pleg

import "slices"

// Machine is the state of the generic PLEG between two relists: pod records, pods
// to reinspect, the pod status cache, the gauges, and the number of events in the
// channel. It is not safe for concurrent use.
type Machine struct {
	Profile
	Cache  Cache
	Gauges Gauges
	// LastSeen is the start of the last relist whose list calls succeeded, in Unix
	// ns; 0 before the first (getRelistTime in generic.go).
	LastSeen int64
	// Refused counts statuses refused by the cache as outdated (evented PLEG).
	Refused int

	records map[string]*record
	// pending holds the pods whose record was not advanced although it differs from
	// the listing. Only these and changed pods can have events.
	pending map[string]struct{}
	// again is podsToReinspect: pods whose inspection failed or was requested, with
	// the sighting that the second inspection of ≤ 1.31 uses.
	again map[string]*Pod
	watch map[string]map[string]*watch
	// between holds the pods seen other than by a global listing since the last
	// one, with their state in that listing, nil if absent.
	between map[string]*Pod
	queue   int // events in the channel
}

// record is the podRecord of a pod: the sighting that the next diff is based on,
// and the current one.
type record struct{ old, cur *Pod }

// NewMachine returns the generator of a kubelet that has just started.
func NewMachine(p Profile) *Machine {
	return &Machine{Profile: p, records: make(map[string]*record),
		pending: make(map[string]struct{}), again: make(map[string]*Pod), between: make(map[string]*Pod)}
}

// Listing is the outcome of the list calls of one relist, as changes relative to
// the last successful listing.
type Listing struct {
	Start   int64  // start of the relist, Unix ns
	Err     string // error of the list calls; if set, the rest is ignored
	Changed []*Pod // new or changed pods, in any order
	Gone    []string
	// Inspect returns the outcome of inspecting a pod; nil: all inspections
	// succeed.
	Inspect func(uid string) Inspection
}

func (l *Listing) inspect(uid string) Inspection {
	if l.Inspect == nil {
		return Inspection{}
	}
	return l.Inspect(uid)
}

// Result is the effect of one relist. Pods are in order of UID; the kubelet's order
// is undefined.
type Result struct {
	Events    []Event  // including filtered and discarded ones
	Inspected []string // UIDs, one per inspection: a pod may occur twice up to 1.31
	Failed    []string // UIDs of failed inspections, likewise
	Reinspect []string // pods to reinspect in the next relist
	Sent      int
	Discarded int
	Waited    int // events that blocked the relist because the channel was full (≤ 1.13)
}

// sight records a sighting of a pod that is not from a global listing.
func (m *Machine) sight(uid string, pod *Pod) {
	rec := m.records[uid]
	if rec == nil {
		rec = &record{}
		m.records[uid] = rec
	}
	if _, have := m.between[uid]; !have {
		m.between[uid] = rec.cur
	}
	m.Gauges.replace(rec.cur, pod)
	rec.cur = pod
}

// Relist runs one relist. Its cost depends on the number of changes and of pods
// left over from failures, not on the number of pods.
func (m *Machine) Relist(l Listing) Result {
	if l.Err != "" { // nothing advances: neither time nor records nor cache
		return Result{Reinspect: sortedKeys(m.again)}
	}
	m.LastSeen = l.Start
	touched := m.setCurrent(&l)
	r := relist{m: m, l: &l, failed: make(map[string]*Pod)}
	for _, uid := range touched {
		r.pod(uid)
	}
	if m.Has(InspectTwice) {
		r.inspectLeftovers()
	}
	m.again = r.failed
	m.Cache.Fresh = l.Start
	r.out.Reinspect = sortedKeys(m.again)
	return r.out
}

// setCurrent stores the listing in the records and returns the sorted UIDs of all
// pods that may have events or need an inspection.
func (m *Machine) setCurrent(l *Listing) []string {
	touched := make(map[string]struct{}, len(l.Changed)+len(l.Gone)+len(m.pending))
	for uid, listed := range m.between { // restore the state of the previous listing
		if rec := m.records[uid]; rec != nil {
			m.Gauges.replace(rec.cur, listed)
			rec.cur = listed
			touched[uid] = struct{}{}
		}
	}
	clear(m.between)
	for _, p := range l.Changed {
		rec := m.records[p.UID]
		if rec == nil {
			rec = &record{}
			m.records[p.UID] = rec
		}
		m.Gauges.replace(rec.cur, p)
		rec.cur = p
		touched[p.UID] = struct{}{}
	}
	for _, uid := range l.Gone {
		if rec := m.records[uid]; rec != nil {
			m.Gauges.replace(rec.cur, nil)
			rec.cur = nil
			touched[uid] = struct{}{}
			delete(m.watch, uid) // conditions of vanished pods are not evaluated
		}
	}
	for uid := range m.pending {
		touched[uid] = struct{}{}
	}
	if !m.Has(InspectTwice) {
		for uid := range m.again {
			touched[uid] = struct{}{}
		}
	}
	for uid := range m.watch {
		touched[uid] = struct{}{}
	}
	return sortedKeys(touched)
}

// relist is a relist in progress.
type relist struct {
	m      *Machine
	l      *Listing
	out    Result
	failed map[string]*Pod
}

// pod runs the body of the kubelet's loop over pod records for one pod.
func (r *relist) pod(uid string) {
	m := r.m
	rec := m.records[uid]
	if rec == nil { // a condition or request for a pod that was never listed
		delete(m.watch, uid)
		return
	}
	events := Diff(rec.old, rec.cur)
	_, flagged := m.again[uid]
	flagged = flagged && !m.Has(InspectTwice)
	watched := len(m.watch[uid]) > 0
	if len(events) == 0 && !flagged && !watched {
		delete(m.pending, uid)
		return
	}
	status, ok := r.inspect(uid, rec.cur)
	if !ok {
		r.failed[uid] = rec.cur
		m.pending[uid] = struct{}{}
		return
	}
	// Up to 1.31 a success here removes the pod from the leftovers. A pod that
	// fails here remains and is inspected a second time.
	delete(m.again, uid)
	if status != nil && m.ordered() && !m.accepted(uid, status) {
		m.pending[uid] = struct{}{}
		return
	}
	if met := m.evaluate(uid, status); met {
		events = append(events, Event{Pod: uid, Type: ConditionMet})
	} else if len(events) == 0 && m.Has(ReinspectRequests) {
		events = append(events, Event{Pod: uid, Type: PodSync})
	}
	m.advance(uid, rec)
	r.send(events, status)
}

// inspect fetches and caches a pod's status. A pod that is gone is only removed
// from the cache. It returns false if the inspection failed.
func (r *relist) inspect(uid string, pod *Pod) (*Status, bool) {
	m := r.m
	if pod == nil {
		m.Cache.delete(uid)
		return nil, true
	}
	in := r.l.inspect(uid)
	status := statusOf(&m.Profile, pod, in, m.Cache.Get(uid), r.l.Start)
	r.out.Inspected = append(r.out.Inspected, uid)
	if !m.Cache.set(uid, status, m.ordered()) {
		m.Refused++
	}
	if in.Err != "" {
		r.out.Failed = append(r.out.Failed, uid)
		return status, false
	}
	return status, true
}

// ordered reports whether the cache refuses statuses older than the cached one, as
// it does while the stream of evented PLEG also writes to it.
func (m *Machine) ordered() bool { return m.Evented && m.Has(EventedSends) }

// accepted reports whether the cache holds s itself. A refused status neither
// advances the record nor sends events.
func (m *Machine) accepted(uid string, s *Status) bool { return m.Cache.Get(uid) == s }

// inspectLeftovers is the second pass of ≤ 1.31: pods that failed in the previous
// relist and were not inspected successfully in this one are inspected again. It
// advances no record and sends no events.
func (r *relist) inspectLeftovers() {
	for _, uid := range sortedKeys(r.m.again) {
		if _, ok := r.inspect(uid, r.m.again[uid]); !ok {
			r.failed[uid] = r.m.again[uid]
		}
	}
}

// advance makes the current sighting the base of the next diff.
func (m *Machine) advance(uid string, rec *record) {
	delete(m.pending, uid)
	if rec.cur == nil {
		delete(m.records, uid)
		return
	}
	rec.old = rec.cur
}

// send puts events into the channel. The record has already been advanced, so from
// 1.14 on events that do not fit are lost for good.
func (r *relist) send(events []Event, status *Status) {
	m := r.m
	for _, e := range events {
		switch {
		case e.Filtered():
		case m.queue < m.Capacity:
			m.queue++
			e.Delivered = true
		case m.Has(BlockingSend):
			r.out.Waited++
			e.Delivered = true
		default:
			r.out.Discarded++
		}
		if e.Delivered {
			r.out.Sent++
		}
		if e.Type == ContainerDied && status != nil {
			e.ExitCode = exitCode(status.pod, e.Data)
		}
		r.out.Events = append(r.out.Events, e)
	}
}

// exitCode returns the exit code printed by the "container finished" line, nil if
// unknown. Only containers have one, not sandboxes.
func exitCode(pod *Pod, id string) *int {
	if pod == nil {
		return nil
	}
	for i := range pod.Containers {
		if pod.Containers[i].ID == id {
			return pod.Containers[i].ExitCode
		}
	}
	return nil
}

// Drain empties the event channel, as the sync loop does while healthy.
func (m *Machine) Drain() { m.queue = 0 }

// Queued returns the number of events in the channel.
func (m *Machine) Queued() int { return m.queue }

// Records returns the number of pod records.
func (m *Machine) Records() int { return len(m.records) }

// Record reports whether a pod has a record, and whether the diff base and the
// current sighting in it exist.
func (m *Machine) Record(uid string) (held, old, cur bool) {
	rec := m.records[uid]
	if rec == nil {
		return false, false, false
	}
	return true, rec.old != nil, rec.cur != nil
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
