package logs

import (
	"bytes"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// eventForms are the two usual spellings of the event in a structured line, as the
// text around its values.
var eventForms = [...]eventForm{
	{` event={"ID":"`, `","Type":"`, `","Data":"`, `"}`},
	{" event=&{ID:", " Type:", " Data:", "}"},
}

type eventForm struct{ id, kind, data, end string }

var eventHead = []byte(`"` + eventKeyed + `" pod="`)

// directEvent reads what extractEvent would, for a structured line in one of its
// usual spellings. It is several times faster, and these lines make up most of what
// is kept.
func directEvent(t *message, d *direct) verdict {
	rest, ok := bytes.CutPrefix(t.msg, eventHead)
	if !ok {
		return unsure
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return unsure
	}
	n, form := d.subject(t.recent, rest, end)
	if n == 0 || !d.happened(t.recent, rest[n:], &eventForms[form]) {
		return unsure
	}
	return accepted
}

// subject reads the namespace and name of a pod, which ends at end, and the UID in
// the event. It returns the number of bytes read, 0 for any other text, and the
// form of the event.
func (d *direct) subject(l *recentLines, s []byte, end int) (n int, form uint8) {
	seen := l.podAt(s, end)
	if seen == nil || !seen.begins(s) {
		if n, form = d.newSubject(s, end); n > 0 {
			d.pod = podFound{at: seen, text: s[:n], form: form}
		}
		return n, form
	}
	f := &eventForms[seen.form]
	d.addValue(0, "pod_ns", s[:seen.slash], seen.interned[0])
	d.addValue(1, "pod_name", s[seen.slash+1:seen.name], seen.interned[1])
	d.addValue(2, "pod_uid", s[int(seen.name)+len(`"`)+len(f.id):int(seen.n)-len(f.kind)], seen.interned[2])
	return int(seen.n), seen.form
}

func (d *direct) newSubject(s []byte, end int) (n int, form uint8) {
	n = stretch(s[:end], podChar)
	if n == 0 || n >= end-1 || s[n] != '/' || stretch(s[n+1:end], podChar) != end-n-1 {
		return 0, 0
	}
	d.add(0, "pod_ns", s[:n])
	d.add(1, "pod_name", s[n+1:end])
	rest := s[end+1:]
	for i := range eventForms {
		f := &eventForms[i]
		if len(rest) <= len(f.id) || string(rest[:len(f.id)]) != f.id {
			continue
		}
		id := rest[len(f.id):]
		if n := stretchID(id); d.upTo(2, "pod_uid", id, n, f.kind) && !slices.ContainsFunc(d.values[:d.n], isNull) {
			return end + 1 + len(f.id) + n + len(f.kind), uint8(i)
		}
		break
	}
	return 0, 0
}

// happened reads the rest of an event: its type and the container or pod it is
// about.
func (d *direct) happened(l *recentLines, s []byte, f *eventForm) bool {
	n := typeLen(s)
	if !d.upTo(3, "type", s, n, f.data) {
		return false
	}
	s = s[n+len(f.data):]
	n = len(s) - len(f.end)
	if n <= 0 || string(s[n:]) != f.end {
		return false
	}
	var sid parse.StringID
	switch uid := d.values[2]; {
	case string(s[:n]) == string(uid):
		sid, d.pod.itself = d.interned[2], true
	default:
		if n == idLen {
			d.id, sid = d.n, l.id(s)
		}
		if sid == 0 && stretchID(s) != n {
			return false
		}
	}
	d.addValue(4, "data", s[:n], sid)
	return !isNull(d.values[3]) && !isNull(d.values[4])
}

// typeLen returns the number of leading letters of s. If these begin with one of
// the two most frequent types, it returns the length of that type.
func typeLen(s []byte) int {
	const started, died = "ContainerStarted", "ContainerDied"
	switch {
	case len(s) >= len(started) && string(s[:len(started)]) == started:
		return len(started)
	case len(s) >= len(died) && string(s[:len(died)]) == died:
		return len(died)
	}
	return stretch(s, typeChar)
}

// upTo adds the first n bytes of s if n > 0 and after follows them. It reports
// whether it did.
func (d *direct) upTo(k int, name string, s []byte, n int, after string) bool {
	if n == 0 || len(s) < n+len(after) || string(s[n:n+len(after)]) != after {
		return false
	}
	d.add(k, name, s[:n])
	return true
}

// stretchID is stretch for idChar, but faster for IDs of the usual lengths.
func stretchID(s []byte) int {
	n := parse.LeadingUUID(s)
	if n == 0 {
		n = parse.LeadingHex(s)
	}
	return n + stretch(s[n:], idChar)
}
