package logs

import (
	"iter"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// BinaryEntry is one entry of a binary journal. Positions cite its number as
// the line and its offset in the file; the text is the line that journalctl
// would print of it.
type BinaryEntry struct {
	journal.Fields
	Number uint32 // 1-based
	Offset int64
}

// NewEntryDecoder returns a decoder for a binary journal: use Batches,
// DecodeBatch and Finish.
func NewEntryDecoder(f *parse.File, set *Set, opt Options) *Decoder {
	d := &Decoder{file: f, set: set, opt: opt, binary: true, framing: &journal.Framing{Name: journal.BinaryFile.String()}}
	d.vote(nil)
	return d
}

// batchSize is how many bytes of rendered entries make a batch.
const batchSize = 512 << 10

// Batch is a run of entries of a binary journal, rendered. No record goes on
// in the next batch.
type Batch struct {
	text    []byte
	entries []batchEntry
}

// batches are those that were released: their memory is used again.
var batches = sync.Pool{New: func() any {
	// All at once: growing to it copies it many times.
	return &Batch{text: make([]byte, 0, batchSize+batchSize/8), entries: make([]batchEntry, 0, batchSize/256)}
}}

func newBatch() *Batch { return batches.Get().(*Batch) }

// Release gives a batch back that was decoded and is not needed any more.
func (b *Batch) Release() {
	clear(b.entries)
	b.text, b.entries = b.text[:0], b.entries[:0]
	batches.Put(b)
}

// batchEntry is an entry without the header inside its message.
type batchEntry struct {
	at, end, msg int32 // of the line in the text, of the message in the line
	number       uint32
	offset       int64
	journal.Envelope
}

// Batches renders entries in their order. It is one goroutine's work; the
// entries may be reused by the sequence, a batch once it is released.
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
					// The line lies behind the text of the batch, whose memory may
					// be used again once it was handed on.
					next := newBatch()
					line, at = append(next.text, line[at:]...), 0
					if !yield(b) {
						return
					}
					b = next
				}
			}
			b.entries = append(b.entries, batchEntry{int32(at), int32(len(line)), int32(msg), e.Number, e.Offset, env})
			b.text = append(line, '\n')
			prev = shape{form: journal.BinaryFile, who: env.Who}
		}
		yield(b)
	}
}

// DecodeBatch decodes a batch. It may run concurrently on different batches;
// Finish wants the results in their order.
func (d *Decoder) DecodeBatch(b *Batch, keep parse.TextWriter) Result {
	s := d.scanner(Run{Data: b.text, Keep: keep})
	for i := range b.entries {
		e := &b.entries[i]
		line := b.text[e.at:e.end]
		s.parser.Entry(line, int(e.msg), e.Envelope, &s.entry)
		s.at, s.line, s.off = int(e.at), e.number, e.offset
		s.take(line, 1)
		s.res.lines++
	}
	return s.end()
}
