package simulate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"reflect"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// merge walks the raw pods array of a line along that of the previous line: elements
// that are byte for byte the same are reused, others are decoded.
type merge struct {
	d       *SnapshotDecoder
	pos     parse.Pos
	raw     []byte // the array and whatever follows it
	elems   []element
	changes []change
	added   map[string]*entry // pods that the previous line did not list
	at      int               // index of the next old element
	index   map[string]int    // old elements by UID; built on first use
}

// run parses the array, which begins at byte base of its line, and returns its length.
func (m *merge) run(base int) (int, error) {
	s := scanner{b: m.raw}
	s.take('[')
	for first := true; !s.take(']'); first = false {
		if !first && !s.take(',') {
			return s.i, s.broken(base)
		}
		s.space()
		if n := m.same(s.i); n > 0 {
			s.i += n
			continue
		}
		start := s.i
		if !s.value() {
			return s.i, s.broken(base)
		}
		m.decode(start, s.i)
	}
	return s.i, nil
}

// same reuses as many old elements as match byte for byte at off, and returns how many
// bytes they span.
func (m *merge) same(off int) int {
	old := m.d.elems
	if m.at >= len(old) {
		return 0
	}
	from := old[m.at].off
	n := commonPrefix(m.raw[off:], m.d.prev[from:])
	k := sort.Search(len(old)-m.at, func(i int) bool { return old[m.at+i].end-from > n })
	if k == 0 {
		return 0
	}
	for _, e := range old[m.at : m.at+k] {
		m.add(e.off-from+off, e.end-from+off, e.pod)
	}
	m.at += k
	return old[m.at-1].end - from
}

// add appends an element. It returns false if the line has already listed the pod.
func (m *merge) add(off, end int, e *entry) bool {
	if e != nil && e.epoch == m.d.epoch {
		m.d.warn(m.pos, "pod %q is listed twice; the first counts", e.pod.UID)
		m.elems = append(m.elems, element{off: off, end: end})
		return false
	}
	if e != nil {
		e.epoch = m.d.epoch
	}
	m.elems = append(m.elems, element{off, end, e})
	return true
}

// change is a new state of a pod that is not applied yet.
type change struct {
	entry *entry
	pod   *pleg.Pod
}

// decode reads one element that differs, and advances in the old array to where both
// match again.
func (m *merge) decode(start, end int) {
	p := m.d.pod(m.raw[start:end], m.pos)
	if p == nil {
		m.add(start, end, nil)
		m.step(-1)
		return
	}
	e := cmp.Or(m.d.pods[p.UID], m.added[p.UID])
	if e == nil {
		e = &entry{pod: p}
		if m.added == nil {
			m.added = make(map[string]*entry)
		}
		m.added[p.UID] = e
		m.changes = append(m.changes, change{e, p})
		m.add(start, end, e)
		m.step(-1)
		return
	}
	m.step(m.find(p.UID))
	if m.add(start, end, e) && !reflect.DeepEqual(e.pod, p) {
		m.changes = append(m.changes, change{e, p})
	}
}

// step moves the old position behind old element i. -1 means that a new element was
// inserted, or replaced an old one that is gone.
func (m *merge) step(i int) {
	old := m.d.elems
	if i >= m.at {
		m.at = i + 1
	} else if i < 0 && m.at < len(old) && old[m.at].pod == nil {
		m.at++
	}
}

// find returns the index of a pod's old element, -1 if there is none.
func (m *merge) find(uid string) int {
	old := m.d.elems
	if m.at < len(old) && old[m.at].pod != nil && old[m.at].pod.pod.UID == uid {
		return m.at
	}
	if m.index == nil {
		m.index = make(map[string]int, len(old))
		for i := range old {
			if old[i].pod != nil {
				m.index[old[i].pod.pod.UID] = i
			}
		}
	}
	if i, ok := m.index[uid]; ok {
		return i
	}
	return -1
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+4096 <= n && bytes.Equal(a[i:i+4096], b[i:i+4096]); i += 4096 {
	}
	for ; i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]); i += 8 {
	}
	for ; i < n && a[i] == b[i]; i++ {
	}
	return i
}

// jsonPod is a pod of a snapshot line.
type jsonPod struct {
	UID        string     `json:"uid"`
	Name       string     `json:"name"`
	Namespace  string     `json:"namespace"`
	Sandboxes  []jsonItem `json:"sandboxes"`
	Containers []jsonItem `json:"containers"`
}

type jsonItem struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	State    string `json:"state"`
	ExitCode *int   `json:"exit_code,omitempty"`
}
