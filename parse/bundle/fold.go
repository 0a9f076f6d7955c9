package bundle

import (
	"encoding/binary"
	"math/bits"
)

// A folder writes the lines of a hollow as what they have not in common. Lines of
// one kind differ in a few digits once their values are left out, mostly of their
// clocks: to note these takes less time and room than to leave it to the encoder
// behind to find out what repeats.
//
// What it writes are the notes and the bytes that they speak of. Of a line whose
// head and text are as long as those of a line before, the note is the number of
// that one's kind and where bytes were changed; of any other line its lengths.
type folder struct {
	kinds       [lineKinds]foldedLine // the last line of each
	notes, body []byte
}

// foldedLine is where a line stands in a hollow, from and to.
type foldedLine struct{ head, headEnd, text, textEnd int }

// lineKinds is how many kinds of lines are told apart, by their lengths.
const lineKinds = 61

func lineKind(head, text int) int { return (text + 17*head) % lineKinds }

// fold writes all lines of h.
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

// all is what was written: the notes, and behind them the bytes.
func (f *folder) all() []byte {
	f.notes = append(f.notes, f.body...)
	return f.notes
}

// like notes a line as what differs from another of its kind. It reports false, and
// writes nothing, if these are of other lengths or have too little in common.
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

// closeBy is how many bytes alike do not end a change.
const closeBy = 2

// changes notes how b differs from a, which is as long: of each change, 1 more than
// how many bytes alike stand before it and how many bytes it has; and 0.
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

// alike is where the first byte at or behind i is that differs, len(b) if none does.
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

// unfold appends the lines that were folded to h, which has none.
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

// change makes the changes that are noted.
func (u *unfolder) change(b []byte) {
	for skip := u.number(); skip > 0; skip = u.number() {
		n := copy(b[skip-1:], u.body[:u.number()])
		b, u.body = b[skip-1+n:], u.body[n:]
	}
}
