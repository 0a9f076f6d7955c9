package logs

import (
	"iter"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// BinaryEntry is one entry of a binary journal. Its position is cited as its
// number, in place of the line, and its offset in the file. Its text is the line
// that journalctl would print for it.
type BinaryEntry struct {
	journal.Fields
	Number uint32 // 1-based
	Offset int64
	Lost   bool // the message is damaged and left out
}

// NewEntryDecoder returns a decoder for a binary journal. Use it with Batches,
// DecodeBatch and Finish.
func NewEntryDecoder(f *parse.File, set *Set, opt Options) *Decoder {
	d := &Decoder{file: f, set: set, opt: opt, binary: true, framing: &journal.Framing{Name: journal.BinaryFile.String()}}
	d.vote(nil)
	return d
}

// batchSize is the size in bytes of the rendered entries from which a batch is
// closed.
const batchSize = 512 << 10

// Batch is a sequence of rendered entries of a binary journal. No record continues
// in the next batch.
type Batch struct {
	text    []byte
	entries []batchEntry
}

// batches pools released batches.
var batches = sync.Pool{New: func() any {
	// The buffer is allocated at full size, because growing to it would copy it
	// many times.
	return &Batch{text: make([]byte, 0, batchSize+batchSize/8), entries: make([]batchEntry, 0, batchSize/256)}
}}

func newBatch() *Batch { return batches.Get().(*Batch) }

// Release returns a decoded batch to the pool. It must not be used afterwards.
func (b *Batch) Release() {
	clear(b.entries)
	b.text, b.entries = b.text[:0], b.entries[:0]
	batches.Put(b)
}

// batchEntry is an entry without the header inside its message.
type batchEntry struct {
	at, end, msg int32 // bounds of the line in the text; start of the message in the line
	number       uint32
	offset       int64
	lost         bool
	journal.Envelope
}

// Batches renders entries in order. It must run in one goroutine. The sequence
// entries may reuse an entry after it was consumed, and a batch may be reused once
// it is released.
func (d *Decoder) Batches(entries iter.Seq[*BinaryEntry]) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		p := journal.NewParser(d.framing)
		b := newBatch()
		var prev shape
		for e := range entries {
			at := len(b.text)
			line, msg, env := p.AppendLine(b.text, &e.Fields)
			if at >= batchSize {
				var h journal.Header
				journal.ReadHeader(line[at+msg:], &h)
				if startsAnew(prev, shape{form: journal.BinaryFile, header: h.Kind, who: env.Who}) {
					// The line is in the buffer of b, whose memory may be reused
					// once b has been yielded, so copy it.
					next := newBatch()
					line, at = append(next.text, line[at:]...), 0
					if !yield(b) {
						return
					}
					b = next
				}
			}
			b.entries = append(b.entries, batchEntry{int32(at), int32(len(line)), int32(msg), e.Number, e.Offset, e.Lost, env})
			b.text = append(line, '\n')
			prev = shape{form: journal.BinaryFile, who: env.Who}
		}
		yield(b)
	}
}

// DecodeBatch decodes a batch. It is safe for concurrent calls on different
// batches; pass the results to Finish in batch order.
func (d *Decoder) DecodeBatch(b *Batch, keep parse.TextWriter) Result {
	s := d.scanner(Run{Data: b.text, Keep: keep})
	for i := range b.entries {
		e := &b.entries[i]
		line := b.text[e.at:e.end]
		s.parser.Entry(line, int(e.msg), e.Envelope, &s.entry)
		if e.lost {
			s.entry.Marker = journal.Mark{Kind: parse.MarkHole}
		}
		s.at, s.line, s.off = int(e.at), e.number, e.offset
		s.take(line, 1)
		s.res.lines++
	}
	return s.end()
}
