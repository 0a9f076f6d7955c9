package pleg

// Status is a pod status in the pod cache, as far as the model needs it.
type Status struct {
	IPs        []string
	Containers int    // container statuses it holds
	Err        string // error of the inspection that gave it
	Modified   int64  // Unix ns
	pod        *Pod
}

// Pod is the sighting that the status was taken from, nil for an error.
func (s *Status) Pod() *Pod { return s.pod }

// Cache is the pod status cache (pkg/kubelet/container/cache.go).
type Cache struct {
	status map[string]*Status
	// Fresh is the global freshness: every pod's status is at least this
	// new. Pod workers that wait for a newer status wake up when it moves.
	Fresh int64
}

// Get returns the cached status of a pod, nil if there is none.
func (c *Cache) Get(uid string) *Status { return c.status[uid] }

// set stores a status. With orderly on (evented PLEG), a status older than
// the cached one is refused; set then returns false.
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

// Inspection is the outcome of inspecting one pod (GetPodStatus and the CRI
// calls under it). The zero Inspection succeeded and stated nothing.
type Inspection struct {
	Err      string
	Seconds  float64 // how long it took; meaningful when Timed
	Timed    bool
	IPs      []string // IPs that the sandbox statuses state
	Modified int64    // runtime's time stamp under evented PLEG, 0: the relist's
}

// statusOf turns an inspection into a cache entry and preserves the pod's IPs
// where the kubelet does (getPodIPs in generic.go): when the fresh status has
// none and no sandbox is ready, the cached ones stay. A failed inspection
// leaves an empty status, and an error in the cache gives no IPs back.
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

// keepsIPs says whether a status without IPs takes over the cached ones. Up
// to 1.17 a pod without any sandbox status does not while one of its
// containers is created or running (isPodRunning's rkt clause).
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
