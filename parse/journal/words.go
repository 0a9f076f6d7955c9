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
