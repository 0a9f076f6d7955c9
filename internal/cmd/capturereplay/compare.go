package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/pleg"
)

// score counts what agrees.
type score struct {
	relists, equal  int // relists, and those whose events agree entirely
	events, matched int // events that the kubelet generated, and those that the replay did too
	extra           int // events that only the replay generated
	discarded       int
	stream          int // events of the event stream, which no relist explains
	skipped         int // relists that their process did not survive
	differ          []string
}

func (s *score) add(o *score) {
	s.relists += o.relists
	s.equal += o.equal
	s.events += o.events
	s.matched += o.matched
	s.extra += o.extra
	s.discarded += o.discarded
	s.skipped += o.skipped
	s.stream += o.stream
}

func (s *score) String() string {
	return fmt.Sprintf("relists %d/%d equal, events %d/%d (%.2f%%), %d extra, %d discarded by the kubelet, %d from the event stream",
		s.equal, s.relists, s.matched, s.events, 100*float64(s.matched)/float64(max(s.events, 1)), s.extra, s.discarded, s.stream)
}

// compare replays a capture and holds it against the recorded events.
func compare(c *capture) *score {
	s := &score{stream: c.stream}
	p, err := pleg.New(c.version)
	if err != nil {
		panic(err) // the version is a folder name that readCapture checked
	}
	p.Capacity = 1 << 30 // what the channel dropped was generated all the same
	w := &world{c: c, pods: make(map[string]*content), names: make(map[string][]string)}
	var m *pleg.Machine
	next := 0
	for i := range c.relists {
		r := &c.relists[i]
		if next < len(c.starts) && r.begin >= c.starts[next] || m == nil {
			for next < len(c.starts) && r.begin >= c.starts[next] {
				next++
			}
			m = pleg.NewMachine(p) // a new process knows nothing
			w.forget()
		}
		if r.end == 0 {
			s.skipped++ // the process ended in the middle
			continue
		}
		l := w.listing(r)
		got := m.Relist(l)
		s.judge(r, got.Events)
	}
	return s
}

// judge compares the events of one relist, per pod in order.
func (s *score) judge(r *relist, events []pleg.Event) {
	want, got := make(map[string]int), make(map[string]int)
	for _, e := range r.events {
		want[e.pod+" "+e.kind+" "+e.id]++
		if !e.sent {
			s.discarded++
		}
	}
	for _, e := range events {
		if !e.Filtered() {
			got[e.Pod+" "+string(e.Type)+" "+e.Data]++
		}
	}
	s.relists++
	same := true
	for k, n := range want {
		s.events += n
		m := min(n, got[k])
		s.matched += m
		if m < n {
			same = false
			s.note(r, "only the kubelet: "+k)
		}
	}
	for k, n := range got {
		if d := n - want[k]; d > 0 {
			s.extra += d
			same = false
			s.note(r, "only the replay: "+k)
		}
	}
	if same && ordered(r, events) {
		s.equal++
	} else if same {
		s.note(r, "another order within a pod")
	}
}

func (s *score) note(r *relist, what string) {
	if len(s.differ) < 20 {
		s.differ = append(s.differ, fmt.Sprintf("relist of %s: %s", clock(r.begin), what))
	}
}

// ordered reports whether the events of each pod come in the same order. The
// order of the ids in a listing is the runtime's and is not recorded, so that
// only events of one id are held to their order.
func ordered(r *relist, events []pleg.Event) bool {
	seq := make(map[string][]string)
	for _, e := range r.events {
		seq[e.pod+" "+e.id] = append(seq[e.pod+" "+e.id], e.kind)
	}
	for _, e := range events {
		if e.Filtered() {
			continue
		}
		k := e.Pod + " " + e.Data
		if len(seq[k]) == 0 || seq[k][0] != string(e.Type) {
			return false
		}
		seq[k] = seq[k][1:]
	}
	return true
}

// world is the runtime's content through time.
type world struct {
	c     *capture
	next  int // next change
	pods  map[string]*content
	names map[string][]string // pod ns/name -> uids
	known map[string]bool     // uids of the last listing
	dirty map[string]bool
	calls int
}

// content is one pod: its objects in the order of creation, with the state
// now and the one before the last change.
type content struct{ items []*change }

func (w *world) forget() {
	w.known, w.dirty = make(map[string]bool), make(map[string]bool)
	for uid := range w.pods {
		w.dirty[uid] = true
	}
}

// listing rebuilds what the relist's list calls returned: sandboxes as of the
// answer of ListPodSandbox, containers as of that of ListContainers.
func (w *world) listing(r *relist) pleg.Listing {
	l := pleg.Listing{Start: r.begin, Err: r.err}
	sandboxes, containers := w.answers(r)
	// Sandboxes are listed first: a sandbox that changed in between is seen
	// as it was, a container as it is.
	late := w.upTo(sandboxes, containers)
	if r.err != "" {
		w.finish(late)
		return l
	}
	failed := w.failures(r)
	l.Inspect = func(uid string) pleg.Inspection { return pleg.Inspection{Err: failed[uid]} }
	for uid := range w.dirty {
		p := w.pods[uid].pod(uid)
		switch {
		case p != nil:
			l.Changed = append(l.Changed, p)
			w.known[uid] = true
		case w.known[uid]:
			l.Gone = append(l.Gone, uid)
			delete(w.known, uid)
		}
	}
	clear(w.dirty)
	w.finish(late)
	return l
}

// answers finds when the relist's list calls were answered: the first
// unfiltered ones that began after it did.
func (w *world) answers(r *relist) (sandboxes, containers int64) {
	calls := w.c.calls
	for w.calls < len(calls) && calls[w.calls].start < r.begin {
		w.calls++
	}
	for i := w.calls; i < len(calls) && calls[i].start <= r.end; i++ {
		switch x := &calls[i]; {
		case x.rpc == "ListPodSandbox" && x.target == "" && sandboxes == 0:
			sandboxes = x.end
		case x.rpc == "ListContainers" && x.target == "filter={}" && sandboxes != 0 && x.start >= sandboxes:
			return sandboxes, x.end
		}
	}
	return max(sandboxes, r.begin), max(sandboxes, r.begin)
}

// failures are the pods whose status calls failed for the relist.
func (w *world) failures(r *relist) map[string]string {
	out := make(map[string]string)
	for i := w.calls; i < len(w.c.calls) && w.c.calls[i].start <= r.end; i++ {
		x := &w.c.calls[i]
		status := x.rpc == "PodSandboxStatus" || x.rpc == "ContainerStatus"
		if !status || x.err == "" || strings.Contains(x.err, "NotFound") || x.end > r.end+int64(5e6) {
			continue
		}
		ns, rest, _ := strings.Cut(x.target, "/")
		name, _, _ := strings.Cut(rest, "/")
		for _, uid := range w.names[ns+"/"+name] {
			out[uid] = x.err
		}
	}
	return out
}

// upTo applies the changes up to the answer of the container list, those of
// sandboxes only up to the answer of theirs; it returns the ones held back.
func (w *world) upTo(sandboxes, containers int64) []*change {
	var late []*change
	for ; w.next < len(w.c.changes) && w.c.changes[w.next].at <= containers; w.next++ {
		x := &w.c.changes[w.next]
		if x.sandbox && x.at > sandboxes {
			late = append(late, x)
			continue
		}
		w.apply(x)
	}
	return late
}

func (w *world) finish(late []*change) {
	for _, x := range late {
		w.apply(x)
	}
}

func (w *world) apply(x *change) {
	c := w.pods[x.uid]
	if c == nil {
		c = &content{}
		w.pods[x.uid] = c
		w.names[x.pod] = append(w.names[x.pod], x.uid)
	}
	w.dirty[x.uid] = true
	i := slices.IndexFunc(c.items, func(y *change) bool { return y.id == x.id })
	switch {
	case x.state == "" && i >= 0:
		c.items = slices.Delete(slices.Clone(c.items), i, i+1)
	case x.state == "":
	case i >= 0:
		c.items = slices.Clone(c.items)
		c.items[i] = x
	default:
		c.items = append(c.items, x)
	}
}

// pod is the content as a listing shows it, nil when nothing is left.
func (c *content) pod(uid string) *pleg.Pod {
	if len(c.items) == 0 {
		return nil
	}
	p := &pleg.Pod{UID: uid}
	for _, x := range c.items {
		st, _ := pleg.RawState(x.state)
		it := pleg.Item{ID: x.id, Name: x.name, State: st, ExitCode: x.exit}
		if x.sandbox {
			p.Sandboxes = append(p.Sandboxes, it)
		} else {
			p.Containers = append(p.Containers, it)
		}
	}
	return p
}
