package logs

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// form is the way a message is written.
type form uint8

const (
	formPrintf form = iota
	formKlog        // "message" key="value" …
	formJSON        // {"ts":…,"msg":…,…}
	formLogrus      // time="…" level=… msg="…" key=value
)

// record is a message taken apart as far as its form allows.
type record struct {
	raw  string
	msg  string // decoded message; raw for printf
	form form
	rest string // of klog and logrus lines: what stands after the message
	kv   []parse.Field
	read bool // kv is filled
}

// readRecord recognises the form of a message. Keys are read on demand.
func readRecord(raw string) *record {
	r := &record{raw: raw, msg: raw}
	switch {
	case strings.HasPrefix(raw, `"`):
		r.klog()
	case strings.HasPrefix(raw, `{"`):
		r.json()
	case strings.HasPrefix(raw, "time=") || strings.HasPrefix(raw, "level="):
		r.logrus()
	}
	return r
}

// klog reads the message of a structured line.
func (r *record) klog() {
	q, err := strconv.QuotedPrefix(r.raw)
	if err != nil || q[0] != '"' {
		return
	}
	msg, err := strconv.Unquote(q)
	if err != nil {
		return
	}
	r.form, r.msg, r.rest = formKlog, msg, r.raw[len(q):]
}

// json reads one JSON object. A line that was cut keeps the keys before the
// cut.
func (r *record) json() {
	dec := json.NewDecoder(strings.NewReader(r.raw))
	if _, err := dec.Token(); err != nil {
		return
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			break
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			break
		}
		key, _ := k.(string)
		r.kv = append(r.kv, parse.Field{Name: key, Value: jsonText(v)})
	}
	r.read = true
	if msg, ok := r.get("msg"); ok {
		r.form, r.msg = formJSON, strings.TrimSuffix(msg, "\n")
	}
}

// jsonText is a JSON value as text: strings decoded, all else as it stands.
func jsonText(v json.RawMessage) string {
	if len(v) > 0 && v[0] == '"' {
		var s string
		if json.Unmarshal(v, &s) == nil {
			return s
		}
	}
	return string(v)
}

// logrus reads a line of key=value pairs with a msg among them.
func (r *record) logrus() {
	r.kv = readPairs(" "+r.raw, false)
	r.read = true
	if msg, ok := r.get("msg"); ok {
		r.form, r.msg = formLogrus, msg
	}
}

// get returns the value of a key: strings decoded, all else verbatim.
func (r *record) get(key string) (string, bool) {
	if !r.read {
		r.kv = readPairs(r.rest, true)
		r.read = true
	}
	for _, f := range r.kv {
		if f.Name == key {
			return f.Value, true
		}
	}
	return "", false
}

// texts are the texts that patterns are tried on.
func (r *record) texts() []string {
	if r.form == formPrintf {
		return []string{r.raw}
	}
	if err := r.first("err", "error"); err != "" {
		return []string{r.msg + ": " + err, r.msg, r.raw}
	}
	return []string{r.msg, r.raw}
}

// first returns the first of the keys that has a value.
func (r *record) first(keys ...string) string {
	for _, k := range keys {
		if v, ok := r.get(k); ok && v != "" {
			return v
		}
	}
	return ""
}

// readPairs reads ` key=value` pairs. Bare values of klog may hold blanks
// (`podUID=a b`): they end where the next pair begins. Bare values of logrus
// end at a blank.
func readPairs(s string, blanks bool) []parse.Field {
	var out []parse.Field
	balanced := true // until a value proves otherwise; keeps the time linear
	for {
		s = strings.TrimLeft(s, " ")
		n := keyLen(s)
		if n == 0 {
			if s = skipWord(s); s == "" {
				return out
			}
			continue
		}
		key := s[:n]
		value, rest := readValue(s[n+1:], blanks, &balanced)
		out = append(out, parse.Field{Name: key, Value: value})
		s = rest
	}
}

// skipWord drops the word that s begins with; what follows is empty when
// there is none.
func skipWord(s string) string {
	i := strings.IndexByte(s, ' ')
	if i < 0 {
		return ""
	}
	return s[i:]
}

// keyLen is the length of the key that s begins with, 0 if s does not begin
// with key=.
func keyLen(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '=':
			return i
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-', c == '/':
		default:
			return 0
		}
	}
	return 0
}

// readValue reads one value and returns what follows it.
func readValue(s string, blanks bool, balanced *bool) (value, rest string) {
	switch {
	case strings.HasPrefix(s, `"`):
		return readQuoted(s)
	case strings.HasPrefix(s, "<\n"):
		return readBlock(s)
	case blanks && *balanced && len(s) > 0 && strings.IndexByte("{[&", s[0]) >= 0:
		if value, rest, *balanced = readBraces(s); *balanced {
			return value, rest
		}
		return readBare(s)
	case blanks:
		return readBare(s)
	}
	n := strings.IndexByte(s, ' ')
	if n < 0 {
		n = len(s)
	}
	return s[:n], s[n:]
}

// readQuoted reads a Go string; one without an end is taken to the end of the
// line, as the line was cut.
func readQuoted(s string) (value, rest string) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return readDamaged(s)
	}
	v, err := strconv.Unquote(q)
	if err != nil {
		return q, s[len(q):]
	}
	return v, s[len(q):]
}

// readDamaged reads a quoted string that is cut or holds raw newlines or
// unknown escapes: to the first quote that is not escaped, or to the end.
func readDamaged(s string) (value, rest string) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unescape(s[1:i]), s[i+1:]
		}
	}
	return unescape(s[1:]), ""
}

var unescaper = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t")

// unescape is the lenient inverse of quoting, for damaged strings.
func unescape(s string) string { return unescaper.Replace(s) }

// readBlock reads the multi-line value of klog ≥ 2.60.1: "<", lines indented
// by a tab, " >".
func readBlock(s string) (value, rest string) {
	body, rest, found := strings.Cut(s[2:], "\n >")
	if !found {
		rest = ""
	}
	lines := strings.Split(body, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "\t")
	}
	return strings.Join(lines, "\n"), rest
}

// readBare reads an unquoted value up to the next pair.
func readBare(s string) (value, rest string) {
	for i := range len(s) {
		if s[i] == ' ' && keyLen(s[i+1:]) > 0 {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// readBraces reads a struct, map or list: JSON (≥ 1.28) with its strings
// respected, or %+v by balance.
func readBraces(s string) (value, rest string, ok bool) {
	i := strings.IndexAny(s, "{[")
	if i < 0 {
		return "", "", false
	}
	quotes := strings.HasPrefix(s[i:], `{"`) || strings.HasPrefix(s[i:], `["`) || strings.HasPrefix(s[i:], `[{"`)
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && quotes:
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return "", "", false
			}
			i += len(q) - 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return s[:i+1], s[i+1:], true
			}
		}
	}
	return "", "", false
}
