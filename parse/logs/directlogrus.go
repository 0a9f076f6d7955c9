package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// logrusHead begins the lines of containerd; the timestamp follows.
var (
	logrusHead  = []byte(`time="`)
	logrusLevel = []byte(`" level=`)
	logrusMsg   = []byte(` msg="`)
)

// directLogrus reads logrus lines whose message consists of fixed texts around
// names, as in `^StopContainer for "(?P<id>[0-9a-f]+)" returns successfully$`. It
// compares the texts in their quoted form, as they appear in the line.
type directLogrus struct {
	rows   []row
	names  []string // of the groups
	ids    []bool   // which groups are runs of hex digits
	set    []parse.Field
	values [][]byte // of set
	ends   bool     // the pattern covers the whole message, to its end
}

// row is one of the paths through a pattern: steps without alternatives.
type row struct {
	steps []step
	tail  string // suffix that a message must have; quickly rules out most rows
}

// newDirectLogrus returns nil if p cannot be read this way.
func newDirectLogrus(p *pattern, set []parse.Field) *directLogrus {
	if p.inside || len(p.steps) == 0 || p.steps[0].lit == "" || strings.HasPrefix(p.steps[0].lit, string(logrusHead[:1])) {
		return nil // the pattern might match the line rather than its message
	}
	steps, ok := quotedSteps(p.steps)
	if !ok || len(p.names)+len(set) > maxDirect {
		return nil
	}
	l := &directLogrus{names: p.names, ids: make([]bool, len(p.names)), set: set, ends: true}
	for i, name := range p.names {
		if name == "pod" || name == "ctr" || name != "" && slices.Contains(p.names[:i], name) || slices.ContainsFunc(set, func(f parse.Field) bool { return f.Name == name }) {
			return nil // a compound field, or one given twice
		}
	}
	for _, f := range set {
		l.values = append(l.values, []byte(f.Value))
	}
	for _, steps := range ways(steps) {
		l.ends = l.ends && steps[len(steps)-1].end
		l.rows = append(l.rows, row{steps, tailOf(steps)})
		l.noteIDs(steps)
	}
	return l
}

// noteIDs records the groups that are runs of hex digits.
func (l *directLogrus) noteIDs(steps []step) {
	for i := range steps[:max(len(steps)-2, 0)] {
		if r, g := steps[i+1].run, steps[i].mark/2; g > 0 && r != nil && r.hex && steps[i+2].mark == 2*g+1 {
			l.ids[g] = true
		}
	}
}

// ways returns the paths through steps, in the order in which they are tried.
func ways(steps []step) [][]step {
	out := [][]step{nil}
	for _, s := range steps {
		parts := [][]step{{s}}
		if s.either != nil {
			parts = nil
			for _, way := range s.either {
				parts = append(parts, ways(way)...)
			}
		}
		var next [][]step
		for _, begun := range out {
			for _, part := range parts {
				next = append(next, slices.Concat(begun, part))
			}
		}
		out = next
	}
	return out
}

// tailOf returns the fixed text that steps end with.
func tailOf(steps []step) (tail string) {
	if !steps[len(steps)-1].end {
		return ""
	}
	for i := len(steps) - 2; i >= 0 && steps[i].run == nil; i-- {
		tail = steps[i].lit + tail
	}
	return tail
}

func (l *directLogrus) read(t *message, d *direct) verdict {
	text := t.said()
	if text == nil || !l.ends && !t.endsWithQuote() {
		return unsure
	}
	var buf [maxGroups]int
	m := match(buf[:2*len(l.names)])
	if !l.match(text, m) {
		if !t.endsWithQuote() {
			return unsure
		}
		return refused
	}
	for g, name := range l.names {
		if name == "" || m[2*g] < 0 || m[2*g] == m[2*g+1] {
			continue
		}
		v := text[m[2*g]:m[2*g+1]]
		if isNull(v) {
			return unsure
		}
		if d.id < 0 && len(v) == idLen && l.ids[g] {
			d.id = d.n
		}
		d.add(g, name, v)
	}
	d.fixed = d.n
	for i, f := range l.set {
		d.add(len(l.names)+i, f.Name, l.values[i])
	}
	return accepted
}

// match finds the first row that matches text, or a prefix of it.
func (l *directLogrus) match(text []byte, m match) bool {
	for _, r := range l.rows {
		if !bytes.HasSuffix(text, []byte(r.tail)) {
			continue
		}
		for i := range m {
			m[i] = -1
		}
		if r.match(text, m) {
			return true
		}
	}
	return false
}

func (r row) match(text []byte, m match) bool {
	at := 0
	for i := range r.steps {
		s := &r.steps[i]
		switch {
		case s.lit != "":
			if len(text)-at < len(s.lit) || string(text[at:at+len(s.lit)]) != s.lit {
				return false
			}
			at += len(s.lit)
		case s.run != nil:
			n := s.run.length(text[at:])
			if n < s.run.least {
				return false
			}
			at += n
		case s.end:
			if at != len(text) {
				return false
			}
		default:
			m[s.mark] = at
		}
	}
	return true
}

// length is runLen, but faster for IDs.
func (r *repeat) length(text []byte) int {
	if r.hex && r.most < 0 {
		return parse.LeadingHex(text)
	}
	return runLen(r, text)
}

// said returns what follows msg=" in a line that begins as usual, or nil for other
// lines.
func (t *message) said() []byte {
	if t.read {
		return t.logrus
	}
	t.read = true
	rest, ok := bytes.CutPrefix(t.msg, logrusHead)
	if !ok {
		return nil
	}
	if rest, ok = bytes.CutPrefix(rest[ordinary(rest):], logrusLevel); !ok {
		return nil
	}
	const usual = `info msg="`
	if len(rest) >= len(usual) && string(rest[:len(usual)]) == usual {
		t.logrus = rest[len(usual):]
	} else if t.logrus, ok = bytes.CutPrefix(rest[stretch(rest, levelChar):], logrusMsg); !ok {
		t.logrus = nil
	}
	return t.logrus
}

// endsWithQuote reports whether the closing quote of the message is the last byte
// of the line and only quotes are escaped before it.
func (t *message) endsWithQuote() bool {
	if !t.quoted {
		t.quoted, t.ends = true, endsWithQuote(t.logrus)
	}
	return t.ends
}

// quotedSteps returns the steps that match the quoted form of the text, including
// the closing quote. ok is false if quoting changes more than quotes.
func quotedSteps(steps []step) (out []step, ok bool) {
	for _, s := range steps {
		switch {
		case s.lit != "":
			if !printable(s.lit) {
				return nil, false
			}
			s.lit = strings.ReplaceAll(s.lit, `"`, `\"`)
		case s.run != nil && !plainClass(&s.run.class):
			return nil, false
		case s.end:
			out = append(out, step{lit: `"`})
		case s.either != nil:
			var ways [][]step
			for _, way := range s.either {
				w, ok := quotedSteps(way)
				if !ok {
					return nil, false
				}
				ways = append(ways, w)
			}
			s.either = ways
		}
		out = append(out, s)
	}
	return out, true
}

// endsWithQuote is message.endsWithQuote for s.
func endsWithQuote(s []byte) bool {
	for {
		i := bytes.IndexByte(s, '"')
		switch {
		case i < 0:
			return false
		case i == 0 || s[i-1] != '\\':
			return i == len(s)-1 && bytes.IndexByte(s[:i], '\\') < 0
		case bytes.IndexByte(s[:i-1], '\\') >= 0:
			return false // another escape: leave it to the parser
		}
		s = s[i+1:]
	}
}

// printable reports whether quoting changes nothing in s except quotes.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// plainClass reports whether a class contains only letters and digits, which
// quoting does not change.
func plainClass(class *[256]bool) bool {
	for c, in := range class {
		if in && (c >= 0x80 || !isWord(byte(c)) || c == '_') {
			return false
		}
	}
	return true
}
