package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/pleg"
)

// pod decodes one element of a pods array. It returns nil, with a warning, if it is
// unusable.
func (d *SnapshotDecoder) pod(raw []byte, pos parse.Pos) *pleg.Pod {
	var j jsonPod
	if err := json.Unmarshal(raw, &j); err != nil {
		d.warn(pos, "a pod cannot be read: %v; pod skipped", err)
		return nil
	}
	if j.UID == "" {
		d.warn(pos, "a pod %q has no uid; pod skipped", j.Namespace+"/"+j.Name)
		return nil
	}
	p := &pleg.Pod{UID: j.UID, Name: j.Name, Namespace: j.Namespace}
	p.Containers = d.items(j.Containers, "container", j.UID, pos)
	p.Sandboxes = d.items(j.Sandboxes, "sandbox", j.UID, pos)
	return p
}

// items returns the usable entries. An entry without an ID is dropped, as the kubelet
// does before its diff.
func (d *SnapshotDecoder) items(in []jsonItem, what, uid string, pos parse.Pos) []pleg.Item {
	if len(in) == 0 {
		return nil
	}
	out := make([]pleg.Item, 0, len(in))
	seen := make(map[string]struct{}, len(in))
	for _, j := range in {
		if j.ID == "" {
			d.warn(pos, "a %s of pod %q has no id; it is left out", what, uid)
			continue
		}
		if _, dup := seen[j.ID]; dup {
			d.warn(pos, "%s %q of pod %q is listed twice; the first counts", what, j.ID, uid)
			continue
		}
		seen[j.ID] = struct{}{}
		st, known := pleg.RawState(j.State)
		if !known {
			d.warn(pos, "%s %q of pod %q: state %q is not known; taken as unknown", what, j.ID, uid, j.State)
		}
		out = append(out, pleg.Item{ID: j.ID, Name: j.Name, State: st, ExitCode: j.ExitCode})
	}
	return out
}

// scanner skips over JSON text without building values. It checks the structure
// loosely: the values that matter are decoded strictly afterwards.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	s.i = len(s.b) - len(bytes.TrimLeft(s.b[s.i:], " \t\r\n"))
}

// take skips white space, and consumes byte c if it is next.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// str skips a string and returns the bytes between its quotes, with escapes left as
// they are.
func (s *scanner) str() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '\\':
			s.i += 2
		case '"':
			s.i++
			return s.b[start : s.i-1], true
		default:
			s.i++
		}
	}
	s.i = min(s.i, len(s.b))
	return nil, false
}

// value skips one value.
func (s *scanner) value() bool {
	s.space()
	if s.i >= len(s.b) {
		return false
	}
	switch s.b[s.i] {
	case '"':
		_, ok := s.str()
		return ok
	case '{', '[':
		return s.nested()
	case ',', ':', '}', ']':
		return false
	}
	for s.i < len(s.b) && strings.IndexByte(",:}] \t\r\n", s.b[s.i]) < 0 {
		s.i++
	}
	return true
}

func (s *scanner) nested() bool {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, ok := s.str(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.i++
		if depth == 0 {
			return true
		}
	}
	return false
}

// broken returns an error with the position at which the text, which begins at byte
// base of the line, stops being JSON.
func (s *scanner) broken(base int) error {
	if s.i >= len(s.b) {
		return fmt.Errorf("JSON is cut off at byte %d", base+len(s.b))
	}
	return fmt.Errorf("not valid JSON at byte %d", base+s.i)
}
