package pleg

// Status is an entry of the pod status cache, as far as the model needs it.
type Status struct {
	IPs        []string
	Containers int    // number of container statuses
	Err        string // error of the inspection that produced it, "" for none
	Modified   int64  // Unix ns
	pod        *Pod
}

// Pod returns the sighting that the status is based on, nil after a failed
// inspection.
func (s *Status) Pod() *Pod { return s.pod }

// Cache is the pod status cache (pkg/kubelet/container/cache.go).
type Cache struct {
	status map[string]*Status
	// Fresh is the global freshness, in Unix ns: every pod's status is at least
	// this new. Pod workers that wait for a newer status wake up when it advances.
	Fresh int64
}

// Get returns the cached status of a pod, nil if there is none.
func (c *Cache) Get(uid string) *Status { return c.status[uid] }

// set stores a status. If orderly is set (evented PLEG), a status older than the
// cached one is refused and set returns false.
func (c *Cache) set(uid string, s *Status, orderly bool) bool {
	if old := c.status[uid]; orderly && old != nil && s.Modified < old.Modified {
		return false
	}
	if c.status == nil {
		c.status = make(map[string]*Status)
	}
	c.status[uid] = s
	return true
}

func (c *Cache) delete(uid string) { delete(c.status, uid) }

// Inspection is the outcome of inspecting one pod (GetPodStatus and its CRI calls).
// The zero Inspection is a success without IPs.
type Inspection struct {
	Err      string
	Seconds  float64 // duration, valid if Timed
	Timed    bool
	IPs      []string // pod IPs in the sandbox statuses
	Modified int64    // timestamp of the runtime (evented PLEG), Unix ns; 0: use the relist's
}

// statusOf converts an inspection into a cache entry. Like the kubelet (getPodIPs
// in generic.go) it keeps the cached IPs if the fresh status has none and no
// sandbox is ready. A failed inspection gives an empty status, and a cached error
// provides no IPs.
func statusOf(p *Profile, pod *Pod, in Inspection, cached *Status, now int64) *Status {
	s := &Status{Err: in.Err, Modified: in.Modified}
	if s.Modified == 0 {
		s.Modified = now
	}
	if in.Err != "" {
		return s
	}
	s.pod, s.Containers, s.IPs = pod, len(pod.Containers), in.IPs
	if len(s.IPs) == 0 && cached != nil && cached.Err == "" && keepsIPs(p, pod) {
		s.IPs = cached.IPs
	}
	return s
}

// keepsIPs reports whether a status without IPs inherits the cached ones. Up to
// 1.17, a pod without sandbox statuses does not if one of its containers is created
// or running (the rkt clause of isPodRunning).
func keepsIPs(p *Profile, pod *Pod) bool {
	for i := range pod.Sandboxes {
		if pod.Sandboxes[i].State == RawRunning {
			return false
		}
	}
	if !p.Has(RocketClause) || len(pod.Sandboxes) > 0 {
		return true
	}
	for i := range pod.Containers {
		if st := pod.Containers[i].State; st == RawCreated || st == RawRunning {
			return false
		}
	}
	return true
}
