package pleg

// RequestReinspect marks a pod for inspection at its next relist even if its state
// does not change (1.36). A successful inspection without a state change then sends
// PodSync.
func (m *Machine) RequestReinspect(uid string) {
	if !m.Has(ReinspectRequests) {
		return
	}
	if rec := m.records[uid]; rec != nil {
		m.again[uid] = rec.cur
	}
}

// RelistPod runs an on-demand relist of one pod (from 1.36). requested is the time
// of the request, pod the result of listing by its UID; a pod that is gone (nil) is
// left to the next global relist (KEP-3386). RelistPod does nothing and returns
// false if a global relist has begun since the request or the version has no
// on-demand relists. It advances neither LastSeen nor the cache's global freshness,
// so workers of other pods remain blocked.
func (m *Machine) RelistPod(uid string, requested, now int64, pod *Pod, in Inspection) (Result, bool) {
	if !m.Has(OnDemandRelist) || requested <= m.LastSeen {
		return Result{}, false
	}
	if pod == nil {
		return Result{}, true
	}
	l := Listing{Start: now, Inspect: func(string) Inspection { return in }}
	m.sight(uid, pod)
	r := relist{m: m, l: &l, failed: make(map[string]*Pod)}
	r.pod(uid)
	if p, failed := r.failed[uid]; failed {
		m.again[uid] = p
	}
	r.out.Reinspect = sortedKeys(m.again)
	return r.out, true
}
