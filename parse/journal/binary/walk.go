package binary

import (
	"encoding/binary"
	"fmt"
)

// offsets yields the offset and size of each ENTRY object in ascending order. It
// follows the chain of entry arrays. If that is damaged or ends before the header's
// count, it walks the objects after the last good entry.
func (r *Reader) offsets(yield func(off, size int64) bool) {
	end := r.Header.size // end of the last good entry
	given := uint64(0)
	give := func(off int64) (ok, more bool) {
		o, valid := r.object(off)
		if !valid || o.kind != objEntry || off < end {
			return false, true
		}
		end = off + align(o.size)
		given++
		return true, yield(off, o.size)
	}
	switch r.arrays(give) {
	case stopped:
		return
	case torn:
		r.note(end, "the index of entries is torn here, walking the objects instead")
	case whole:
		if given >= r.Header.Entries {
			return
		}
		r.note(end, "the index holds %d of %d entries, walking the objects for the rest", given, r.Header.Entries)
	}
	if r.scan(end, give) && given < r.Header.Entries {
		r.warn(min(end, r.win.size), "%d of the %d entries that the header counts are not found: they are lost%s", r.Header.Entries-given, r.Header.Entries, r.short())
	}
}

// short says that the file is cut short, "" if it is not.
func (r *Reader) short() string {
	if whole := r.Header.size + r.Header.arena; whole > r.win.size {
		return fmt.Sprintf("; the file is cut short at %d of %d bytes", r.win.size, whole)
	}
	return ""
}

// outcome is how following the chain of entry arrays ended.
type outcome int

const (
	whole   outcome = iota // at its end
	torn                   // at something invalid
	stopped                // the consumer stopped
)

// arrayChunk is the number of bytes of an array read at a time.
const arrayChunk = 16 << 10

// arrays follows the chain of entry arrays and passes their items to give.
func (r *Reader) arrays(give func(off int64) (ok, more bool)) outcome {
	for off := r.Header.entryArray; off != 0; {
		o, ok := r.object(off)
		if !ok || o.kind != objEntryArray {
			return torn
		}
		head := r.win.at(off, arrayHeader)
		if head == nil {
			return torn
		}
		next := clampOffset(binary.LittleEndian.Uint64(head[objHeader:]))
		if next != 0 && next <= off {
			return torn // arrays are appended, so a chain that goes backward would never end
		}
		how, full := r.array(off, o.size, give)
		if how != whole || !full {
			return how
		}
		off = next
	}
	return whole
}

// array passes the items of one array to give. full reports that no item was zero;
// only then another array follows.
func (r *Reader) array(off, size int64, give func(off int64) (ok, more bool)) (how outcome, full bool) {
	_, per := r.itemSize()
	var chunk [arrayChunk]byte
	for at, end := off+arrayHeader, off+size; at+per <= end; {
		n := min(arrayChunk, (end-at)/per*per)
		b := r.win.at(at, int(n))
		if b == nil {
			return torn, false
		}
		for items := chunk[:copy(chunk[:], b)]; len(items) > 0; items = items[per:] {
			item := r.offsetAt(items)
			if item == 0 {
				return whole, false
			}
			if ok, more := give(item); !more {
				return stopped, false
			} else if !ok {
				return torn, false
			}
		}
		at += n
	}
	return whole, true
}

// scan walks the objects from off and passes the entries among them to give. Where
// no object is valid, it continues at the next offset that holds one. It returns false
// if the consumer stopped.
func (r *Reader) scan(off int64, give func(off int64) (ok, more bool)) bool {
	end := min(r.win.size, r.Header.size+r.Header.arena)
	if end <= r.Header.size {
		end = r.win.size
	}
	for off < end {
		o, ok := r.object(off)
		if !ok {
			next, zeros := r.resync(off, end)
			if !zeros {
				r.warn(off, "%d bytes hold no object and are skipped", next-off)
			}
			off = next
			continue
		}
		if o.kind == objEntry {
			if _, more := give(off); !more {
				return false
			}
		}
		off += align(o.size)
	}
	return true
}

// resync returns the next offset before end that holds an object. It must be
// followed by another object, unused space or the end, or be certainly an entry.
// zeros reports whether only zeros were skipped: journald allocates ahead, so zeros
// after the last object are not an error.
func (r *Reader) resync(off, end int64) (next int64, zeros bool) {
	zeros = true
	for ; off < end; off += 8 {
		b := r.win.at(off, 8)
		if b == nil {
			return end, zeros
		}
		if binary.LittleEndian.Uint64(b) == 0 {
			continue
		}
		if o, ok := r.object(off); ok && (r.followed(off+align(o.size), end) || r.isEntry(off, o)) {
			return off, zeros
		}
		zeros = false
	}
	return end, zeros
}

// followed reports whether something plausible is at off.
func (r *Reader) followed(off, end int64) bool {
	if off >= end {
		return off < end+8 // the file may end before the padding
	}
	if _, ok := r.object(off); ok {
		return true
	}
	b := r.win.at(off, 8)
	return b != nil && binary.LittleEndian.Uint64(b) == 0
}

// isEntry reports whether an object is certainly an entry, whatever follows it: at
// least half of its items refer to data objects, and the others are plausible
// offsets.
func (r *Reader) isEntry(off int64, o object) bool {
	per, _ := r.itemSize()
	n := (o.size - entryHeader) / per
	if o.kind != objEntry || n < 1 || n > maxItems {
		return false
	}
	b := r.win.at(off+entryHeader, int(n*per))
	items := append([]byte(nil), b...) // the window may move
	data := int64(0)
	for ; len(items) >= int(per); items = items[per:] {
		at := r.offsetAt(items)
		if at < r.Header.size || at%8 != 0 || at >= r.win.size {
			return false
		}
		if d, ok := r.object(at); ok && d.kind == objData {
			data++
		}
	}
	return b != nil && 2*data >= n
}

// align rounds a size up to the alignment of objects.
func align(n int64) int64 { return (n + 7) &^ 7 }
