package journal

import "encoding/binary"

// begins reports whether b begins with text. Most of what lines have in common
// is of 8 to 64 bytes: such text is compared in words that overlap, all at
// once, as a loop over them would end where no processor foresees it.
func begins(b, text []byte) bool {
	n := len(text)
	if len(b) < n {
		return false
	}
	switch {
	case n < 8 || n > 64:
		return string(b[:n]) == string(text)
	case n <= 16:
		return differ(b, text)|differ(b[n-8:], text[n-8:]) == 0
	case n <= 32:
		return differ16((*[16]byte)(b), (*[16]byte)(text))|differ16((*[16]byte)(b[n-16:]), (*[16]byte)(text[n-16:])) == 0
	}
	x, y := (*[32]byte)(b), (*[32]byte)(text)
	u, v := (*[32]byte)(b[n-32:]), (*[32]byte)(text[n-32:])
	return differ16((*[16]byte)(x[:]), (*[16]byte)(y[:]))|differ16((*[16]byte)(x[16:]), (*[16]byte)(y[16:]))|
		differ16((*[16]byte)(u[:]), (*[16]byte)(v[:]))|differ16((*[16]byte)(u[16:]), (*[16]byte)(v[16:])) == 0
}

// differ returns the bits in which the first eight bytes differ.
func differ(x, y []byte) uint64 { return eight(x) ^ eight(y) }

func differ16(x, y *[16]byte) uint64 { return differ(x[0:], y[0:]) | differ(x[8:], y[8:]) }

func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// head is a text of 16 to maxHead bytes that many lines have in common, in three
// pieces that overlap.
type head struct {
	a, b, c      [16]byte
	fromB, fromC uint8
	n            uint8 // bytes of the text, 0: there is none
}

const maxHead = 3*16 - 1

// set makes text the head, if it is of such a length.
func (h *head) set(text []byte) {
	n := len(text)
	if h.n = 0; n < 16 || n > maxHead {
		return
	}
	h.n, h.fromB, h.fromC = uint8(n), uint8(min(16, n-16)), uint8(n-16)
	h.a, h.b, h.c = [16]byte(text), [16]byte(text[h.fromB:]), [16]byte(text[h.fromC:])
}

// begins reports whether w begins with the head, of which there is one.
func (h *head) begins(w *[maxHead]byte) bool {
	return *(*[16]byte)(w[:]) == h.a && *(*[16]byte)(w[h.fromB&31:]) == h.b && *(*[16]byte)(w[h.fromC&31:]) == h.c
}

// stampHead is a head of 8 to maxStamp bytes.
type stampHead struct {
	a, b, c      [8]byte
	fromB, fromC uint8
	n            uint8
}

const maxStamp = 3*8 - 1

func (h *stampHead) set(text []byte) {
	n := len(text)
	if h.n = 0; n < 8 || n > maxStamp {
		return
	}
	h.n, h.fromB, h.fromC = uint8(n), uint8(min(8, n-8)), uint8(n-8)
	h.a, h.b, h.c = [8]byte(text), [8]byte(text[h.fromB:]), [8]byte(text[h.fromC:])
}

func (h *stampHead) begins(w *[maxStamp]byte) bool {
	return *(*[8]byte)(w[:]) == h.a && *(*[8]byte)(w[h.fromB&15:]) == h.b && *(*[8]byte)(w[h.fromC&15:]) == h.c
}
