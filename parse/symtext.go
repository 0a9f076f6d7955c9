package parse

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// symText is a string as StringTable stores it. IDs of 64 hex digits and UUIDs, which
// are the majority, are packed into binary form.
type symText struct {
	code byte
	data []byte
}

// Codes of stored strings. A smaller code is the length of a string stored
// verbatim.
const (
	symLong = 0xFD + iota // a verbatim string preceded by its length in four bytes
	symUUID
	symHex
)

const (
	hexLen  = 64
	uuidLen = 36
)

// HexID is an ID of 64 lower-case hex digits in binary form.
type HexID [hexLen / 2]byte

// Set sets id to the ID that text spells. It returns false if text is not an ID.
func (id *HexID) Set(text []byte) bool { return len(text) == hexLen && packHex(id[:], text) }

// packSym returns the stored form of a string. The result refers to text or to
// room.
func packSym(text []byte, room *[hexLen / 2]byte) symText {
	switch {
	case len(text) == uuidLen && packUUID(room[:], text):
		return symText{symUUID, room[:(uuidLen-4)/2]}
	case len(text) == hexLen && packHex(room[:], text):
		return symText{symHex, room[:]}
	case len(text) < symLong:
		return symText{byte(len(text)), text}
	}
	return symText{symLong, text}
}

// size returns the number of bytes that append adds.
func (t symText) size() int {
	if t.code == symLong {
		return 1 + 4 + len(t.data)
	}
	return 1 + len(t.data)
}

// append appends the code and the data.
func (t symText) append(dst []byte) []byte {
	dst = append(dst, t.code)
	if t.code == symLong {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.data)))
	}
	return append(dst, t.data...)
}

// is reports whether have, written by append, begins with this string.
func (t symText) is(have []byte) bool {
	return have[0] == t.code && string(symData(have)) == string(t.data)
}

// symData returns the data of a string written by append, without unpacking it.
func symData(have []byte) []byte {
	switch code := have[0]; code {
	case symHex:
		return have[1 : 1+hexLen/2]
	case symUUID:
		return have[1 : 1+(uuidLen-4)/2]
	case symLong:
		return have[5 : 5+binary.LittleEndian.Uint32(have[1:])]
	default:
		return have[1 : 1+code]
	}
}

// unpackSym returns the string written by append.
func unpackSym(have []byte) string {
	if have[0] != symUUID && have[0] != symHex {
		return string(symData(have))
	}
	var b [64]byte // long enough for a container ID
	return string(appendSym(b[:0], have))
}

// appendSym appends the result of unpackSym.
func appendSym(dst, have []byte) []byte {
	data := symData(have)
	switch have[0] {
	case symHex:
		return hex.AppendEncode(dst, data)
	case symUUID:
		var b [uuidLen]byte
		for i, at := range uuidParts {
			hex.Encode(b[at:], data[2*i:2*i+2])
		}
		for _, at := range uuidDashes {
			b[at] = '-'
		}
		return append(dst, b[:]...)
	}
	return append(dst, data...)
}

// uuidParts are the offsets in a UUID of the four digits of each pair of bytes.
var (
	uuidParts  = [...]int{0, 4, 9, 14, 19, 24, 28, 32}
	uuidDashes = [...]int{8, 13, 18, 23}
)

// packUUID packs s, which has the length of a UUID, and reports whether it is one
// in lower case.
func packUUID(dst, s []byte) bool {
	_ = s[uuidLen-1]
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	four := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(s[at:])) }
	a, ok1 := eightDigits(binary.LittleEndian.Uint64(s))
	b, ok2 := eightDigits(four(9) | four(14)<<32)
	c, ok3 := eightDigits(four(19) | four(24)<<32)
	d, ok4 := eightDigits(binary.LittleEndian.Uint64(s[28:]))
	binary.LittleEndian.PutUint32(dst, a)
	binary.LittleEndian.PutUint32(dst[4:], b)
	binary.LittleEndian.PutUint32(dst[8:], c)
	binary.LittleEndian.PutUint32(dst[12:], d)
	return ok1 && ok2 && ok3 && ok4
}

// packHex packs s, of hexLen bytes, and reports whether all are lower-case hex
// digits.
func packHex(dst, s []byte) bool {
	_, _ = s[hexLen-1], dst[hexLen/2-1]
	for i := 0; i < hexLen/8; i++ {
		v, ok := eightDigits(binary.LittleEndian.Uint64(s[8*i:]))
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint32(dst[4*i:], v)
	}
	return true
}

// each multiplies a byte into all eight bytes of a word.
const each = 0x0101010101010101

// eightDigits decodes eight lower-case hex digits, the first in the lowest byte,
// into four bytes in the same order. ok is false if any is not such a digit.
func eightDigits(x uint64) (v uint32, ok bool) {
	n := x&(0x0F*each) + x>>6&each*9 // value of each digit, if it is one
	letter := (n + 6*each) >> 4 & each
	if n&(0xF0*each) != 0 || n+'0'*each+letter*('a'-'0'-10) != x {
		return 0, false
	}
	n = (n<<4 | n>>8) & 0x00FF00FF00FF00FF
	n = (n | n>>8) & 0x0000FFFF0000FFFF
	return uint32(n | n>>16), true
}

// LeadingUUID returns the length of the lower-case UUID that s begins with, or 0.
func LeadingUUID(s []byte) int {
	var room [(uuidLen - 4) / 2]byte
	if len(s) < uuidLen || !packUUID(room[:], s) {
		return 0
	}
	return uuidLen
}

// LeadingHex returns the number of lower-case hex digits that s begins with.
func LeadingHex(s []byte) int {
	n := 0
	for ; len(s) >= n+8; n += 8 {
		if _, ok := eightDigits(binary.LittleEndian.Uint64(s[n:])); !ok {
			break
		}
	}
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'f') {
		n++
	}
	return n
}

// compareSyms orders two strings written by append as strings.Compare does.
func compareSyms(a, b []byte) int {
	if a[0] == b[0] || a[0] < symLong && b[0] < symLong {
		// Lower-case digits sort in the order of the bytes they encode.
		return strings.Compare(string(symData(a)), string(symData(b)))
	}
	return strings.Compare(unpackSym(a), unpackSym(b))
}
