package redact

import (
	"strconv"
	"strings"
	"unicode"
)

// Text removes credentials from s, and replaces every learned name, wherever it occurs, and
// everything recognizable by its form.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return s
	}
	if out, names, known := r.shown.find(s); known {
		for _, n := range names {
			n.count++
		}
		return out
	}
	r.shown.used = r.shown.used[:0]
	out := r.text(s)
	r.shown.keep(s, out)
	return out
}

func (r *Redactor) text(s string) string {
	s = r.withoutSecrets(decoded(s))
	if r.plain {
		s = r.inContext(s)
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		i += escapeAt(s, i)
		end := i
		var n *name
		from := i
		switch {
		case i == len(s):
		case isAlnum(s[i]):
			end = wordEnd(s, i)
			if from, end, n = r.nameAt(s, i, end); n == nil && breakAt(s, i) > 0 {
				end = i + 1
			}
		case s[i] == ':' && (i == 0 || !isAlnum(s[i-1])):
			if f := ip6Form(s, i); f.end > 0 {
				end, n = f.end, r.named(f.kind, f.text)
			}
		}
		if n != nil {
			r.shown.use(n)
			b.WriteString(s[last:max(from, last)])
			b.WriteString(n.pseudonym)
			last = end
		}
		i = max(end, i+1)
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// nameAt returns what to replace at the word s[i:j]: the longest learned name there, or a longer
// form. If there is none, n is nil and end is j. A word longer than maxName is always a name.
func (r *Redactor) nameAt(s string, i, j int) (from, end int, n *name) {
	if j-i > maxName {
		return i, j, r.named(Word, s[i:j])
	}
	if k := r.known(s, i, j); k != nil {
		from, end, n = i, spelled(s, i, k.text), k
	}
	if f := formAt(s, i, j); f.end > end {
		if k := r.named(f.kind, f.text); k != nil {
			return f.from, f.end, k
		}
		return i, max(end, f.end), n
	}
	if n == nil {
		end = j
	}
	return from, end, n
}

// known returns the longest learned name spelled out at the word s[i:j].
func (r *Redactor) known(s string, i, j int) *name {
	if j-i > maxName {
		return nil
	}
	var buf [maxName]byte
	at := 0
	for ; at < j-i; at++ {
		buf[at] = lower(s[i+at])
	}
	if lengths := r.heads[string(buf[:at])]; len(lengths) > 0 {
		for k := j; k < len(s) && at < len(buf) && at < lengths[0]; at++ {
			var n int
			buf[at], n = canonicalAt(s, k)
			k += n
		}
		for _, n := range lengths {
			if n > at {
				continue
			}
			if x := r.spelledAt(s, i, buf[:n]); x != nil {
				return x
			}
		}
	}
	return r.spelledAt(s, i, buf[:j-i])
}

// spelledAt returns the name of a canonical spelling that is spelled out at i.
func (r *Redactor) spelledAt(s string, i int, spelling []byte) *name {
	for n := r.names[string(spelling)]; n != nil; n = n.same {
		if !n.plain && n.pseudonym != "" && spelled(s, i, n.text) > 0 {
			return n
		}
	}
	return nil
}

// maxName is the maximum length of a name that can be found again.
const maxName = 256

// canonical returns the canonical spelling of a name.
func canonical(name string) string {
	for i := range len(name) {
		if joiner(lower(name[i])) != name[i] {
			return string(appendCanonical(make([]byte, 0, len(name)), name))
		}
	}
	return name
}

func appendCanonical(b []byte, name string) []byte {
	for i := range len(name) {
		b = append(b, joiner(lower(name[i])))
	}
	return b
}

// canonicalAt decodes the byte of a name at i, whatever its spelling, and returns its length in s.
func canonicalAt(s string, i int) (byte, int) {
	if c := s[i]; c == '\\' || c == '%' {
		for c := range escapes {
			if n := escaped(s[i:], c); n > 0 {
				return joiner(c), n
			}
		}
	}
	return joiner(lower(s[i])), 1
}

// joiner maps an underscore, which cgroups write for a dash, to a dash.
func joiner(c byte) byte {
	if c == '_' {
		return '-'
	}
	return c
}

// spelled returns the end of the name spelled out at i, 0 if s spells something else. Case is
// ignored; separators may be written as by systemd, cgroups and URLs.
func spelled(s string, i int, name string) int {
	for k := 0; k < len(name); k++ {
		if i >= len(s) {
			return 0
		}
		if lower(s[i]) == lower(name[k]) {
			i++
			continue
		}
		n := escaped(s[i:], name[k])
		if n == 0 {
			return 0
		}
		i += n
	}
	if i < len(s) && isAlnum(s[i]) && isAlnum(name[len(name)-1]) {
		return 0
	}
	return i
}

// escapes are alternative spellings of bytes of names.
var escapes = map[byte][]string{
	'-': {"_", `\x2d`, `\\x2d`, "%2d"},
	'.': {`\x2e`, `\\x2e`, "%2e"},
	'/': {"%2f", `\/`, `\u002f`},
	':': {"%3a", `\x3a`, `\\x3a`},
	'_': {`\x5f`, `\\x5f`, "%5f"},
	'@': {"%40", `\x40`, `\\x40`},
}

// escapeAt returns the number of bytes at i that complete the escape of a character that joins words,
// as in a%2Fb, a\x2db and \u003cb\u003e, where b is a word of its own. So does that of the sign of a
// millionth.
func escapeAt(s string, i int) int {
	if i == 0 || i+2 > len(s) || !isAlnum(s[i]) {
		return 0
	}
	mark := ""
	switch s[i-1] {
	case '%':
	case '\\':
		if s[i] == 'u' {
			if c, n := unicodeEscape(s[i:]); n > 0 && (c == 'µ' || !unicode.In(c, unicode.L, unicode.M, unicode.Nd)) {
				return n
			}
			return 0
		}
		mark = "x"
	default:
		return 0
	}
	if end := i + len(mark) + 2; end <= len(s) && s[i:i+len(mark)] == mark {
		if c, err := strconv.ParseUint(s[end-2:end], 16, 7); err == nil && !isAlnum(byte(c)) {
			return len(mark) + 2
		}
	}
	return 0
}

// breakAt returns 1 if the letter of an escaped line break or tab is at i, as in \nkind, and not
// the start of a word of the field, as in \node.
func breakAt(s string, i int) int {
	if i == 0 || i == len(s) || s[i-1] != '\\' || s[i] != 'n' && s[i] != 't' && s[i] != 'r' || inField(strings.ToLower(s[i:wordEnd(s, i)])) {
		return 0
	}
	return 1
}

// escaped returns the length of an escape of c at the start of s, 0 if there is none.
func escaped(s string, c byte) int {
	for _, e := range escapes[c] {
		if len(s) >= len(e) && strings.EqualFold(s[:len(e)], e) {
			return len(e)
		}
	}
	return 0
}

// Name replaces a string that is one name and nothing else, even if it is an ordinary word.
func (r *Redactor) Name(s string) string {
	if n := r.lookup(s); n != nil && n.pseudonym != "" {
		n.count++
		return n.pseudonym
	}
	return r.Text(s)
}

// isNameRune reports whether names consist of runes like r.
func isNameRune(r rune) bool { return r >= 0x80 || isAlnum(byte(r)) }

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// lower returns c in lowercase if it is an ASCII letter.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// lowered returns s with its ASCII letters in lowercase, by which names are found again.
func lowered(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// wordEnd returns the end of the word at i.
func wordEnd(s string, i int) int {
	for i < len(s) && isAlnum(s[i]) {
		i++
	}
	return i
}
