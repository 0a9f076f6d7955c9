// Package indent writes indented JSON. json.Encoder buffers the whole indented document, most of
// which is indentation; this package indents while writing.
package indent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Encode writes v like a json.Encoder with an indent of two spaces and without HTML escaping.
func Encode(w io.Writer, v any) error {
	l := layout{to: bufio.NewWriterSize(w, 1<<16)}
	e := json.NewEncoder(&l)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return l.to.Flush()
}

// layout indents the output of an encoder, which has no space between tokens.
type layout struct {
	to      *bufio.Writer // keeps its first error
	depth   int
	quoted  bool // within a string
	escaped bool // after a backslash in a string
	empty   bool // right after an opening bracket
}

func (l *layout) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if l.quoted {
			rest = l.text(rest)
			continue
		}
		c := rest[0]
		rest = rest[1:]
		closes := c == '}' || c == ']'
		if closes {
			l.depth--
		}
		if l.empty != closes {
			l.line()
		}
		l.empty = c == '{' || c == '['
		l.to.WriteByte(c)
		switch c {
		case '{', '[':
			l.depth++
		case ',':
			l.line()
		case ':':
			l.to.WriteByte(' ')
		case '"':
			l.quoted = true
		}
	}
	_, err := l.to.Write(nil)
	return len(p), err
}

// text writes the rest of a string and returns what follows it.
func (l *layout) text(p []byte) []byte {
	n := 0
	for ; n < len(p) && l.quoted; n++ {
		switch {
		case l.escaped:
			l.escaped = false
		case p[n] == '\\':
			l.escaped = true
		case p[n] == '"':
			l.quoted = false
		}
	}
	l.to.Write(p[:n])
	return p[n:]
}

var spaces = bytes.Repeat([]byte("  "), 64)

func (l *layout) line() {
	l.to.WriteByte('\n')
	for n := 2 * l.depth; n > 0; n -= len(spaces) {
		l.to.Write(spaces[:min(n, len(spaces))])
	}
}
