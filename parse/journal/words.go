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
		return eight(b)^eight(text)|eight(b[n-8:])^eight(text[n-8:]) == 0
	case n <= 32:
		return differ16((*[16]byte)(b), (*[16]byte)(text))|differ16((*[16]byte)(b[n-16:]), (*[16]byte)(text[n-16:])) == 0
	}
	x, y := (*[32]byte)(b), (*[32]byte)(text)
	u, v := (*[32]byte)(b[n-32:]), (*[32]byte)(text[n-32:])
	return eight(x[0:])^eight(y[0:])|eight(x[8:])^eight(y[8:])|eight(x[16:])^eight(y[16:])|eight(x[24:])^eight(y[24:])|
		eight(u[0:])^eight(v[0:])|eight(u[8:])^eight(v[8:])|eight(u[16:])^eight(v[16:])|eight(u[24:])^eight(v[24:]) == 0
}

func differ16(x, y *[16]byte) uint64 {
	return eight(x[0:]) ^ eight(y[0:]) | eight(x[8:]) ^ eight(y[8:])
}

func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
