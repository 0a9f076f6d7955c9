package pleg

// EventType is the type of a pod lifecycle event.
type EventType string

// Event types. ContainerChanged makes a pod "have events" but is filtered:
// the kubelet neither sends nor counts it. ConditionMet exists in 1.32–1.35,
// PodSync from 1.36.
const (
	ContainerStarted EventType = "ContainerStarted"
	ContainerDied    EventType = "ContainerDied"
	ContainerRemoved EventType = "ContainerRemoved"
	ContainerChanged EventType = "ContainerChanged"
	PodSync          EventType = "PodSync"
	ConditionMet     EventType = "ConditionMet"
)

// Event is one pod lifecycle event. Data is the id of the container or
// sandbox in every version, empty for PodSync and ConditionMet.
type Event struct {
	Pod       string // pod uid
	Type      EventType
	Data      string
	Delivered bool // false: filtered, or discarded because the channel was full
	ExitCode  *int // of a ContainerDied whose fresh status names it, for the "container finished" line
}

// Filtered reports whether the kubelet keeps the event to itself.
func (e Event) Filtered() bool { return e.Type == ContainerChanged }

// transitions[old][new] lists the events of a state change (generateEvents in
// generic.go; the same from 1.10 to 1.36).
var transitions = [numStates][numStates][]EventType{
	NonExistent: {Running: {ContainerStarted}, Exited: {ContainerDied}, Unknown: {ContainerChanged}},
	Running:     {NonExistent: {ContainerDied, ContainerRemoved}, Exited: {ContainerDied}, Unknown: {ContainerChanged}},
	Exited:      {NonExistent: {ContainerRemoved}, Running: {ContainerStarted}, Unknown: {ContainerChanged}},
	Unknown:     {NonExistent: {ContainerDied, ContainerRemoved}, Running: {ContainerStarted}, Exited: {ContainerDied}},
}

// Transition returns the event types that a change from old to new generates,
// in order. The result is shared: do not change it.
func Transition(old, new State) []EventType {
	if old == new {
		return nil
	}
	return transitions[old%numStates][new%numStates]
}
