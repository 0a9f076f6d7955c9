package logs

import (
	"slices"
	"strings"
)

// phrase is a message that a runtime logs about many containers in the same words.
// What was found in one such line applies to all of them.
type phrase struct {
	before, after string // the message before and after the ID
	severity      byte
	picked        []uint64 // the candidate entries
	entry         *entry   // the only one that accepts the message
	direct        direct   // what its direct reader has read, except the ID
}

// maxPhrases is the maximum number of cached phrases.
const maxPhrases = 12

// phraseOf returns the phrase that matches the message, with its ID set in direct,
// or nil.
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

// learnPhrase caches the message that m has just matched if only its ID can vary.
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

// endsAtQuote reports whether s ends with its first quotedID.
func endsAtQuote(s string) bool {
	_, rest, ok := strings.Cut(s, quotedID)
	return ok && rest == ""
}

// quotedID is what precedes the ID in a quoted message: an escaped quote.
const quotedID = `\"`

// speaksOfIDs reports whether all rows of a pattern read fixed text up to the first
// quote and then an ID of any hex digits. If so, the verdict on a message with a
// 64-digit ID there holds for the same message with any other such ID.
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
