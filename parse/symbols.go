package parse

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Sym stands for a text that many records share: an id, the name of a pod. The
// zero Sym is "". Syms of one Symbols are equal where their texts are, so they
// index slices and key maps in place of the texts. Their order says nothing: it
// differs from run to run.
type Sym uint32

// Symbols numbers texts from 1 on. It may be used by any number of goroutines.
type Symbols struct {
	seed   maphash.Seed
	shards [symShards]symShard
	n      atomic.Uint32 // numbers given
	grow   sync.Mutex
	pages  atomic.Pointer[[]*symPage] // replaced, never changed, under grow
	shapes atomic.Pointer[[][]string]
}

const (
	symShards = 16
	symPages  = 1 << 10 // texts of a page
	symSlab   = 32 << 10
)

type symPage [symPages]string

// symShard is a part of the table from text to number, by linear probing.
type symShard struct {
	mu    sync.Mutex
	slots []symSlot // a power of two, at most 3/4 full
	used  int
	slab  strings.Builder // texts are cut from it; it never grows beyond its room
}

type symSlot struct {
	hash uint32
	sym  Sym // 0: free
}

// NewSymbols returns a table without texts.
func NewSymbols() *Symbols {
	t := &Symbols{seed: maphash.MakeSeed()}
	t.pages.Store(new([]*symPage))
	t.shapes.Store(new([][]string))
	return t
}

// Of returns the number of a text, which it copies when it is new.
func (t *Symbols) Of(text []byte) Sym {
	if len(text) == 0 {
		return 0
	}
	return t.shard(maphash.Bytes(t.seed, text), func(have string) bool { return have == string(text) },
		func(b *strings.Builder) { b.Write(text) }, len(text))
}

// OfString is Of for a string.
func (t *Symbols) OfString(text string) Sym {
	if text == "" {
		return 0
	}
	return t.shard(maphash.String(t.seed, text), func(have string) bool { return have == text },
		func(b *strings.Builder) { b.WriteString(text) }, len(text))
}

// Text returns the text of a number that the table gave.
func (t *Symbols) Text(s Sym) string {
	if s == 0 {
		return ""
	}
	return (*t.pages.Load())[s/symPages][s%symPages]
}

// Bound is greater than all numbers given so far.
func (t *Symbols) Bound() int { return int(t.n.Load()) + 1 }

func (t *Symbols) shard(h uint64, equal func(string) bool, write func(*strings.Builder), n int) Sym {
	s := &t.shards[h>>32%symShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= len(s.slots)*3/4 {
		s.double()
	}
	mask := len(s.slots) - 1
	i := int(h) & mask
	for ; s.slots[i].sym != 0; i = (i + 1) & mask {
		if s.slots[i].hash == uint32(h) && equal(t.Text(s.slots[i].sym)) {
			return s.slots[i].sym
		}
	}
	if s.slab.Cap()-s.slab.Len() < n {
		s.slab = strings.Builder{}
		s.slab.Grow(max(n, min(symSlab, 8*n+s.used*8)))
	}
	at := s.slab.Len()
	write(&s.slab)
	sym := t.add(s.slab.String()[at:])
	s.slots[i] = symSlot{uint32(h), sym}
	s.used++
	return sym
}

func (s *symShard) double() {
	old := s.slots
	s.slots = make([]symSlot, max(2*len(old), 16))
	mask := len(s.slots) - 1
	for _, x := range old {
		if x.sym == 0 {
			continue
		}
		i := int(x.hash) & mask
		for s.slots[i].sym != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = x
	}
}

// add gives a text the next number.
func (t *Symbols) add(text string) Sym {
	sym := Sym(t.n.Add(1))
	page := int(sym / symPages)
	if pages := *t.pages.Load(); page < len(pages) {
		pages[page][sym%symPages] = text
		return sym
	}
	t.grow.Lock()
	defer t.grow.Unlock()
	for {
		pages := *t.pages.Load()
		if page < len(pages) {
			pages[page][sym%symPages] = text
			return sym
		}
		more := append(pages[:len(pages):len(pages)], new(symPage))
		t.pages.Store(&more)
	}
}

// Shape numbers a list of field names, which must not change afterwards.
func (t *Symbols) Shape(names []string) Sym {
	t.grow.Lock()
	defer t.grow.Unlock()
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
