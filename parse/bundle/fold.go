package bundle

import (
	"encoding/binary"
	"math/bits"
)

// A folder encodes the lines of a hollow as differences. Once their values are left
// out, lines of one kind differ in few digits, mostly of timestamps; encoding these
// differences is faster and smaller than leaving the repetition to the compressor
// that follows.
//
// The output has two parts: notes, and the bytes they refer to (body). For a line
// with the same head and text lengths as an earlier line, the note is the number of
// that line's kind and where bytes changed. For any other line the note holds its
// lengths, and the body the whole line.
type folder struct {
	kinds       [lineKinds]foldedLine // the last line of each
	notes, body []byte
}

// foldedLine is the position of a line in a hollow: start and end of its head and
// text.
type foldedLine struct{ head, headEnd, text, textEnd int }

// lineKinds is the number of hash slots by which lines of equal lengths are found.
const lineKinds = 61

func lineKind(head, text int) int { return (text + 17*head) % lineKinds }

// fold encodes all lines of h.
func (f *folder) fold(h *hollow) {
	f.kinds = [lineKinds]foldedLine{}
	f.notes, f.body = f.notes[:0], f.body[:0]
	for i, s := range h.starts {
		l := foldedLine{int(s.head), len(h.heads), int(s.text), len(h.text)}
		if i+1 < len(h.starts) {
			next := h.starts[i+1]
			l.headEnd, l.textEnd = int(next.head), int(next.text)
		}
		kind := lineKind(l.headEnd-l.head, l.textEnd-l.text)
		if !f.like(h, kind, &f.kinds[kind], &l) {
			f.notes = appendNumber(append(f.notes, 0), l.headEnd-l.head)
			f.notes = appendNumber(f.notes, l.textEnd-l.text)
			f.body = append(f.body, h.heads[l.head:l.headEnd]...)
			f.body = append(f.body, h.text[l.text:l.textEnd]...)
		}
		f.kinds[kind] = l
	}
}

// all returns the output: the notes, followed by the body.
func (f *folder) all() []byte {
	f.notes = append(f.notes, f.body...)
	return f.notes
}

// like encodes l as its difference from was. It returns false and writes nothing if
// their lengths differ or they have too little in common.
func (f *folder) like(h *hollow, kind int, was, l *foldedLine) bool {
	if was.headEnd-was.head != l.headEnd-l.head || was.textEnd-was.text != l.textEnd-l.text {
		return false
	}
	notes, body := len(f.notes), len(f.body)
	f.notes = append(f.notes, byte(2*kind+1))
	a, b := h.heads[was.head:was.headEnd], h.heads[l.head:l.headEnd]
	if string(a) != string(b) {
		f.notes[notes]++
		f.changes(a, b)
	}
	f.changes(h.text[was.text:was.textEnd], h.text[l.text:l.textEnd])
	if len(f.body)-body+len(f.notes)-notes > 8+(l.textEnd-l.text)/2 {
		f.notes, f.body = f.notes[:notes], f.body[:body]
		return false
	}
	return true
}

// closeBy is the longest run of equal bytes that does not end a change.
const closeBy = 2

// changes encodes how b differs from a, which has the same length. For each change
// it notes the number of equal bytes before it plus 1, and its length; a 0 ends the
// list.
func (f *folder) changes(a, b []byte) {
	if string(a) == string(b) {
		f.notes = append(f.notes, 0)
		return
	}
	notes, body := f.notes, f.body
	done := 0
	for i := alike(a, b, 0); i < len(b); {
		end := i + 1
		for j := end; j < len(b) && j <= end+closeBy; j++ {
			if a[j] != b[j] {
				end = j + 1
			}
		}
		notes = appendNumber(appendNumber(notes, i-done+1), end-i)
		body = append(body, b[i:end]...)
		done = end
		i = alike(a, b, end)
	}
	f.notes, f.body = append(notes, 0), body
}

// alike returns the index of the first byte at or after i where a and b differ,
// len(b) if there is none.
func alike(a, b []byte, i int) int {
	a = a[:len(b)]
	for ; i <= len(b)-8; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:i+8]) ^ binary.LittleEndian.Uint64(b[i:i+8]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// unfold decodes the output of fold and appends the lines to h, which must be
// empty.
func unfold(notes, body []byte, h *hollow) {
	var kinds [lineKinds]foldedLine
	u := unfolder{notes, body}
	for len(u.notes) > 0 {
		l := foldedLine{head: len(h.heads), text: len(h.text)}
		kind := 0
		if code := u.number(); code == 0 {
			head, text := u.number(), u.number()
			h.heads, h.text = u.move(h.heads, head), u.move(h.text, text)
			kind = lineKind(head, text)
		} else {
			kind = (code - 1) / 2
			was := &kinds[kind]
			h.heads = append(h.heads, h.heads[was.head:was.headEnd]...)
			if code%2 == 0 {
				u.change(h.heads[l.head:])
			}
			h.text = append(h.text, h.text[was.text:was.textEnd]...)
			u.change(h.text[l.text:])
		}
		l.headEnd, l.textEnd = len(h.heads), len(h.text)
		kinds[kind] = l
	}
}

type unfolder struct{ notes, body []byte }

func (u *unfolder) number() int {
	v, n := binary.Uvarint(u.notes)
	u.notes = u.notes[n:]
	return int(v)
}

func (u *unfolder) move(dst []byte, n int) []byte {
	dst = append(dst, u.body[:n]...)
	u.body = u.body[n:]
	return dst
}

// change applies the noted changes to b.
func (u *unfolder) change(b []byte) {
	for skip := u.number(); skip > 0; skip = u.number() {
		n := copy(b[skip-1:], u.body[:u.number()])
		b, u.body = b[skip-1+n:], u.body[n:]
	}
}
