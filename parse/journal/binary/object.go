package binary

import "encoding/binary"

// Object types.
const (
	objUnused = iota
	objData
	objField
	objEntry
	objDataHash
	objFieldHash
	objEntryArray
	objTag
	objTypes
)

// Object flags: how a payload is compressed.
const (
	packedXZ   = 1 << 0
	packedLZ4  = 1 << 1
	packedZSTD = 1 << 2
)

const (
	objHeader   = 16
	entryHeader = 64
	arrayHeader = 24
)

// minSize is the minimum size of an object, by type.
var minSize = [objTypes]int64{
	objData: 64, objField: 40, objEntry: entryHeader, objDataHash: 16, objFieldHash: 16,
	objEntryArray: arrayHeader, objTag: 64,
}

// object is the header of an object.
type object struct {
	kind  byte
	flags byte
	size  int64
}

// object reads the header of the object at off and checks its plausibility.
func (r *Reader) object(off int64) (object, bool) {
	if off < r.Header.size || off%8 != 0 {
		return object{}, false
	}
	b := r.win.at(off, objHeader)
	if b == nil {
		return object{}, false
	}
	o := object{kind: b[0], flags: b[1], size: clampOffset(binary.LittleEndian.Uint64(b[8:]))}
	if o.kind == objUnused || o.kind >= objTypes || o.flags > packedZSTD || o.size < minSize[o.kind] || o.size > r.win.size-off {
		return object{}, false
	}
	if o.flags != 0 && o.kind != objData {
		return object{}, false
	}
	return o, true
}

// dataHeader returns the offset of the payload in a DATA object.
func (r *Reader) dataHeader() int64 {
	if r.Header.Compact {
		return 72
	}
	return 64
}

// itemSize returns the size of an item of an ENTRY and of an ENTRY_ARRAY object.
func (r *Reader) itemSize() (entry, array int64) {
	if r.Header.Compact {
		return 4, 4
	}
	return 16, 8
}

// offsetAt reads the offset in an entry or array item.
func (r *Reader) offsetAt(b []byte) int64 {
	if r.Header.Compact {
		return int64(binary.LittleEndian.Uint32(b))
	}
	return clampOffset(binary.LittleEndian.Uint64(b))
}

// payload returns the uncompressed payload of the DATA object at off, valid until
// the next read. At most limit bytes are returned; cut reports whether there were
// more.
func (r *Reader) payload(off int64, o object, limit int) (b []byte, cut bool, ok bool) {
	n := o.size - r.dataHeader()
	if n < 0 {
		return nil, false, false
	}
	if o.flags == 0 {
		if n > int64(limit) {
			n, cut = int64(limit), true
		}
		b = r.win.at(off+r.dataHeader(), int(n))
		return b, cut, b != nil
	}
	if n > int64(r.limits.Field) {
		return nil, false, false // the compressed size already exceeds the limit
	}
	b = r.win.at(off+r.dataHeader(), int(n))
	if b == nil {
		return nil, false, false
	}
	return r.packed.unpack(o.flags, b, limit, r.limits.Field)
}
