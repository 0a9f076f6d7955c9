package metrics

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
)

// Stream reads a text file too large for memory in pieces and adds its samples to a
// Set as it goes. It is not safe for concurrent use.
type Stream struct {
	part *Part
	d    *textDecoder
	head []byte // beginning of the file, to classify one without samples
	rest []byte // incomplete line at the end of the last piece
	kept map[*snapshot]*target
	fed  bool
}

// CanStream reports whether a file with this beginning may be streamed. Formats
// whose lines depend on context may not.
func CanStream(head []byte) bool {
	head = trimBOM(head)
	return Sniff(head) == FormatText && !composite(lastLine(head)) && !hasFence(head) && len(head) > 1 && head[0] >= ' '
}

// lastLine returns data up to and including the last line feed.
func lastLine(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }

// NewStream returns a stream for a file that CanStream accepts.
func NewStream(f *parse.File, w Want) *Stream {
	p := newPart(f, w)
	p.Format = string(FormatText)
	return &Stream{part: p, kept: map[*snapshot]*target{}}
}

// Feed processes the next piece of the file. data must not be changed until Flush.
func (s *Stream) Feed(data []byte) {
	if !s.fed {
		data = trimBOM(data)
		s.head = bytes.Clone(data[:min(len(data), 64<<10)])
	}
	if len(s.rest) > 0 {
		data = append(s.rest, data...)
		s.rest = nil
	}
	whole := lastLine(data)
	s.rest = bytes.Clone(data[len(whole):])
	s.lines(cleanLines(whole))
}

func (s *Stream) lines(data []byte) {
	if len(data) == 0 {
		return
	}
	if s.d == nil {
		s.d = newTextDecoder(s.part, data, 1)
		s.d.open = openMetrics(data)
	} else {
		s.d.next(data)
	}
	s.fed = true
	s.d.section(0, len(data))
	s.d.done()
}

// Flush adds the samples read so far to a set and releases them.
func (s *Stream) Flush(set *Set) {
	p := s.part
	for _, sn := range p.scrapes {
		if sn.to == sn.from {
			continue
		}
		t := s.kept[sn]
		if t == nil {
			t = set.apart(p.File)
			s.kept[sn] = t
		}
		set.rows(t, p, sn)
		for _, r := range p.rows[sn.from:sn.to] {
			sn.clue.stampSeen(r.stamp)
		}
		sn.flushed += sn.to - sn.from
		sn.from, sn.to = 0, 0
	}
	p.rows, p.text, p.last = p.rows[:0], p.text[:0], span{}
	for _, sn := range p.scrapes {
		sn.from, sn.to = 0, 0
	}
	set.warnings = append(set.warnings, p.Warnings...)
	p.Warnings = nil
}

// Close ends the file. It reports whether the file held anything, and how many
// samples were left out because of Want.Most.
func (s *Stream) Close(set *Set) (used bool, left int) {
	if len(s.rest) > 0 {
		line, at := uint32(1), []byte(nil)
		if s.d != nil {
			line, at = s.d.line, []byte("\n")
		}
		if rest := s.part.wholeLines(append(at, s.rest...), line-uint32(len(at))); len(rest) > len(at) {
			s.lines(cleanLines(append(s.rest, '\n')))
		}
	}
	if s.d != nil {
		s.d.cutWithin()
	}
	s.Flush(set)
	p := s.part
	p.finish(s.head)
	set.warnings = append(set.warnings, p.Warnings...)
	for name, typ := range p.types {
		set.addType(name, typ)
	}
	for _, sn := range p.scrapes {
		set.settleApart(s.kept[sn], sn)
	}
	return !p.Empty() || len(s.kept) > 0, p.left
}
