package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

func contains(msg []byte, lit string, fold bool) bool {
	if fold {
		return containsFold(msg, lit)
	}
	return bytes.Contains(msg, []byte(lit))
}

// admitsSeverity reports whether a line of severity sev may be this message.
func (e *entry) admitsSeverity(sev byte) bool {
	return e.Severity == "" || sev == 0 || strings.IndexByte(e.Severity, sev) >= 0
}

// sureHeads returns prefixes of structured lines that certainly belong to this
// entry, so that most lines need not be parsed to be verified.
func (e *entry) sureHeads() [][]byte {
	if len(e.Unless) > 0 {
		return nil
	}
	var out [][]byte
	for _, m := range slices.Concat(e.Messages, sureMessages[e.Extract]) {
		if !strings.ContainsAny(m, "\"\\\n") {
			out = append(out, []byte(`"`+m+`"`))
		}
	}
	return out
}

// begins reports whether msg begins with one of the sure heads.
func (e *entry) begins(msg []byte) bool {
	for _, h := range e.heads {
		if bytes.HasPrefix(msg, h) {
			return true
		}
	}
	return false
}

// accepts verifies a message that contains one of the literals.
func (e *entry) accepts(r *record) bool {
	for _, u := range e.Unless {
		if strings.Contains(r.raw, u) {
			return false
		}
	}
	if e.extract == nil && len(e.Messages) == 0 && len(e.Regexps) == 0 {
		return true
	}
	if e.says(r) {
		return true
	}
	if e.any(r) {
		return true
	}
	if e.quick != nil {
		return e.quick(r)
	}
	if e.extract == nil {
		return false
	}
	fields, ok := e.extract(r)
	if ok {
		r.by, r.found = e, fields
	}
	return ok
}

// says reports whether the record's message is one of the entry's. Up to klog
// 2.100, a named logger puts its name before the message: "name: message".
func (e *entry) says(r *record) bool {
	if r.form == formPrintf {
		return false
	}
	for _, m := range e.Messages {
		if r.msg == m || strings.HasSuffix(r.msg, m) && strings.HasSuffix(r.msg[:len(r.msg)-len(m)], ": ") {
			return true
		}
	}
	return false
}

// fields is the Extract function of the entry's parse.Sig.
func (e *entry) fields(msg string, dst []parse.Field) []parse.Field {
	return e.fieldsOf(readRecord(msg), dst)
}

// fieldsOf appends the fields of a message that the entry accepts.
func (e *entry) fieldsOf(r *record, dst []parse.Field) []parse.Field {
	r.room = dst[len(dst):]
	out := r.fields()
	switch {
	case e.says(r):
		out = e.keyFields(r, out)
	case len(e.Regexps) > 0 && e.groups(r, &out):
		out = e.keyFields(r, out)
	case r.by == e:
		out = r.found
	case e.extract != nil:
		out, _ = e.extract(r)
	}
	// If the extractor appended in place behind dst, this copies the fields onto
	// themselves.
	return append(dst, append(out, e.Set...)...)
}

// keyFields appends the fields that keys of a structured line map to.
func (e *entry) keyFields(r *record, out []parse.Field) []parse.Field {
	for _, k := range e.Keys {
		v, ok := r.get(k.Name)
		if !ok {
			continue
		}
		out = addNamed(out, k.Field, v)
	}
	return out
}

// groups appends the named groups of the first pattern that matches and reports
// whether one did.
func (e *entry) groups(r *record, out *[]parse.Field) bool {
	e.prepare()
	var buf [maxGroups]int
	for i := range r.texts() {
		text := r.text(i)
		if text == "" {
			continue
		}
		for _, p := range e.patterns {
			m := p.newMatch(buf[:])
			if !p.find(text, m) {
				continue
			}
			for g, name := range p.names {
				if name != "" {
					*out = addNamed(*out, name, m.group(text, g))
				}
			}
			return true
		}
	}
	return false
}

// maxGroups is the size of a match buffer: two offsets per group, enough for most
// patterns.
const maxGroups = 24

// any reports whether groups would find a match.
func (e *entry) any(r *record) bool {
	if e.prepare(); len(e.patterns) == 0 {
		return false
	}
	for i := range r.texts() {
		text := r.text(i)
		if text == "" {
			continue
		}
		for _, p := range e.patterns {
			if p.find(text, nil) {
				return true
			}
		}
	}
	return false
}

// addNamed appends a field, or the parts of a compound one: "pod" in any spelling,
// and "ctr", CRI-O's namespace/pod/container.
func addNamed(out []parse.Field, name, value string) []parse.Field {
	switch name {
	case "pod":
		return addPod(out, value)
	case "ctr":
		return addContainer(out, value)
	}
	return addField(out, name, value)
}

// addField appends a field unless its value means "nothing" or out already has a
// field of that name.
func addField(out []parse.Field, name, value string) []parse.Field {
	if value == "" || value == "<nil>" || value == "null" {
		return out
	}
	if slices.ContainsFunc(out, func(f parse.Field) bool { return f.Name == name }) {
		return out
	}
	if out == nil {
		out = make([]parse.Field, 0, 8) // enough for most lines
	}
	return append(out, parse.Field{Name: name, Value: value})
}
