package logs

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// zeros is the shortest run of NUL bytes that is a hole of its own: what stands on its sides belongs to other
// lines. Fewer are damage within a line.
var zeros = make([]byte, 64)

// holed processes a record with holes: zeros in place of what was written there before a crash, or of
// what lay before when the file was truncated while it was written. At the beginning of a file, where
// log rotation leaves them, nothing is lost; a hole elsewhere is a marker. What stands on either side
// was not one line.
func (s *scanner) holed(rec []byte, lines int) {
	at := s.at
	for lost := false; ; {
		hole := bytes.Index(rec, zeros)
		part := rec[:max(hole, 0)]
		if hole < 0 {
			part = rec
		}
		count := lines
		if hole >= 0 {
			count = 0
		}
		if len(part) > 0 || hole < 0 {
			s.parser.Parse(part, &s.entry)
			s.belong()
			s.reopen()
			s.take(part, count)
			if lost {
				s.marker(part, journal.Mark{Kind: parse.MarkHole})
			}
		}
		if hole < 0 {
			break
		}
		if lost = s.base+int64(s.at+hole) > 0; lost {
			s.warn(s.at+hole, s.line, "zeros stand in place of what was written from here on: lines are lost")
		}
		rec = rec[hole:]
		rest := bytes.TrimLeft(rec, "\x00")
		s.at += hole + len(rec) - len(rest)
		rec = rest
	}
	s.at = at
	s.res.lines += lines
	s.line += uint32(lines)
}

const (
	noText = "bytes that are no text stand here: what was written is lost"
	torn   = "the header of this line, or the record that it is, is damaged: what was written is lost"
)

// foreignLines counts the lines of the kubelet with bytes that are no UTF-8 and may be text in another encoding.
type foreignLines struct {
	n     int
	first parse.Pos
}

// damage says what the bytes of a record that was just parsed show: a warning if it was damaged, else "".
func (s *scanner) damage(rec []byte) string {
	switch e := &s.entry; {
	case s.d.binary:
	case bytes.IndexByte(rec, 0) >= 0 && s.zeroed(rec):
		return noText
	case s.foreign && !isUTF8(rec):
		return s.odd(rec)
	case e.Torn, e.Header.Kind == journal.KlogJSON && !journal.Closed(e.Msg), e.Header.Kind == journal.NoHeader && journal.TornHeader(e.Msg),
		s.d.framing.Objects && e.Form == journal.Bare && e.Header.Kind == journal.NoHeader && halfObject(rec):
		return torn
	}
	return ""
}

// halfObject reports whether a line is the beginning or the end of a JSON object.
func halfObject(line []byte) bool {
	begins, ends := bytes.HasPrefix(line, []byte(`{"`)), bytes.HasSuffix(bytes.TrimRight(line, ", \r"), []byte(`"}`))
	return ends && !begins || begins && !journal.Closed(line)
}

// zeroed reports whether NUL bytes in a record stand in place of others. Before the first line of a file they are what
// a rotation leaves, if that line is whole.
func (s *scanner) zeroed(rec []byte) bool {
	if e := &s.entry; s.base+int64(s.at) == 0 && (e.Header.Kind != journal.NoHeader || e.Form >= journal.BSD) {
		rec = bytes.TrimLeft(rec, "\x00")
	}
	return bytes.IndexByte(s.d.framing.Text(rec), 0) >= 0
}

// isUTF8 reports whether a line is UTF-8, possibly cut within its last character.
func isUTF8(line []byte) bool {
	if utf8.Valid(line) {
		return true
	}
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if tail := line[len(line)-n:]; utf8.RuneStart(tail[0]) {
			return !utf8.FullRune(tail) && utf8.Valid(line[:len(line)-n])
		}
	}
	return false
}

// odd judges a record whose bytes are no UTF-8, as damage makes them, or the output of a program in another encoding
// that the kubelet quotes. It is damage if the bytes make another known message, or a header, without their highest
// bit. Of a message that is not known it is damage too if there are control characters, or if it is one
// whose strings klog escapes. A message that is known as it is has lost nothing.
func (s *scanner) odd(rec []byte) string {
	e := &s.entry
	if e.Partial || s.unfinished && e.Form == journal.CRI {
		return ""
	}
	mended := make([]byte, len(rec))
	for i := 0; i < len(rec); {
		r, n := utf8.DecodeRune(rec[i:])
		copy(mended[i:], rec[i:i+n])
		if r == utf8.RuneError && n == 1 {
			mended[i] &= 0x7f
		}
		i += n
	}
	known := s.signatures(e)
	var was journal.Entry
	s.parser.Parse(mended, &was)
	lost := was.Header.Kind != e.Header.Kind && was.Header.Kind != journal.NoHeader || was.Form != e.Form && was.Form >= journal.BSD || s.signatures(&was) != known
	s.parser.Parse(rec, e)
	switch body := e.Msg[e.Header.Body:]; {
	case lost:
		return noText
	case known != nil:
	case e.Header.Kind == journal.Klog && len(body) > 0 && body[0] == '"', bytes.ContainsFunc(rec, isControl):
		return noText
	case e.Header.Kind == journal.Klog:
		f := &s.res.foreign
		if f.n++; f.n == 1 {
			f.first = s.pos()
		}
	}
	return ""
}

func isControl(r rune) bool { return r < '\t' || r > '\r' && r < ' ' && r != 0x1b }

// signatures returns those that match the message of an entry.
func (s *scanner) signatures(e *journal.Entry) *parse.SigSet {
	return s.match(s.sourceOf(e), e.Header.Severity, clip(e.Msg[e.Header.Body:]))
}

// mayTell reports whether the message of an entry has words of a signature.
func (s *scanner) mayTell(e *journal.Entry) bool {
	f := s.d.set.filterOf(s.sourceOf(e))
	return f == nil || f.finds(clip(e.Msg[e.Header.Body:]))
}

// sourceOf returns the writer of an entry, as far as it does not depend on a heading above it: that may stand in
// another run.
func (s *scanner) sourceOf(e *journal.Entry) parse.Source {
	class := classify(e)
	src, stated := sourceOf(e.Who, class)
	if !stated {
		src = s.d.bareSource(class, "", !s.d.framing.Sections)
	}
	return src
}

// damagedLines is damage in lines that follow one another.
type damagedLines struct {
	what string
	end  uint32 // the line behind it
}

// mostDamage is the most damaged records of a run that are marked. Behind them only the last is.
const mostDamage = 1000

// damaged tells of a damaged record, once of those that follow one another, and marks it as a place where something is
// lost. It begins at at.
func (s *scanner) damaged(rec []byte, at, lines int, what string) {
	if s.res.damage != (damagedLines{what, s.line}) {
		s.warn(at, s.line, what)
	}
	s.res.damage = damagedLines{what, s.line + uint32(lines)}
	if s.marked++; s.marked > mostDamage {
		s.res.markers = slices.Delete(s.res.markers, s.lastMark, s.lastMark+1)
	}
	s.lastMark = len(s.res.markers)
	s.marker(rec, journal.Mark{Kind: parse.MarkHole})
}

const (
	unendedRecord = "data is cut short: the last record has no end"
	unendedLine   = "the file ends within this line, as it does if it was copied while it was written"
)

// unended warns if the file ends within a record of a form that has an end: a block that begins at from, or a JSON
// object on a line of its own among such lines. A line that is cut is noted, unless it begins like one that tells
// something.
func (s *scanner) unended(from int) {
	data := bytes.TrimRight(s.data, " \r\n\x00")
	if s.d.framing.Kind != journal.Blocks {
		from = bytes.LastIndexByte(data, '\n') + 1
		if !s.d.framing.Objects {
			if len(data) > from && len(data) == len(s.data) {
				s.cutLine(from)
			}
			return
		}
	}
	if rest := s.data[min(from, len(data)):]; len(data) > from && !s.d.framing.Ends(rest) {
		at, line := from, 1+uint32(bytes.Count(s.data[:from], newline))
		if w := s.res.warnings; len(w) > 0 && w[len(w)-1].Line == line { // it is said to be damaged
			s.res.warnings = w[:len(w)-1]
		}
		s.warn(at, line, unendedRecord)
	}
}

// cutLine warns or notes that the last line, which begins at from and has no line end, is cut if its form shows that:
// strings of klog and logrus have two quotes, and all lines of klog have a whole header.
func (s *scanner) cutLine(from int) {
	rec := s.data[from:]
	var e journal.Entry
	s.parser.Parse(rec, &e)
	body := e.Msg[e.Header.Body:]
	tells := s.mayTell(&e)
	switch {
	case e.Partial:
		return
	case e.Header.Kind == journal.Klog && bytes.HasPrefix(body, []byte(`"`)), e.Header.Kind == journal.Logrus:
		quotes := bytes.Count(body, []byte(`"`)) - bytes.Count(body, []byte(`\"`))
		if quotes%2 == 0 && !bytes.HasSuffix(body, []byte("=")) {
			return
		}
	case e.Header.Kind == journal.NoHeader && journal.CutHeader(e.Msg):
	case e.Header.Kind == journal.Klog && tells && s.signatures(&e) == nil:
	default:
		return
	}
	line := 1 + uint32(bytes.Count(s.data[:from], newline))
	if tells {
		s.warn(from, line, unendedRecord)
		return
	}
	s.warn(from, line, unendedLine)
	s.res.warnings[len(s.res.warnings)-1].Note = true
}

// warn adds a warning about what is at that place of the run's data.
func (s *scanner) warn(at int, line uint32, msg string) {
	s.res.warnings = append(s.res.warnings, parse.Warning{Pos: parse.Pos{File: s.d.file, Offset: s.base + int64(at), Line: line}, Msg: msg})
}
