package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
)

// world is the node: what the runtime would list, and what changed since the last
// listing.
type world struct {
	s    *Spec
	draw draw
	pods []*pod
	// coming holds the pods that do not exist yet, by index of New.
	coming [][]*pod
	made   int // container instances created so far, for their IDs

	restarts int    // restarts made
	burst    bool   // Changed has happened
	hung     []bool // by index of Hangs: its pod has changed
}

// draw is a uniform random number generator (splitmix64), so that numbers depend only
// on the seed.
type draw uint64

// below returns a number from 0 to n-1.
func (d *draw) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// pod is a pod of the node.
type pod struct {
	uid, ns, name string
	live          []item // current instance of each container
	dead          []item // previous instances of restarted containers
	down          bool   // all containers exited and the kubelet has not restarted them yet
	dirty         bool   // differs from the last listing
}

type item struct {
	id     string
	exited bool
}

// newWorld creates the pods. The first ones get the names of those that hang.
func newWorld(s *Spec) *world {
	w := &world{s: s, draw: draw(s.Seed), hung: make([]bool, len(s.Hangs))}
	var named []string
	for _, h := range s.Hangs {
		if !h.List && !slices.Contains(named, h.Pod) {
			named = append(named, h.Pod)
		}
	}
	for i := range s.pods() {
		p := &pod{ns: "default", name: fmt.Sprintf("pod-%d", i+1), dirty: true}
		if i < len(named) {
			p.ns, p.name, _ = strings.Cut(named[i], "/")
		}
		p.uid = p.ns + "/" + p.name // readable in the output
		for range s.Containers {
			p.live = append(p.live, w.instance())
		}
		w.pods = append(w.pods, p)
	}
	from := s.Pods
	for _, b := range s.New {
		w.coming = append(w.coming, w.pods[from:from+b.Pods])
		from += b.Pods
	}
	w.pods = slices.Clip(w.pods[:s.Pods])
	return w
}

func (w *world) instance() item {
	w.made++
	return item{id: "c" + strconv.Itoa(w.made)}
}

// advance applies what happens up to a time since the start.
func (w *world) advance(to time.Duration) {
	for due := int(w.s.Churn * to.Seconds()); w.restarts < due; w.restarts++ {
		p := w.pods[w.draw.below(len(w.pods))]
		if !p.down {
			w.restart(p, w.draw.below(len(p.live)))
		}
	}
	if !w.burst && w.s.Changed.Pods > 0 && to >= w.s.Changed.At {
		w.burst = true
		for _, p := range w.pods[w.s.Pods-w.s.Changed.Pods : w.s.Pods] {
			for i := range p.live {
				p.live[i].exited = true
			}
			p.down, p.dirty = true, true
		}
	}
	for i, b := range w.s.New {
		if to >= b.At {
			w.pods, w.coming[i] = append(w.pods, w.coming[i]...), nil
		}
	}
	for i, h := range w.s.Hangs {
		if !w.hung[i] && !h.List && to >= h.At { // only a changed pod is inspected
			w.hung[i] = true
			for _, p := range w.pods {
				if p.ns+"/"+p.name == h.Pod && !p.down {
					w.restart(p, 0)
				}
			}
		}
	}
}

// restart replaces a container instance by a new one. The kubelet keeps one dead
// instance.
func (w *world) restart(p *pod, i int) {
	old := p.live[i]
	old.exited = true
	for len(p.dead) <= i {
		p.dead = append(p.dead, item{})
	}
	p.dead[i], p.live[i], p.dirty = old, w.instance(), true
}

// revive restarts the containers of pods whose exit PLEG has reported, as the kubelet
// does.
func (w *world) revive(told map[string]bool) {
	for _, p := range w.pods {
		if p.down && told[p.uid] {
			p.down = false
			for i := range p.live {
				w.restart(p, i)
			}
		}
	}
}

// list returns the pods that differ from the last listing.
func (w *world) list() []*pleg.Pod {
	var out []*pleg.Pod
	for _, p := range w.pods {
		if !p.dirty {
			continue
		}
		p.dirty = false
		out = append(out, p.sighting())
	}
	return out
}

func (p *pod) sighting() *pleg.Pod {
	out := &pleg.Pod{UID: p.uid, Namespace: p.ns, Name: p.name, Sandboxes: []pleg.Item{{ID: "s-" + p.uid, State: pleg.RawRunning}}}
	for _, items := range [][]item{p.live, p.dead} {
		for i, it := range items {
			if it.id == "" {
				continue
			}
			state := pleg.RawRunning
			if it.exited {
				state = pleg.RawExited
			}
			out.Containers = append(out.Containers, pleg.Item{ID: it.id, Name: "c-" + strconv.Itoa(i+1), State: state})
		}
	}
	return out
}

// calls draws the total duration of n calls at a time since the start. A call that
// would reach the timeout fails with it, and no other follows.
func (w *world) calls(l Latency, n int, at, timeout time.Duration) (sum time.Duration, failed bool) {
	for range n {
		d := l.Lo
		if l.Hi > l.Lo {
			d += time.Duration(w.draw.below(int(l.Hi-l.Lo) + 1))
		}
		if at >= w.s.LoadAt {
			d = time.Duration(float64(d) * w.s.Load)
		}
		if d >= timeout {
			return sum + timeout, true
		}
		sum += d
	}
	return sum, false
}

// hanging returns for how long the list calls (p is nil), or the status calls of a pod,
// still do not answer at a time since the start.
func (w *world) hanging(p *pleg.Pod, at time.Duration) time.Duration {
	var left time.Duration
	for _, h := range w.s.Hangs {
		if h.List == (p == nil) && (h.List || h.Pod == p.FullName()) && at >= h.At && at < h.At+h.For {
			left = max(left, h.At+h.For-at)
		}
	}
	return left
}
