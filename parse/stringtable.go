package parse

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// StringID is an interned string: an ID, a pod name or another string that many records
// share. The zero StringID is "". StringIDs of one StringTable are equal if and only if their
// strings are, so they index slices and key maps in place of strings. Their order
// is meaningless and differs from run to run.
type StringID uint32

// InLine stands in a row for a value that is not interned and is read from the line. It
// is no string of any table.
const InLine StringID = 1

// StringTable interns strings, numbering them from 2. It is safe for concurrent use.
//
// Strings are stored consecutively in slabs, each preceded by its StringID. A table slot
// holds the place of a string and the hash, so a known string is found without a
// lock and with two cache misses.
type StringTable struct {
	seed   maphash.Seed
	shards [symShards]symShard        // by the highest bits of the hash
	places atomic.Pointer[[]*symPage] // of the strings, by StringID
	slabs  atomic.Pointer[[][]byte]   // full-length slabs; readers only access what slots and places refer to
	shapes atomic.Pointer[[][]string]
	n      atomic.Uint32 // the StringID assigned last

	mu sync.Mutex // held while extending places, slabs or shapes
}

// symShard holds the strings with the same highest hash bits, so that few writers
// contend.
type symShard struct {
	table atomic.Pointer[slotTable]

	mu    sync.Mutex // held while adding a string or replacing the table
	n     int        // number of strings
	slabs int
	room  []byte   // free rest of the last slab
	next  symPlace // place of room
}

const (
	symShardBits = 3
	symShards    = 1 << symShardBits

	symPages = 1 << 10 // strings per page
	symUnit  = 4       // unit of a symPlace in bytes
	symSlab  = 64 << 10
)

type symPage [symPages]symPlace

// symPlace is the place of a string: its slab number and its offset in the slab, in
// units. A string too long for a slab has a slab of its own.
type symPlace uint32

const slabUnits = symSlab / symUnit

// slotTable is the hash table from string to StringID, with linear probing. A slot holds
// the hash in its upper half and the place in its lower half; 0 means empty. A full
// table is replaced by one of twice the size; concurrent readers of the old one
// just miss the newest strings.
type slotTable struct{ slots []atomic.Uint64 }

const firstSlots = 16

// NewStringTable returns an empty table.
func NewStringTable() *StringTable {
	t := &StringTable{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].table.Store(&slotTable{make([]atomic.Uint64, firstSlots)})
	}
	t.places.Store(new([]*symPage))
	t.slabs.Store(&[][]byte{nil}) // so that no place is 0
	t.shapes.Store(new([][]string))
	t.n.Store(uint32(InLine))
	return t
}

// Of returns the StringID of text. It copies the text if it is new.
func (t *StringTable) Of(text []byte) StringID {
	if len(text) == 0 {
		return 0
	}
	var room [hexLen / 2]byte
	return t.of(packSym(text, &room))
}

// Known returns the StringID of a string that was interned before, 0 if it was not.
func (t *StringTable) Known(text []byte) StringID {
	var room [hexLen / 2]byte
	k := packSym(text, &room)
	return t.look(k, t.hash(k))
}

// OfHexID returns the StringID of the string that id encodes.
func (t *StringTable) OfHexID(id *HexID) StringID { return t.of(symText{symHex, id[:]}) }

// OfPair returns the StringIDs of two strings. It takes little longer than Of for one of
// them, because the cache misses overlap.
func (t *StringTable) OfPair(a, b []byte) (StringID, StringID) {
	if len(a) == 0 || len(b) == 0 {
		return t.Of(a), t.Of(b)
	}
	var roomA, roomB [hexLen / 2]byte
	ka, kb := packSym(a, &roomA), packSym(b, &roomB)
	ha, hb := t.hash(ka), t.hash(kb)
	t.shard(ha).table.Load().first(ha).Load() // start both loads; in look, each would wait for the other
	t.shard(hb).table.Load().first(hb).Load()
	return t.find(ka, ha), t.find(kb, hb)
}

func (t *StringTable) of(k symText) StringID { return t.find(k, t.hash(k)) }

func (t *StringTable) hash(k symText) uint32 { return uint32(maphash.Bytes(t.seed, k.data) >> 32) }

func (t *StringTable) shard(h uint32) *symShard { return &t.shards[h>>(32-symShardBits)] }

func (t *StringTable) find(k symText, h uint32) StringID {
	if s := t.look(k, h); s != 0 {
		return s
	}
	return t.add(k, h)
}

// OfString is Of for a string.
func (t *StringTable) OfString(text string) StringID { return t.Of([]byte(text)) }

// Text returns the string of a StringID of this table.
func (t *StringTable) Text(s StringID) string {
	if s == 0 {
		return ""
	}
	return unpackSym(t.text(s))
}

// AppendText appends the string of a StringID to dst. It saves allocations for callers
// that examine many strings and keep none.
func (t *StringTable) AppendText(dst []byte, s StringID) []byte {
	if s == 0 {
		return dst
	}
	return appendSym(dst, t.text(s))
}

// Compare orders two StringIDs by their strings, as strings.Compare does.
func (t *StringTable) Compare(a, b StringID) int {
	switch {
	case a == b:
		return 0
	case a == 0:
		return -1
	case b == 0:
		return 1
	}
	return compareSyms(t.text(a), t.text(b))
}

// Bound returns a number greater than any StringID assigned so far.
func (t *StringTable) Bound() int { return int(t.n.Load()) + 1 }

// text returns a slice that begins with the stored form of s.
func (t *StringTable) text(s StringID) []byte {
	return t.at((*t.places.Load())[s/symPages][s%symPages])[symHead:]
}

// symHead is the length of the StringID stored before a string.
const symHead = 4

func (t *StringTable) at(p symPlace) []byte {
	return (*t.slabs.Load())[p/slabUnits][p%slabUnits*symUnit:]
}

// look returns the StringID of a string, or 0 if there is none.
func (t *StringTable) look(k symText, h uint32) StringID {
	slots := t.shard(h).table.Load().slots
	mask := uint32(len(slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := slots[i].Load()
		if slot == 0 {
			return 0
		}
		if uint32(slot>>32) != h {
			continue
		}
		if have := t.at(symPlace(slot)); k.is(have[symHead:]) {
			return StringID(binary.LittleEndian.Uint32(have))
		}
	}
}

// add assigns the next StringID to a string unless it has been assigned one meanwhile.
func (t *StringTable) add(k symText, h uint32) StringID {
	shard := t.shard(h)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if s := t.look(k, h); s != 0 {
		return s
	}
	table := shard.table.Load()
	if shard.n++; shard.n > len(table.slots)/4*3 {
		table = table.double()
		shard.table.Store(table)
	}
	s := StringID(t.n.Add(1))
	place := t.write(shard, s, k)
	t.page(s)[s%symPages] = place
	table.put(uint64(h)<<32 | uint64(place)) // last, because a reader that finds the slot reads the rest
	return s
}

// page returns the page of a StringID, extending the list if needed.
func (t *StringTable) page(s StringID) *symPage {
	i := int(s / symPages)
	if pages := *t.places.Load(); i < len(pages) {
		return pages[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pages := slices.Clone(*t.places.Load()) // concurrent readers use the old slice
	for i >= len(pages) {
		pages = append(pages, new(symPage))
	}
	t.places.Store(&pages)
	return pages[i]
}

// write stores a StringID and its string in the slabs.
func (t *StringTable) write(shard *symShard, s StringID, k symText) symPlace {
	n := (symHead + k.size() + symUnit - 1) / symUnit * symUnit
	if len(shard.room) < n {
		t.slab(shard, n)
	}
	k.append(binary.LittleEndian.AppendUint32(shard.room[:0:n], uint32(s)))
	place := shard.next
	shard.room, shard.next = shard.room[n:], shard.next+symPlace(n/symUnit)
	return place
}

// slab adds a slab with at least n bytes to a shard. The first slabs are small
// because some inputs have few strings.
func (t *StringTable) slab(shard *symShard, n int) {
	room := make([]byte, max(n, symSlab>>max(0, 6-shard.slabs)))
	shard.slabs++
	t.mu.Lock()
	defer t.mu.Unlock()
	slabs := *t.slabs.Load()
	if len(slabs) == 1<<32/slabUnits {
		panic("16 GiB of names") // unreachable: the lines with so many strings would have exhausted memory before
	}
	shard.room, shard.next = room, symPlace(len(slabs)*slabUnits)
	slabs = append(slabs[:len(slabs):len(slabs)], room)
	t.slabs.Store(&slabs)
}

func (t *slotTable) double() *slotTable {
	twice := &slotTable{make([]atomic.Uint64, 2*len(t.slots))}
	twice.touch()
	for i := range t.slots {
		if slot := t.slots[i].Load(); slot != 0 {
			twice.put(slot)
		}
	}
	return twice
}

// first returns the slot at which the search for a hash starts.
func (t *slotTable) first(h uint32) *atomic.Uint64 { return &t.slots[h&uint32(len(t.slots)-1)] }

// touch writes to each page of a new table. A page that is read before it is
// written causes a second page fault on the write, which interrupts all other cores
// while writers wait for the lock.
func (t *slotTable) touch() {
	const page = 4096 / 8 // slots per page; no system has smaller pages
	for i := 0; i < len(t.slots); i += page {
		t.slots[i].Store(0)
	}
}

// put stores a slot in the first free place.
func (t *slotTable) put(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	i := uint32(slot>>32) & mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.slots[i].Store(slot)
}

// Shape returns the number of a list of field names. It copies a new list.
func (t *StringTable) Shape(names []string) StringID {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := *t.shapes.Load()
	for i, have := range list {
		if slices.Equal(have, names) {
			return StringID(i)
		}
	}
	list = append(list[:len(list):len(list)], slices.Clone(names))
	t.shapes.Store(&list)
	return StringID(len(list) - 1)
}

// Names returns the names of a Shape. The caller must not modify them.
func (t *StringTable) Names(shape StringID) []string { return (*t.shapes.Load())[shape] }
