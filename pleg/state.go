package pleg

import "strings"

// State is the state of a container or pod sandbox as used by the diff
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

// Raw is a state as listed by the runtime. Unlike State it distinguishes created
// from unknown, which the running_containers gauge needs.
type Raw uint8

// Raw states. The zero value is RawUnknown, since the CRI conversion maps every
// unrecognized state to unknown.
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

// State converts a raw state into that of the diff (convertState in generic.go).
func (r Raw) State() State {
	switch r {
	case RawRunning:
		return Running
	case RawExited:
		return Exited
	}
	return Unknown
}

// rawNames maps the state names of CRI, crictl, docker, podman and the kubelet.
// Sandboxes are ready or notready; the kubelet maps these to running and exited
// (sandboxToContainerState in pkg/kubelet/kuberuntime/helpers.go).
var rawNames = map[string]Raw{
	"created": RawCreated, "running": RawRunning, "exited": RawExited, "unknown": RawUnknown,
	"ready": RawRunning, "notready": RawExited,
	"container_created": RawCreated, "container_running": RawRunning,
	"container_exited": RawExited, "container_unknown": RawUnknown,
	"sandbox_ready": RawRunning, "sandbox_notready": RawExited,
}

// RawState returns the state with a name, regardless of case. For an unknown name
// it returns RawUnknown, as the kubelet does, and false.
func RawState(name string) (Raw, bool) {
	r, ok := rawNames[name]
	if !ok {
		r, ok = rawNames[strings.ToLower(name)]
	}
	return r, ok
}
