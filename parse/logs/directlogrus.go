package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// logrusHead is how the lines of containerd begin; the stamp follows.
var (
	logrusHead  = []byte(`time="`)
	logrusLevel = []byte(`" level=`)
	logrusMsg   = []byte(` msg="`)
)

// directLogrus reads logrus lines whose message is texts around names, as in
// `^StopContainer for "(?P<id>[0-9a-f]+)" returns successfully$`: it compares with
// the texts as they stand in the line, quoted.
type directLogrus struct {
	rows   []row
	names  []string // of the groups
	ids    []bool   // which of the groups are runs of digits of ids
	set    []parse.Field
	values [][]byte // of set
	ends   bool     // the pattern tells all of the text
}

// row is one of the ways through a pattern: steps without a choice.
type row struct {
	steps []step
	tail  string // what a text must end with; most of other rows do not
}

// newDirectLogrus returns nil for patterns of another kind.
func newDirectLogrus(p *pattern, set []parse.Field) *directLogrus {
	if p.inside || len(p.steps) == 0 || p.steps[0].lit == "" || strings.HasPrefix(p.steps[0].lit, string(logrusHead[:1])) {
		return nil // the text might be said of the line itself
	}
	steps, ok := quotedSteps(p.steps)
	if !ok || len(p.names)+len(set) > maxDirect {
		return nil
	}
	l := &directLogrus{names: p.names, ids: make([]bool, len(p.names)), set: set, ends: true}
	for i, name := range p.names {
		if name == "pod" || name == "ctr" || name != "" && slices.Contains(p.names[:i], name) || slices.ContainsFunc(set, func(f parse.Field) bool { return f.Name == name }) {
			return nil // of several parts, or given twice
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

// noteIDs notes the groups that are runs of digits of ids.
func (l *directLogrus) noteIDs(steps []step) {
	for i := range steps[:max(len(steps)-2, 0)] {
		if r, g := steps[i+1].run, steps[i].mark/2; g > 0 && r != nil && r.hex && steps[i+2].mark == 2*g+1 {
			l.ids[g] = true
		}
	}
}

// ways are the ways through steps, in the order in which they are tried.
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

// tailOf returns the texts that steps end with.
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

// match finds the first row that the text is, or begins with.
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

// length is runLen, faster for ids.
func (r *run) length(text []byte) int {
	if r.hex && r.most < 0 {
		return parse.LeadingHex(text)
	}
	return runLen(r, text)
}

// said returns what follows msg=" in a line that begins as usual, nil in others.
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

// endsWithQuote reports whether the quote that ends a text is the last byte of
// what is said, and whether only quotes are escaped before it.
func (t *message) endsWithQuote() bool {
	if !t.quoted {
		t.quoted, t.ends = true, endsWithQuote(t.logrus)
	}
	return t.ends
}

// quotedSteps returns the steps that match the text inside quotes and the quote
// behind it; ok is false where quoting changes more than quotes.
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

// endsWithQuote is told.endsWithQuote of s.
func endsWithQuote(s []byte) bool {
	for {
		i := bytes.IndexByte(s, '"')
		switch {
		case i < 0:
			return false
		case i == 0 || s[i-1] != '\\':
			return i == len(s)-1 && bytes.IndexByte(s[:i], '\\') < 0
		case bytes.IndexByte(s[:i-1], '\\') >= 0:
			return false // another escape: the long way knows them
		}
		s = s[i+1:]
	}
}

// printable reports whether quotes leave a text as it is, but for quotes in it.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// plainClass reports whether a class has only letters and digits, which quotes
// leave as they are.
func plainClass(class *[256]bool) bool {
	for c, in := range class {
		if in && (c >= 0x80 || !isWord(byte(c)) || c == '_') {
			return false
		}
	}
	return true
}
