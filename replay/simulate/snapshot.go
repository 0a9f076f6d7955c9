package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// Snapshot is one recorded relist of schema plegforensics/snapshots/v1, as the changes
// from the previous listing.
type Snapshot struct {
	Pos     parse.Pos
	At      int64         // Unix ns: start of the relist
	Next    int64         // start of the next one; 0 if unknown
	List    time.Duration // duration of the list calls; -1 unstated
	ListErr string
	Changed []*pleg.Pod
	Gone    []string // UIDs, sorted
	Inspect map[string]InspectOutcome
	Drained bool // the sync loop emptied the channel after this relist
	// Pods is the number of pods listed, after a failed listing that of the last good
	// one; -1 unknown.
	Pods    int
	Undated bool // no time: At gives only the order
	// Proof is what a log proves about the relist, nil for a recorded one.
	Proof *Proof
}

// InspectOutcome is the result of inspecting one pod.
type InspectOutcome struct {
	Took time.Duration // -1 unstated
	Err  string
}

// SnapshotDecoder reads consecutive snapshot lines. A line usually repeats the previous
// listing almost byte for byte; only pods whose text differs are decoded, so a line
// costs a memory comparison plus its changes. The zero value is ready to use.
type SnapshotDecoder struct {
	// Warnings are the problems found so far, oldest first. The caller may take them
	// and set the field to nil.
	Warnings []parse.Warning

	prev  []byte    // raw text of the last good "pods" array
	elems []element // its elements
	pods  map[string]*entry
	owner map[string]string // container or sandbox ID -> UID of the last pod that listed it
	epoch int
	last  int64 // time of the last valid line
}

// element is one element of the raw pods array.
type element struct {
	off, end int
	pod      *entry // nil for an element that is unusable or a repeated pod
}

// entry is one pod of the current listing.
type entry struct {
	pod   *pleg.Pod
	epoch int // SnapshotDecoder.epoch of the last line that lists the pod
}

// line holds the raw top-level values of one snapshot line.
type line struct {
	values map[string][]byte // by key
	merge  *merge            // difference of pods from the previous line; nil if there is none
}

// Decode reads one line. It returns nil for a line that cannot be replayed, with a
// warning unless it is blank. It does not retain text.
func (d *SnapshotDecoder) Decode(text []byte, pos parse.Pos) *Snapshot {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return nil
	}
	s := &Snapshot{Pos: pos, List: -1, Drained: true}
	if err := d.read(s, text); err != nil {
		d.warn(pos, "%v; line skipped", err)
		return nil
	}
	return s
}

func (d *SnapshotDecoder) read(s *Snapshot, text []byte) error {
	l, err := d.split(text, s.Pos)
	if err != nil {
		return err
	}
	if err := d.scalars(s, l); err != nil {
		return err
	}
	if s.At < d.last {
		return fmt.Errorf("time %s lies before that of the line above", time.Unix(0, s.At).UTC().Format(time.RFC3339Nano))
	}
	if s.ListErr == "" {
		if err := d.listing(s, &l); err != nil {
			return err
		}
	}
	d.inspections(s, l.values["inspect"])
	d.last = s.At
	s.Pods = len(d.pods)
	return nil
}

func (d *SnapshotDecoder) warn(pos parse.Pos, format string, args ...any) {
	if len(d.Warnings) < maxSnapshotWarnings {
		d.Warnings = append(d.Warnings, parse.Warning{Pos: pos, Msg: fmt.Sprintf(format, args...)})
	} else if len(d.Warnings) == maxSnapshotWarnings {
		d.Warnings = append(d.Warnings, parse.Warning{Pos: pos, Msg: "further problems of this file are not listed"})
	}
}

// maxSnapshotWarnings bounds the memory that a malicious file can use.
const maxSnapshotWarnings = 1000

// split finds the values of the top-level keys. A pods array that repeats the previous
// one is skipped at the speed of a memory comparison.
func (d *SnapshotDecoder) split(text []byte, pos parse.Pos) (line, error) {
	l := line{values: map[string][]byte{}}
	s := scanner{b: text}
	if !s.take('{') {
		return l, fmt.Errorf("not a JSON object")
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return l, s.broken(0)
		}
		key, ok := s.str()
		if !ok || !s.take(':') {
			return l, s.broken(0)
		}
		s.space()
		start := s.i
		if string(key) == "pods" {
			if err := d.passPods(&s, &l, pos); err != nil {
				return l, err
			}
		} else if !s.value() {
			return l, s.broken(0)
		}
		l.values[string(key)] = text[start:s.i]
	}
	if s.space(); s.i < len(text) {
		return l, fmt.Errorf("text after the JSON object")
	}
	return l, nil
}

// passPods skips the value of "pods" and compares it with that of the previous line.
func (d *SnapshotDecoder) passPods(s *scanner, l *line, pos parse.Pos) error {
	rest := s.b[s.i:]
	l.merge = nil
	switch {
	case len(d.prev) > 0 && bytes.HasPrefix(rest, d.prev):
		s.i += len(d.prev)
		return nil
	case len(rest) == 0 || rest[0] != '[':
		if !s.value() {
			return s.broken(0)
		}
		return nil
	}
	d.epoch++
	l.merge = &merge{d: d, pos: pos, raw: rest, elems: make([]element, 0, len(d.elems)+8)}
	n, err := l.merge.run(s.i)
	s.i += n
	return err
}

// scalars decodes all values except pods and inspect.
func (d *SnapshotDecoder) scalars(s *Snapshot, l line) error {
	var stamp string
	if at := l.values["time"]; at == nil || json.Unmarshal(at, &stamp) != nil {
		return fmt.Errorf("no time")
	}
	t, err := parse.ParseTime(time.RFC3339Nano, stamp)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return fmt.Errorf("time %q is not RFC 3339", stamp)
	}
	s.At = t.UnixNano()
	if raw := l.values["list_seconds"]; present(raw) {
		var v float64
		if json.Unmarshal(raw, &v) != nil || !validSeconds(v) {
			d.warn(s.Pos, "list_seconds is not a number of seconds; ignored")
		} else {
			s.List = fromSeconds(v)
		}
	}
	if raw := l.values["list_error"]; present(raw) && json.Unmarshal(raw, &s.ListErr) != nil {
		return fmt.Errorf("list_error is not a string")
	}
	if raw := l.values["drained"]; present(raw) && json.Unmarshal(raw, &s.Drained) != nil {
		d.warn(s.Pos, "drained is not true or false; taken as true")
		s.Drained = true
	}
	if s.ListErr == "" && !present(l.values["pods"]) {
		return fmt.Errorf("neither pods nor list_error")
	}
	return nil
}

func present(raw []byte) bool { return raw != nil && !bytes.Equal(raw, []byte("null")) }

// validSeconds reports whether v is a plausible duration in seconds, at most a year.
func validSeconds(v float64) bool { return v >= 0 && v < 366*86400 }

func fromSeconds(v float64) time.Duration { return time.Duration(v*1e9 + 0.5) }

func (d *SnapshotDecoder) inspections(s *Snapshot, raw []byte) {
	if !present(raw) {
		return
	}
	var m map[string]struct {
		Seconds *float64 `json:"seconds"`
		Error   string   `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		d.warn(s.Pos, "inspect cannot be read: %v; ignored", err)
		return
	}
	s.Inspect = make(map[string]InspectOutcome, len(m))
	for uid, v := range m {
		o := InspectOutcome{Took: -1, Err: v.Error}
		if v.Seconds != nil && validSeconds(*v.Seconds) {
			o.Took = fromSeconds(*v.Seconds)
		}
		s.Inspect[uid] = o
	}
}

// listing applies the pods of a line.
func (d *SnapshotDecoder) listing(s *Snapshot, l *line) error {
	if l.merge == nil {
		if l.values["pods"][0] != '[' {
			return fmt.Errorf("pods is not an array")
		}
		return nil // the same as the previous listing
	}
	d.settle(s, l.merge)
	d.prev, d.elems = append(d.prev[:0], l.values["pods"]...), l.merge.elems
	return nil
}

// settle makes the elements of a line the current listing. Nothing of a line is applied
// before, because its end may be broken.
func (d *SnapshotDecoder) settle(s *Snapshot, m *merge) {
	if d.pods == nil {
		d.pods, d.owner = make(map[string]*entry), make(map[string]string)
	}
	for _, c := range m.changes {
		c.entry.pod = c.pod
		d.pods[c.pod.UID] = c.entry
		s.Changed = append(s.Changed, c.pod)
	}
	for _, p := range s.Changed {
		d.own(s, p)
	}
	for _, e := range d.elems {
		if e.pod == nil || e.pod.epoch == d.epoch {
			continue
		}
		s.Gone = append(s.Gone, e.pod.pod.UID)
		delete(d.pods, e.pod.pod.UID)
		for _, id := range ids(e.pod.pod) {
			if d.owner[id] == e.pod.pod.UID {
				delete(d.owner, id)
			}
		}
	}
	slices.Sort(s.Gone)
}

// own records which pod lists an ID, and warns if two pods do.
func (d *SnapshotDecoder) own(s *Snapshot, p *pleg.Pod) {
	for _, id := range ids(p) {
		if uid, ok := d.owner[id]; ok && uid != p.UID {
			e := d.pods[uid]
			if e != nil && e.epoch == d.epoch && slices.Contains(ids(e.pod), id) {
				d.warn(s.Pos, "id %q is listed by pods %q and %q", id, uid, p.UID)
				continue
			}
		}
		d.owner[id] = p.UID
	}
}

// ids returns the IDs of a pod's containers and sandboxes.
func ids(p *pleg.Pod) (out []string) {
	for _, it := range slices.Concat(p.Containers, p.Sandboxes) {
		out = append(out, it.ID)
	}
	return out
}
