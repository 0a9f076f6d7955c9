package pleg

import "fmt"

// StreamType is the type of a container event on the runtime's stream.
type StreamType string

// Stream event types (ContainerEventType in the CRI, 1.26).
const (
	StreamCreated StreamType = "CREATED"
	StreamStarted StreamType = "STARTED"
	StreamStopped StreamType = "STOPPED"
	StreamDeleted StreamType = "DELETED"
)

// streamEvents says which pod lifecycle events a stream event becomes
// (processCRIEvents in pkg/kubelet/pleg/evented.go). CREATED only refreshes
// the cache.
var streamEvents = map[StreamType][]EventType{
	StreamStarted: {ContainerStarted},
	StreamStopped: {ContainerDied},
	StreamDeleted: {ContainerDied, ContainerRemoved},
}

// StreamEvent is one message of the runtime's event stream.
type StreamEvent struct {
	At        int64 // runtime's time stamp, Unix ns
	Type      StreamType
	UID       string
	Container string // container or sandbox id
	Pod       *Pod   // the pod as the message states it; nil when its sandbox status is missing
	IPs       []string
}

// Evented is the event-driven generator (gate EventedPLEG, 1.26 to 1.36). It
// shares the channel and the cache with the generic one, which relists every
// 300 s while the stream works.
type Evented struct {
	Generic *Machine
	// Ignored counts messages without a sandbox status.
	Ignored int
	// Attempts counts stream errors in the watcher's lifetime.
	Attempts int
	// FellBack is set once the stream was given up and the generic generator
	// took over at its own period and threshold.
	FellBack bool
	// Relists counts the generic relists that stream errors forced.
	Relists int
}

// maxStreamAttempts is the number of failed connections after which the
// kubelet gives the stream up (eventedPlegMaxStreamRetries in kubelet.go).
const maxStreamAttempts = 5

// NewEvented returns both generators with a working stream. It fails for
// versions without the gate.
func NewEvented(p Profile) (*Evented, error) {
	if !p.Has(EventedAvailable) {
		return nil, fmt.Errorf("kubelet 1.%d has no evented PLEG", p.Minor)
	}
	return &Evented{Generic: NewMachine(p.UseEvented())}, nil
}

// Receive handles one message: it refreshes the cache and sends the events
// that the message stands for. A status older than the cached one is dropped
// with its events, except that DELETED always removes.
func (e *Evented) Receive(s StreamEvent) []Event {
	m := e.Generic
	if e.FellBack {
		return nil
	}
	if s.Pod == nil {
		e.Ignored++
		return nil
	}
	in := Inspection{IPs: s.IPs, Modified: s.At}
	status := statusOf(&m.Profile, s.Pod, in, m.Cache.Get(s.UID), s.At)
	if !m.Cache.set(s.UID, status, true) {
		m.Refused++
		return nil
	}
	m.sight(s.UID, s.Pod)
	r := relist{m: m}
	var events []Event
	for _, t := range streamEvents[s.Type] {
		events = append(events, Event{Pod: s.UID, Type: t, Data: s.Container})
	}
	r.send(events, status)
	return r.out.Events
}

// sight moves the gauges from what the pod looked like to what it looks like.
// The diff base of the generic relist stays: the next one finds the change
// again and only the cache's order keeps it from repeating it.
func (m *Machine) sight(uid string, pod *Pod) {
	rec := m.records[uid]
	if rec == nil {
		rec = &record{}
		m.records[uid] = rec
	}
	m.Gauges.replace(rec.cur, pod)
	rec.cur = pod
	m.pending[uid] = struct{}{}
}

// StreamError handles a broken stream: each one forces a generic relist at
// once, without a pause; after the fifth the kubelet falls back to the
// generic generator at 1 s and 3 m. It reports whether a relist is forced.
func (e *Evented) StreamError() bool {
	if e.FellBack {
		return false
	}
	e.Attempts++
	e.Relists++
	if e.Attempts >= maxStreamAttempts {
		e.FellBack = true
		m := e.Generic
		m.Evented, m.Period, m.Threshold = false, Period, Threshold
	}
	return true
}

// HealthText is the error of the evented health check, "" while healthy: it
// only minds a full channel. A healthy answer also sets last_seen to the time
// of the check, which hides the age of generic relists in that metric.
func (e *Evented) HealthText() string {
	m := e.Generic
	if m.queue < m.Capacity {
		return ""
	}
	return fmt.Sprintf("EventedPLEG: pleg event channel capacity is full with %d events", m.queue)
}
