package replay

import (
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// What package host reads of a node, under the names of the timeline.
type (
	// Records are what the input holds of one node, in time order.
	Records = host.Records
	// Index sorts the lines of a node into groups.
	Index = host.Index
	// Group is lines that agree in who wrote them to which file, and in what
	// they matched.
	Group = host.Group
	// Parallel runs tasks that share nothing they write; nil: one after the other.
	Parallel = host.Parallel
	// Evidence is a record and what it is cited for.
	Evidence = host.Evidence
	// Instant is a reconstructed moment (Unix ns) and its uncertainty.
	Instant = host.Instant
	// Span is a stretch of time (Unix ns); To is 0 while open.
	Span = host.Span
	// PodEvent is one pod lifecycle event, observed or replayed.
	PodEvent = host.PodEvent
	// PodEvents is a list of pod lifecycle events.
	PodEvents = host.PodEvents
	// Transition is a state change of a container or pod sandbox.
	Transition = host.Transition
	// Subject is a container or pod sandbox, as far as its records name it.
	Subject = host.Subject
	// History is a list of transitions.
	History = host.History
	// Request is one call that the runtime logged.
	Request = host.Request
	// Requests is a list of requests.
	Requests = host.Requests
)

// List is a sequence of findings of one kind, packed or plain.
type List[T any] = host.List[T]

// ListOf returns a list of given items.
func ListOf[T any](items ...T) List[T] { return host.ListOf(items...) }

// Event statuses.
const (
	StatusObserved   = host.StatusObserved
	StatusMatched    = host.StatusMatched
	StatusLate       = host.StatusLate
	StatusUnexpected = host.StatusUnexpected
	StatusMissing    = host.StatusMissing
	StatusDiscarded  = host.StatusDiscarded
)
