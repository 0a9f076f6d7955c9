package logs

import (
	"bytes"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// Options configures a Decoder. Programs can use the zero value.
type Options struct {
	// Source is the writer of lines that name none, if the bundle layout determines
	// it. If empty, the lines themselves decide.
	Source parse.Source
	// Brute matches every signature literal by literal on every line. It is the
	// test oracle for the filter.
	Brute bool
	// Own reports whether a line begins output of this program, which quotes log
	// lines. The log ends at such a line. Nil means no line does.
	Own func(line []byte) bool
}

// Run is a part of a file between two record boundaries.
type Run struct {
	Data   []byte
	Offset int64            // of Data in the file
	Keep   parse.TextWriter // stores retained texts; nil: each is allocated on its own
	Last   bool             // this is the last run of the file
}

// A Decoder decodes one text log. It is safe for concurrent calls to Decode on
// different runs. Cut uses scratch space and must be called from one goroutine.
type Decoder struct {
	file    *parse.File
	set     *Set
	opt     Options
	framing *journal.Framing
	klog    parse.Source // writer of klog lines that name none
	logrus  parse.Source // writer of logrus lines that name none
	plain   parse.Source // writer of all other lines that name none
	above   parse.Source // writer of what stands above the first section
	assumed bool         // klog is only assumed to be the kubelet
	callers map[int]bool // processes whose klog lines in head name source files of the kubelet alone
	tools   map[int]bool // processes whose klog lines in head are those of crictl
	prose   bool         // the file is prose that quotes log messages: see isProse
	guide   bool         // the file explains log messages: see isGuide
	telling bool         // the file is an account written by people: see isTelling

	dated     parse.Mark    // a line that states a date: see parse.Coverage
	searched  *parse.Marker // the line that shows that a search selected the lines; nil if none does
	described []described   // which node is described where, in file order
	binary    bool          // the file is a binary journal: see NewEntryDecoder

	idle idleScanners

	cutter *journal.Parser // used by Cut only; created on first use
	entry  journal.Entry   // used by Cut only
}

// NewDecoder returns a decoder for f. head is the beginning of the file, up to 256
// KiB. It determines the framing and the writer of lines that name none.
func NewDecoder(f *parse.File, head []byte, set *Set, opt Options) *Decoder {
	sentences, lines := sentencesOf(head)
	d := &Decoder{file: f, set: set, opt: opt, framing: journal.Detect(head), prose: isProse(head, sentences), telling: isTelling(sentences, lines), described: describes(head)}
	d.guide = d.framing.Kind != journal.Blocks && isGuide(head, sentences)
	d.vote(head)
	d.dated, d.searched = d.datedIn(head), d.searchedBy(head)
	return d
}

// Format returns the human-readable name of the framing.
func (d *Decoder) Format() string { return d.framing.Name }

// Limits on joining lines into one record: klog writes messages of several lines of
// which only the first has a header. A record that reaches a limit is closed.
const (
	maxJoinLines = 64
	maxJoinBytes = 256 << 10
)

// MaxRecord is the buffer length from which Cut cuts inside a multi-line record
// instead of asking for more data.
const MaxRecord = 4 << 20

// Cut returns the length of the longest prefix of buf that ends at a record
// boundary, or 0 if there is none and more data must be read. buf begins where the
// previous run ended. Cut never cuts inside a line: a caller that will not buffer a
// whole line passes what it has as a run and continues after the newline. Cut must
// be called from one goroutine, in file order.
//
// Where a file is cut makes no difference to the result: at every boundary, no
// later line can belong to an earlier record.
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

// CutsAnywhere reports whether Cut needs only some whole lines before a boundary,
// rather than all lines since the previous one.
func (d *Decoder) CutsAnywhere() bool { return d.framing.Kind != journal.Blocks }

// shape is the part of a parsed line that Cut needs.
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

// cutLines searches backward from the last whole line for one that begins a record
// no matter what precedes it.
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

// lineStart returns the start of the line that ends just before end.
func lineStart(buf []byte, end int) int { return bytes.LastIndexByte(buf[:end-1], '\n') + 1 }

// closedBy reports whether a record of that many lines and bytes is full.
func closedBy(lines, size int) bool { return lines >= maxJoinLines || size >= maxJoinBytes }

// cutBlocks walks whole blocks forward, then searches the last of them backward as
// cutLines does.
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

// startsAnew reports whether cur begins a record no matter which record is open
// before it: it has a header, or a writer other than that of the previous line.
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
