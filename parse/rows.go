package parse

import (
	"bytes"
	"encoding/binary"
)

// Rows stores the fields of many lines as consecutive rows: a Shape followed by one
// value per name. Most StringIDs are small because they are shared by all lines, or
// close to each other because strings are numbered on first occurrence. So most
// take one or two bytes.
//
// A StringID is encoded as a uvarint (package encoding/binary): either twice the StringID, or
// one plus twice the zigzag-encoded distance from near, whichever is shorter.
type Rows struct {
	bytes []byte   // begins with an unused byte, so that no row has number 0
	near  StringID // the first StringID that is at least farFrom0; 0: none yet
}

// farFrom0 is the smallest StringID whose plain encoding takes three bytes.
const farFrom0 = 1 << 13

// Add appends a row and returns its number.
func (r *Rows) Add(row []StringID) uint32 {
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

func (r *Rows) add(s StringID) {
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

// Take returns a copy of the rows added so far and empties r.
func (r *Rows) Take() Rows {
	out := Rows{bytes.Clone(r.bytes), r.near}
	*r = Rows{bytes: r.bytes[:0]}
	return out
}

// At returns a reader that starts at the row with number n.
func (r *Rows) At(n uint32) Row { return Row{bytes: r.bytes, at: n, near: r.near} }

// Skip returns the number of the position k values after n.
func (r *Rows) Skip(n uint32, k int) uint32 {
	for ; k > 0; n++ {
		if r.bytes[n] < 0x80 { // the last byte of a value
			k--
		}
	}
	return n
}

// Row reads consecutive values.
type Row struct {
	bytes []byte
	at    uint32 // index of the next value; advancing a slice instead would cost write barriers during garbage collection
	near  StringID
}

// Next returns the next value.
func (r *Row) Next() StringID {
	if b := r.bytes[r.at]; b&0x81 == 0 {
		r.at++
		return StringID(b >> 1)
	}
	return r.next()
}

func (r *Row) next() StringID {
	b := r.bytes[r.at:]
	code, n := uint64(b[0]&0x7f), 1
	for b[n-1] >= 0x80 {
		code |= uint64(b[n]&0x7f) << (7 * n)
		n++
	}
	r.at += uint32(n)
	if code&1 == 0 {
		return StringID(code >> 1)
	}
	d := code >> 1
	return r.near + (StringID(d>>1) ^ -StringID(d&1))
}
