package parse

import (
	"encoding/json"
	"slices"
	"strings"
)

// Readable is a message with its JSON objects in words, for people: those of a whole
// line, and those that are values in one. What is cut or nested too deep stays.
func Readable(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, `{"`)
		if i < 0 {
			break
		}
		d := json.NewDecoder(strings.NewReader(s[i:]))
		words, ok := objectWords(d, 0)
		if !ok {
			break
		}
		b.WriteString(s[:i] + words)
		s = s[i+int(d.InputOffset()):]
	}
	return b.String() + s
}

// headerKeys are those that repeat what is shown beside a message.
var headerKeys = []string{"ts", "time", "caller", "v", "level", "severity"}

// objectWords are those of the next object: its message and what stands beside that,
// of a condition or an event of the API the message alone.
func objectWords(d *json.Decoder, depth int) (string, bool) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') || depth > 3 {
		return "", false
	}
	said, more := "", []string{} // nil once said is all
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return "", false
		}
		value, ok := valueWords(d, depth)
		switch {
		case !ok:
			return "", false
		case name == "message" || name == "Message":
			said, more = value, nil
		case name == "msg":
			said = value
		case name == "err" && more != nil:
			more = slices.Insert(more, 0, value)
		case value != "" && more != nil && !slices.Contains(headerKeys, name):
			more = append(more, name+" "+value)
		}
	}
	if said != "" && len(more) > 0 {
		said += ": "
	}
	_, err := d.Token()
	return said + strings.Join(more, ", "), err == nil
}

// valueWords is the next value, long ids cut as people quote them.
func valueWords(d *json.Decoder, depth int) (string, bool) {
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return "", false
	}
	var s string
	switch {
	case raw[0] == '{':
		return objectWords(json.NewDecoder(strings.NewReader(string(raw))), depth+1)
	case json.Unmarshal(raw, &s) != nil:
		return string(raw), true
	case len(s) >= 32 && strings.Trim(s, "0123456789abcdef") == "":
		s = s[:12]
	}
	return s, true
}
