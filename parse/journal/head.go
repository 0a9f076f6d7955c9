package journal

import "encoding/binary"

func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// head is a text of 16 to maxHead bytes that many lines have in common, stored as
// three overlapping pieces. All three are always compared, because the end of a
// loop over the text would be mispredicted.
type head struct {
	a, b, c      [16]byte
	fromB, fromC uint8
	n            uint8 // length of the text, 0 if there is none
}

const maxHead = 3*16 - 1

// set makes text the head, or clears the head if the length of text is out of
// range.
func (h *head) set(text []byte) {
	n := len(text)
	if h.n = 0; n < 16 || n > maxHead {
		return
	}
	h.n, h.fromB, h.fromC = uint8(n), uint8(min(16, n-16)), uint8(n-16)
	h.a, h.b, h.c = [16]byte(text), [16]byte(text[h.fromB:]), [16]byte(text[h.fromC:])
}

// begins reports whether w begins with the head. The head must not be empty.
func (h *head) begins(w *[maxHead]byte) bool {
	return *(*[16]byte)(w[:]) == h.a && *(*[16]byte)(w[h.fromB&31:]) == h.b && *(*[16]byte)(w[h.fromC&31:]) == h.c
}
