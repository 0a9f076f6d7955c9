package bundle

import (
	"encoding/binary"

	"github.com/plegforensics/plegforensics/parse"
)

// hollow holds lines one after the other, without those of their values that are
// kept as numbers beside them. These are ids and names for the most part, which
// pack worst, and the table of numbers has each of them only once.
type hollow struct {
	text  []byte     // what is left of the lines
	heads []byte     // how each is put together, see add
	rows  parse.Rows // the fields of the lines that have them
	size  uint32     // of all lines in full
	since int        // how many numbers of rows follow that of the last value left out

	line   []byte      // that was added last, as it was given
	starts []lineStart // of the lines that were added
}

// lineStart is where a line begins.
type lineStart struct{ text, head uint32 }

// add appends a line, with a head that leaves nothing out.
//
// The head of a line is its length in full; for each value left out, 1 more than
// the length of the text since the one before, and how much further on in the rows
// its number stands; 0; and the length of the text behind the last one.
func (h *hollow) add(line []byte) {
	h.line, h.starts = line, append(h.starts, lineStart{uint32(len(h.text)), uint32(len(h.heads))})
	n := uint64(len(line))
	h.heads = binary.AppendUvarint(append(binary.AppendUvarint(h.heads, n), 0), n)
	h.text = append(h.text, line...)
	h.size += uint32(n)
}

// leastHole is the length of the shortest value that is left out.
const leastHole = 4

// leave takes values out of the line that was added last, as far as they are parts
// of it and stand one behind the other. Their numbers stand in the row that was added
// last, of so many numbers, behind the first one. The line must still be what it was.
func (h *hollow) leave(values [][]byte, row int) {
	start := h.starts[len(h.starts)-1]
	heads := appendNumber(h.heads[:start.head], len(h.line))
	text := h.text[start.text:]
	from, to := 0, 0 // of what is behind the last one, as it was and as it will be
	for i, v := range values {
		// Slices of one array, as long as they may be, begin where their capacities tell.
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

// appendNumber appends a number, mostly as one byte.
func appendNumber(heads []byte, n int) []byte {
	if n < 0x80 {
		return append(heads, byte(n))
	}
	return binary.AppendUvarint(heads, uint64(n))
}

// linePlace is where a line begins.
type linePlace struct {
	off         uint32 // in the lines in full
	text, heads int
	row         uint32 // of rows, the last value left out before it
}

// slice returns n bytes at off of the lines in full, which lie in one line. It
// looks for that from a place on, if it is not too far already, and leaves it there.
func (h *hollow) slice(off, n uint32, from *linePlace, syms *parse.Symbols) string {
	if off < from.off {
		*from = linePlace{}
	}
	for from.heads < len(h.heads) {
		next := *from
		h.walk(&next, nil, syms)
		if off < next.off {
			line := *from
			full := h.walk(&line, make([]byte, 0, next.off-from.off), syms)
			return string(full[off-from.off:][:n])
		}
		*from = next
	}
	return ""
}

// walk goes over one line and appends it in full, unless to nil.
func (h *hollow) walk(p *linePlace, full []byte, syms *parse.Symbols) []byte {
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
			full = syms.AppendText(full, value.Next())
		}
	}
	return h.stretch(p, h.number(p), full)
}

// stretch goes over n bytes of the text.
func (h *hollow) stretch(p *linePlace, n int, full []byte) []byte {
	if full != nil {
		full = append(full, h.text[p.text:p.text+n]...)
	}
	p.text += n
	return full
}

// number reads on in the heads.
func (h *hollow) number(p *linePlace) int {
	v, n := binary.Uvarint(h.heads[p.heads:])
	p.heads += n
	return int(v)
}
