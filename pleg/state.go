package pleg

import "strings"

// State is the state of a container or pod sandbox as the diff sees it
// (plegContainerState in pkg/kubelet/pleg/generic.go). The zero State is
// NonExistent: not in the listing.
type State uint8

// States. A created container is Unknown to the diff.
const (
	NonExistent State = iota
	Running
	Exited
	Unknown
	numStates = 4
)

func (s State) String() string {
	return [...]string{"non-existent", "running", "exited", "unknown"}[s%numStates]
}

// Raw is a state as the runtime lists it, before the diff folds it. It keeps
// created apart from unknown, which the running_containers gauge needs.
type Raw uint8

// Raw states. The zero value is RawUnknown, as every state that the CRI
// conversion does not know becomes unknown.
const (
	RawUnknown Raw = iota
	RawCreated
	RawRunning
	RawExited
	numRaw = 4
)

func (r Raw) String() string {
	return [...]string{"unknown", "created", "running", "exited"}[r%numRaw]
}

// State folds a raw state into the diff's (convertState in generic.go).
func (r Raw) State() State {
	switch r {
	case RawRunning:
		return Running
	case RawExited:
		return Exited
	}
	return Unknown
}

// rawNames spells the states as CRI, crictl, docker, podman and the kubelet
// do. Sandboxes are ready or notready; the kubelet maps these to running and
// exited (sandboxToContainerState in pkg/kubelet/kuberuntime/helpers.go).
var rawNames = map[string]Raw{
	"created": RawCreated, "running": RawRunning, "exited": RawExited, "unknown": RawUnknown,
	"ready": RawRunning, "notready": RawExited,
	"container_created": RawCreated, "container_running": RawRunning,
	"container_exited": RawExited, "container_unknown": RawUnknown,
	"sandbox_ready": RawRunning, "sandbox_notready": RawExited,
}

// RawState reads a state by name, whatever its case. It reports false for a
// name that it does not know; such a state is RawUnknown, as in the kubelet.
func RawState(name string) (Raw, bool) {
	r, ok := rawNames[name]
	if !ok {
		r, ok = rawNames[strings.ToLower(name)]
	}
	return r, ok
}
