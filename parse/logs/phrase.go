package logs

import (
	"slices"
	"strings"
)

// phrase is what a runtime says of one container or another, in the same words
// each time: what was found in one of these lines is found in all.
type phrase struct {
	before, after string // the id, in what is said
	severity      byte
	picked        []uint64 // the entries that came into question
	entry         *entry   // the only one that accepts it
	direct        direct   // what its quick reader has read, but for the id
}

// maxPhrases bounds the phrases that are remembered.
const maxPhrases = 12

// phraseOf returns the phrase that the message is, and in its direct the id.
func (l *recentLines) phraseOf(t *message, severity byte, picked []uint64) *phrase {
	if len(l.phrases) == 0 {
		return nil
	}
	text := t.said()
	for _, p := range l.phrases {
		if len(text) != len(p.before)+idLen+len(p.after) || p.severity != severity || string(text[:len(p.before)]) != p.before {
			continue
		}
		id, after := text[len(p.before):len(text)-len(p.after)], text[len(text)-len(p.after):]
		if d := &p.direct; string(after) == p.after && slices.Equal(p.picked, picked) && d.hexID.Set(id) {
			d.values[d.id] = id
			return p
		}
	}
	return nil
}

// learnPhrase remembers the message that m has matched, if it is one of which
// nothing but the id could be another.
func (l *recentLines) learnPhrase(m *Matcher, severity byte, picked []uint64) {
	d, text := m.direct, m.current.logrus
	if len(l.phrases) == maxPhrases || d.id < 0 || len(d.values[d.id]) != idLen {
		return
	}
	p := &phrase{severity: severity, picked: slices.Clone(picked), entry: m.directOf, direct: *d}
	at := cap(text) - cap(d.values[d.id])
	p.before, p.after = string(text[:at]), string(text[at+idLen:])
	if p.direct.packed = true; endsAtQuote(p.before) {
		l.phrases = append(l.phrases, p)
	}
}

// endsAtQuote reports whether a text ends with the first quote in it.
func endsAtQuote(s string) bool {
	_, rest, ok := strings.Cut(s, quotedID)
	return ok && rest == ""
}

// quotedID is how the texts before an id end that is quoted in quotes.
const quotedID = `\"`

// speaksOfIDs reports whether all rows of a pattern read a text up to the first quote
// in it as it stands and then an id, of whatever digits: what the pattern says of a
// text with an id of 64 digits there, it says of that text with any other.
func (l *directLogrus) speaksOfIDs() bool {
	for _, r := range l.rows {
		var before strings.Builder
		i := 0
		for i < len(r.steps) && r.steps[i].lit != "" {
			before.WriteString(r.steps[i].lit)
			i++
		}
		if !endsAtQuote(before.String()) || i+1 >= len(r.steps) || r.steps[i].mark == 0 || r.steps[i+1].run == nil {
			return false
		}
		if run := r.steps[i+1].run; !run.hex || run.most >= 0 || run.least > idLen {
			return false
		}
	}
	return true
}
