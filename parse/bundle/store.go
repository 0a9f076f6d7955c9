package bundle

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/plegforensics/plegforensics/parse"
)

// blockSize is how many bytes of text a block holds before it is packed. The lines
// kept from a run mostly fit one block; fewer, larger blocks are cheaper to pack.
const blockSize = 128 << 10

// cachedBlocks is the number of unpacked blocks cached. Readers walk the events of
// a few files in time order, so a few blocks suffice for one node; but the lines of
// the next node may be in the same blocks of a log of all nodes.
const cachedBlocks = 64

// textStore caches unpacked blocks of the compressed text of kept lines. The blocks
// themselves are referenced only by the parse.Text handles, so unreferenced text is
// garbage collected. It is safe for concurrent use.
type textStore struct {
	mu    sync.Mutex
	clock uint64
	slots [cachedBlocks]cacheSlot
	last  *cacheSlot // used last; most texts are in the same block as the one before

	packers  []*packer // idle, for reuse of their buffers
	folded   []byte    // scratch space: the block unpacked last, still folded
	interned *parse.StringTable
}

func newTextStore() *textStore { return &textStore{interned: parse.NewStringTable()} }

// packer returns a packer for one run; its done method returns it to the store.
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
	seen  places // lines that were looked up
	used  uint64
}

// textBlock is a parse.FieldStore of up to blockSize bytes of text, or of one
// longer line.
type textBlock struct {
	arena  parse.Arena // refers back to the block
	store  *textStore
	lines  *hollow    // nil once packed
	packed []byte     // the folded lines, s2-compressed: notes, then body
	notes  int        // length of the notes when unpacked
	text   int        // length of the text of the lines
	heads  int        // length of the heads of the lines
	rows   parse.Rows // set when the block is closed
}

// Row returns the row of fields numbered n.
func (b *textBlock) Row(n uint32) (parse.Row, *parse.StringTable) {
	return b.rows.At(n), b.store.interned
}

// Slice returns n bytes at off of the block.
func (b *textBlock) Slice(off, n uint32) string {
	if b.lines != nil {
		return b.lines.slice(off, n, new(places), b.store.interned)
	}
	return b.store.slice(b, off, n)
}

func (s *textStore) slice(b *textBlock, off, n uint32) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.slot(b)
	return c.lines.slice(off, n, &c.seen, s.interned)
}

// slot returns the cache slot that holds the block, unpacking it if necessary. The
// caller must hold s.mu.
func (s *textStore) slot(b *textBlock) *cacheSlot {
	if s.last != nil && s.last.block == b {
		return s.last
	}
	s.clock++
	c := &s.slots[0]
	for i := range s.slots {
		x := &s.slots[i]
		if x.block == b {
			x.used, s.last = s.clock, x
			return x
		}
		if x.used < c.used {
			c = x
		}
	}
	// Decode cannot fail: the block was made by Encode.
	s.folded, _ = s2.Decode(s.folded[:cap(s.folded)], b.packed)
	lines := hollow{text: slices.Grow(c.lines.text[:0], b.text), heads: slices.Grow(c.lines.heads[:0], b.heads), rows: b.rows}
	unfold(s.folded[:b.notes], s.folded[b.notes:], &lines)
	*c = cacheSlot{block: b, lines: lines, seen: places{marks: c.seen.marks[:0]}, used: s.clock}
	s.last = c
	return c
}

// packer is the parse.TextWriter of one run. Texts are readable at once; close
// compresses the current block.
type packer struct {
	store *textStore
	block *textBlock
	lines hollow // lines of the block
	fold  folder
	dst   []byte // encoder output buffer

	placedRows  parse.Rows // used by runWriter
	placedLines []lineSum
}

// StringTable returns the table that field names and values are interned in.
func (p *packer) Interned() *parse.StringTable { return p.store.interned }

// KeepRow stores the fields of the line kept last in its block and removes those
// values from the line's text. It returns the number of the row, never 0.
func (p *packer) KeepRow(row []parse.StringID, values [][]byte) uint32 {
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

// close compresses the current block. A block that would gain less than a fifth
// stays uncompressed.
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
