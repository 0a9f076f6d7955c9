package logs

import (
	"bytes"
	"fmt"
	"math"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

var nan = math.NaN()

// openRecord is the record that the next line may belong to. klog messages may
// contain newlines: only their first line has a header, and under journald each
// line becomes an entry of its own.
type openRecord struct {
	active  bool
	hit     bool // a literal was found in one of its lines
	sure    bool // picked holds the entries of all literals in the message
	picked  []uint64
	partial bool // the last line continues in the next one (CRI "P")
	mended  bool // a terminal wrapped the line before the current one
	blank   bool // the wrap swallowed a blank
	lines   int
	form    journal.Form
	header  journal.HeaderKind
	who     *journal.Who
	stream  *stream

	pos       parse.Pos
	clock     parse.Clock // clock of the framing
	inner     parse.Clock // clock of the header
	severity  byte
	caller    []byte // slice of the run or a copy
	from, end int    // bounds of the raw text in the run
	off       int    // start of the message in the raw text, or -1 if the message is in body
	body      []byte // the message, if decoded or of several lines
}

// begin opens a record with the current entry, whose text is rec, unless neither
// the entry nor a continuation of it can match a signature.
func (o *openRecord) begin(s *scanner, l *stream, rec []byte) {
	e := &s.entry
	o.hit = s.hit || l.holds(e.Msg[e.Header.Body:])
	o.active = o.hit || e.Header.Kind != journal.NoHeader || e.Partial
	if !o.active {
		return
	}
	o.partial, o.lines = e.Partial, 1
	if o.sure = s.hit && s.matcher != nil; o.sure {
		o.picked = append(o.picked[:0], s.picked...)
	}
	o.form, o.header, o.who, o.stream = e.Form, e.Header.Kind, e.Who, l
	o.pos, o.clock, o.inner, o.severity = s.pos(), e.Clock, e.Header.Clock, e.Header.Severity
	o.from, o.end = s.at, s.at+len(rec)
	o.body = o.body[:0]
	o.off = e.Off + e.Header.Body
	o.caller = e.Header.Caller
	if e.Off < 0 {
		// The parser's buffer is reused for the next line.
		o.off = -1
		o.body = append(o.body, clip(e.Msg[e.Header.Body:])...)
		o.caller = append([]byte(nil), e.Header.Caller...)
	}
	if s.d.framing.Kind == journal.Blocks {
		o.narrow(s, rec)
	}
	if s.d.file.Export {
		from, end := journal.LaidMessage(rec)
		o.from, o.end = o.from+from, o.from+end
		o.off = max(o.off-from, -1)
	}
	if msg := e.Msg[e.Header.Body:]; o.off >= 0 && o.off+len(msg) < len(trimEnd(s.data[o.from:o.end])) {
		o.off = -1 // the record goes on after the message, as in a JSON object
		o.body = append(o.body, clip(msg)...)
	}
}

// beginBrief is begin for a skimmed line that has a header and contains a literal.
func (o *openRecord) beginBrief(s *scanner, l *stream, b *journal.Brief, rec []byte) {
	o.active, o.hit, o.sure, o.partial, o.lines = true, true, true, false, 1
	o.picked, s.picked = s.picked, o.picked // swapped: the next line clears s.picked
	o.form, o.header, o.who, o.stream = b.Form, b.Kind, b.Who, l
	o.pos, o.clock, o.inner, o.severity = s.pos(), b.Clock, b.Header, b.Severity(rec)
	o.from, o.end, o.off, o.caller = s.at, s.at+len(rec), b.Off, nil
	o.body = o.body[:0]
	if b.Kind == journal.Klog {
		o.off, o.caller = b.Body, b.Caller(rec)
	}
}

// narrow makes the record cite the line of a block that holds the message, not the
// block.
func (o *openRecord) narrow(s *scanner, rec []byte) {
	at := min(s.entry.At, len(rec))
	start := bytes.LastIndexByte(rec[:at], '\n') + 1
	if s.entry.Form == journal.Export && bytes.IndexByte(rec[start:at], '=') < 0 {
		start = at // a binary field: the bytes before the message are its length
	}
	end := bytes.IndexByte(rec[at:], '\n')
	if end < 0 {
		end = len(rec) - at
	}
	o.pos.Offset += int64(start)
	o.pos.Line += uint32(bytes.Count(rec[:start], newline))
	o.from, o.end = s.at+start, s.at+at+end
	if o.off >= 0 {
		o.off -= start
	}
}

// clip truncates a message to the length that is matched and kept.
func clip(msg []byte) []byte { return msg[:min(len(msg), maxText)] }

// flagNotice begins lines that pflag prints past klog. fences are Markdown code
// fences, which end a quotation.
var flagNotice, fences = []byte("Flag --"), [...][]byte{[]byte("```"), []byte("~~~")}

func isFence(line []byte) bool {
	return bytes.HasPrefix(line, fences[0]) || bytes.HasPrefix(line, fences[1])
}

// leavesLog reports whether a line is of what was pasted below a log: the end of a quotation, a command
// behind a shell's prompt ("$ kubectl", "[root@n1 ~]# kubectl", "me@n1:~$ kubectl"), or a heading of kubectl describe.
func leavesLog(line []byte) bool {
	if string(line) == "Conditions:" || string(line) == "Events:" || isFence(bytes.TrimLeft(line, " ")) {
		return true
	}
	_, command := parse.Prompted(string(line[:min(len(line), 256)])) // a prompt and the word behind it
	return command
}

// endsProgram reports whether the Go runtime, the main function of a kubelet up to 1.9
// (cmd/kubelet/kubelet.go), or that of hyperkube ("Error:") wrote the line because it ends
// the program. Such a line goes past klog, and the journal dates it.
func endsProgram(line []byte) bool {
	return bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: ")) ||
		bytes.HasPrefix(line, []byte("error: failed to run Kubelet: ")) || bytes.HasPrefix(line, []byte("Error: failed to run Kubelet: "))
}

// accepts reports whether the line just parsed belongs to the open record.
func (o *openRecord) accepts(s *scanner) bool {
	if !o.active || closedBy(o.lines, s.at-o.from) {
		return false
	}
	e := &s.entry
	if o.partial {
		return e.Form == journal.CRI
	}
	if o.mended, o.blank = o.wraps(s); o.mended {
		return true
	}
	if o.header == journal.NoHeader || e.Header.Kind != journal.NoHeader || e.Partial || e.Marker.Kind != "" {
		return false
	}
	if bytes.HasPrefix(e.Msg, flagNotice) || e.Who.Ident != "" && endsProgram(e.Msg) || leavesLog(e.Msg) {
		return false
	}
	if e.Form == journal.Bare {
		return o.form == journal.Bare || e.Msg[0] == ' ' || e.Msg[0] == '\t'
	}
	return o.header == journal.Klog && e.Form == o.form && e.Form < journal.EventRow && *e.Who == *o.who
}

// add appends the line just parsed to the record.
func (o *openRecord) add(s *scanner, rec []byte) {
	e := &s.entry
	if len(o.body) == 0 && o.off >= 0 {
		o.body = append(o.body, clip(o.message(s))...)
	}
	o.off, o.sure = -1, false
	o.hit = o.hit || o.stream.holds(e.Msg)
	switch {
	case len(o.body) >= maxText:
	case o.mended:
		o.mend(e.Msg, o.blank)
		o.hit = o.hit || o.stream.holds(o.body)
	default:
		if !o.partial {
			o.body = append(o.body, '\n')
		}
		o.body = append(o.body, clip(e.Msg)...)
		if o.partial {
			// A literal may span the two parts.
			o.hit = o.hit || o.stream.holds(o.body)
		}
	}
	o.lines++
	o.partial = e.Partial
	if s.d.framing.Kind != journal.Blocks {
		o.end = s.at + len(rec)
	}
}

// message returns the text after framing and header.
func (o *openRecord) message(s *scanner) []byte {
	if o.off < 0 {
		return clip(o.body)
	}
	raw := trimEnd(s.data[o.from:o.end])
	return clip(raw[min(o.off, len(raw)):])
}

// close ends the open record and adds an event for it if it matches a signature.
func (s *scanner) close() {
	o := &s.open
	if !o.active {
		return
	}
	o.active = false
	if !o.hit {
		return
	}
	msg := o.message(s)
	own, bare := msg, false
	if o.header == journal.NoHeader && o.form == journal.Bare {
		own = ownWords(msg)
		bare = !o.inner.Set && !o.clock.Set && !bytes.Contains(msg, []byte(".go:")) // stack traces contain it
	}
	var set *parse.SigSet
	if o.sure && len(own) == len(msg) {
		set = s.matcher.matchPicked(o.severity, msg, o.picked)
	} else {
		set = s.match(o.stream.origin.Source, o.severity, own)
	}
	if set == nil {
		return
	}
	bare = bare && !set.Timeless()
	ev := s.newEvent()
	*ev = parse.Event{Offset: o.pos.Offset, Line: o.pos.Line}
	ev.SetRaw(parse.RawClocks{Header: o.inner, Envelope: o.clock})
	ev.SetSum(msg)
	text := o.keep(s, ev, msg)
	ev.SetText(text)
	ev.Batch = s.batch(&parse.EventKind{File: o.pos.File, Origin: o.stream.origin, Sigs: set,
		Caller: s.caller(o.caller), Severity: o.severity, Headed: o.inner.Set, JSON: o.header == journal.KlogJSON, Bare: bare, Told: bare && s.d.telling}, text)
	if s.matcher != nil {
		s.fields.take(ev, s.matcher, msg)
	}
}

// keep stores the text of the record, followed by the message if that is not a
// verbatim part of the text.
func (o *openRecord) keep(s *scanner, ev *parse.Event, msg []byte) parse.Text {
	raw := trimEnd(s.data[o.from:o.end])
	if len(raw) > maxText {
		s.res.warnings = append(s.res.warnings, parse.Warning{Pos: o.pos,
			Msg: fmt.Sprintf("record has %d bytes: the first %d are kept", len(raw), maxText)})
		raw = raw[:maxText]
	}
	if o.off >= 0 && o.off <= math.MaxUint16 && len(raw) < maxText {
		if ev.Msg = uint16(o.off); s.places != nil {
			return s.places.KeepPlace(o.from, len(raw))
		}
		return s.keep.Keep(raw)
	}
	both := make([]byte, 0, len(raw)+len(msg))
	both = append(append(both, raw...), msg...)
	ev.Body = uint16(len(msg))
	return s.keep.Keep(both).Sub(0, len(raw))
}
