package pleg

// Condition reports, given a fresh pod status, whether what a pod worker waits for
// has happened (WatchCondition, 1.32–1.35).
type Condition func(*Status) bool

// watch is a condition and how often it was replaced: a condition that replaces
// itself while being evaluated must survive that evaluation.
type watch struct {
	cond    Condition
	version int
}

// SetWatch registers a condition on a pod under a key, replacing any with the same
// key. It does nothing in versions without watch conditions.
func (m *Machine) SetWatch(uid, key string, cond Condition) {
	if !m.Has(WatchConditions) {
		return
	}
	if m.watch == nil {
		m.watch = make(map[string]map[string]*watch)
	}
	if m.watch[uid] == nil {
		m.watch[uid] = make(map[string]*watch)
	}
	version := 0
	if old := m.watch[uid][key]; old != nil {
		version = old.version + 1
	}
	m.watch[uid][key] = &watch{cond, version}
}

// Watches returns the versions of the conditions on a pod by key.
func (m *Machine) Watches(uid string) map[string]int {
	out := make(map[string]int, len(m.watch[uid]))
	for k, w := range m.watch[uid] {
		out[k] = w.version
	}
	return out
}

// evaluate runs the conditions of a pod, removes those that hold, and reports
// whether any did.
func (m *Machine) evaluate(uid string, s *Status) bool {
	if s == nil || len(m.watch[uid]) == 0 {
		return false
	}
	var done []string
	versions := m.Watches(uid)
	for _, key := range sortedKeys(m.watch[uid]) {
		if m.watch[uid][key].cond(s) {
			done = append(done, key)
		}
	}
	for _, key := range done {
		if w := m.watch[uid][key]; w != nil && w.version == versions[key] {
			delete(m.watch[uid], key)
		}
	}
	if len(m.watch[uid]) == 0 {
		delete(m.watch, uid)
	}
	return len(done) > 0
}
