package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Names replaces the names of a cluster by pseudonyms.
type Names interface {
	Text(string) string // replaces names within free text
	Name(string) string // replaces s, which is one name
	Path(string) string // replaces names in a file path
}

// Citer is implemented by Names that must see all evidence a document may cite, including evidence
// that is rendered only on demand.
type Citer interface {
	Cited([]replay.Evidence)
}

// MaxQuote is the maximum length of a quoted line in bytes; longer ones are cut.
const MaxQuote = 1024

// Cleaner makes strings from the inputs safe to show. Everything that enters a document passes
// through it, so nothing downstream has to escape. A nil Cleaner redacts nothing. A Cleaner is not
// safe for concurrent use.
type Cleaner struct {
	names Names
	citer Citer             // names, if it implements Citer
	paths map[string]string // cache: few files hold many lines
	last  [2]quotation      // cache: a relist cites a line that the one before it cites
}

// quotation is the text of a line, as it is and as it is shown.
type quotation struct {
	of          *parse.Event
	text, shown string
}

// NewCleaner returns a Cleaner that redacts with names, or does not redact if names is nil.
func NewCleaner(names Names) *Cleaner {
	citer, _ := names.(Citer)
	return &Cleaner{names: names, citer: citer, paths: map[string]string{}}
}

func (c *Cleaner) redacts() bool { return c != nil && c.names != nil }

// text returns s with names redacted and hidden characters escaped.
func (c *Cleaner) text(s string) string {
	if c.redacts() {
		s = c.names.Text(s)
	}
	return visible(s)
}

// In escapes in place strings that enter from outside but become part of no report, such as those
// in a partial result of batch and in error messages.
func In(ss ...*string) {
	for _, s := range ss {
		*s = visible(*s)
	}
}

// name returns s, which is one name such as a pod's, ready to be shown.
func (c *Cleaner) name(s string) string { return visible(c.pseudonym(s)) }

// pseudonym returns the replacement of a name; hidden characters are not escaped.
func (c *Cleaner) pseudonym(s string) string {
	if c.redacts() {
		return c.names.Name(s)
	}
	return s
}

// path returns the path of a file inside an input, ready to be shown.
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

// inputPath returns the path of an input. Redacted, it is the last element only: the directory says
// something about the person who runs the tool.
func (c *Cleaner) inputPath(path string) string {
	if c.redacts() {
		path = strings.TrimRight(path, `/\`)
		path = path[strings.LastIndexAny(path, `/\`)+1:]
	}
	return c.path(path)
}

// where formats a position as it is quoted.
func (c *Cleaner) where(p parse.Pos) string {
	if p.File == nil {
		return "?"
	}
	e := Evidence{File: c.path(p.File.Path), Line: p.Line}
	return e.Where()
}

// quote is text cut at MaxQuote bytes; a cut one ends in an ellipsis.
func (c *Cleaner) quote(s string) string { return Cut(c.text(s), MaxQuote) }

// quotation returns the text of a record and quote of it.
func (c *Cleaner) quotation(r parse.Record) (text, shown string) {
	ev, ok := r.(*parse.Event)
	if !ok || c == nil || c.redacts() { // which counts the names shown
		text = r.Quote()
		return text, c.quote(text)
	}
	for i := range c.last {
		if q := &c.last[i]; q.of == ev {
			return q.text, q.shown
		}
	}
	text = ev.Quote()
	c.last = [2]quotation{{ev, text, c.quote(text)}, c.last[0]}
	return text, c.last[0].shown
}

// texts applies text to each element; never nil.
func (c *Cleaner) texts(in []string) []string { return list(in, c.text) }

// known is text, but nil for "".
func (c *Cleaner) known(s string) *string { return some(c.text(s)) }

// knownName is name, but nil for "".
func (c *Cleaner) knownName(s string) *string { return some(c.name(s)) }

// visible makes a string from an input safe to show: control characters, escape sequences,
// bidirectional overrides and invalid UTF-8 become visible escapes, so that nothing in a bundle can
// act on a terminal or a viewer, or mislead a reader. A tab stays a tab.
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
			b = append(b, '\\', 'x', digits[s[0]>>4], digits[s[0]&15])
		case n > 0 && hidden(r) && r < 0x100:
			b = append(b, '\\', 'x', digits[r>>4], digits[r&15])
		case n > 0 && hidden(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}

const digits = "0123456789abcdef"

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

// hidden reports whether r is invisible or changes how other characters look.
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
