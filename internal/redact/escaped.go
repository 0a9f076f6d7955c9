package redact

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapedForm recognizes words with letters beyond ASCII that are written as escapes: M\u00fcller as
// by JSON, M\xc3\xbcller as by Go, M\303\274ller as by C and systemd, M%C3%BCller as in URLs, and what
// dashes join to them. Decoded, they must not be words of the field, such as 948\u00b5s.
func escapedForm(s string, i int) form {
	from := i
	if i > 0 && s[i-1] == '%' {
		from--
	}
	for from > 0 && i-from < maxBackslashes && s[from-1] == '\\' {
		from--
	}
	if _, n := escapedRune(s[from:]); n == 0 {
		from = i
	}
	var text []byte
	at, escapes := from, 0
	for at < len(s) && len(text) < maxName {
		if isAlnum(s[at]) || s[at] == '-' && at > from {
			text = append(text, s[at])
			at++
			continue
		}
		c, n := escapedRune(s[at:])
		if !unicode.In(c, unicode.L, unicode.M, unicode.Nd) {
			break
		}
		text = utf8.AppendRune(text, c)
		at += n
		escapes++
	}
	for len(text) > 0 && text[len(text)-1] == '-' {
		text, at = text[:len(text)-1], at-1
	}
	if escapes == 0 || !slices.ContainsFunc(strings.Split(string(text), "-"), isStrange) {
		return form{}
	}
	return form{from, at, Word, string(text)}
}

// decoded returns s with the characters that HTML and mail escape, M&uuml;ller, &#77;&quot; and
// M=C3=BCller, as they are, so that positions and names are found in it. Kept are those that cannot
// be printed, blanks, and slashes, which would make other paths; so is =3C, which any value may begin with.
func decoded(s string) string {
	for range maxEscaped {
		var b []byte
		last := 0
		for i := 0; ; {
			k := strings.IndexAny(s[i:], "&=")
			if k < 0 {
				break
			}
			i += k
			c, n := mailRune(s[i:])
			if s[i] == '&' {
				c, n = entity(s[i:])
			}
			if n > 0 {
				b = utf8.AppendRune(append(b, s[last:i]...), c)
				last = i + n
			}
			i += max(n, 1)
		}
		if last == 0 {
			break
		}
		s = string(append(b, s[last:]...))
	}
	return s
}

// maxEscaped is how often a text may have been escaped: &amp;uuml; twice.
const maxEscaped = 4

// maxEntity is longer than the names of the characters that a name may have.
const maxEntity = 16

// entity decodes &uuml; or &#252; at the start of s and returns its length, 0 if there is none.
func entity(s string) (c rune, length int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 3 {
		return 0, 0
	}
	text := html.UnescapeString(s[:end+1])
	c, n := utf8.DecodeRuneInString(text)
	if n < len(text) || c == utf8.RuneError || !unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) || c == '/' || c == '\\' {
		return 0, 0
	}
	return c, end + 1
}

// mailRune decodes a letter beyond ASCII written as in mail, =C3=BC, at the start of s and returns
// its length, 0 if there is none.
func mailRune(s string) (c rune, length int) {
	var b [utf8.UTFMax]byte
	for n := range b {
		if len(s) < 3*n+3 || s[3*n] != '=' {
			return 0, 0
		}
		v, err := strconv.ParseUint(s[3*n+1:3*n+3], 16, 8)
		if err != nil || v < utf8.RuneSelf {
			return 0, 0
		}
		b[n] = byte(v)
		if utf8.FullRune(b[:n+1]) {
			c, size := utf8.DecodeRune(b[:n+1])
			if size != n+1 || !unicode.In(c, unicode.L, unicode.M, unicode.Nd) {
				return 0, 0
			}
			return c, 3 * size
		}
	}
	return 0, 0
}

// maxBackslashes is how many backslashes a text has before an escape if it was escaped again and again.
const maxBackslashes = 8

// escapedRune decodes the escape of a character beyond ASCII at the start of s and returns its length,
// 0 if there is none.
func escapedRune(s string) (c rune, length int) {
	k := 0
	for k < len(s) && k < maxBackslashes && s[k] == '\\' {
		k++
	}
	if k > 0 && k < len(s) && (s[k] == 'u' || s[k] == 'U') {
		if c, n := unicodeEscape(s[k:]); c >= 0x80 {
			return c, k + n
		}
		return 0, 0
	}
	var b [utf8.UTFMax]byte
	for n := range b {
		v, width := escapedByte(s[length:])
		if width == 0 || v < 0x80 {
			return 0, 0
		}
		b[n] = v
		length += width
		if utf8.FullRune(b[:n+1]) {
			c, size := utf8.DecodeRune(b[:n+1])
			if size != n+1 {
				return 0, 0
			}
			return c, length
		}
	}
	return 0, 0
}

// unicodeEscape decodes what follows the backslash of \u00fc or \U000000fc at the start of s and returns
// its length, 0 if it is none.
func unicodeEscape(s string) (c rune, length int) {
	if length = len("u00fc"); s[0] == 'U' {
		length = len("U000000fc")
	}
	if length > len(s) {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[1:length], 16, 21)
	if err != nil || !utf8.ValidRune(rune(v)) {
		return 0, 0
	}
	return rune(v), length
}

// escapedByte decodes \xc3, \303 or %C3 at the start of s and returns the length, 0 if there is none.
func escapedByte(s string) (c byte, length int) {
	k := 0
	for k < len(s) && k < maxBackslashes && s[k] == '\\' {
		k++
	}
	from, to, base := k, k+3, 8
	switch {
	case k == 0 && s != "" && s[0] == '%':
		from, to, base = 1, 3, 16
	case k == 0:
		return 0, 0
	case k < len(s) && s[k] == 'x':
		from, base = k+1, 16
	}
	if to > len(s) {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[from:to], base, 8)
	if err != nil {
		return 0, 0
	}
	return byte(v), to
}
