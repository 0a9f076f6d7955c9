package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// eventForms are the two usual spellings of the event of a structured line, in
// what stands around its values.
var eventForms = [...]struct{ id, kind, data, end string }{
	{` event={"ID":"`, `","Type":"`, `","Data":"`, `"}`},
	{" event=&{ID:", " Type:", " Data:", "}"},
}

var eventHead = []byte(`"` + eventKeyed + `" pod="`)

// directEvent reads what extractEvent would of a structured line in one of its
// usual spellings, several times as fast: these lines make up most of what is
// kept.
func directEvent(t *told, d *direct) verdict {
	rest, ok := bytes.CutPrefix(t.msg, eventHead)
	if !ok {
		return unsure
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return unsure
	}
	n := stretch(rest[:end], podChar)
	if n == 0 || n >= end-1 || rest[n] != '/' || stretch(rest[n+1:end], podChar) != end-n-1 {
		return unsure
	}
	d.add(0, "pod_ns", rest[:n])
	d.add(1, "pod_name", rest[n+1:end])
	rest = rest[end+1:]
	for i := range eventForms {
		f := &eventForms[i]
		if len(rest) > len(f.id) && string(rest[:len(f.id)]) == f.id && d.event(rest[len(f.id):], f.kind, f.data, f.end) {
			for _, v := range d.values[:d.n] {
				if isNull(v) {
					return unsure
				}
			}
			return accepted
		}
	}
	return unsure
}

// event reads what follows the opening of an event.
func (d *direct) event(s []byte, kind, data, end string) bool {
	n := stretchID(s)
	if !d.upTo(2, "pod_uid", s, n, kind) {
		return false
	}
	s = s[n+len(kind):]
	n = stretch(s, typeChar)
	if !d.upTo(3, "type", s, n, data) {
		return false
	}
	s = s[n+len(data):]
	n = stretchID(s)
	return d.upTo(4, "data", s, n, end) && len(s) == n+len(end)
}

// upTo adds the first n bytes of s if there are any and after follows them.
func (d *direct) upTo(k int, name string, s []byte, n int, after string) bool {
	if n == 0 || len(s) < n+len(after) || string(s[n:n+len(after)]) != after {
		return false
	}
	d.add(k, name, s[:n])
	return true
}

// stretchID is stretch of idChar, faster for ids of the usual lengths.
func stretchID(s []byte) int {
	n := parse.LeadingUUID(s)
	if n == 0 {
		n = parse.LeadingHex(s)
	}
	return n + stretch(s[n:], idChar)
}
