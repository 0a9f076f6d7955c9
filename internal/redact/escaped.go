package redact

import (
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
