package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse/journal"
)

// Two records may stand on one line: a newline was lost, or columns were pasted side
// by side. A klog header in the middle of a line begins another record, which the first
// header does not date.

// goFile is in every klog header and in few messages.
var goFile = []byte(".go:")

// secondHeader returns where a klog header begins in a message behind the header outer (nil if it
// is not at hand), -1 if none does that is not quoted or reported.
func secondHeader(outer *journal.Header, msg []byte) int {
	const before = len("I1120 23:50:39.261028 1234567890 ")
	for from := 0; ; {
		i := bytes.Index(msg[from:], goFile)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(goFile)
		caller := bytes.LastIndexByte(msg[:i], ' ') + 1
		for h := max(0, caller-before); h < caller; h++ {
			var head journal.Header
			if journal.ReadHeader(msg[h:], &head) && head.Kind == journal.Klog && !quoted(msg, h) && !reported(outer, &head, msg[:h]) {
				return h
			}
		}
	}
}

// reported reports whether a message of the same process is the value of the one in which it
// stands, as that of a panic is: behind a colon, and not written after it.
func reported(outer, head *journal.Header, before []byte) bool {
	return outer != nil && bytes.HasSuffix(before, []byte(": ")) && head.PID == outer.PID && head.PID > 0 && head.Clock.NS <= outer.Clock.NS
}

// quoted reports whether what begins at i stands in a quoted string. A column that was
// cut may end within one; then a gap follows.
func quoted(msg []byte, i int) bool {
	gap := bytes.HasSuffix(msg[:i], []byte("  ")) || bytes.HasSuffix(msg[:i], []byte("| ")) || bytes.HasSuffix(msg[:i], []byte("\t"))
	return !gap && quotes(msg[:i])%2 == 1 && quotes(msg[i:])%2 == 1
}

// quotes counts the quotation marks that are not escaped.
func quotes(b []byte) (n int) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			n++
		}
	}
	return n
}

// nextStamp returns where, at or after from, something like the timestamp and host that the
// line begins with occurs again; -1 if it does not. The message begins at off.
func (s *scanner) nextStamp(rec []byte, host string, off, from int) int {
	if host == "" || s.d.binary || off <= 0 || off > len(rec) {
		return -1
	}
	s.word = append(append(append(s.word[:0], ' '), host...), ' ')
	stamp := bytes.Index(rec[:off], s.word)
	if stamp < len("Jan  2 15:04:05") {
		return -1
	}
	for from = max(from, off) + stamp; from < len(rec); from++ {
		i := bytes.Index(rec[from:], s.word)
		if i < 0 {
			return -1
		}
		if from += i; sameShape(rec[:stamp], rec[from-stamp:from]) {
			return from - stamp
		}
	}
	return -1
}

// sameShape reports whether two texts of one length have letters, digits and signs at the
// same places. A blank may stand for a digit.
func sameShape(a, b []byte) bool {
	shape := func(c byte) byte {
		switch {
		case c >= 0x80, 'a' <= c|0x20 && c|0x20 <= 'z':
			return 'a'
		case '0' <= c && c <= '9', c == ' ':
			return '0'
		}
		return c
	}
	for i := range a {
		if shape(a[i]) != shape(b[i]) {
			return false
		}
	}
	return true
}

// A pager cuts lines at the width of a screen. Of a line that holds others, this many bytes
// and timestamps are considered.
const maxWidth, maxStamps = 4096, 8

// nextLine returns where in a line, just parsed, the next line of the journal begins; -1 if it
// does not. A pager cuts what does not fit its width, and what is copied from it may lack the
// newline there. Both are of one host and in the order of time.
func (s *scanner) nextLine(rec []byte) int {
	e, at := &s.entry, 0
	rec = rec[:min(len(rec), 2*maxWidth)]
	for range maxStamps {
		if at = s.nextStamp(rec, e.Who.Host, e.Off, at+1); at < 0 || at > maxWidth {
			return -1
		}
		var next journal.Entry
		s.parser.Parse(rec[at:], &next)
		if next.Form == e.Form && next.Who.Host == e.Who.Host && next.Who.Ident != "" && next.Clock.NS >= e.Clock.NS && !quoted(rec[e.Off:], at-e.Off) {
			return at
		}
	}
	return -1
}

// unglue processes a line, just parsed, that holds further ones, and reports whether it does.
func (s *scanner) unglue(rec []byte, lines int) bool {
	next := s.nextLine(rec)
	if next < 0 {
		return false
	}
	at := s.at
	for ; len(rec) > 0; lines = 0 {
		if next < 0 {
			next = len(rec)
		}
		s.hit = false
		clear(s.picked)
		s.parser.Parse(rec[:next], &s.entry)
		if part := rec[:next]; !s.columns(part, lines) {
			s.belong()
			s.reopen()
			s.take(part, lines)
		}
		s.at += next
		if rec = rec[next:]; len(rec) > 0 {
			s.parser.Parse(rec, &s.entry)
			next = s.nextLine(rec)
		}
	}
	s.at = at
	return true
}

// columns processes a line whose message, just parsed, holds another header, and reports
// whether there is one. What follows it is a record of its own if it is of the same
// writer and process; otherwise it may be quoted, and nothing tells whose it is.
func (s *scanner) columns(rec []byte, lines int) bool {
	e := &s.entry
	if e.Header.Kind != journal.Klog || e.Off < 0 || len(e.Msg) != len(trimEnd(rec))-e.Off {
		return false
	}
	at := s.at
	for count := lines; ; count = 0 {
		h := -1
		if e.Header.Kind == journal.Klog {
			h = secondHeader(&e.Header, e.Msg[e.Header.Body:])
		}
		if h < 0 && count > 0 {
			return false
		}
		s.hit = false
		clear(s.picked)
		next := e.Header.Body + h // the framing of the next record is as long as that of this one
		form, who, pid, off := e.Form, e.Who, e.Header.PID, e.Off
		if h >= 0 {
			s.parser.Parse(bytes.TrimRight(rec[:max(next, off+e.Header.Body)], " |\t"), e)
		}
		part := rec[:min(len(rec), e.Off+len(e.Msg))]
		s.belong()
		s.reopen()
		s.take(part, count)
		if h < 0 {
			break
		}
		s.at += next
		rec = rec[next:]
		if s.parser.Parse(rec, e); e.Form != form || e.Off != off || *e.Who != *who || e.Header.Kind != journal.Klog || e.Header.PID != pid {
			const msg = "a line holds a second record, of another process or cut out of its line: it is left out"
			if w := s.res.warnings; len(w) == 0 || w[len(w)-1].Msg != msg {
				s.warn(s.at, s.line, msg)
			}
			break
		}
	}
	s.at = at
	return true
}
