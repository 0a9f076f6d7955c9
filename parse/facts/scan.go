package facts

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// Limits per file. What exceeds them is dropped with a warning.
const (
	maxFacts   = 50000
	maxObjects = 50000
	maxText    = 2048 // bytes of a line or value kept
)

// scan walks the lines of a file and collects facts and objects.
type scan struct {
	file *parse.File
	name string // command or file that the content is the output of
	data []byte
	base parse.Pos // position of data[0]

	at     int    // offset of the current line in data
	next   int    // offset of the next line
	row    uint32 // number of the current line within data, 1-based
	line   string // current line without its end
	items  int    // how many items were decoded
	item   int    // offset of the document being read by object
	starts []int  // offsets of the lines, filled by toLine

	part    *parse.Part
	dropped bool
}

func newScan(f *parse.File, name string, data []byte) *scan {
	return &scan{file: f, name: name, data: data, base: parse.Pos{File: f, Line: 1}, part: new(parse.Part)}
}

// section returns a scan of s.data[from:to], the output of another command, whose
// first line has the number row within s.data.
func (s *scan) section(name string, from, to int, row uint32) *scan {
	pos := parse.Pos{File: s.file, Offset: s.base.Offset + int64(from), Line: s.base.Line + row - 1}
	return &scan{file: s.file, name: name, data: s.data[from:to], base: pos, part: s.part}
}

// advance moves to the next line and reports whether there is one.
func (s *scan) advance() bool {
	if s.next >= len(s.data) {
		return false
	}
	s.at = s.next
	s.row++
	rest := s.data[s.at:]
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		end = len(rest)
		s.next = len(s.data)
	} else {
		s.next = s.at + end + 1
	}
	s.line = string(bytes.TrimSuffix(rest[:end], []byte("\r")))
	return true
}

// rewind moves back before the first line.
func (s *scan) rewind() { s.at, s.next, s.row, s.line = 0, 0, 0, "" }

// toLine moves to line n within the data, 1-based, forward or backward; other
// numbers are ignored.
func (s *scan) toLine(n int) {
	if s.starts == nil {
		for at := 0; at < len(s.data); {
			s.starts = append(s.starts, at)
			end := bytes.IndexByte(s.data[at:], '\n')
			if end < 0 {
				break
			}
			at += end + 1
		}
	}
	if n < 1 || n > len(s.starts) {
		return
	}
	s.next, s.row = s.starts[n-1], uint32(n-1)
	s.advance()
}

// pos returns the position of the current line.
func (s *scan) pos() parse.Pos { return s.posAt(s.at, s.row) }

func (s *scan) posAt(at int, row uint32) parse.Pos {
	return parse.Pos{File: s.file, Offset: s.base.Offset + int64(at), Line: s.base.Line + max(row, 1) - 1}
}

// add adds a fact at the current line, the first line if none was read yet.
func (s *scan) add(key, value string, num float64, attrs ...parse.Field) *parse.Fact {
	if s.row == 0 && len(s.data) > 0 {
		s.advance()
	}
	return s.addAt(s.pos(), s.line, key, value, num, attrs...)
}

// addAt adds a fact at another line. Attributes without a value are dropped. It
// returns the fact even if it was dropped because of maxFacts.
func (s *scan) addAt(pos parse.Pos, line, key, value string, num float64, attrs ...parse.Field) *parse.Fact {
	f := &parse.Fact{Pos: pos, Key: key, Value: strings.Clone(value), Num: num, Text: parse.PlainText(clip(line))}
	for _, a := range attrs {
		if a.Value != "" {
			f.Attrs = append(f.Attrs, parse.Field{Name: a.Name, Value: strings.Clone(a.Value)})
		}
	}
	if len(s.part.Facts) >= maxFacts {
		if !s.dropped {
			s.dropped = true
			s.warn("more than " + strconv.Itoa(maxFacts) + " facts in one file, the rest is left out")
		}
		return f
	}
	s.part.Facts = append(s.part.Facts, f)
	return f
}

// text adds a fact without a number.
func (s *scan) text(key, value string, attrs ...parse.Field) *parse.Fact {
	return s.add(key, value, math.NaN(), attrs...)
}

// number adds a fact with the number v, times factor, if v is a number.
func (s *scan) number(key, v string, factor float64, attrs ...parse.Field) {
	if n, ok := number(v); ok {
		s.add(key, v, n*factor, attrs...)
	}
}

func (s *scan) warn(msg string) {
	s.part.Warnings = append(s.part.Warnings, parse.Warning{Pos: s.pos(), Msg: msg})
}

// clip returns a copy of line, cut at maxText bytes.
func clip(line string) string {
	return strings.Clone(line[:min(len(line), maxText)])
}

func attr(name, value string) parse.Field { return parse.Field{Name: name, Value: value} }

// number parses a decimal number, possibly with a decimal comma or a percent sign.
// NaN and infinities are rejected.
func number(s string) (float64, bool) {
	s = strings.TrimSuffix(s, "%")
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// boolean returns 1 for true, yes, on, active and the like, else 0.
func boolean(s string) float64 {
	switch strings.ToLower(s) {
	case "true", "yes", "1", "on", "active", "y":
		return 1
	}
	return 0
}

// sized parses "123", "12Gi", "1.5G", "800M" or "12 kB" into bytes; all suffixes
// are powers of 1024. unit is the unit of a bare number.
func sized(s string, unit float64) (float64, bool) {
	s = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(s), "B"), "i")
	for i, c := range "KMGTPE" {
		if n := len(s) - 1; n > 0 && (s[n] == byte(c) || s[n] == byte(c)+32) {
			v, ok := number(strings.TrimSpace(s[:n]))
			return v * math.Pow(1024, float64(i+1)), ok
		}
	}
	v, ok := number(s)
	return v * unit, ok
}
