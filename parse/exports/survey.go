package exports

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// surveyLines is how many lines of a log are examined for decorations.
const surveyLines = 400

// survey counts common properties of the first lines of a log.
type survey struct {
	lines, coloured, escaped, native, prefixed, stacked, launched, arrows, slashed, typeset, inside, quoted, framed, walls int
	longest, atLongest, cut                                                                                                int

	first, last parse.Clock // timestamps before the first and last stacked line
	from, to    parse.Clock // timestamps of those lines themselves
}

// dressOf returns the decoration of a log.
func dressOf(head []byte) decoration {
	var d decoration
	text := head[:min(len(head), mostTried)]
	page := bytes.ToLower(text[:min(len(text), 2<<10)])
	d.tags = bytes.Contains(page, []byte("<html")) || bytes.Contains(page, []byte("<!doctype")) || bytes.Contains(page, []byte("<pre"))
	var s survey
	s.read(text, d.tags)
	d.colours = s.coloured*20 >= s.lines && s.coloured > 0
	d.marks = s.escaped*10 >= s.lines && s.escaped > 0
	d.launch = s.launched*10 >= s.lines && s.launched > 0
	d.typeset = s.typeset*10 >= s.lines && s.typeset > 0
	d.escapes = s.inside*10 >= s.quoted*9 && s.inside > 0
	d.slashes = s.slashed*10 >= s.lines && s.slashed > 0
	d.arrows = s.arrows*10 >= s.lines && s.arrows > 0
	d.frames = s.framed*2 >= s.lines && s.framed > 0
	d.walls = s.walls > 0
	logs := s.native + s.prefixed + s.walls
	d.prefix = s.prefixed > 0 && s.prefixed*2 >= logs && s.prefixed*4 >= s.lines
	d.printed = s.stacked > 0 && s.stacked*2 >= logs && s.printed()
	if s.atLongest >= 2 && s.atLongest*10 >= s.lines && s.cut*10 >= s.atLongest*9 && s.longest >= leastWindow {
		d.wrapped = s.longest
	}
	if logs == 0 || logs*8 < s.lines && d.wrapped == 0 {
		return decoration{} // not a log
	}
	return d
}

// leastWindow is the minimum width at which lines may be wrapped.
const leastWindow = 60

func (s *survey) read(head []byte, tags bool) {
	l := newPrefixFinder()
	defer l.parser.Release()
	full := 0 // length of the previous line
	u := stripper{decoration: decoration{colours: true, tags: tags, marks: true, arrows: true, slashes: true, typeset: true, frames: true}}
	for s.lines < surveyLines && len(head) > 0 {
		raw, rest, _ := bytes.Cut(head, newline)
		head = rest
		raw = bytes.TrimRight(raw, "\r")
		if len(raw) == 0 {
			continue
		}
		s.lines++
		line := u.bare(raw)
		at := l.start(line, false)
		switch {
		case at.at > 0:
			s.prefixed++
		case at.at == 0:
			s.native++
		}
		if at.stacked {
			s.stacked++
			s.compare(&l, line, at)
		}
		s.marksOf(raw)
		full = s.width(len(raw), full, at.at >= 0)
	}
}

// marksOf counts the decorations that are visible in a line.
func (s *survey) marksOf(raw []byte) {
	if _, both := unframed(raw); both {
		s.framed++
	}
	if wallHead(raw) != nil {
		s.walls++
	}
	if bytes.Contains(raw, []byte("\x1b[")) {
		s.coloured++
	}
	if bytes.Contains(raw, []byte("&quot;")) || bytes.Contains(raw, []byte("&#34;")) || bytes.Contains(raw, []byte("&gt;")) {
		s.escaped++
	}
	if isTypeset(raw) {
		s.typeset++
	}
	if bytes.IndexByte(raw, '"') > 0 && raw[0] != '{' {
		s.quoted++
		if insideString(raw) {
			s.inside++
		}
	}
	if raw[0] == '[' && bytes.Contains(raw, []byte(`{"`)) && bytes.Contains(raw, []byte(`"=>"`)) {
		s.arrows++
	}
	if i := bytes.Index(raw, []byte(`.go:`)); i > 0 && bytes.Contains(raw[i:min(len(raw), i+12)], []byte(`\] `)) {
		s.slashed++
	}
	if bytes.Contains(raw, []byte(`" component=`)) && bytes.Contains(raw, []byte(` level=`)) && bytes.Contains(raw, []byte(` msg="`)) ||
		cutLaunch(raw) {
		s.launched++
	}
}

// width counts the lines of maximum length, and how many of those are not followed
// by the beginning of a log line. It returns n.
func (s *survey) width(n, full int, begins bool) int {
	if full == s.longest && full > 0 && !begins {
		s.cut++
	}
	switch {
	case n > s.longest:
		s.longest, s.atLongest, s.cut = n, 1, 0
	case n == s.longest:
		s.atLongest++
	}
	return n
}

// compare records the timestamps before and in a line.
func (s *survey) compare(l *prefixFinder, line []byte, at place) {
	outer, _ := journal.ReadISO(outer(line[:min(len(line), maxPrefix)]))
	l.parser.Parse(line[at.at:], &l.entry)
	inner := l.entry.Header.Clock
	if !inner.Set {
		inner = l.entry.Clock
	}
	if !s.first.Set {
		s.first, s.from = outer, inner
	}
	s.last, s.to = outer, inner
}

// printed reports whether the timestamps before the lines were added when these
// were printed: the lines span much more time than the printing took.
func (s *survey) printed() bool {
	went, told := s.last.NS-s.first.NS, s.to.NS-s.from.NS
	if told < 0 {
		told = -told
	}
	return told > 2*max(went, -went)+2e9
}
