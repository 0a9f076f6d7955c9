package logs

import (
	"iter"

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

// NewEntryDecoder returns a decoder for a binary journal: use DecodeEntries
// and Finish.
func NewEntryDecoder(f *parse.File, set *Set, opt Options) *Decoder {
	d := &Decoder{file: f, set: set, opt: opt, binary: true, framing: &journal.Framing{Name: journal.BinaryFile.String()}}
	d.vote(nil)
	return d
}

// batch is how many bytes of rendered entries are decoded as one run.
const batch = 512 << 10

// DecodeEntries decodes the entries of a binary journal in their order. It is
// one goroutine's work. The entries may be reused by the sequence.
func (d *Decoder) DecodeEntries(entries iter.Seq[*BinaryEntry], keep parse.Keeper) []Result {
	var out []Result
	arena := make([]byte, 0, batch+MaxRecord/16)
	s := newScanner(d, Run{Keep: keep, Line: 1})
	for e := range entries {
		at := len(arena)
		line, off := e.AppendLine(arena)
		s.parser.ParseFields(&e.Fields, line[at:], off, &s.entry)
		if at >= batch && !s.open.accepts(s) {
			// The record that is open ends here, so a run may.
			s.close()
			s.finish()
			out = append(out, s.res)
			line = append(arena[:0], line[at:]...)
			at = 0
			s = newScanner(d, Run{Keep: keep, Line: e.Number})
			s.parser.ParseFields(&e.Fields, line, off, &s.entry)
		}
		s.data, s.at, s.line, s.off = line, at, e.Number, e.Offset
		s.take(line[at:], 1)
		s.res.lines++
		arena = append(line, '\n')
	}
	s.close()
	s.finish()
	return append(out, s.res)
}
