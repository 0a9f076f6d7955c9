package pleg

import "slices"

// Machine is the generic PLEG between two relists: pod records, pods to
// inspect again, the pod status cache, the gauges and the fill of the event
// channel. It is used by one goroutine at a time.
type Machine struct {
	Profile
	Cache  Cache
	Gauges Gauges
	// LastSeen is the start of the last relist that listed pods, Unix ns; 0
	// before the first (getRelistTime in generic.go).
	LastSeen int64
	// Refused counts statuses that the cache took for outdated (evented).
	Refused int

	records map[string]*record
	// pending holds the pods whose record was not advanced although it
	// differs from the listing: only they and what changed can have events.
	pending map[string]struct{}
	// again is podsToReinspect: the pods whose inspection failed, and the
	// sighting that the second inspection of ≤ 1.31 works on.
	again map[string]*Pod
	watch map[string]map[string]*watch
	// between holds the pods that something else than a listing showed since the last
	// one, and how that listing had them, nil for not at all.
	between map[string]*Pod
	queue   int // events in the channel
}

// record is one pod's podRecord: the last sighting that was advanced, and the
// present one.
type record struct{ old, cur *Pod }

// NewMachine returns the generator of a kubelet that has just started.
func NewMachine(p Profile) *Machine {
	return &Machine{Profile: p, records: make(map[string]*record),
		pending: make(map[string]struct{}), again: make(map[string]*Pod), between: make(map[string]*Pod)}
}

// Listing is the outcome of the list calls of one relist, told as the changes
// against the last listing that succeeded.
type Listing struct {
	Start   int64  // Unix ns: relist start
	Err     string // the list failed; the rest is ignored
	Changed []*Pod // pods that are new or look different, in any order
	Gone    []string
	// Inspect tells how inspecting a pod ends. Nil: all inspections succeed.
	Inspect func(uid string) Inspection
}

func (l *Listing) inspect(uid string) Inspection {
	if l.Inspect == nil {
		return Inspection{}
	}
	return l.Inspect(uid)
}

// Result is what one relist did. Pods come in the order of their uids; the
// reference goes through them in no defined order.
type Result struct {
	Events    []Event  // filtered and discarded ones included
	Inspected []string // one entry per inspection: a pod may come twice up to 1.31
	Failed    []string // inspections that failed, likewise
	Reinspect []string // pods remembered for the next relist
	Sent      int
	Discarded int
	Waited    int // events that found the channel full and blocked the relist (≤ 1.13)
}

// sight takes a sighting of a pod that is not of a listing.
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

// Relist runs one relist. Its cost follows the changes of the listing and the
// pods left over from failures, not the number of pods.
func (m *Machine) Relist(l Listing) Result {
	if l.Err != "" { // nothing moves: not the time, the records, the cache
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

// setCurrent stores the listing in the records and returns the uids of all
// pods that can have events or need an inspection, sorted.
func (m *Machine) setCurrent(l *Listing) []string {
	touched := make(map[string]struct{}, len(l.Changed)+len(l.Gone)+len(m.pending))
	for uid, listed := range m.between { // as it was listed before, unless the listing tells
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
			delete(m.watch, uid) // conditions of vanished pods go unevaluated
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

// relist is one relist under way.
type relist struct {
	m      *Machine
	l      *Listing
	out    Result
	failed map[string]*Pod
}

// pod does what the loop over the records does for one pod.
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
	// In ≤ 1.31 a success here takes the pod off the list of leftovers. A pod
	// that fails here stays on it and is inspected a second time.
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

// inspect fetches and caches a pod's status. A pod that is gone only leaves
// the cache. It returns false when the inspection failed.
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

// ordered reports whether the cache refuses a status older than the one it holds:
// while the stream of evented PLEG writes it too.
func (m *Machine) ordered() bool { return m.Evented && m.Has(EventedSends) }

// accepted reports whether the cache holds this very status: a refused one
// neither advances the record nor sends events.
func (m *Machine) accepted(uid string, s *Status) bool { return m.Cache.Get(uid) == s }

// inspectLeftovers is the second pass of ≤ 1.31: every pod that failed in the
// relist before and was not inspected well in this one is inspected (again).
// It never advances a record and sends nothing.
func (r *relist) inspectLeftovers() {
	for _, uid := range sortedKeys(r.m.again) {
		if _, ok := r.inspect(uid, r.m.again[uid]); !ok {
			r.failed[uid] = r.m.again[uid]
		}
	}
}

// advance makes the present sighting the base of the next diff.
func (m *Machine) advance(uid string, rec *record) {
	delete(m.pending, uid)
	if rec.cur == nil {
		delete(m.records, uid)
		return
	}
	rec.old = rec.cur
}

// send puts events into the channel. The record is already advanced: what
// does not fit is lost for good from 1.14 on.
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

// exitCode finds the code that the "container finished" line prints: sandbox
// ids never match.
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

// Queued is the number of events in the channel.
func (m *Machine) Queued() int { return m.queue }

// Records is the number of pod records held.
func (m *Machine) Records() int { return len(m.records) }

// Record reports whether a pod has a record, and whether its diff base and
// its present sighting exist.
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
