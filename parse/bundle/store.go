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
const cachedBlocks = 8

// textStore keeps the text of picked lines packed. It only holds the cache;
// the blocks are reached from the handles, so text that nobody refers to any
// more is freed.
type textStore struct {
	mu    sync.Mutex
	clock uint64
	slots [cachedBlocks]cacheSlot

	packers []*packer // that have no run: their buffers are used again
	folded  []byte    // of the block unpacked last
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
	lines hollow
	at    linePlace // where the last text was found
	used  uint64
}

// textBlock is a parse.FieldStore of up to blockSize bytes, or of one longer
// line.
type textBlock struct {
	arena  parse.Arena // holds the block itself
	store  *textStore
	lines  *hollow    // until they are packed
	packed []byte     // the lines folded: the notes, and behind them the bytes
	notes  int        // length of the notes once unpacked
	text   int        // and of the text of the lines
	heads  int        // and of their heads
	rows   parse.Rows // of the closed block
}

// Row returns what begins with a row of fields.
func (b *textBlock) Row(n uint32) (parse.Row, *parse.Symbols) { return b.rows.At(n), b.store.symbols }

// Slice returns n bytes at off of the block.
func (b *textBlock) Slice(off, n uint32) string {
	if b.lines != nil {
		return b.lines.slice(off, n, new(linePlace), b.store.symbols)
	}
	return b.store.slice(b, off, n)
}

func (s *textStore) slice(b *textBlock, off, n uint32) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.slot(b)
	return c.lines.slice(off, n, &c.at, s.symbols)
}

// slot returns the one that has the block unpacked.
func (s *textStore) slot(b *textBlock) *cacheSlot {
	s.clock++
	c := &s.slots[0]
	for i := range s.slots {
		x := &s.slots[i]
		if x.block == b {
			x.used = s.clock
			return x
		}
		if x.used < c.used {
			c = x
		}
	}
	// Decode cannot fail: the block is what Encode made.
	s.folded, _ = s2.Decode(s.folded[:cap(s.folded)], b.packed)
	lines := hollow{text: slices.Grow(c.lines.text[:0], b.text), heads: slices.Grow(c.lines.heads[:0], b.heads), rows: b.rows}
	unfold(s.folded[:b.notes], s.folded[b.notes:], &lines)
	*c = cacheSlot{block: b, lines: lines, used: s.clock}
	return c
}

// packer is the parse.TextWriter of one run. Handles are valid at once; close
// packs what is still raw.
type packer struct {
	store *textStore
	block *textBlock
	lines hollow // of the block
	fold  folder
	dst   []byte // what the encoder writes to

	placedRows  parse.Rows // of the runWriter that uses it
	placedLines []lineSum
}

// Symbols is where the numbers of field names and values come from.
func (p *packer) Symbols() *parse.Symbols { return p.store.symbols }

// KeepRow puts the fields of the line kept last into its block, and takes the
// values that stand in the line out of it. No row has the number 0.
func (p *packer) KeepRow(row []parse.Sym, values [][]byte) uint32 {
	n := p.lines.rows.Add(row)
	p.lines.leave(values, len(row))
	return n
}

// Keep copies the line into the current block.
func (p *packer) Keep(line []byte) parse.Text {
	if p.block != nil && int(p.lines.size)+len(line) > blockSize {
		p.close()
	}
	if p.block == nil {
		p.block = &textBlock{store: p.store, lines: &p.lines}
		p.block.arena.Store = p.block
	}
	off := p.lines.size
	p.lines.add(line)
	return parse.NewText(&p.block.arena, off, uint32(len(line)))
}

// close packs the current block. Blocks too small to gain stay raw.
func (p *packer) close() {
	b := p.block
	if b == nil {
		return
	}
	p.block = nil
	b.rows = p.lines.rows.Take()
	p.fold.fold(&p.lines)
	b.notes, b.text, b.heads = len(p.fold.notes), len(p.lines.text), len(p.lines.heads)
	packed := s2.Encode(p.dst[:cap(p.dst)], p.fold.all())
	p.dst = packed[:0]
	if len(packed)+len(packed)/4 > b.text+b.heads {
		b.lines = &hollow{text: slices.Clone(p.lines.text), heads: slices.Clone(p.lines.heads), rows: b.rows}
	} else {
		b.packed = append(make([]byte, 0, len(packed)), packed...)
		b.lines = nil
	}
	p.lines = hollow{text: p.lines.text[:0], heads: p.lines.heads[:0], rows: p.lines.rows, starts: p.lines.starts[:0]}
}
