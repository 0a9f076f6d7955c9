package parse

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// SameMessage reports whether two lines of kubelets are from the same place in the
// source and say the same. One of them may be in klog's text format and the other in
// that of --logging-format=json, which prints the time in milliseconds as a float64: it
// may be off by a microsecond.
func SameMessage(a, b *Event) bool {
	switch {
	case a.Caller != b.Caller:
		return false
	case a.JSON == b.JSON:
		return a.Message() == b.Message()
	case a.JSON:
		a, b = b, a
	}
	return sameInJSON(a.Message(), b.Message())
}

// sameInJSON reports whether object is the JSON form of the klog message text.
func sameInJSON(text, object string) bool {
	var o map[string]json.RawMessage
	msg := ""
	if json.Unmarshal([]byte(object), &o) != nil || json.Unmarshal(o["msg"], &msg) != nil {
		return false
	}
	for _, k := range [...]string{"ts", "caller", "v", "msg", "errCauses"} { // klog's text has none of them as a key
		delete(o, k)
	}
	rest, structured := strings.CutPrefix(text, strconv.Quote(msg))
	if !structured || len(o) == 0 && rest != "" {
		line, _, _ := strings.Cut(text, "\n")
		first, _, _ := strings.Cut(msg, "\n")
		return len(o) == 0 && line == first
	}
	for k, v := range o {
		if !hasPair(rest, k, v) {
			return false
		}
	}
	return true
}

// hasPair reports whether the keys and values of a klog message have the key with a
// value that may be the JSON value v. How klog prints an object depends on its type and
// the release, so only that of a pod or node is compared.
func hasPair(pairs, key string, v []byte) bool {
	_, text, found := strings.Cut(pairs, " "+key+"=")
	if !found {
		return false
	}
	var name struct{ Namespace, Name string }
	s := ""
	switch v[0] {
	case '"':
		if json.Unmarshal(v, &s) != nil {
			return false
		}
		return strings.Contains(s, "\n") || strings.HasPrefix(text, strconv.Quote(s)) || has(text, s)
	case '{':
		d := json.NewDecoder(bytes.NewReader(v))
		if d.DisallowUnknownFields(); d.Decode(&name) != nil {
			return true
		}
		s = strings.TrimPrefix(name.Namespace+"/"+name.Name, "/")
		return strings.HasPrefix(text, strconv.Quote(s))
	case '[', 'n':
		return true
	}
	return has(text, string(v))
}

// has reports whether pairs begins with the unquoted value.
func has(pairs, value string) bool {
	rest, ok := strings.CutPrefix(pairs, value)
	return ok && (rest == "" || rest[0] == ' ')
}
