package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// Options say how to decode; the zero value is right for programs.
type Options struct {
	// Source is who wrote lines that name no writer, when the layout of the
	// bundle knows; empty: the lines themselves decide.
	Source parse.Source
	// Brute matches every signature literal by literal on every line. It is
	// the oracle that tests hold the quick way against.
	Brute bool
	// Own reports whether a line begins what this program wrote, which quotes
	// lines of a log. The log ends there. Nil: no line does.
	Own func(line []byte) bool
}

// Run is a piece of a file between two record boundaries.
type Run struct {
	Data   []byte
	Offset int64            // of Data in the file
	Keep   parse.TextWriter // takes the texts that are kept; nil: each on its own
	Last   bool             // nothing follows
}

// Decoder decodes one text log. What it does does not change after NewDecoder, but
// for Cut, so Decode may run concurrently on different runs.
type Decoder struct {
	file    *parse.File
	set     *Set
	opt     Options
	framing *journal.Framing
	klog    parse.Source // who wrote klog lines that name no writer
	logrus  parse.Source // who wrote logrus lines that name no writer
	plain   parse.Source // who wrote all other lines that name no writer
	prose   bool         // the file is a text about such messages
	guide   bool         // the file explains such messages
	telling bool         // people tell something in it

	described []described // which node is described where, in order
	binary    bool        // the file is a binary journal: see NewEntryDecoder

	idle idleScanners

	cutter *journal.Parser // of Cut alone, nil before it is needed
	entry  journal.Entry   // of Cut alone
}

// NewDecoder returns a decoder for f. head is the beginning of the file, up to
// 256 KiB; it settles the framing and who wrote lines that do not tell.
func NewDecoder(f *parse.File, head []byte, set *Set, opt Options) *Decoder {
	sentences, lines := sentencesOf(head)
	d := &Decoder{file: f, set: set, opt: opt, framing: journal.Detect(head), prose: isProse(head, sentences), telling: isTelling(sentences, lines), described: describes(head)}
	d.guide = d.framing.Kind != journal.Blocks && isGuide(head, sentences)
	d.vote(head)
	return d
}

// Format names the framing in words.
func (d *Decoder) Format() string { return d.framing.Name }

// What may be joined to one record: klog writes messages of several lines, and
// only the first has a header. Past these the record is closed.
const (
	maxJoinLines = 64
	maxJoinBytes = 256 << 10
)

// MaxRecord is the length from which Cut cuts inside a record of several lines
// rather than ask for more.
const MaxRecord = 4 << 20

// Cut returns the length of the longest prefix of buf that ends at a record
// boundary, 0 when there is none and more must be read. buf begins where the
// run before ended. It never cuts inside a line: a caller that will not hold
// all of one passes what it has as a run, and goes on after the newline.
// Cut is called by one goroutine, in the order of the file.
//
// Where a file is cut makes no difference: every boundary lies where no later
// line can belong to an earlier record.
func (d *Decoder) Cut(buf []byte, eof bool) int {
	if eof {
		return len(buf)
	}
	n := 0
	if d.framing.Kind == journal.Blocks {
		n = d.cutBlocks(buf)
	} else {
		n = d.cutLines(buf)
	}
	if n == 0 && len(buf) >= MaxRecord {
		n = bytes.LastIndexByte(buf, '\n') + 1
	}
	return n
}

// CutsAnywhere reports whether Cut needs only whole lines before a boundary, not
// all lines since the last one.
func (d *Decoder) CutsAnywhere() bool { return d.framing.Kind != journal.Blocks }

// shape is what Cut needs to know of a record.
type shape struct {
	form    journal.Form
	header  journal.HeaderKind
	partial bool
	who     *journal.Who
}

func (d *Decoder) shape(rec []byte) shape {
	if d.cutter == nil {
		d.cutter = journal.NewParser(d.framing)
	}
	e := &d.entry
	d.cutter.Parse(rec, e)
	return shape{e.Form, e.Header.Kind, e.Partial, e.Who}
}

// cutLines looks back from the last whole line for one that begins a record
// whatever stands before it.
func (d *Decoder) cutLines(buf []byte) int {
	end := bytes.LastIndexByte(buf, '\n') + 1
	if end == 0 {
		return 0
	}
	at := lineStart(buf, end)
	cur := d.shape(buf[at : end-1])
	open := cur.partial
	for lines := 1; ; lines++ {
		switch {
		case closedBy(lines, end-at) && !open:
			return end
		case at == 0:
			return 0
		}
		start := lineStart(buf, at)
		prev := d.shape(buf[start : at-1])
		if startsAnew(prev, cur) {
			return at
		}
		cur, at = prev, start
	}
}

// lineStart returns the start of the line that ends before end.
func lineStart(buf []byte, end int) int { return bytes.LastIndexByte(buf[:end-1], '\n') + 1 }

// closedBy reports whether a record of so many lines and bytes takes no more.
func closedBy(lines, size int) bool { return lines >= maxJoinLines || size >= maxJoinBytes }

// cutBlocks walks whole blocks and looks back over the last of them as cutLines
// does.
func (d *Decoder) cutBlocks(buf []byte) int {
	var starts []int
	end := 0
	for end < len(buf) {
		n := d.framing.Next(buf[end:], false)
		if n == 0 {
			break
		}
		if len(starts) >= 2*maxJoinLines {
			starts = append(starts[:0], starts[maxJoinLines:]...)
		}
		starts = append(starts, end)
		end += n
	}
	if len(starts) == 0 {
		return 0
	}
	k := len(starts) - 1
	cur := d.shape(buf[starts[k]:end])
	for lines := 1; ; lines++ {
		switch {
		case closedBy(lines, end-starts[k]):
			return end
		case k == 0:
			return 0
		}
		prev := d.shape(buf[starts[k-1]:starts[k]])
		if startsAnew(prev, cur) {
			return starts[k]
		}
		cur, k = prev, k-1
	}
}

// startsAnew reports whether a line begins a record whatever record is open
// before it: it has a header, or another writer than the line before.
func startsAnew(prev, cur shape) bool {
	switch {
	case prev.partial:
		return cur.form != journal.CRI
	case cur.header != journal.NoHeader, cur.partial:
		return true
	case cur.form == journal.Bare:
		return false
	case cur.form < journal.BSD, cur.form >= journal.EventRow, prev.form == journal.Blank:
		return true
	}
	return prev.form >= journal.BSD && *prev.who != *cur.who
}
