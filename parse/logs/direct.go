package logs

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// direct is what a message in its usual spelling tells.
type direct struct {
	n      int
	names  [maxDirect]string
	values [maxDirect][]byte
}

// maxDirect is the number of fields that a quick reader finds at most.
const maxDirect = 6

func (d *direct) add(name string, value []byte) {
	d.names[d.n], d.values[d.n] = name, value
	d.n++
}

// verdict is what a quick reader knows of a message.
type verdict uint8

const (
	unsure verdict = iota // it takes the long way to tell
	accepted
	refused
)

// directReader reads the usual spelling of an entry's message into d without
// taking the message apart. It exists for what comes by the hundred thousand, and
// tells nothing that the long way would not.
type directReader func(msg []byte, d *direct) verdict

// newDirect returns the quick reader of an entry, nil if there is none.
func newDirect(e *entry) directReader {
	switch {
	case len(e.Unless)+len(e.Keys)+len(e.Messages) > 0:
		return nil
	case e.Extract == "event" && len(e.Set)+len(e.Regexps) == 0:
		return directEvent
	case e.Extract == "" && len(e.patterns) == 1:
		return directLogrus(e.patterns[0], e.Set)
	}
	return nil
}

// logrusHead is how the lines of containerd begin; the stamp follows.
var (
	logrusHead  = []byte(`time="`)
	logrusLevel = []byte(`" level=`)
	logrusMsg   = []byte(` msg="`)
	stampClass  = classOf("0123456789-+:.TZ")
	levelClass  = classOf("abcdefghijklmnopqrstuvwxyz")
)

// directLogrus reads logrus lines whose message is texts around names, as in
// `^StopContainer for "(?P<id>[0-9a-f]+)" returns successfully$`: it compares with
// the texts as they stand in the line, quoted. nil for other patterns.
func directLogrus(p *pattern, set []parse.Field) directReader {
	if len(p.steps) == 0 || strings.HasPrefix(p.steps[0].lit, string(logrusHead[:1])) {
		return nil // the text might be said of the line itself
	}
	steps, ok := quotedSteps(p.steps)
	if !ok || p.steps[0].lit == "" || len(p.names)+len(set) > maxDirect {
		return nil
	}
	for _, name := range p.names {
		if name == "pod" || name == "ctr" || slices.ContainsFunc(set, func(f parse.Field) bool { return f.Name == name }) {
			return nil // of several parts, or given twice
		}
	}
	values := make([][]byte, len(set))
	for i, f := range set {
		values[i] = []byte(f.Value)
	}
	return func(msg []byte, d *direct) verdict {
		text, ok := logrusMessage(msg)
		if !ok || !endsWithQuote(text) {
			return unsure
		}
		var buf [maxGroups]int
		m := p.newMatch(buf[:])
		for i := range m {
			m[i] = -1
		}
		if !walk(steps, nil, text, 0, m) {
			return refused
		}
		for g, name := range p.names {
			if name == "" || m[2*g] < 0 || m[2*g] == m[2*g+1] {
				continue
			}
			v := text[m[2*g]:m[2*g+1]]
			if isNull(v) || slices.Contains(d.names[:d.n], name) {
				return unsure
			}
			d.add(name, v)
		}
		for i, f := range set {
			d.add(f.Name, values[i])
		}
		return accepted
	}
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

// logrusMessage returns what follows msg=" in a line that begins as usual.
func logrusMessage(msg []byte) (rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(msg, logrusHead); !ok {
		return nil, false
	}
	if rest, ok = bytes.CutPrefix(rest[stretch(rest, &stampClass):], logrusLevel); !ok {
		return nil, false
	}
	return bytes.CutPrefix(rest[stretch(rest, &levelClass):], logrusMsg)
}

// endsWithQuote reports whether the quote that ends a text is the last byte of s,
// which begins inside the text, and whether only quotes are escaped before it.
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

// classOf is the set of some characters.
func classOf(chars string) (class [256]bool) {
	for _, c := range []byte(chars) {
		class[c] = true
	}
	return class
}

// stretch is how many bytes of a class s begins with.
func stretch(s []byte, class *[256]bool) int {
	for i, c := range s {
		if !class[c] {
			return i
		}
	}
	return len(s)
}

// isNull reports whether a value says that there is none.
func isNull(v []byte) bool { return string(v) == "null" }
