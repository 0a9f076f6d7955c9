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

// streamEvents maps stream events to pod lifecycle events (processCRIEvents in
// pkg/kubelet/pleg/evented.go). CREATED only refreshes the cache.
var streamEvents = map[StreamType][]EventType{
	StreamStarted: {ContainerStarted},
	StreamStopped: {ContainerDied},
	StreamDeleted: {ContainerDied, ContainerRemoved},
}

// StreamEvent is one message of the runtime's event stream.
type StreamEvent struct {
	At        int64 // timestamp of the runtime, Unix ns
	Type      StreamType
	UID       string
	Container string // container or sandbox id
	Pod       *Pod   // the pod as stated in the message, nil if its sandbox status is missing
	IPs       []string
}

// Stream returns the messages that a runtime sends when a pod changes between two
// sightings; nil is an absent pod. Messages of one container are in order: one that
// disappears was first stopped, then deleted.
func Stream(old, cur *Pod) []StreamEvent {
	var out []StreamEvent
	if cur == nil && old != nil { // the last messages show it without its containers
		cur = &Pod{UID: old.UID, Name: old.Name, Namespace: old.Namespace}
	}
	for _, e := range Diff(old, cur) {
		s := StreamEvent{UID: e.Pod, Container: e.Data, Pod: cur}
		switch e.Type {
		case ContainerStarted:
			s.Type = StreamStarted
		case ContainerDied:
			s.Type = StreamStopped
		case ContainerRemoved:
			s.Type = StreamDeleted
		default:
			s.Type = StreamCreated
		}
		out = append(out, s)
	}
	return out
}

// Evented is the event-driven generator (feature gate EventedPLEG, from 1.26). Up
// to 1.36 it shares the event channel and the cache with the generic one, which
// relists every 300 s while the stream works. From 1.37 it only requests relists of
// pods in which a container stopped; the generic one continues as usual.
type Evented struct {
	Generic *Machine
	// Ignored counts messages without a sandbox status.
	Ignored int
	// Attempts counts stream errors since the watcher started.
	Attempts int
	// FellBack is set once the stream was given up, for the lifetime of the
	// process. Up to 1.36 the generic generator then continues with its own period
	// and threshold; from 1.37 nothing else changes.
	FellBack bool
	// Relists counts generic relists forced by stream errors (up to 1.36).
	Relists int
	// Hints counts the pod relists requested, HintsLost those dropped because the
	// queue was full (from 1.37).
	Hints, HintsLost int

	requests []request
}

// request is a pod relist queued for the generic generator.
type request struct {
	uid string
	at  int64
}

// MaxStreamAttempts is the number of stream errors after which the kubelet gives up
// (eventedPlegMaxStreamRetries in kubelet.go).
const MaxStreamAttempts = 5

// NewEvented returns both generators with a working stream. It returns an error for
// versions without the feature gate.
func NewEvented(p Profile) (*Evented, error) {
	if !p.Has(EventedAvailable) {
		return nil, fmt.Errorf("kubelet 1.%d has no evented PLEG", p.Minor)
	}
	return &Evented{Generic: NewMachine(p.UseEvented())}, nil
}

// Receive processes one message and returns the events it causes. Up to 1.36 it
// refreshes the cache and sends the events of the message; a status older than the
// cached one is dropped with its events. From 1.37 a stop requests a relist of the
// pod (see RelistPods) and everything else is ignored.
func (e *Evented) Receive(s StreamEvent) []Event {
	m := e.Generic
	if e.FellBack {
		return nil
	}
	if s.Pod == nil {
		e.Ignored++
		return nil
	}
	if m.Has(EventedHints) {
		e.hint(s)
		return nil
	}
	in := Inspection{IPs: s.IPs, Modified: s.At}
	status := statusOf(&m.Profile, s.Pod, in, m.Cache.Get(s.UID), s.At)
	if !m.Cache.set(s.UID, status, true) {
		m.Refused++
		return nil
	}
	// The diff base of the generic relist is unchanged, so the next one finds the
	// change again; only the ordering of the cache keeps it from repeating the
	// events.
	m.sight(s.UID, s.Pod)
	m.pending[s.UID] = struct{}{}
	r := relist{m: m}
	var events []Event
	for _, t := range streamEvents[s.Type] {
		events = append(events, Event{Pod: s.UID, Type: t, Data: s.Container})
	}
	r.send(events, status)
	return r.out.Events
}

// hint requests a relist of the pod whose container stopped (processCRIEvents of
// 1.37). Requests are not merged; they are dropped if the queue is full.
func (e *Evented) hint(s StreamEvent) {
	switch {
	case s.Type != StreamStopped:
	case len(e.requests) == RequestQueue:
		e.HintsLost++
	default:
		e.Hints++
		e.requests = append(e.requests, request{s.UID, s.At})
	}
}

// RelistPods runs the requested pod relists at time now, oldest request first. list
// returns the pod as the runtime lists it then, nil if it is gone, and the outcome
// of its inspection. Requests older than the last global relist are dropped.
func (e *Evented) RelistPods(now int64, list func(uid string) (*Pod, Inspection)) []Result {
	var out []Result
	for _, q := range e.requests {
		pod, in := list(q.uid)
		if r, ran := e.Generic.RelistPod(q.uid, q.at, now, pod, in); ran {
			out = append(out, r)
		}
	}
	e.requests = e.requests[:0]
	return out
}

// StreamError handles a broken stream: the kubelet reconnects at once, and gives up
// for good after the fifth error. Up to 1.36 each error forces a generic relist,
// and giving up means falling back to the generic generator with its period of 1 s
// and threshold of 3 m. StreamError reports whether a relist is forced.
func (e *Evented) StreamError() bool {
	if e.FellBack {
		return false
	}
	e.Attempts++
	if e.Attempts >= MaxStreamAttempts {
		e.FellBack = true
		e.requests = nil
	}
	if !e.Generic.Has(EventedSends) {
		return false
	}
	e.Relists++
	if e.FellBack {
		e.Generic.Profile = e.Generic.UseGeneric()
	}
	return true
}

// HealthText returns the error of the evented health check, "" while healthy: it
// fails only if the channel is full. When it passes, the kubelet also sets
// last_seen to the time of the check, which hides the age of generic relists in
// that metric. From 1.37 there is no such check.
func (e *Evented) HealthText() string {
	m := e.Generic
	if m.queue < m.Capacity || !m.Has(EventedSends) {
		return ""
	}
	return fmt.Sprintf("EventedPLEG: pleg event channel capacity is full with %d events", m.queue)
}
