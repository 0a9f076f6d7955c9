package exports

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

const (
	// maxRecord is the maximum length of a record in bytes.
	maxRecord = 1 << 20
	readSize  = 64 << 10
)

// source is a window on the input of an export, and the output lines.
type source struct {
	r    io.Reader
	win  []byte // bytes read but not consumed
	err  error  // error that ended the input
	line int    // line number of the first byte of win, from 0

	out    []byte // lines that are not read yet, at the end of room
	room   []byte
	quote  quoter
	lines  int // lines written so far, including those in out
	origin lineMap
	size   int64
	passed int // records written
	damage Damage
	inner  *prefixFinder
}

// more reads more input. It returns false at the end.
func (s *source) more() bool {
	if s.err != nil {
		return false
	}
	if cap(s.win)-len(s.win) < readSize {
		s.win = append(make([]byte, 0, 2*len(s.win)+2*readSize), s.win...)
	}
	var n int
	n, s.err = s.r.Read(s.win[len(s.win) : len(s.win)+readSize])
	s.win = s.win[:len(s.win)+n]
	s.size += int64(n)
	if n > 0 && s.damage.Line == 0 {
		s.holes(n)
	}
	return n > 0 || s.err == nil
}

// at returns byte i of the window, reading if necessary; 0 after the end.
func (s *source) at(i int) byte {
	for i >= len(s.win) {
		if !s.more() {
			return 0
		}
	}
	return s.win[i]
}

// ended reports whether the input is exhausted.
func (s *source) ended() bool { return len(s.win) == 0 && s.at(0) == 0 && len(s.win) == 0 }

// skip consumes up to n bytes of the window.
func (s *source) skip(n int) {
	n = min(n, len(s.win))
	s.line += bytes.Count(s.win[:n], newline)
	s.win = s.win[n:]
}

var newline = []byte{'\n'}

// lineLen returns the length of the line at the start of the window, including its
// line feed, at most about maxRecord.
func (s *source) lineLen() int {
	from := 0
	for {
		if i := bytes.IndexByte(s.win[from:], '\n'); i >= 0 {
			return from + i + 1
		}
		if from = len(s.win); from >= maxRecord || !s.more() {
			return len(s.win)
		}
	}
}

// level writes empty lines up to the given input line.
func (s *source) level(line int) {
	for ; s.lines < line; s.lines++ {
		s.out = append(s.out, '\n')
	}
}

// write writes a record at the line of its message, r.line lines after the current
// one. A message of several log lines becomes several lines.
func (s *source) write(r *record) {
	s.level(s.line + r.line)
	one := *r
	lines := r.lines()
	if lines == nil {
		lines = []string{r.message}
	} else {
		one.time = "" // is that of the whole message
	}
	in := s.line + r.line
	for i, l := range lines {
		if i > 0 && r.broken {
			in++
		}
		s.origin.add(s.lines, in)
		one.message = l
		of := one
		s.open(&of)
		s.out = of.appendLine(s.out, &s.quote)
		s.lines++
	}
	s.passed++
}

// verbatim copies a line unchanged.
func (s *source) verbatim() {
	n := s.lineLen()
	s.level(s.line)
	s.origin.add(s.lines, s.line)
	s.out = append(s.out, s.win[:n]...)
	if n > 0 && s.win[n-1] == '\n' {
		s.lines++
	} else {
		s.out = append(s.out, '\n')
		s.lines++
	}
	s.skip(n)
}

// Reader reads the log lines of an export.
type Reader struct {
	source
	step func() // consumes at least one byte of the window
	end  func() // at the end of the input; nil if nothing is to be done

	found Found
}

// Found is the first line with the name of a log file before it, as a search writes it; the zero value if there is none.
type Found struct {
	Line   uint32 // from 1
	Offset int64
	Text   string
}

// Found returns the first line that a search found.
func (r *Reader) Found() Found { return r.found }

// found returns the first line of the head of a text that a search found.
func (l *prefixFinder) found(head []byte) Found {
	line, at := uint32(0), 0
	for rec := range bytes.SplitSeq(head, []byte("\n")) {
		line++
		if n := parse.FoundIn(rec); n > 0 && l.begins(rec[n:]) {
			return Found{line, int64(at), string(rec[:min(len(rec), mostFound)])}
		}
		at += len(rec) + 1
	}
	return Found{}
}

// mostFound is how much of such a line is quoted, in bytes.
const mostFound = 1 << 10

// Line returns the line of the export that output line n comes from, both from 1.
func (r *Reader) Line(n uint32) uint32 { return uint32(r.origin.of(int(n)-1)) + 1 }

// Size returns how many bytes of the export were read.
func (r *Reader) Size() int64 { return r.size }

// Read returns the lines of the export, then the error that ended the input.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		r.out = r.room[:0]
		if r.ended() {
			if r.err != nil && r.lines < r.line {
				r.level(r.line)
				continue
			}
			if r.end != nil && r.err == io.EOF {
				r.end()
			}
			return 0, r.err
		}
		r.step()
		r.room = r.out
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// open parses a message that is a log line with its own timestamp and source, as
// when an agent shipped the lines of a file.
func (s *source) open(r *record) {
	if len(r.message) < 30 || strings.IndexByte(r.message, '\n') >= 0 || !shortStamp([]byte(r.message)) && r.message[0] != '2' {
		return
	}
	if s.inner == nil {
		l := newPrefixFinder()
		s.inner = &l
	}
	line := []byte(r.message)
	if !s.inner.named(line) {
		return
	}
	e := &s.inner.entry
	r.message = string(e.Msg)
	if stamp(r.time, r.utc) == "" {
		r.time = string(outer(line[:e.Off]))
	}
	if e.Who.Host != "" {
		r.host = e.Who.Host
	}
	if e.Who.Ident != "" {
		r.ident, r.pid = e.Who.Ident, ""
	}
	if e.Who.PID > 0 {
		r.pid = strconv.Itoa(e.Who.PID)
	}
}
