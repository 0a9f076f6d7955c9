package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// skimmed is the last line, if it was only skimmed: a klog line of the usual
// writer in which no literal stands. Most lines are such. It becomes the open
// record when the next line may go on with it.
type skimmed struct {
	set     bool
	at, end int // of the line in the run
	line    uint32
	form    journal.Form
	who     *journal.Who
	lane    *lane
}

// skim takes a line that need not be parsed, or else parses it.
func (s *scanner) skim(rec []byte) bool {
	s.hit = false
	if s.unfinished || s.open.active && s.open.partial {
		s.parser.Parse(rec, &s.entry)
		return false
	}
	var b journal.Brief
	if !s.parser.Skim(rec, &b) {
		s.parser.Parse(rec, &s.entry)
		return false
	}
	if s.hit = s.any(clip(rec[b.Body:])); s.hit || bytes.HasPrefix(b.Caller, criCaller) {
		b.Entry(rec, &s.entry)
		return false
	}
	s.close()
	key := laneKey{who: b.Who, class: klogText}
	if b.Who.PID == 0 {
		key.pid = b.PID
	}
	l := s.laneFor(key)
	l.see(s, b.Clock, b.Header, len(rec), 1)
	s.skimmed = skimmed{true, s.at, s.at + len(rec), s.line, b.Form, b.Who, l}
	return true
}

// reopen makes the skimmed line the open record if the line just parsed may
// belong to it.
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
	s.hit = false
	s.at, s.line = k.at, k.line
	rec := s.data[k.at:k.end]
	s.parser.Parse(rec, &s.entry)
	s.open.begin(s, k.lane, rec)
	s.entry, s.at, s.line, s.hit = now, at, line, hit
}
