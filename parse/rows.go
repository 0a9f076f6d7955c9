package parse

import (
	"bytes"
	"encoding/binary"
)

// Rows are the fields of many lines, one row after the other: a Shape and a value
// for each of its names. Most numbers are small, as they stand for what all lines
// share, or close to each other, as texts are numbered when they first come up. So
// they are kept in a byte or two.
//
// A number is twice itself, or one more than twice its distance from the number near,
// in the encoding of package binary, whichever is shorter.
type Rows struct {
	bytes []byte // with one before the first row, so that none has the number 0
	near  Sym    // the first one that is far from 0
}

// farFrom0 is the least number that takes three bytes by itself.
const farFrom0 = 1 << 13

// Add appends a row and returns its number.
func (r *Rows) Add(row []Sym) uint32 {
	if len(r.bytes) == 0 {
		r.bytes = append(r.bytes, 0)
	}
	n := len(r.bytes)
	for _, s := range row {
		if s < 1<<6 {
			r.bytes = append(r.bytes, byte(s<<1))
			continue
		}
		r.add(s)
	}
	return uint32(n)
}

func (r *Rows) add(s Sym) {
	if r.near == 0 && s >= farFrom0 {
		r.near = s
	}
	code := uint64(s) << 1
	if r.near != 0 {
		d := int64(s) - int64(r.near)
		code = min(code, uint64(d<<1^d>>63)<<1|1)
	}
	r.bytes = binary.AppendUvarint(r.bytes, code)
}

// Take returns what was added, in room of its own, and leaves no rows.
func (r *Rows) Take() Rows {
	out := Rows{bytes.Clone(r.bytes), r.near}
	*r = Rows{bytes: r.bytes[:0]}
	return out
}

// At returns what begins with the row of a number.
func (r *Rows) At(n uint32) Row { return Row{bytes: r.bytes, at: n, near: r.near} }

// Skip returns the number of what stands k values behind that of number n.
func (r *Rows) Skip(n uint32, k int) uint32 {
	for ; k > 0; n++ {
		if r.bytes[n] < 0x80 { // the last byte of a value
			k--
		}
	}
	return n
}

// Row reads values one after the other.
type Row struct {
	bytes []byte
	at    uint32 // of the next value: a pointer that moves on would cost more while memory is collected
	near  Sym
}

// Next returns the next value.
func (r *Row) Next() Sym {
	if b := r.bytes[r.at]; b&0x81 == 0 {
		r.at++
		return Sym(b >> 1)
	}
	return r.next()
}

func (r *Row) next() Sym {
	b := r.bytes[r.at:]
	code, n := uint64(b[0]&0x7f), 1
	for b[n-1] >= 0x80 {
		code |= uint64(b[n]&0x7f) << (7 * n)
		n++
	}
	r.at += uint32(n)
	if code&1 == 0 {
		return Sym(code >> 1)
	}
	d := code >> 1
	return r.near + (Sym(d>>1) ^ -Sym(d&1))
}
