package logs

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// Result is what Decode found in one run. A Joiner puts the results of a file
// together. Lines have their number in the run, 1-based, as nobody has counted
// those before it; in a binary journal that of the entry in the file.
type Result struct {
	events   []parse.Event
	batches  []*parse.Batch // of the events
	streams  []*stream
	markers  []*parse.Marker
	facts    []*parse.Fact
	warnings []parse.Warning
	lines    int
	section  *string // the last section that begins in the run, nil if none
	order    order
	own      uint32 // the line that Options.Own knew, 0 if none: the run was decoded up to it
}

// Lines is the number of lines of the run.
func (r *Result) Lines() int { return r.lines }

// maxText bounds what is kept and matched of one record: lengths are of 16 bits.
const maxText = math.MaxUint16

// Decode decodes a run.
func (d *Decoder) Decode(run Run) Result {
	s := d.scanner(run)
	if d.framing.Kind == journal.Blocks {
		for s.at < len(s.data) {
			s.block(d.framing.Next(s.data[s.at:], true))
		}
	}
	blank := 0 // lines before this one that are empty
	for s.at < len(s.data) {
		rec := s.data[s.at:]
		if rec[0] == '\n' {
			if blank++; blank > 2 && s.blanks(rec) {
				continue
			}
			s.record(rec[:0], 1)
			s.at++
			continue
		}
		blank = 0
		n := bytes.IndexByte(rec, '\n')
		if n < 0 {
			n = len(rec)
		}
		s.record(rec[:n], 1)
		s.at += n + 1
	}
	return s.end()
}

// blanks takes the empty lines with which rec begins at once, where the one
// before them was taken as such: all of them are alike, but for their number. It
// reports whether it could.
func (s *scanner) blanks(rec []byte) bool {
	if s.open.active || s.unfinished || s.entry.Form != journal.Blank {
		return false
	}
	n := newlines(rec)
	s.at += n - 1
	s.line += uint32(n - 1)
	s.parser.Parse(rec[:0], &s.entry)
	s.reopen()
	s.take(rec[:0], n)
	s.res.lines += n
	s.line++
	s.at++
	return true
}

// newlines is how many newlines b begins with.
func newlines(b []byte) int {
	const eight = 0x0a0a0a0a0a0a0a0a
	n := 0
	for n+8 <= len(b) && binary.LittleEndian.Uint64(b[n:]) == eight {
		n += 8
	}
	for n < len(b) && b[n] == '\n' {
		n++
	}
	return n
}

// scanner decodes one run, and then another.
type scanner struct {
	d      *Decoder
	keep   parse.TextWriter
	places parse.PlaceWriter // keep, if it is one
	parser *journal.Parser
	match  func(src parse.Source, sev byte, msg []byte) *parse.SigSet
	fields fieldCache
	res    Result

	matcher *Matcher // whose Match is match, nil for the slow one

	entry      journal.Entry
	data       []byte // of the run
	at         int    // of the current record in data
	base       int64  // of data in the file
	line       uint32 // of the current record
	off        int64  // of the current entry in a binary journal
	open       openRecord
	skimmed    skimmed
	hit        bool     // a literal stands in the current line, as skim has seen
	picked     []uint64 // the entries of all that stand there
	unfinished bool     // the container runtime cut the last line

	streams  map[streamKey]*stream
	streamBy map[*parse.Origin]*stream
	recent   [4]streamOfKey // of the last parsed lines, in no order
	oldest   int            // of recent, to be replaced next
	brisk    streamCache    // of the last skimmed lines
	section  string
	known    bool // section is known: this run began the file or named one
	callers  map[string]string
	called   string // the last of callers that was asked for
	kinds    map[parse.EventKind]*parse.EventKind
	taken    int         // events of the runs before
	batches  []nearBatch // of the last events
	batchOf  map[*parse.EventKind]*parse.Batch
	origins  map[streamID]*parse.Origin
	writers  map[streamKey]*writer
	lag      lagYear
}

// newEvent returns room for an event. The events of a run lie side by side, and
// beside those of others: a log may have hundreds of thousands.
func (s *scanner) newEvent() *parse.Event {
	n := len(s.res.events)
	if n == cap(s.res.events) {
		s.res.events = append(make([]parse.Event, 0, max(2*n, s.roomFor())), s.res.events...)
	}
	s.res.events = s.res.events[:n+1]
	return &s.res.events[n]
}

// roomFor is for how many events room is made at a time: for more, the more there
// were.
func (s *scanner) roomFor() int { return min(max(s.taken, leastEvents), mostEvents) }

const leastEvents, mostEvents = 4, 1024

// nearBatch is one of the last batches, with a copy of its kind close at hand.
type nearBatch struct {
	kind  parse.EventKind
	batch *parse.Batch
}

// batch returns the batch of an event of that kind and text.
func (s *scanner) batch(k *parse.EventKind, t parse.Text) *parse.Batch {
	for i := range s.batches {
		near := &s.batches[i]
		if near.kind.Sigs != k.Sigs || near.kind != *k || !near.batch.Holds(t) {
			continue
		}
		batch := near.batch
		if i > 0 { // the next event is likely of this kind
			s.batches[i], s.batches[i-1] = s.batches[i-1], s.batches[i]
		}
		return batch
	}
	kind := s.kind(*k)
	batch := s.batchOf[kind]
	if batch == nil || !batch.Holds(t) {
		batch = parse.NewBatch(kind, t)
		s.batchOf[kind] = batch
		s.res.batches = append(s.res.batches, batch)
	}
	if len(s.batches) == maxLots {
		s.batches = s.batches[:maxLots-1]
	}
	s.batches = append(s.batches, nearBatch{*k, batch})
	return batch
}

// kind interns what events have in common.
func (s *scanner) kind(k parse.EventKind) *parse.EventKind {
	have := s.kinds[k]
	if have == nil {
		own := k // k itself stays off the heap
		have = &own
		s.kinds[k] = have
	}
	return have
}

// maxLots is how many batches are tried before they are looked up.
const maxLots = 6

// plainWriter keeps each text on its own.
type plainWriter struct{}

func (plainWriter) Keep(line []byte) parse.Text { return parse.PlainText(string(line)) }

func (s *scanner) pos() parse.Pos {
	return parse.Pos{File: s.d.file, Offset: s.offset(), Line: s.line}
}

// offset is where the current record is cited in the file.
func (s *scanner) offset() int64 {
	if s.d.binary {
		return s.off
	}
	return s.base + int64(s.at)
}

// block takes the block of n bytes that begins at s.at, line end included.
func (s *scanner) block(n int) {
	rec := s.data[s.at : s.at+n]
	lines := bytes.Count(rec, newline)
	if rec[n-1] != '\n' {
		lines++
	}
	s.record(bytes.TrimSuffix(rec, newline), lines)
	s.at += n
}

// record takes the record at s.at, which is rec and of so many lines.
func (s *scanner) record(rec []byte, lines int) {
	at := s.at
	if s.owned(rec) {
		return
	}
	for len(rec) > 0 && rec[0] == 0 {
		rec = rec[1:]
		s.at++
	}
	if !s.skim(rec) && !s.ownMessage(s.entry.Form, s.entry.Header.Kind, rec, s.entry.Msg) {
		s.belong()
		s.reopen()
		s.take(rec, lines)
	}
	s.at = at
	s.res.lines += lines
	s.line += uint32(lines)
}

// owned ends the run at a line that this program wrote.
func (s *scanner) owned(line []byte) bool {
	if s.d.opt.Own == nil || len(line) == 0 || !s.d.opt.Own(line) {
		return false
	}
	s.res.own = s.line
	s.data = s.data[:s.at]
	return true
}

// ownMessage is owned for the message of a line of a container's log, which is
// that of one program.
func (s *scanner) ownMessage(f journal.Form, h journal.HeaderKind, rec, msg []byte) bool {
	switch {
	case h != journal.NoHeader:
		return false
	case f == journal.CRI: // behind time, stream and tag, not what a logger put into JSON
		msg = behindFields(rec, 3)
	case f == journal.Stamped:
		msg = behindFields(rec, 1)
	case f != journal.Docker:
		return false
	}
	return s.owned(msg)
}

// behindFields is the line behind n fields that end in a blank each.
func behindFields(line []byte, n int) []byte {
	for range n {
		_, line, _ = bytes.Cut(line, []byte(" "))
	}
	return line
}

var newline = []byte{'\n'}

// take files one parsed record.
func (s *scanner) take(rec []byte, lines int) {
	e := &s.entry
	if s.open.accepts(s) {
		s.open.stream.lines += lines
		s.open.add(s, rec)
		s.unfinished = e.Partial
		return
	}
	s.close()
	switch e.Form {
	case journal.Section:
		s.enterSection(string(e.Msg))
	case journal.Control:
		s.control(rec)
	}
	l := s.streamOf(e)
	clock := &e.Clock
	if e.Form == journal.Control && !bytes.HasPrefix(rec, klogBegan) {
		clock = &parse.Clock{}
	}
	l.see(s, clock, &e.Header.Clock, len(rec), lines)
	if e.Lost {
		s.marker(rec, journal.Mark{Kind: parse.MarkNull, N: 1})
	} else if e.Marker.Kind != "" && e.Form != journal.Control {
		s.marker(rec, e.Marker)
	}
	// What follows an unfinished line belongs to it, even where the record has
	// become too long to take it.
	rest := s.unfinished && e.Form == journal.CRI
	if e.Form != journal.Blank && e.Form != journal.Section && !rest {
		s.open.begin(s, l, rec)
	}
	s.unfinished = e.Partial
}

func (s *scanner) enterSection(name string) {
	s.section, s.known = name, true
	s.res.section = &name
	s.recent, s.brisk = [4]streamOfKey{}, streamCache{}
	clear(s.streams) // bare lines have another writer now
}

// klogBegan begins the one line of a collector whose date is a moment of this file:
// that of journalctl is how far the journal goes back, that of systemctl since when
// a unit runs.
var klogBegan = []byte("Log file created at: ")

// control files a line in which the collector speaks.
func (s *scanner) control(rec []byte) {
	s.marker(rec, s.entry.Marker)
	if host, ok := bytes.CutPrefix(rec, []byte("Running on machine: ")); ok {
		host = bytes.TrimSpace(host)
		s.res.facts = append(s.res.facts, &parse.Fact{Pos: s.pos(), Key: "node.name", Value: string(host[:min(len(host), 256)]),
			Num: nan, Text: s.keepText(rec)})
	}
}

func (s *scanner) marker(rec []byte, m journal.Mark) {
	clock := s.entry.Clock
	if s.entry.Header.Clock.Set && !clock.Set {
		clock = s.entry.Header.Clock
	}
	s.res.markers = append(s.res.markers, &parse.Marker{Pos: s.pos(), Kind: m.Kind, Boot: m.Boot, N: m.N,
		Text: s.keepText(rec), Raw: clock})
}

// keepText keeps a record, cut to maxText.
func (s *scanner) keepText(rec []byte) parse.Text {
	if s.d.file.Export {
		from, end := journal.LaidMessage(rec)
		rec = rec[from:end]
	}
	return s.keep.Keep(textOf(rec))
}

func textOf(rec []byte) []byte { return trimEnd(rec[:min(len(rec), maxText)]) }

// trimEnd cuts line ends, and NUL bytes beside them.
func trimEnd(b []byte) []byte {
	for n := len(b); n > 0; n-- {
		if c := b[n-1]; c != '\r' && c != '\n' && c != 0 {
			return b[:n]
		}
	}
	return b[:0]
}

// markText keeps a line of the run.
func (s *scanner) markText(from, end int) parse.Text {
	if s.places != nil {
		return s.places.KeepLine(from, textOf(s.data[from:end]))
	}
	return s.keepText(s.data[from:end])
}

// caller interns the file and line that a header names.
func (s *scanner) caller(b []byte) string {
	if string(b) == s.called {
		return s.called
	}
	if got, ok := s.callers[string(b)]; ok {
		s.called = got
		return got
	}
	c := string(b)
	s.callers[c], s.called = c, c
	return c
}
