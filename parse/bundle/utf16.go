package bundle

import (
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts UTF-16 to UTF-8; newUTF16 has consumed the byte order mark.
// Lone surrogates become U+FFFD. Offsets in warnings and records refer to the UTF-8
// text.
type utf16Reader struct {
	src  *counter
	big  bool
	out  []byte
	i    int
	high uint16 // pending high surrogate
	err  error
}

// newUTF16 discards the byte order mark of src.
func newUTF16(src *counter, big bool) *utf16Reader {
	src.Discard(2)
	return &utf16Reader{src: src, big: big}
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for u.i == len(u.out) && u.err == nil {
		u.out, u.i = u.out[:0], 0
		u.convert()
	}
	n := copy(p, u.out[u.i:])
	u.i += n
	if n == 0 {
		return 0, u.err
	}
	return n, nil
}

func (u *utf16Reader) convert() {
	in := u.src.peek(32 << 10)
	n := len(in) &^ 1
	for i := 0; i < n; i += 2 {
		v := uint16(in[i]) | uint16(in[i+1])<<8
		if u.big {
			v = v>>8 | v<<8
		}
		u.unit(v)
	}
	u.src.Discard(n)
	if n == 0 {
		u.finish(len(in))
	}
}

func (u *utf16Reader) unit(v uint16) {
	if u.high != 0 {
		r := utf16.DecodeRune(rune(u.high), rune(v))
		u.high = 0
		u.out = utf8.AppendRune(u.out, r)
		if r != utf8.RuneError {
			return
		}
	}
	switch {
	case v < utf8.RuneSelf:
		u.out = append(u.out, byte(v))
	case v >= 0xd800 && v < 0xdc00:
		u.high = v
	default:
		u.out = utf8.AppendRune(u.out, rune(v))
	}
}

func (u *utf16Reader) finish(rest int) {
	if u.high != 0 || rest == 1 {
		u.high = 0
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
	}
	u.err = u.src.fault()
}
