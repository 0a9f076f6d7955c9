package logs

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// Result is what Decode found in one run. A Merger combines the results of a file.
// Line numbers are 1-based within the run, because the lines before it have not
// been counted yet. In a binary journal they are the entry numbers in the file.
type Result struct {
	outOfRange bool // a timestamp was, see take
	events     []parse.Event
	batches    []*parse.Batch
	streams    []*stream
	markers    []*parse.Marker
	facts      []*parse.Fact
	warnings   []parse.Warning
	lines      int
	section    *string // the last section that begins in the run, nil if none
	order      order
	foreign    foreignLines
	damage     damagedLines // the last damage
	own        uint32       // the line that Options.Own recognized, where decoding stopped; 0: none
}

// Lines returns the number of lines of the run.
func (r *Result) Lines() int { return r.lines }

// maxText is the maximum length of text that is kept and matched per record:
// lengths are stored in 16 bits.
const maxText = math.MaxUint16

// Decode decodes a run.
func (d *Decoder) Decode(run Run) Result {
	s := d.scanner(run)
	last := 0 // start of the last block
	if d.framing.Kind == journal.Blocks {
		for s.at < len(s.data) {
			last = s.at
			s.block(d.framing.Next(s.data[s.at:], true))
		}
	}
	blank := 0 // consecutive empty lines before this one
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
	if run.Last {
		s.unended(last)
	}
	return s.end()
}

// blanks consumes all empty lines at the start of rec at once. Empty lines are all
// alike except for their number, so this is possible if the line before them was
// parsed as one. It reports whether it did so.
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

// newlines returns the number of newlines that b begins with.
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

// scanner decodes one run at a time and is reused for further runs.
type scanner struct {
	d      *Decoder
	keep   parse.TextWriter
	places parse.PlaceWriter // keep, if it implements PlaceWriter
	parser *journal.Parser
	match  func(src parse.Source, sev byte, msg []byte) *parse.SigSet
	fields fieldCache
	res    Result

	matcher *Matcher // match is its method; nil if match is the brute-force one

	entry      journal.Entry
	data       []byte // data of the run
	at         int    // start of the current record in data
	base       int64  // offset of data in the file
	line       uint32 // line number of the current record
	off        int64  // file offset of the current entry in a binary journal
	open       openRecord
	skimmed    skimmed
	hit        bool     // skim found a literal in the current line
	word       []byte   // scratch space of nextStamp
	picked     []uint64 // bitset of the entries whose literals are in the current line
	unfinished bool     // the container runtime split the last line (CRI "P")
	marked     int      // number of damaged records
	lastMark   int      // index of the marker of the last of them
	foreign    bool     // not all of data is UTF-8

	streams  map[streamKey]*stream
	streamBy map[*parse.Origin]*stream
	recent   [4]streamOfKey // streams of the last parsed lines, unordered
	oldest   int            // index in recent to replace next
	brisk    streamCache    // streams of the last skimmed lines
	section  string
	known    bool // section is known: the run begins the file or has named one
	callers  map[string]string
	called   string // the last result of caller
	kinds    map[parse.EventKind]*parse.EventKind
	taken    int         // number of events in earlier runs
	batches  []nearBatch // most recently used batches
	batchOf  map[*parse.EventKind]*parse.Batch
	origins  map[streamID]*parse.Origin
	writers  map[streamKey]*writer
	lag      lagYear
}

// newEvent returns a pointer to a new event. Events of a run are allocated in
// blocks shared with other runs: a log may have hundreds of thousands.
func (s *scanner) newEvent() *parse.Event {
	n := len(s.res.events)
	if n == cap(s.res.events) {
		s.res.events = append(make([]parse.Event, 0, max(2*n, s.roomFor())), s.res.events...)
	}
	s.res.events = s.res.events[:n+1]
	return &s.res.events[n]
}

// roomFor returns the number of events to allocate at a time. It grows with the
// number of earlier events.
func (s *scanner) roomFor() int { return min(max(s.taken, leastEvents), mostEvents) }

const leastEvents, mostEvents = 4, 1024

// nearBatch is a recently used batch with a copy of its kind.
type nearBatch struct {
	kind  parse.EventKind
	batch *parse.Batch
}

// batch returns the batch for an event of kind k with text t.
func (s *scanner) batch(k *parse.EventKind, t parse.Text) *parse.Batch {
	for i := range s.batches {
		near := &s.batches[i]
		if near.kind.Sigs != k.Sigs || near.kind != *k || !near.batch.Holds(t) {
			continue
		}
		batch := near.batch
		if i > 0 { // the next event is probably of the same kind
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
	if len(s.batches) == maxRecentBatches {
		s.batches = s.batches[:maxRecentBatches-1]
	}
	s.batches = append(s.batches, nearBatch{*k, batch})
	return batch
}

// kind interns k.
func (s *scanner) kind(k parse.EventKind) *parse.EventKind {
	have := s.kinds[k]
	if have == nil {
		own := k // keeps k itself off the heap
		have = &own
		s.kinds[k] = have
	}
	return have
}

// maxRecentBatches is the number of recent batches searched before the lookup in batchOf.
const maxRecentBatches = 6

// plainWriter allocates each text on its own.
type plainWriter struct{}

func (plainWriter) Keep(line []byte) parse.Text { return parse.PlainText(string(line)) }

func (s *scanner) pos() parse.Pos {
	return parse.Pos{File: s.d.file, Offset: s.offset(), Line: s.line}
}

// offset returns the file offset at which the current record is cited.
func (s *scanner) offset() int64 {
	if s.d.binary {
		return s.off
	}
	return s.base + int64(s.at)
}

// block processes the block of n bytes at s.at, line end included.
func (s *scanner) block(n int) {
	rec := s.data[s.at : s.at+n]
	lines := bytes.Count(rec, newline)
	if rec[n-1] != '\n' {
		lines++
	}
	s.record(bytes.TrimSuffix(rec, newline), lines)
	s.at += n
}

// record processes rec, the record at s.at, which spans that many lines.
func (s *scanner) record(rec []byte, lines int) {
	at := s.at
	if s.owned(rec) {
		return
	}
	suspect := s.foreign && !utf8.Valid(rec)
	if bytes.IndexByte(rec, 0) >= 0 && !s.d.binary {
		if bytes.Contains(rec, zeros) {
			s.holed(rec, lines)
			return
		}
		suspect = true
	}
	all := rec
	for len(rec) > 0 && (rec[0] == 0 || rec[0] == '\r' && !s.d.binary) { // some end lines by "\n\r"
		rec = rec[1:]
		s.at++
	}
	if !s.skimOrParse(rec, suspect) && !s.ownMessage(s.entry.Form, s.entry.Header.Kind, rec, s.entry.Msg) && !s.unglue(rec, lines) && !s.columns(rec, lines) {
		was := s.at
		s.at = at
		damage := s.damage(all)
		s.at = was
		s.belong()
		s.reopen()
		s.take(rec, lines)
		if damage != "" {
			s.damaged(rec, at, lines, damage)
		}
	}
	s.at = at
	s.res.lines += lines
	s.line += uint32(lines)
}

// skimOrParse is skim, but parses a suspect line in any case.
func (s *scanner) skimOrParse(rec []byte, suspect bool) bool {
	if !suspect {
		return s.skim(rec)
	}
	s.hit = false
	clear(s.picked)
	s.parser.Parse(rec, &s.entry)
	return false
}

// owned ends the run if this program wrote the line, and reports whether it did.
func (s *scanner) owned(line []byte) bool {
	if s.d.opt.Own == nil || len(line) == 0 || !s.d.opt.Own(line) {
		return false
	}
	s.res.own = s.line
	s.data = s.data[:s.at]
	return true
}

// ownMessage is like owned, for the message inside a container log line: such a log
// holds the output of a single program.
func (s *scanner) ownMessage(f journal.Form, h journal.HeaderKind, rec, msg []byte) bool {
	switch {
	case h != journal.NoHeader:
		return false
	case f == journal.CRI: // after time, stream and tag; Msg may be the part a logger put into JSON
		msg = behindFields(rec, 3)
	case f == journal.Stamped:
		msg = behindFields(rec, 1)
	case f != journal.Docker:
		return false
	}
	return s.owned(msg)
}

// behindFields returns the line after its first n space-separated fields.
func behindFields(line []byte, n int) []byte {
	for range n {
		_, line, _ = bytes.Cut(line, []byte(" "))
	}
	return line
}

var newline = []byte{'\n'}

// take adds one parsed record to the result, either to the open record or as a new
// one.
func (s *scanner) take(rec []byte, lines int) {
	e := &s.entry
	if s.open.accepts(s) {
		if e.Clock.Set && !e.OutOfRange() { // its text goes on, and it has a time of its own
			s.open.stream.see(s, &e.Clock, &e.Header.Clock, len(rec), lines)
		} else {
			s.open.stream.lines += lines
		}
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
	if e.OutOfRange() {
		if e.Clock, e.Header.Clock = (parse.Clock{}), (parse.Clock{}); !s.res.outOfRange {
			s.res.outOfRange = true
			s.warn(s.at, s.line, "the timestamp is after April 2262, which is out of range: this line, and others like it, has no time")
		}
	}
	l := s.streamOf(e)
	clock := &e.Clock
	if e.Form == journal.Control && !bytes.HasPrefix(rec, klogBegan) {
		clock = &parse.Clock{}
	}
	l.see(s, clock, &e.Header.Clock, len(rec), lines)
	if e.Header.Kind == journal.Klog {
		l.common.narrow(e.Msg)
	}
	if e.Lost {
		s.marker(rec, journal.Mark{Kind: parse.MarkNull, N: 1})
	} else if e.Marker.Kind != "" && e.Form != journal.Control {
		s.marker(rec, e.Marker)
	}
	// What follows an unfinished line belongs to it, even if the record is already
	// too long to accept it.
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
	clear(s.streams) // bare lines now have another writer
}

// klogBegan begins the only control line whose date is a moment within this file.
// The date journalctl prints is how far back the journal goes; the one systemctl
// prints is since when a unit has been running.
var klogBegan = []byte("Log file created at: ")

// control handles a line written by the log collector itself.
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

// keepText stores a record, truncated to maxText.
func (s *scanner) keepText(rec []byte) parse.Text {
	if s.d.file.Export {
		from, end := journal.LaidMessage(rec)
		rec = rec[from:end]
	}
	return s.keep.Keep(textOf(rec))
}

func textOf(rec []byte) []byte { return trimEnd(rec[:min(len(rec), maxText)]) }

// trimEnd strips trailing line ends and NUL bytes.
func trimEnd(b []byte) []byte {
	for n := len(b); n > 0; n-- {
		if c := b[n-1]; c != '\r' && c != '\n' && c != 0 {
			return b[:n]
		}
	}
	return b[:0]
}

// markText stores data[from:end] of the run, a line that a Mark cites.
func (s *scanner) markText(from, end int) parse.Text {
	if s.places != nil {
		return s.places.KeepLine(from, textOf(s.data[from:end]))
	}
	return s.keepText(s.data[from:end])
}

// caller interns the "file:line" of a header.
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
