package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// skimmed is the last line, if it was only skimmed and has a header, so that the
// next line may continue it. Such a line is from a known writer and contains no
// literal; most lines are like that. It becomes the open record if the next line
// continues it.
type skimmed struct {
	set     bool
	at, end int // position of the line in the run
	line    uint32
	kind    journal.HeaderKind
	form    journal.Form
	who     *journal.Who
	stream  *stream
}

// headerClass maps the header kind of a Brief to a class.
var headerClass = [...]class{journal.NoHeader: plainText, journal.Klog: klogText, journal.Logrus: logrusText}

// skim processes a line without parsing it and reports whether that was possible.
// If not, it has parsed the line into s.entry.
func (s *scanner) skim(rec []byte) bool {
	if s.hit {
		s.hit = false
		clear(s.picked)
	}
	var b *journal.Brief
	if !s.unfinished && !(s.open.active && s.open.partial) {
		b = s.parser.Skim(rec)
	}
	if b == nil {
		s.parser.Parse(rec, &s.entry)
		return false
	}
	l := s.streamOfBrief(rec, b)
	if l == nil || b.Kind == journal.NoHeader && s.mayGoOn(b) {
		s.parser.Parse(rec, &s.entry)
		return false
	}
	if s.ownMessage(b.Form, b.Kind, rec, rec[b.Body:b.End]) {
		return true
	}
	s.hit = l.picks(rec[b.Body:b.End], s.picked)
	if s.hit && (b.Kind == journal.Klog && secondHeader(nil, rec[b.Body:b.End]) >= 0 || s.nextStamp(rec, b.Who.Host, b.Off, 0) >= 0) {
		s.parser.Parse(rec, &s.entry)
		return false
	}
	if s.hit && b.Kind == journal.Logrus && journal.OfNode(rec[b.Body:b.End]) { // it may be about another node
		s.parser.Parse(rec, &s.entry)
		return false
	}
	if s.hit && (b.Other > 0 || b.Kind == journal.NoHeader || s.matcher == nil) {
		if b.Other > 0 {
			s.parser.Parse(rec, &s.entry)
		} else {
			b.Entry(rec, &s.entry)
		}
		return false
	}
	if s.open.active {
		s.close()
	}
	l.see(s, &b.Clock, &b.Header, len(rec), 1)
	if b.Kind == journal.Klog {
		l.common.narrow(rec[b.Body:b.End])
	}
	if s.hit {
		s.skimmed.set = false
		s.open.beginBrief(s, l, b, rec)
		return true
	}
	k := &s.skimmed
	if k.set = b.Kind != journal.NoHeader; k.set {
		k.at, k.end, k.line = s.at, s.at+len(rec), s.line
		k.kind, k.form, k.who, k.stream = b.Kind, b.Form, b.Who, l
	}
	return true
}

// streamOfBrief returns the stream of a skimmed line, or nil if the line must be
// parsed to find out, as one about another node must. A line of another process
// uses the known process's stream if the origin has no PID.
func (s *scanner) streamOfBrief(rec []byte, b *journal.Brief) *stream {
	class, pid := headerClass[b.Kind], 0
	if class == klogText {
		if c := b.Caller(rec); c[0] == criCaller[0] && bytes.HasPrefix(c, criCaller) {
			class = criText
		} else if c[0] == 'n' && journal.ByController(c) {
			return nil
		}
		if b.Who.PID == 0 || class == klogText && relays(b.Who.Ident) {
			pid = b.PID
		}
	}
	r := &s.brisk[b.Layout%journal.MaxLayouts][class]
	if r.stream == nil || r.key.who != b.Who || r.key.pid != pid {
		key := streamKey{who: b.Who, class: class, pid: pid}
		if b.Other > 0 && s.streams[key] == nil {
			return nil
		}
		*r = streamOfKey{key, s.streamFor(key)}
	}
	if b.Other > 0 && r.stream.origin.PID != 0 {
		return nil
	}
	return r.stream
}

// mayGoOn reports whether a line without a header may continue the previous record,
// which is then of the same writer.
func (s *scanner) mayGoOn(b *journal.Brief) bool {
	if s.skimmed.set {
		return s.skimmed.kind == journal.Klog && s.skimmed.form == b.Form && sameWriter(s.skimmed.who, b)
	}
	return s.open.active && s.open.header == journal.Klog && s.open.form == b.Form && sameWriter(s.open.who, b)
}

// sameWriter reports whether w wrote the skimmed line b.
func sameWriter(w *journal.Who, b *journal.Brief) bool {
	if b.Other == 0 {
		return w == b.Who || *w == *b.Who
	}
	other := *b.Who
	other.PID = b.Other
	return *w == other
}

// reopen makes the skimmed line the open record if the line just parsed may
// continue it.
func (s *scanner) reopen() {
	k := s.skimmed
	if !k.set {
		return
	}
	s.skimmed.set = false
	e := &s.entry
	if e.Header.Kind != journal.NoHeader || e.Form != journal.Bare && (e.Form != k.form || *e.Who != *k.who) {
		return
	}
	now, at, line, hit := s.entry, s.at, s.line, s.hit
	s.hit = false // picked remains that of the line just parsed
	s.at, s.line = k.at, k.line
	rec := s.data[k.at:k.end]
	s.parser.Parse(rec, &s.entry)
	s.open.begin(s, k.stream, rec)
	s.entry, s.at, s.line, s.hit = now, at, line, hit
}
