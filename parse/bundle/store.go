package bundle

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/plegforensics/plegforensics/parse"
)

// blockSize is how much text a block of the store holds before it is packed: what
// a run keeps of its lines mostly makes one block. Packing costs less the fewer
// there are.
const blockSize = 128 << 10

// cachedBlocks is how many unpacked blocks are kept. Readers walk the events
// of a few files in time order, so a few blocks serve them.
const cachedBlocks = 32

// textStore keeps the text of picked lines packed. It only holds the cache;
// the blocks are reached from the handles, so text that nobody refers to any
// more is freed.
type textStore struct {
	mu    sync.Mutex
	clock uint64
	slots [cachedBlocks]cacheSlot

	packers []*packer // that have no run: their buffers are used again
	symbols *parse.Symbols
}

func newTextStore() *textStore { return &textStore{symbols: parse.NewSymbols()} }

// packer returns a packer for one run; done gives it back.
func (s *textStore) packer() *packer {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.packers) - 1
	if n < 0 {
		return &packer{store: s}
	}
	p := s.packers[n]
	s.packers = s.packers[:n]
	return p
}

func (p *packer) done() {
	p.close()
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	p.store.packers = append(p.store.packers, p)
}

type cacheSlot struct {
	block *textBlock
	raw   []byte
	used  uint64
}

// textBlock is a parse.FieldStore of up to blockSize bytes, or of one longer
// line. It is raw while it is being filled and packed from then on.
type textBlock struct {
	shelf  parse.Shelf // holds the block itself
	store  *textStore
	raw    []byte // nil once packed
	packed []byte
	rows   []parse.Sym // the fields of the lines that have them, one row after the other
}

// Row returns what begins with a row of fields.
func (b *textBlock) Row(n uint32) ([]parse.Sym, *parse.Symbols) { return b.rows[n:], b.store.symbols }

// Slice returns n bytes at off of the block.
func (b *textBlock) Slice(off, n uint32) string {
	if b.raw != nil {
		return string(b.raw[off : off+n])
	}
	return b.store.slice(b, off, n)
}

func (s *textStore) slice(b *textBlock, off, n uint32) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	victim := 0
	for i := range s.slots {
		c := &s.slots[i]
		if c.block == b {
			c.used = s.clock
			return string(c.raw[off : off+n])
		}
		if c.used < s.slots[victim].used {
			victim = i
		}
	}
	c := &s.slots[victim]
	// Decode cannot fail: the block is what Encode made.
	raw, err := s2.Decode(c.raw[:cap(c.raw)], b.packed)
	if err != nil {
		return ""
	}
	*c = cacheSlot{b, raw, s.clock}
	return string(raw[off : off+n])
}

// packer is the parse.Keeper of one run. Handles are valid at once; close
// packs what is still raw.
type packer struct {
	store *textStore
	block *textBlock
	rows  []parse.Sym // of the block
	spare []byte      // raw buffer of a block that was packed
	dst   []byte      // what the encoder writes to

	placedRows  []parse.Sym // of the placer that uses it
	placedLines []lineSum
}

// Symbols is where the numbers of field names and values come from.
func (p *packer) Symbols() *parse.Symbols { return p.store.symbols }

// KeepRow puts the fields of the line kept last into its block. No row has the
// number 0.
func (p *packer) KeepRow(row []parse.Sym) (n uint32) {
	p.rows, n = appendRow(p.rows, row)
	return n
}

// appendRow appends a row and returns its number.
func appendRow(rows, row []parse.Sym) ([]parse.Sym, uint32) {
	if len(rows) == 0 {
		rows = append(rows, 0)
	}
	return append(rows, row...), uint32(len(rows))
}

// Keep copies the line into the current block.
func (p *packer) Keep(line []byte) parse.Text {
	if p.block != nil && len(p.block.raw)+len(line) > blockSize {
		p.close()
	}
	if p.block == nil {
		p.block = &textBlock{store: p.store, raw: p.spare[:0]}
		p.block.shelf.Store = p.block
		p.spare = nil
	}
	off := len(p.block.raw)
	p.block.raw = append(p.block.raw, line...)
	return parse.NewText(&p.block.shelf, uint32(off), uint32(len(line)))
}

// close packs the current block. Blocks too small to gain stay raw.
func (p *packer) close() {
	b := p.block
	p.block = nil
	if b == nil {
		return
	}
	if len(p.rows) > 0 {
		b.rows = slices.Clone(p.rows)
		p.rows = p.rows[:0]
	}
	raw := b.raw
	p.spare = raw[:0]
	packed := s2.Encode(p.dst[:cap(p.dst)], raw)
	p.dst = packed[:0]
	if len(packed)+len(packed)/4 > len(raw) {
		b.raw = append(make([]byte, 0, len(raw)), raw...)
		return
	}
	b.packed = append(make([]byte, 0, len(packed)), packed...)
	b.raw = nil
}
