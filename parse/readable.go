package parse

import (
	"encoding/json"
	"slices"
	"strings"
)

// Readable returns a message with its JSON objects rewritten as words, both a whole
// line and values within one. Truncated or too deeply nested objects are left
// unchanged, and so are the elements of a list that was cut.
func Readable(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, `{"`)
		if i < 0 || i > 0 && (s[i-1] == ',' || s[i-1] == '[') {
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

// headerKeys are keys that repeat what is shown next to a message.
var headerKeys = []string{"ts", "time", "caller", "v", "level", "severity"}

// objectWords reads the next object and returns its message and other values as
// words. For a condition or an API event it returns only the message. ok is false
// on invalid input.
func objectWords(d *json.Decoder, depth int) (string, bool) {
	if t, err := d.Token(); err != nil || t != json.Delim('{') || depth > 3 {
		return "", false
	}
	said, more := "", []string{} // more is nil once said is the whole result
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

// valueWords reads the next value. Long hex IDs are shortened to 12 digits.
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
