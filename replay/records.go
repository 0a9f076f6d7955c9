package replay

import (
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Types of package host under the names of this package.
type (
	Records    = host.Records    // what the input holds of one node, in time order
	Index      = host.Index      // the lines of a node in groups
	Group      = host.Group      // a set of lines with the same writer, file and matched signatures
	Parallel   = host.Parallel   // runs tasks that share no written data; nil runs them serially
	Evidence   = host.Evidence   // a record and why it is cited
	Instant    = host.Instant    // a reconstructed moment (Unix ns) with its uncertainty
	Span       = host.Span       // a time interval (Unix ns); To is 0 if open
	PodEvent   = host.PodEvent   // one pod lifecycle event, observed or replayed
	PodEvents  = host.PodEvents  // a list of pod lifecycle events
	Transition = host.Transition // a state change of a container or pod sandbox
	Subject    = host.Subject    // a container or pod sandbox, as far as its records identify it
	History    = host.History    // a list of transitions
	Request    = host.Request    // one call logged by the runtime
	Requests   = host.Requests   // a list of requests
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
