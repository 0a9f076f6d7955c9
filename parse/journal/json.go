package journal

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// object iterates over the members of a JSON object without building it. Values are
// raw; nested ones are skipped by balancing brackets, not parsed.
type object struct {
	b []byte
	i int
}

// openObject returns an iterator over the object that b begins with, after optional
// blanks.
func openObject(b []byte) (o object, ok bool) {
	o = object{b: b}
	o.blanks()
	if o.i >= len(b) || b[o.i] != '{' {
		return o, false
	}
	o.i++
	return o, true
}

func (o *object) blanks() {
	for o.i < len(o.b) {
		switch o.b[o.i] {
		case ' ', '\t', '\n', '\r', ',':
			o.i++
		default:
			return
		}
	}
}

// next returns the next member: its key without quotes and its raw value. It
// returns false at the end of the object or where the text is no longer JSON. A
// truncated string is returned as far as it goes.
func (o *object) next() (key, value []byte, ok bool) {
	o.blanks()
	if o.i >= len(o.b) || o.b[o.i] != '"' {
		return nil, nil, false
	}
	k := o.i
	o.i = stringEnd(o.b, o.i)
	key = unquoted(o.b[k:o.i])
	o.blanks()
	if o.i >= len(o.b) || o.b[o.i] != ':' {
		return nil, nil, false
	}
	o.i++
	o.blanks()
	v := o.i
	o.i = valueEnd(o.b, o.i)
	if o.i == v {
		return nil, nil, false
	}
	return key, o.b[v:o.i], true
}

// stringEnd returns the index after the string that begins at i, or len(b) if it is
// unterminated.
func stringEnd(b []byte, i int) int {
	i++
	for {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b)
		}
		i += q
		if !escaped(b, i) {
			return i + 1
		}
		i++
	}
}

// escaped reports whether an odd number of backslashes precedes i.
func escaped(b []byte, i int) bool {
	odd := false
	for i--; i >= 0 && b[i] == '\\'; i-- {
		odd = !odd
	}
	return odd
}

// valueEnd returns the index after the value that begins at i.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// unquoted strips the quotes of a raw string; the closing one may be missing.
func unquoted(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '"' {
		raw = raw[1:]
		if n := len(raw); n > 0 && raw[n-1] == '"' && !escaped(raw, n-1) {
			raw = raw[:n-1]
		}
	}
	return raw
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// appendText appends the text of a raw value to dst: a string unescaped, an array
// of integers as bytes, an array of strings joined by newlines, anything else
// verbatim.
func appendText(dst, raw []byte) []byte {
	if len(raw) == 0 {
		return dst
	}
	switch raw[0] {
	case '"':
		return appendUnescaped(dst, unquoted(raw))
	case '[':
		return appendArray(dst, raw[1:])
	}
	return append(dst, raw...)
}

func appendArray(dst, b []byte) []byte {
	o := object{b: b}
	first := true
	for {
		o.blanks()
		v := o.i
		if o.i = valueEnd(b, o.i); o.i == v {
			return dst
		}
		elem := b[v:o.i]
		if elem[0]-'0' <= 9 {
			n, _ := number(elem, 0)
			dst = append(dst, byte(n))
			continue
		}
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		// Elements are strings; anything else is kept verbatim.
		if elem[0] == '"' {
			dst = appendUnescaped(dst, unquoted(elem))
		} else {
			dst = append(dst, elem...)
		}
	}
}

// appendUnescaped appends the text of a JSON string. Invalid escapes are kept
// verbatim.
func appendUnescaped(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		n := 2
		switch c := s[i+1]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			var r rune
			r, n = readRune(s[i:])
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, s[i:i+2]...)
		}
		s = s[i+n:]
	}
}

// readRune reads \uXXXX, or two of them that form a surrogate pair.
func readRune(s []byte) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, min(len(s), 2)
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for _, c := range s[2:6] {
		r <<= 4
		switch {
		case c-'0' <= 9:
			r |= rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
}
