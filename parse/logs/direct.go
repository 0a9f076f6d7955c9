package logs

import (
	"bytes"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// direct is what a message in its usual spelling tells.
type direct struct {
	names  []string
	values [5][]byte // as many as names
}

// verdict is what a quick reader knows of a message.
type verdict uint8

const (
	unsure verdict = iota // it takes the long way to tell
	accepted
	refused
)

// directReader reads the usual spelling of an entry's message without taking the
// message apart. It exists for what comes by the hundred thousand, and tells
// nothing that the long way would not.
type directReader func(msg []byte) (direct, verdict)

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

// directLogrus reads logrus lines whose message is two texts around one name, as
// in `^StopContainer for "(?P<id>[0-9a-f]+)" returns successfully$`: it compares
// with the texts as they stand in the line, quoted. nil for other patterns.
func directLogrus(p *pattern, set []parse.Field) directReader {
	s := p.steps
	if len(s) == 6 && s[4].lit == "" || len(s) < 5 || len(s) > 6 || !s[len(s)-1].end ||
		s[0].lit == "" || s[1].mark == 0 || s[2].run == nil || s[3].mark == 0 || len(set)+1 > len(direct{}.values) {
		return nil
	}
	if strings.HasPrefix(s[0].lit, string(logrusHead[:1])) {
		return nil // it might be said of the line itself
	}
	before, after := quoted(s[0].lit), []byte(`"`)
	if len(s) == 6 {
		after = append(quoted(s[4].lit), '"')
	}
	name, class, least := p.names[s[1].mark/2], &s[2].run.class, s[2].run.least
	if before == nil || after == nil || s[2].run.most >= 0 || least < 1 || name == "" || name == "pod" || name == "ctr" || !plainClass(class) {
		return nil
	}
	usual := direct{names: []string{name}}
	for i, f := range set {
		if f.Name == name {
			return nil
		}
		usual.names = append(usual.names, f.Name)
		usual.values[i+1] = []byte(f.Value)
	}
	return func(msg []byte) (direct, verdict) {
		rest, ok := logrusMessage(msg)
		if !ok {
			return direct{}, unsure
		}
		if rest, ok = bytes.CutPrefix(rest, before); !ok {
			return direct{}, unsure
		}
		n := stretch(rest, class)
		if n < least || isNull(rest[:n]) {
			return direct{}, unsure
		}
		if !bytes.Equal(rest[n:], after) {
			if endsWithQuote(rest[n:]) {
				return direct{}, refused // the message is all of the line that is left, and goes on in other words
			}
			return direct{}, unsure
		}
		d := usual
		d.values[0] = rest[:n]
		return d, accepted
	}
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
// which begins inside the text.
func endsWithQuote(s []byte) bool {
	for {
		i := bytes.IndexAny(s, `"\\`)
		switch {
		case i < 0:
			return false
		case s[i] == '"':
			return i == len(s)-1
		case i+1 == len(s) || s[i+1] != '"':
			return false // another escape: the long way knows them
		}
		s = s[i+2:]
	}
}

// quoted is a text as it stands inside quotes, nil if it holds more than
// printable ASCII and quotes.
func quoted(s string) []byte {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '\\' {
			return nil
		}
	}
	return []byte(strings.ReplaceAll(s, `"`, `\"`))
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
