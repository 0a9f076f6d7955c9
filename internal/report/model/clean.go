package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Names replaces names of a cluster by pseudonyms.
type Names interface {
	Text(string) string // names that stand in a text
	Name(string) string // a name and nothing else
	Path(string) string // the path of a file
}

// Citer is implemented by Names that want to know of all that a document may
// cite, also of what is made only when it is asked for.
type Citer interface {
	Cited([]replay.Evidence)
}

// MaxQuote is the length at which a quoted line is cut, in bytes.
const MaxQuote = 1024

// Cleaner makes strings of the inputs fit to be shown: it is the only way in, so
// that nobody else has to know what must be escaped. A nil Cleaner redacts
// nothing. Cleaners are used by one goroutine at a time.
type Cleaner struct {
	names Names
	citer Citer             // the same, if it is one
	paths map[string]string // shown already: few files hold many lines
}

// NewCleaner returns a Cleaner that redacts with names; nil: not at all.
func NewCleaner(names Names) *Cleaner {
	citer, _ := names.(Citer)
	return &Cleaner{names, citer, map[string]string{}}
}

func (c *Cleaner) redacts() bool { return c != nil && c.names != nil }

// text is s with names replaced and everything visible.
func (c *Cleaner) text(s string) string {
	if c.redacts() {
		s = c.names.Text(s)
	}
	return visible(s)
}

// In makes strings visible where they are, that enter from outside and become part of
// no report: those of a partial of batch, and of messages. Nothing else has to.
func In(ss ...*string) {
	for _, s := range ss {
		*s = visible(*s)
	}
}

// name is a name of the cluster, such as that of a pod, as it is shown.
func (c *Cleaner) name(s string) string { return visible(c.pseudonym(s)) }

// pseudonym is what stands for a name, which may hold what cannot be seen.
func (c *Cleaner) pseudonym(s string) string {
	if c.redacts() {
		return c.names.Name(s)
	}
	return s
}

// path is the path of a file inside an input.
func (c *Cleaner) path(path string) string {
	if !c.redacts() {
		return visible(path)
	}
	out, known := c.paths[path]
	if !known {
		out = visible(c.names.Path(path))
		c.paths[path] = out
	}
	return out
}

// inputPath is the path of an input. Where it lay on the disk of the reader tells
// about the reader, so a redacted one is the last element only.
func (c *Cleaner) inputPath(path string) string {
	if c.redacts() {
		path = strings.TrimRight(path, `/\`)
		path = path[strings.LastIndexAny(path, `/\`)+1:]
	}
	return c.path(path)
}

// where is a position as it is quoted.
func (c *Cleaner) where(p parse.Pos) string {
	if p.File == nil {
		return "?"
	}
	e := Evidence{File: c.path(p.File.Path), Line: p.Line}
	return e.Where()
}

// quote is Text cut at MaxQuote, with a mark where it was cut.
func (c *Cleaner) quote(s string) string { return Cut(c.text(s), MaxQuote) }

// texts is Text over a list, never nil.
func (c *Cleaner) texts(in []string) []string { return list(in, c.text) }

// known is Text, nil for "".
func (c *Cleaner) known(s string) *string { return some(c.text(s)) }

// knownName is Name, nil for "".
func (c *Cleaner) knownName(s string) *string { return some(c.name(s)) }

// visible makes a string from an input safe to show: control characters,
// escape sequences, bidirectional overrides and invalid UTF-8 become visible
// escapes, so that nothing in a bundle can act on a terminal, a viewer or a
// reader's eye. A tab stays a tab.
func visible(s string) string {
	if plain(s) {
		return s
	}
	b := make([]byte, 0, len(s)+64)
	for len(s) > 0 {
		n := plainLen(s)
		b, s = append(b, s[:n]...), s[n:]
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		case n > 0 && hidden(r) && r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case n > 0 && hidden(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}

func plain(s string) bool { return plainLen(s) == len(s) }

// plainLen is the length of the ASCII text, of which all can be seen, that s begins with.
func plainLen(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\t' {
			return i
		}
	}
	return len(s)
}

// hidden reports whether r has no face of its own or changes how others look.
func hidden(r rune) bool {
	return r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r >= 0xfff0 && r <= 0xffff)
}

// Cut shortens s to at most n bytes at a rune boundary, ending in an ellipsis.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:max(n, 0)] + "…"
}
