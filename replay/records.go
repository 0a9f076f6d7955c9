package replay

import (
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Types of package host under the names of this package.
type (
	// Records is what the input holds of one node, in time order.
	Records = host.Records
	// Index sorts the lines of a node into groups.
	Index = host.Index
	// Group is a set of lines with the same writer, file and matched signatures.
	Group = host.Group
	// Parallel runs tasks that share no written data; nil runs them serially.
	Parallel = host.Parallel
	// Evidence is a record and why it is cited.
	Evidence = host.Evidence
	// Instant is a reconstructed moment (Unix ns) with its uncertainty.
	Instant = host.Instant
	// Span is a time interval (Unix ns); To is 0 if open.
	Span = host.Span
	// PodEvent is one pod lifecycle event, observed or replayed.
	PodEvent = host.PodEvent
	// PodEvents is a list of pod lifecycle events.
	PodEvents = host.PodEvents
	// Transition is a state change of a container or pod sandbox.
	Transition = host.Transition
	// Subject is a container or pod sandbox, as far as its records identify it.
	Subject = host.Subject
	// History is a list of transitions.
	History = host.History
	// Request is one call logged by the runtime.
	Request = host.Request
	// Requests is a list of requests.
	Requests = host.Requests
)

// List is a sequence of findings of one kind, packed or plain.
type List[T any] = host.List[T]

// ListOf returns a list of the given items.
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
