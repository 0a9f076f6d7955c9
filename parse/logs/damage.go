package logs

import (
	"bytes"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// zeros is the shortest run of NUL bytes that counts as a hole. Fewer are noise.
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

// noText warns of a line with NUL bytes if others of its bytes are no text either: it was overwritten. NUL bytes
// alone are noise.
func (s *scanner) noText(rec []byte) {
	const msg = "bytes that are no text stand here: what was written is lost"
	if w := s.res.warnings; !utf8.Valid(rec) && (len(w) == 0 || w[len(w)-1].Msg != msg) { // the first of a run of them
		s.warn(s.at, s.line, msg)
	}
}

// unended warns if the file ends within a record of a form that has an end: a block that begins at from, or a JSON
// object on a line of its own among such lines.
func (s *scanner) unended(from int) {
	data := bytes.TrimRight(s.data, " \r\n\x00")
	if s.d.framing.Kind != journal.Blocks {
		from = bytes.LastIndexByte(data, '\n') + 1
		if !bytes.HasPrefix(s.data, []byte("{")) {
			return
		}
	}
	if rest := s.data[min(from, len(data)):]; len(data) > from && !s.d.framing.Ends(rest) {
		s.warn(from, 1+uint32(bytes.Count(s.data[:from], newline)), "data is cut short: the last record has no end")
	}
}

// warn adds a warning about what is at that place of the run's data.
func (s *scanner) warn(at int, line uint32, msg string) {
	s.res.warnings = append(s.res.warnings, parse.Warning{Pos: parse.Pos{File: s.d.file, Offset: s.base + int64(at), Line: line}, Msg: msg})
}
