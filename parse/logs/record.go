package logs

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
)

// form is the syntax in which a message is written.
type form uint8

const (
	formPrintf form = iota
	formKlog        // "message" key="value" …
	formJSON        // {"ts":…,"msg":…,…}
	formLogrus      // time="…" level=… msg="…" key=value
)

// record is a message, parsed as far as its form allows.
type record struct {
	raw    string
	msg    string // decoded message; raw for printf
	form   form
	rest   string // klog and logrus lines: the text after the message
	kv     []parse.Field
	read   bool   // kv is filled in
	joined string // cached result of text(0)
	rpc    *rpc   // cached result of isRPC
	room   []parse.Field
	by     *entry        // the last entry whose extractor accepted the record
	found  []parse.Field // what it extracted
}

// readRecord recognizes the form of a message. Keys are read on demand.
func readRecord(raw string) *record {
	r := new(record)
	r.readFrom(raw)
	return r
}

// readFrom is readRecord into memory of the caller, which may have held another record.
func (r *record) readFrom(raw string) {
	raw = raw[sourceLineLen(raw):]
	*r = record{raw: raw, msg: raw, kv: r.kv[:0]}
	switch {
	case strings.HasPrefix(raw, `"`):
		r.klog()
	case strings.HasPrefix(raw, `{"`):
		r.json()
	case strings.HasPrefix(raw, "time=") || strings.HasPrefix(raw, "level="):
		r.logrus()
	}
}

// maxSourceLine exceeds the length of the longest "file.go:line] " of a klog
// header.
const maxSourceLine = 64

// sourceLineLen returns the length of the "file.go:line] " that raw begins with,
// the remainder of a klog header that was copied only in part, or 0.
func sourceLineLen(raw string) int {
	file, _, ok := strings.Cut(raw[:min(len(raw), maxSourceLine)], "] ")
	if !ok || strings.ContainsAny(file, " \"") {
		return 0
	}
	_, line, ok := strings.Cut(file, ".go:")
	if !ok || line == "" || strings.Trim(line, "0123456789") != "" {
		return 0
	}
	return len(file) + len("] ")
}

// klog reads the message of a structured line.
func (r *record) klog() {
	if msg, n, ok := readString(r.raw); ok {
		r.form, r.msg, r.rest = formKlog, msg, r.raw[n:]
	}
}

// quotedPrefix returns the Go string literal that s begins with.
func quotedPrefix(s string) (string, bool) {
	if n, _ := plainQuoted(s); n > 0 {
		return s[:n], true
	}
	q, err := strconv.QuotedPrefix(s)
	return q, err == nil
}

// plainQuoted returns the length of the string literal that s begins with if it is
// ASCII and its only escapes are those of quote, backslash, newline and tab, which
// is true of nearly all; otherwise 0. escaped reports whether it has such escapes.
func plainQuoted(s string) (n int, escaped bool) {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			if i++; i == len(s) || escapes[s[i]] == 0 {
				return 0, false
			}
			escaped = true
		case c == '\n' || c >= utf8.RuneSelf:
			return 0, false
		}
	}
	return 0, false
}

// readString decodes the Go string literal that s begins with and also returns its
// length in s. ok is false if there is none or it has an invalid escape.
func readString(s string) (text string, n int, ok bool) {
	n, escaped := plainQuoted(s)
	switch {
	case n > 0 && escaped:
		return unescapePlain(s[1 : n-1]), n, true
	case n > 0:
		return s[1 : n-1], n, true
	}
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", 0, false
	}
	text, err = strconv.Unquote(q)
	return text, len(q), err == nil
}

// unescapePlain decodes the escapes that plainQuoted accepts.
func unescapePlain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		b.WriteByte(escapes[s[i+1]])
		s = s[i+2:]
	}
}

// escapes maps the letter of an escape to the byte it denotes.
var escapes = [256]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t'}

// json reads the keys of a JSON object; values stay encoded until they are
// requested. A truncated line keeps the keys before the cut.
func (r *record) json() {
	pairs := jsonPairs(r.raw)
	for _, f := range pairs {
		if f.Name == "msg" && strings.HasPrefix(f.Value, `"`) {
			r.form, r.kv, r.read = formJSON, pairs, true
			r.msg = strings.TrimSuffix(jsonText(f.Value), "\n")
			return
		}
	}
}

// jsonPairs splits a JSON object into its keys and encoded values. It does
// not validate what it splits.
func jsonPairs(s string) []parse.Field {
	var out []parse.Field
	for s = s[1:]; ; {
		s = strings.TrimLeft(s, " ,\t\r\n")
		if !strings.HasPrefix(s, `"`) {
			return out
		}
		key, ok := quotedPrefix(s)
		if !ok {
			return out
		}
		s = strings.TrimLeft(s[len(key):], " \t:")
		n := jsonValueLen(s)
		if n <= 0 {
			return out
		}
		out = append(out, parse.Field{Name: jsonText(key), Value: s[:n]})
		s = s[n:]
	}
}

// jsonValueLen returns the length of the JSON value that s begins with, or 0 if the
// value is not complete.
func jsonValueLen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := jsonStringLen(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// jsonStringLen returns the length of the JSON string that s begins with, or 0 if
// the string is not complete.
func jsonStringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// jsonText returns a JSON value as text: strings decoded, all else verbatim.
func jsonText(v string) string {
	if !strings.HasPrefix(v, `"`) || len(v) < 2 {
		return v
	}
	if strings.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	var s string
	if json.Unmarshal([]byte(v), &s) == nil {
		return s
	}
	return v
}

// logrus reads a line of key=value pairs up to and including msg.
func (r *record) logrus() {
	r.rest = r.raw
	p := pairs{s: r.raw}
	for p.next() {
		if p.key == "msg" {
			r.form, r.msg = formLogrus, p.value
			return
		}
	}
}

// get returns the value of a key: strings decoded, all else verbatim.
func (r *record) get(key string) (string, bool) {
	if !r.read {
		r.kv = appendPairs(r.kv, r.rest, r.form == formKlog)
		r.read = true
	}
	for _, f := range r.kv {
		if f.Name != key {
			continue
		}
		if r.form == formJSON {
			return jsonText(f.Value), true
		}
		return f.Value, true
	}
	return "", false
}

// texts returns the number of texts that patterns are tried on: "message: error" as
// a printf line would have it, the message, and the raw line. The decoded texts
// come first because their values contain no escapes.
func (r *record) texts() int {
	if r.form == formPrintf {
		return 1
	}
	return 3
}

// text returns the i-th of the texts, or "" if it does not exist.
func (r *record) text(i int) string {
	switch {
	case r.form == formPrintf || i == 2:
		return r.raw
	case i == 1:
		return r.msg
	case r.joined == "" && (r.read || strings.Contains(r.rest, "err")):
		if r.joined = r.first("err", "error"); r.joined != "" {
			r.joined = r.msg + ": " + r.joined
		}
	}
	return r.joined
}

// fields returns an empty slice for an extractor to append to, backed by the
// caller's memory if it provided any. It may be called only once per record.
func (r *record) fields() []parse.Field { return r.room[:0] }

// first returns the first non-empty value among the keys.
func (r *record) first(keys ...string) string {
	for _, k := range keys {
		if v, ok := r.get(k); ok && v != "" {
			return v
		}
	}
	return ""
}

// appendPairs appends the ` key=value` pairs of s to dst. blanks is as in pairs.
func appendPairs(dst []parse.Field, s string, blanks bool) []parse.Field {
	for p := (pairs{s: s, blanks: blanks}); p.next(); {
		dst = append(dst, parse.Field{Name: p.key, Value: p.value})
	}
	return dst
}

// pairs iterates over ` key=value` pairs. With blanks set, as for klog, bare values
// may contain blanks (`podUID=a b`) and end where the next pair begins. Bare values
// of logrus end at a blank.
type pairs struct {
	s          string
	blanks     bool
	unbalanced bool // a value had unbalanced braces; not retrying keeps the time linear
	key, value string
}

// next reads the next pair into key and value. It reports whether there was one.
func (p *pairs) next() bool {
	for {
		for len(p.s) > 0 && p.s[0] == ' ' {
			p.s = p.s[1:]
		}
		n := keyLen(p.s)
		if n == 0 {
			if p.s = skipWord(p.s); p.s == "" {
				return false
			}
			continue
		}
		p.key = p.s[:n]
		balanced := !p.unbalanced
		text := p.s[n+1:]
		p.value, p.s = readValue(text, p.blanks, &balanced)
		p.unbalanced = !balanced
		if p.key == "node" && p.s == "" && strings.HasPrefix(text, `"`) && (len(text) < 2 || !strings.HasSuffix(text, `"`)) {
			return false // a truncated node name is not a name
		}
		return true
	}
}

// skipWord drops the word that s begins with. The result is empty if no blank
// follows.
func skipWord(s string) string {
	i := strings.IndexByte(s, ' ')
	if i < 0 {
		return ""
	}
	return s[i:]
}

// keyLen returns the length of the key that s begins with, or 0 if s does not begin
// with key=.
func keyLen[T string | []byte](s T) int {
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

// readValue reads one value and returns it with the text after it. It clears
// *balanced if braces in the value are unbalanced.
func readValue(s string, blanks bool, balanced *bool) (value, rest string) {
	switch {
	case strings.HasPrefix(s, `"`):
		return readQuoted(s)
	case strings.HasPrefix(s, "<\n"):
		return readBlock(s)
	case s == "<": // a block whose lines became separate records
		return "", ""
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

// readQuoted reads a Go string. An unterminated string extends to the end, because
// the line was truncated.
func readQuoted(s string) (value, rest string) {
	v, n, ok := readString(s)
	switch {
	case ok:
		return v, s[n:]
	case n > 0:
		return s[:n], s[n:]
	}
	return readDamaged(s)
}

// readDamaged reads a quoted string that is truncated or contains raw newlines or
// unknown escapes. It ends at the first unescaped quote, or else at the end of s.
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

// unescape leniently decodes escapes in damaged strings.
func unescape(s string) string { return unescaper.Replace(s) }

// readBlock reads the multi-line value of klog ≥ 2.60.1: "<", lines indented by a
// tab, " >".
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

// readBraces reads a struct, map or list. In JSON (≥ 1.28), braces inside strings
// are ignored; in %+v output all braces count. ok is false if they do not balance.
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
			n := jsonStringLen(s[i:])
			if n == 0 {
				return "", "", false
			}
			i += n - 1
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
