package bundle

import (
	"encoding/binary"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
)

// hollow stores lines back to back, without those of their values that are kept as
// interned strings. The values left out are mostly ids and names: they compress
// worst, and the symbol table holds each only once.
type hollow struct {
	text  []byte     // what is left of the lines
	heads []byte     // how to put each line together, see add
	rows  parse.Rows // the fields of the lines that have them
	size  uint32     // length of all lines in full
	since int        // position in rows relative to the last value left out, in numbers

	line   []byte      // the line added last, as passed to add
	starts []lineStart // starts of the lines added
}

// lineStart is where a line begins in text and heads.
type lineStart struct{ text, head uint32 }

// add appends a line with a head that leaves nothing out.
//
// The head of a line consists of varints: its full length; for each value left out,
// the length of the text since the previous one plus 1, and how far to advance in
// rows to its symbol; 0; and the length of the text after the last value.
func (h *hollow) add(line []byte) {
	h.line, h.starts = line, append(h.starts, lineStart{uint32(len(h.text)), uint32(len(h.heads))})
	n := uint64(len(line))
	h.heads = binary.AppendUvarint(append(binary.AppendUvarint(h.heads, n), 0), n)
	h.text = append(h.text, line...)
	h.size += uint32(n)
}

// leastHole is the length of the shortest value that is left out.
const leastHole = 4

// leave removes values from the line added last. Only values that are subslices of
// the line and in order are removed. Their interned are in the row added last, after
// its first number; row is how many numbers that row has. The line passed to add
// must be unchanged.
func (h *hollow) leave(values [][]byte, row int) {
	start := h.starts[len(h.starts)-1]
	heads := appendNumber(h.heads[:start.head], len(h.line))
	text := h.text[start.text:]
	from, to := 0, 0 // position after the last value, in the line and in the shortened text
	for i, v := range values {
		// The offset of a subslice follows from the capacities: both slices end at
		// the end of the same array.
		at := cap(h.line) - cap(v)
		if len(v) < leastHole || at < from || at+len(v) > len(text) || &v[0] != &h.line[at] {
			continue
		}
		heads = appendNumber(heads, at-from+1)
		heads = appendNumber(heads, h.since+i+2)
		if from > 0 {
			copy(text[to:], text[from:at])
		}
		to += at - from
		from, h.since = at+len(v), -(i + 2)
	}
	n := copy(text[to:], text[from:])
	h.text = h.text[:int(start.text)+to+n]
	h.heads = appendNumber(append(heads, 0), n)
	h.since += row
}

// appendNumber appends a varint, with a fast path for one byte.
func appendNumber(heads []byte, n int) []byte {
	if n < 0x80 {
		return append(heads, byte(n))
	}
	return binary.AppendUvarint(heads, uint64(n))
}

// linePlace is the position of a line during decoding.
type linePlace struct {
	off         uint32 // offset in the full lines
	text, heads int
	row         uint32 // position in rows of the last value left out
}

// places holds positions of lines that were passed, so that the next line to be found is near one of them.
type places struct {
	last  linePlace   // the line found last
	marks []linePlace // in order, markEvery or more apart
}

// markEvery is how many bytes of lines lie between two marks, some 16 lines.
const markEvery = 2 << 10

// before returns the last known line that begins at or before off.
func (p *places) before(off uint32) linePlace {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].off > off })
	switch {
	case i > 0 && (p.last.off > off || p.last.off < p.marks[i-1].off):
		return p.marks[i-1]
	case p.last.off <= off:
		return p.last
	}
	return linePlace{}
}

// pass notes a line.
func (p *places) pass(l linePlace) {
	if n := len(p.marks); l.off >= markEvery && (n == 0 || l.off >= p.marks[n-1].off+markEvery) {
		p.marks = append(p.marks, l)
	}
}

// slice returns n bytes at off of the full lines; they must lie within one line. It
// searches from the nearest of the lines seen so far.
func (h *hollow) slice(off, n uint32, seen *places, interned *parse.StringTable) string {
	from := seen.before(off)
	for from.heads < len(h.heads) {
		next := from
		h.walk(&next, nil, interned)
		if off < next.off {
			line := from
			full := h.walk(&line, make([]byte, 0, next.off-from.off), interned)
			seen.last = from
			return string(full[off-from.off:][:n])
		}
		from = next
		seen.pass(from)
	}
	return ""
}

// walk advances p over one line and, unless full is nil, appends the full line to
// it.
func (h *hollow) walk(p *linePlace, full []byte, interned *parse.StringTable) []byte {
	p.off += uint32(h.number(p))
	for {
		n := h.number(p)
		if n == 0 {
			break
		}
		full = h.stretch(p, n-1, full)
		p.row = h.rows.Skip(p.row, h.number(p))
		if full != nil {
			value := h.rows.At(p.row)
			full = interned.AppendText(full, value.Next())
		}
	}
	return h.stretch(p, h.number(p), full)
}

// stretch advances p over n bytes of text and, unless full is nil, appends them to
// it.
func (h *hollow) stretch(p *linePlace, n int, full []byte) []byte {
	if full != nil {
		full = append(full, h.text[p.text:p.text+n]...)
	}
	p.text += n
	return full
}

// number reads the next varint of heads.
func (h *hollow) number(p *linePlace) int {
	v, n := binary.Uvarint(h.heads[p.heads:])
	p.heads += n
	return int(v)
}
