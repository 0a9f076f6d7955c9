package parse

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Sym stands for a text that many records share: an id, the name of a pod. The
// zero Sym is "". Syms of one Symbols are equal where their texts are, so they
// index slices and key maps in place of the texts. Their order says nothing: it
// differs from run to run.
type Sym uint32

// Symbols numbers texts from 1 on. It may be used by any number of goroutines.
//
// Texts lie one behind the other in slabs, each behind its number. A slot of the
// table tells where, next to some bits of the hash, so that a text that is known
// is found without a lock, by two looks at memory that is far away.
type Symbols struct {
	seed   maphash.Seed
	shards [symShards]symShard        // of texts, by the highest bits of the hash
	places atomic.Pointer[[]*symPage] // of the texts, by number
	slabs  atomic.Pointer[[][]byte]   // full length, of which those who look see what slots and places name
	shapes atomic.Pointer[[][]string]
	n      atomic.Uint32 // numbers given

	mu sync.Mutex // of who lengthens one of the lists
}

// symShard is the texts whose hash begins alike: who adds one waits for few others.
type symShard struct {
	table atomic.Pointer[symTable]

	mu    sync.Mutex // of those who add; the table is replaced under it
	n     int        // texts
	slabs int
	room  []byte   // rest of the last slab
	next  symPlace // of room
}

const (
	symShardBits = 3
	symShards    = 1 << symShardBits

	symPages = 1 << 10 // texts of a page
	symUnit  = 4       // places count bytes by it
	symSlab  = 64 << 10
)

type symPage [symPages]symPlace

// symPlace is where a text is: the number of its slab and where in it, in units.
// A text too long for a slab has one of its own.
type symPlace uint32

const slabUnits = symSlab / symUnit

// symTable is the table from text to number, by linear probing: the upper half of
// a hash and a place, 0 where there is none. A full one is replaced by one of
// twice the size; who still looks into it finds no text that is new.
type symTable struct{ slots []atomic.Uint64 }

const firstSlots = 16

// NewSymbols returns a table without texts.
func NewSymbols() *Symbols {
	t := &Symbols{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].table.Store(&symTable{make([]atomic.Uint64, firstSlots)})
	}
	t.places.Store(new([]*symPage))
	t.slabs.Store(&[][]byte{nil}) // so that 0 is no place
	t.shapes.Store(new([][]string))
	return t
}

// Of returns the number of a text, which it copies when it is new.
func (t *Symbols) Of(text []byte) Sym {
	if len(text) == 0 {
		return 0
	}
	var room [hexLen / 2]byte
	return t.of(packSym(text, &room))
}

// OfHexID returns the number of an id as text.
func (t *Symbols) OfHexID(id *HexID) Sym { return t.of(symText{symHex, id[:]}) }

// OfPair returns the numbers of two texts. It takes little longer than Of for one
// of them: what it has to look at is far away, and comes side by side.
func (t *Symbols) OfPair(a, b []byte) (Sym, Sym) {
	if len(a) == 0 || len(b) == 0 {
		return t.Of(a), t.Of(b)
	}
	var roomA, roomB [hexLen / 2]byte
	ka, kb := packSym(a, &roomA), packSym(b, &roomB)
	ha, hb := t.hash(ka), t.hash(kb)
	t.shard(ha).table.Load().first(ha).Load() // neither waits for the other, as look would
	t.shard(hb).table.Load().first(hb).Load()
	return t.find(ka, ha), t.find(kb, hb)
}

func (t *Symbols) of(k symText) Sym { return t.find(k, t.hash(k)) }

func (t *Symbols) hash(k symText) uint32 { return uint32(maphash.Bytes(t.seed, k.data) >> 32) }

func (t *Symbols) shard(h uint32) *symShard { return &t.shards[h>>(32-symShardBits)] }

func (t *Symbols) find(k symText, h uint32) Sym {
	if s := t.look(k, h); s != 0 {
		return s
	}
	return t.add(k, h)
}

// OfString is Of for a string.
func (t *Symbols) OfString(text string) Sym { return t.Of([]byte(text)) }

// Text returns the text of a number that the table gave.
func (t *Symbols) Text(s Sym) string {
	if s == 0 {
		return ""
	}
	return unpackSym(t.text(s))
}

// AppendText appends the text of a number, for callers who look at many texts and
// keep none.
func (t *Symbols) AppendText(dst []byte, s Sym) []byte {
	if s == 0 {
		return dst
	}
	return appendSym(dst, t.text(s))
}

// Compare orders the texts of two numbers as strings.Compare does.
func (t *Symbols) Compare(a, b Sym) int {
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

// Bound is greater than all numbers given so far.
func (t *Symbols) Bound() int { return int(t.n.Load()) + 1 }

// text returns the text of a number and what follows it.
func (t *Symbols) text(s Sym) []byte {
	return t.at((*t.places.Load())[s/symPages][s%symPages])[symHead:]
}

// symHead is the length of the number before a text.
const symHead = 4

func (t *Symbols) at(p symPlace) []byte { return (*t.slabs.Load())[p/slabUnits][p%slabUnits*symUnit:] }

// look returns the number of a text, 0 if it has none.
func (t *Symbols) look(k symText, h uint32) Sym {
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
			return Sym(binary.LittleEndian.Uint32(have))
		}
	}
}

// add gives a text the next number, if it still has none.
func (t *Symbols) add(k symText, h uint32) Sym {
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
	s := Sym(t.n.Add(1))
	place := t.write(shard, s, k)
	t.page(s)[s%symPages] = place
	table.put(uint64(h)<<32 | uint64(place)) // last: who finds it looks at the rest
	return s
}

// page returns the page of a number.
func (t *Symbols) page(s Sym) *symPage {
	i := int(s / symPages)
	if pages := *t.places.Load(); i < len(pages) {
		return pages[i]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pages := slices.Clone(*t.places.Load()) // others look at those that are there
	for i >= len(pages) {
		pages = append(pages, new(symPage))
	}
	t.places.Store(&pages)
	return pages[i]
}

// write puts a number and its text into the slabs.
func (t *Symbols) write(shard *symShard, s Sym, k symText) symPlace {
	n := (symHead + k.size() + symUnit - 1) / symUnit * symUnit
	if len(shard.room) < n {
		t.slab(shard, n)
	}
	k.append(binary.LittleEndian.AppendUint32(shard.room[:0:n], uint32(s)))
	place := shard.next
	shard.room, shard.next = shard.room[n:], shard.next+symPlace(n/symUnit)
	return place
}

// slab begins a slab of a shard with room for n bytes. The first ones are small: some
// inputs have few texts.
func (t *Symbols) slab(shard *symShard, n int) {
	room := make([]byte, max(n, symSlab>>max(0, 6-shard.slabs)))
	shard.slabs++
	t.mu.Lock()
	defer t.mu.Unlock()
	slabs := *t.slabs.Load()
	if len(slabs) == 1<<32/slabUnits {
		panic("16 GiB of names") // memory for the lines that brought them is out before
	}
	shard.room, shard.next = room, symPlace(len(slabs)*slabUnits)
	slabs = append(slabs[:len(slabs):len(slabs)], room)
	t.slabs.Store(&slabs)
}

func (t *symTable) double() *symTable {
	twice := &symTable{make([]atomic.Uint64, 2*len(t.slots))}
	twice.touch()
	for i := range t.slots {
		if slot := t.slots[i].Load(); slot != 0 {
			twice.put(slot)
		}
	}
	return twice
}

// first returns the slot that a hash belongs to.
func (t *symTable) first(h uint32) *atomic.Uint64 { return &t.slots[h&uint32(len(t.slots)-1)] }

// touch writes to each page of a new table. A page that is read before it is written
// would have to be got twice from the system, which stops all other cores at the
// second time, while whoever has something to add waits.
func (t *symTable) touch() {
	const page = 4096 / 8 // slots; no page is smaller
	for i := 0; i < len(t.slots); i += page {
		t.slots[i].Store(0)
	}
}

// put takes the first free slot.
func (t *symTable) put(slot uint64) {
	mask := uint32(len(t.slots) - 1)
	i := uint32(slot>>32) & mask
	for t.slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	t.slots[i].Store(slot)
}

// Shape numbers a list of field names, which must not change afterwards.
func (t *Symbols) Shape(names []string) Sym {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := *t.shapes.Load()
	for i, have := range list {
		if slices.Equal(have, names) {
			return Sym(i)
		}
	}
	list = append(list[:len(list):len(list)], slices.Clone(names))
	t.shapes.Store(&list)
	return Sym(len(list) - 1)
}

// Names returns the names of a Shape.
func (t *Symbols) Names(shape Sym) []string { return (*t.shapes.Load())[shape] }
