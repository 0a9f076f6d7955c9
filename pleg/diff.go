package pleg

// Item is a container or pod sandbox in a listing.
type Item struct {
	ID       string
	Name     string // container name, empty for sandboxes
	State    Raw
	ExitCode *int
}

// Pod is one pod as seen in a listing. It must not be changed after it was passed
// to a Machine.
type Pod struct {
	UID, Name, Namespace string
	Containers           []Item
	Sandboxes            []Item
}

// FullName returns "namespace/name", or the UID of a pod without a name.
func (p *Pod) FullName() string {
	if p.Name == "" {
		return p.UID
	}
	return p.Namespace + "/" + p.Name
}

// find returns the item with an id, containers before sandboxes (getContainerState
// in generic.go); nil if there is none.
func (p *Pod) find(id string) *Item {
	if p == nil {
		return nil
	}
	for i := range p.Containers {
		if p.Containers[i].ID == id {
			return &p.Containers[i]
		}
	}
	for i := range p.Sandboxes {
		if p.Sandboxes[i].ID == id {
			return &p.Sandboxes[i]
		}
	}
	return nil
}

// state returns the state of an id in p, NonExistent if p does not have it.
func (p *Pod) state(id string) State {
	if it := p.find(id); it != nil {
		return it.State.State()
	}
	return NonExistent
}

// Diff returns the events between two sightings of one pod; nil is an absent pod.
// The order is that of the kubelet: ids of old containers, old sandboxes, new
// containers, new sandboxes, each id once (getContainersFromPods and computeEvents
// in generic.go).
func Diff(old, cur *Pod) []Event {
	n := old.size() + cur.size()
	if n == 0 || old == cur {
		return nil
	}
	uid := uidOf(old, cur)
	if n > smallPod {
		return diffLarge(uid, old, cur, n)
	}
	var events []Event
	var buf [smallPod]string
	seen := buf[:0]
	eachID(old, cur, func(id string) {
		for _, s := range seen {
			if s == id {
				return
			}
		}
		seen = append(seen, id)
		events = appendEvents(events, uid, id, old.state(id), cur.state(id))
	})
	return events
}

// smallPod is the number of ids up to which a linear scan is faster than a map.
const smallPod = 32

// diffLarge is Diff for pods with many containers. It uses maps, so that a hostile
// listing with 100,000 containers in one pod takes linear time.
func diffLarge(uid string, old, cur *Pod, n int) []Event {
	was, is := old.states(), cur.states()
	var events []Event
	seen := make(map[string]struct{}, n)
	eachID(old, cur, func(id string) {
		if _, dup := seen[id]; dup {
			return
		}
		seen[id] = struct{}{}
		events = appendEvents(events, uid, id, was[id], is[id])
	})
	return events
}

func appendEvents(events []Event, uid, id string, old, new State) []Event {
	for _, t := range Transition(old, new) {
		events = append(events, Event{Pod: uid, Type: t, Data: id})
	}
	return events
}

func eachID(old, cur *Pod, do func(id string)) {
	for _, p := range [...]*Pod{old, cur} {
		if p == nil {
			continue
		}
		for i := range p.Containers {
			do(p.Containers[i].ID)
		}
		for i := range p.Sandboxes {
			do(p.Sandboxes[i].ID)
		}
	}
}

// states returns the states of all ids, with the precedence of find.
func (p *Pod) states() map[string]State {
	if p == nil {
		return nil
	}
	m := make(map[string]State, p.size())
	for _, items := range [...][]Item{p.Containers, p.Sandboxes} {
		for i := range items {
			if _, ok := m[items[i].ID]; !ok {
				m[items[i].ID] = items[i].State.State()
			}
		}
	}
	return m
}

func (p *Pod) size() int {
	if p == nil {
		return 0
	}
	return len(p.Containers) + len(p.Sandboxes)
}

func uidOf(old, cur *Pod) string {
	if old != nil {
		return old.UID
	}
	return cur.UID
}
