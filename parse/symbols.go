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
	table  atomic.Pointer[symTable]
	places atomic.Pointer[[]*symPage] // of the texts, by number
	slabs  atomic.Pointer[[][]byte]   // full length, of which those who look see what slots and places name
	shapes atomic.Pointer[[][]string]
	n      atomic.Uint32 // numbers given

	mu   sync.Mutex // of those who add; pointers are replaced under it
	room []byte     // rest of the last slab
	next symPlace   // of room
}

const (
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

const firstSlots = 64

// NewSymbols returns a table without texts.
func NewSymbols() *Symbols {
	t := &Symbols{seed: maphash.MakeSeed()}
	t.table.Store(&symTable{make([]atomic.Uint64, firstSlots)})
	t.places.Store(new([]*symPage))
	t.slabs.Store(new([][]byte))
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
	slots := t.table.Load().slots
	mask := uint32(len(slots) - 1)
	slots[ha&mask].Load() // neither waits for the other, as look would
	slots[hb&mask].Load()
	return t.find(ka, ha), t.find(kb, hb)
}

func (t *Symbols) of(k symText) Sym { return t.find(k, t.hash(k)) }

func (t *Symbols) hash(k symText) uint32 { return uint32(maphash.Bytes(t.seed, k.data) >> 32) }

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
	slots := t.table.Load().slots
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
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.look(k, h); s != 0 {
		return s
	}
	s := Sym(t.n.Load() + 1)
	table := t.table.Load()
	if int(s) > len(table.slots)/4*3 {
		table = table.double()
		t.table.Store(table)
	}
	place := t.write(s, k)
	t.page(s)[s%symPages] = place
	t.n.Store(uint32(s))
	table.put(uint64(h)<<32 | uint64(place)) // last: who finds it looks at the rest
	return s
}

// page returns the page of a number, the last one or that behind it.
func (t *Symbols) page(s Sym) *symPage {
	pages := *t.places.Load()
	if i := int(s / symPages); i < len(pages) {
		return pages[i]
	}
	more := append(pages[:len(pages):len(pages)], new(symPage))
	t.places.Store(&more)
	return more[len(pages)]
}

// write puts a number and its text into the slabs.
func (t *Symbols) write(s Sym, k symText) symPlace {
	n := (symHead + k.size() + symUnit - 1) / symUnit * symUnit
	if len(t.room) < n {
		t.slab(n)
	}
	k.append(binary.LittleEndian.AppendUint32(t.room[:0:n], uint32(s)))
	place := t.next
	t.room, t.next = t.room[n:], t.next+symPlace(n/symUnit)
	return place
}

// slab begins a slab with room for n bytes. The first ones are small: some inputs
// have few texts.
func (t *Symbols) slab(n int) {
	slabs := *t.slabs.Load()
	if len(slabs) == 1<<32/slabUnits {
		panic("16 GiB of names") // memory for the lines that brought them is out before
	}
	room := make([]byte, max(n, symSlab>>max(0, 4-len(slabs))))
	t.room, t.next = room, symPlace(len(slabs)*slabUnits)
	if len(slabs) == 0 {
		t.room, t.next = room[symUnit:], 1 // 0 is no place
	}
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
