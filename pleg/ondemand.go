package pleg

// RequestReinspect flags a pod for inspection at its next relist, whether or
// not its state changes (1.36). A successful inspection without state change
// then sends PodSync.
func (m *Machine) RequestReinspect(uid string) {
	if !m.Has(ReinspectRequests) {
		return
	}
	if rec := m.records[uid]; rec != nil {
		m.again[uid] = rec.cur
	}
}

// RelistPod runs an on-demand relist of one pod (from 1.36), asked for at the time
// requested; pod is what listing by its uid gave. A pod that is gone is left to the
// next global relist (KEP-3386). It returns false, having done nothing, when a
// global relist has begun since the request or the version has no such relists. It
// moves neither LastSeen nor the cache's global freshness: workers of other pods
// stay blocked.
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
