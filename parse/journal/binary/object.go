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

// minSize is the least size of an object of each type.
var minSize = [objTypes]int64{
	objData: 64, objField: 40, objEntry: entryHeader, objDataHash: 16, objFieldHash: 16,
	objEntryArray: arrayHeader, objTag: 64,
}

// object is the head of an object.
type object struct {
	kind  byte
	flags byte
	size  int64
}

// object reads the head of the object at off and checks that it can be one.
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

// dataHeader is where the payload of a DATA object begins.
func (r *Reader) dataHeader() int64 {
	if r.Header.Compact {
		return 72
	}
	return 64
}

// itemSize is the size of one item of an ENTRY and of an ENTRY_ARRAY object.
func (r *Reader) itemSize() (entry, array int64) {
	if r.Header.Compact {
		return 4, 4
	}
	return 16, 8
}

// offsetAt reads an offset of an entry or array item.
func (r *Reader) offsetAt(b []byte) int64 {
	if r.Header.Compact {
		return int64(binary.LittleEndian.Uint32(b))
	}
	return clampOffset(binary.LittleEndian.Uint64(b))
}

// payload returns the payload of the DATA object at off, unpacked, valid until
// the next read. At most limit bytes are returned; cut says that there was more.
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
		return nil, false, false // larger packed than it may be unpacked
	}
	b = r.win.at(off+r.dataHeader(), int(n))
	if b == nil {
		return nil, false, false
	}
	return r.packed.unpack(o.flags, b, limit, r.limits.Field)
}
