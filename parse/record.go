package parse

import (
	"fmt"
	"hash/maphash"
	"slices"
	"time"
)

// Source identifies the writer of a line; it is the "source" of evidence.
type Source string

// Sources.
const (
	SrcUnknown    Source = ""
	SrcKubelet    Source = "kubelet"
	SrcCRIO       Source = "crio"
	SrcContainerd Source = "containerd"
	SrcDockerd    Source = "dockerd"
	SrcPodman     Source = "podman"
	SrcKernel     Source = "kernel"
	SrcSystemd    Source = "systemd"
	SrcCNI        Source = "cni"
	SrcSystem     Source = "system" // any other daemon: ntpd, NetworkManager, …
	SrcKubeEvents Source = "events" // Kubernetes events and conditions
	SrcMetrics    Source = "metrics"
	SrcFacts      Source = "facts"
	SrcStack      Source = "stack"
)

// Record is anything that a bundle states at a position. Findings hold records,
// never copies of their text.
type Record interface {
	Where() Pos
	When() Stamp
	From() Source
	Quote() string // the raw line; writers must escape and truncate it
}

// Origin is the writer of a run of lines: one process, as far as the lines tell.
// Origins are interned per file and can be compared by pointer.
type Origin struct {
	Source Source
	Host   string // hostname of the envelope, "" if none
	Ident  string // syslog identifier, e.g. "kubelet", "kubenswrapper"
	Unit   string // systemd unit, if stated
	Boot   string // boot id, 32 hex digits, if stated
	PID    int    // from the envelope or the klog header, 0 if none
}

// IdentAbout is the Ident of a line that somebody else wrote about the node named
// by Host.
const IdentAbout = "about the node"

// Event is a log line that matched at least one signature. A log may hold millions
// of them, so an Event fits into one CPU cache line.
type Event struct {
	*Batch
	Stamp              // resolved time of the event: from the header's clock if there is one, else from the envelope's
	Offset      int64  // byte offset of the line in the decompressed file
	Arrived     int64  // resolved envelope time, Unix ns, 0 if none
	text, width uint32 // offset and length of the text in the store of the batch
	Line        uint32 // 1-based
	sum         uint32 // checksum of the message, 0 if unknown: see SetSum
	Body        uint16 // length of the decoded message stored right after the text, if the text does not contain it verbatim (JSON framing, joined lines); else 0
	Msg         uint16 // offset of the message in the text, after framing and klog header; capped at 65535
	fields      uint16 // row number of the fields in the store of the batch, 0 if none: see SetFields
	raw         uint16 // form of the raw clocks in At and Arrived until package clock resolves them; then the granularity of Arrived
}

// Batch holds what events of one kind with texts in one store share. Changing its
// EventKind changes the kind of all its events.
type Batch struct {
	*EventKind
	arena *Arena
}

// NewBatch returns a batch for events of kind k with texts in the store of t.
func NewBatch(k *EventKind, t Text) *Batch { return &Batch{k, t.arena} }

// Holds reports whether the batch is for texts in the store of t.
func (l *Batch) Holds(t Text) bool { return l.arena == t.arena }

// NewEvent returns an event with a batch of its own. rest provides everything
// except kind and text.
func NewEvent(k *EventKind, t Text, rest Event) *Event {
	rest.Batch = NewBatch(k, t)
	rest.SetText(t)
	return &rest
}

// SetText sets the text of the event, which must be in the store of its batch.
func (e *Event) SetText(t Text) { e.text, e.width = t.off, t.n }

// Text returns the whole raw line, or all lines of a multi-line record.
func (e *Event) Text() Text { return Text{e.arena, e.text, e.width} }

// EventKind holds what an event has in common with others. It is shared and
// immutable.
type EventKind struct {
	File     *File
	Origin   *Origin // writer, never nil
	Sigs     *SigSet // matched signatures, never empty
	Caller   string  // "generic.go:238", "" if none
	Severity byte    // 'I', 'W', 'E', 'F' or 0
	Headed   bool    // the message has a clock of its own
	JSON     bool    // the message is a JSON object with that clock, as --logging-format=json writes it
	Bare     bool    // the line states neither its time nor its writer
	Told     bool    // the line is bare and in a text written by people
}

// Where, When and From implement Record.
func (e *Event) Where() Pos   { return Pos{e.File, e.Offset, e.Line} }
func (e *Event) When() Stamp  { return e.Stamp }
func (e *Event) From() Source { return e.Origin.Source }

// Quote returns the raw line. If the line is read again and has changed since it
// was decoded, Quote and Message return a note saying so.
func (e *Event) Quote() string {
	raw, _ := e.read()
	return raw
}

// AppendQuote appends the result of Quote to dst. It saves allocations for callers
// that examine many lines and keep none.
func (e *Event) AppendQuote(dst []byte) []byte {
	from := len(dst)
	dst = e.Text().append(dst)
	if e.Text().reread() && sumOfBytes(dst[min(from+int(e.Msg), len(dst)):]) != e.sum {
		dst = append(dst[:from], Changed(e.File, e.Offset)...)
	}
	return dst
}

// Message returns the text after framing and header.
func (e *Event) Message() string {
	if e.Body > 0 {
		return e.Text().Sub(int(e.width), int(e.Body)).String()
	}
	_, msg := e.read()
	return msg
}

// read returns the text, and the message as a part of it.
func (e *Event) read() (raw, msg string) {
	raw = e.Text().String()
	msg = raw[min(int(e.Msg), len(raw)):]
	if e.Text().reread() && sumOf(msg) != e.sum {
		raw = Changed(e.File, e.Offset)
		msg = raw
	}
	return raw, msg
}

// Changed returns the replacement for the line at offset off of a file that has
// changed.
func Changed(f *File, off int64) string {
	return fmt.Sprintf("(%s was changed after it was read: the line at byte %d cannot be quoted)", f.Path, off)
}

// messageLen returns the length of Message.
func (e *Event) messageLen() int {
	if e.Body > 0 {
		return int(e.Body)
	}
	return max(int(e.width)-int(e.Msg), 0)
}

// sumSeed is random so that no log can be crafted to collide.
var sumSeed = maphash.MakeSeed()

// SetSum records the checksum of the message, which Unique compares and which
// detects changed input.
func (e *Event) SetSum(msg []byte) { e.sum = sumOfBytes(msg) }

// sumOf returns the checksum of a message. It is never 0.
func sumOf(msg string) uint32 { return uint32(maphash.String(sumSeed, msg)) | 1 }

func sumOfBytes(msg []byte) uint32 { return uint32(maphash.Bytes(sumSeed, msg)) | 1 }

func (e *Event) messageSum() uint32 {
	if e.sum == 0 {
		return sumOf(e.Message())
	}
	return e.sum
}

// Is reports whether the line matched the signature with the given ID.
func (e *Event) Is(id string) bool { return e.Sigs.Has(id) }

// Field returns the named field that one of the line's signatures extracts, or "".
// Unless the value was extracted while decoding, each call parses the text again.
func (e *Event) Field(name string) string {
	if shape, values, of := e.taken(); of != nil {
		for _, n := range of.Names(shape) {
			v := values.Next()
			if n != name {
				continue
			}
			if v == InLine {
				return FieldOf(e.Extract(nil), name)
			}
			return of.Text(v)
		}
		return ""
	}
	return FieldOf(e.Extract(nil), name)
}

// AppendField appends the result of Field to dst. It saves allocations for callers that
// examine many lines and keep none.
func (e *Event) AppendField(dst []byte, name string) []byte {
	if shape, values, of := e.taken(); of != nil {
		for _, n := range of.Names(shape) {
			switch v := values.Next(); {
			case n != name:
				continue
			case v != InLine:
				return of.AppendText(dst, v)
			}
			break
		}
	}
	return append(dst, e.Field(name)...)
}

// FieldOf returns the value of the first field with the name, "" if there is none.
func FieldOf(fields []Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Fields returns the fields of all matched signatures, in signature order. They
// were extracted while decoding or else are read from the text.
func (e *Event) Fields() []Field { return e.AppendFields(nil) }

// AppendFields appends the result of Fields to dst. It saves allocations for
// callers that read many events and keep none of the slices.
func (e *Event) AppendFields(dst []Field) []Field {
	if shape, values, of := e.taken(); of != nil {
		from := len(dst)
		for _, name := range of.Names(shape) {
			v := values.Next()
			if v == InLine {
				return e.Extract(dst[:from])
			}
			dst = append(dst, Field{name, of.Text(v)})
		}
		return dst
	}
	return e.Extract(dst)
}

// Extract appends the fields that the signatures find in the text.
func (e *Event) Extract(dst []Field) []Field {
	msg := e.Message()
	for _, s := range e.Sigs.Sigs {
		if s.Extract != nil {
			dst = s.Extract(msg, dst)
		}
	}
	return dst
}

// SetFields records the row number of the fields in the store of Text, a
// FieldStore. A number that does not fit into 16 bits is dropped; then the fields
// are read from the text.
func (e *Event) SetFields(row uint32) {
	if e.fields = uint16(row); uint32(e.fields) != row {
		e.fields = 0
	}
}

// taken returns the fields that were extracted while decoding: their shape and a
// reader of the values. of is nil if there are none.
func (e *Event) taken() (shape StringID, values Row, of *StringTable) {
	if e.fields == 0 {
		return 0, Row{}, nil
	}
	store, ok := e.Text().fields()
	if !ok {
		return 0, Row{}, nil // the text was replaced: only its content counts
	}
	values, of = store.Row(uint32(e.fields))
	return values.Next(), values, of
}

// Field is a named value extracted verbatim from a line.
type Field struct{ Name, Value string }

// Sig is a known message. Package logs builds it from its data files.
type Sig struct {
	ID      string
	Sources []Source                              // writers; empty: any
	Extract func(msg string, dst []Field) []Field // appends the fields of a message
	// Bulk marks messages that occur by the hundred thousand. Their lines are never
	// warnings by themselves.
	Bulk bool
	// Symptom marks messages that report what failed, as the kubelet sees it, and
	// never why.
	Symptom bool
	// Lag is the time from the start of a problem to its log line; LagCall means
	// the deadline of a runtime call.
	Lag time.Duration
	// LagField names the field that states the lag, "" if none.
	LagField string
}

// LagCall, as the Lag of a signature, means the deadline of a runtime call, which
// is a setting of the node.
const LagCall time.Duration = -1

// SigSet is the interned set of signatures that a line matched.
type SigSet struct{ Sigs []*Sig }

// Timeless reports whether such lines also occur in command output or stack dumps,
// where no line has a time.
func (s *SigSet) Timeless() bool {
	return slices.ContainsFunc(s.Sigs, func(g *Sig) bool {
		return slices.Contains(g.Sources, SrcFacts) || slices.Contains(g.Sources, SrcStack)
	})
}

// Has reports whether the set contains the signature id.
func (s *SigSet) Has(id string) bool {
	for _, g := range s.Sigs {
		if g.ID == id {
			return true
		}
	}
	return false
}

// Coverage describes what one origin wrote into one file, including lines without
// any signature. It distinguishes silence from missing data. First line, last line
// and gaps are in time order: in a file with the newest line first, FirstLine is
// the last one in the file.
type Coverage struct {
	File      *File
	Origin    *Origin
	Lines     int
	Kept      int // number of records that matched a signature
	FirstLine Mark
	LastLine  Mark
	Low, High Mark  // earliest and latest line around those that read earlier than the line before; without a file if there are none
	Dated     Mark  // a line near the beginning of the file that states a date, with the stamp without a year that it dates: its own or that of the line beside it; without a file if there is none
	Gaps      []Gap // silences of at least GapMin or GapMinOther, oldest first
	MinLag    int64 // smallest and largest envelope clock minus header clock, ns, raw (zone offset included)
	MaxLag    int64
	MaxLagAt  Mark
	HasLag    bool
	MaxV      int      // highest klog verbosity that a known V-message proves, -1 if none
	Reversed  bool     // newest line first
	Common    []string // words that all its klog messages contain, as those selected by a word do
}

// GapMin is the shortest silence of an origin that Coverage records.
const GapMin = 5e9 // ns

// GapMinOther is GapMin for origins known not to be the kubelet.
const GapMinOther = 60e9 // ns

// Gap is a silence of one origin between two of its lines.
type Gap struct{ Last, Next Mark }

// Mark is a line with its clock, for lines that are not kept as events.
type Mark struct {
	Pos
	Stamp
	Raw      Clock // header clock, else envelope
	Envelope Clock // clock of the framing, if any; equal to Raw on lines without a header
	Text     Text  // kept only for first and last lines and for the edges of gaps
}

// Marker is a line in which the log describes itself: headers, reboots, lost
// messages.
type Marker struct {
	Pos
	Stamp
	Kind MarkerKind
	Boot string // boot ID, if stated
	N    int    // number of lost messages, if stated; else 0
	Text Text
	Raw  Clock
}

// Where, When, From and Quote implement Record.
func (m *Marker) Where() Pos    { return m.Pos }
func (m *Marker) When() Stamp   { return m.Stamp }
func (m *Marker) From() Source  { return SrcSystemd }
func (m *Marker) Quote() string { return m.Text.String() }

// MarkerKind is the kind of a marker line.
type MarkerKind string

// Marker kinds.
const (
	MarkHeader     MarkerKind = "header"     // "-- Logs begin at …", "Log file created at: …"
	MarkReboot     MarkerKind = "reboot"     // "-- Reboot --", "-- Boot <id> --"
	MarkEmpty      MarkerKind = "empty"      // "-- No entries --"
	MarkSuppressed MarkerKind = "suppressed" // "Suppressed N messages from …", "Missed N kernel messages"
	MarkNull       MarkerKind = "null"       // journal JSON null: the message was lost during export
	MarkClock      MarkerKind = "clock"      // "Time has been changed", "clock_step"
	MarkRotated    MarkerKind = "rotated"    // "Journal started", rotation
	MarkExcerpt    MarkerKind = "excerpt"    // "--": grep omitted lines here
	MarkHole       MarkerKind = "hole"       // zeros in place of lines, before this one: a crash; or a damaged line
	MarkTruncated  MarkerKind = "truncated"  // the collector or the upload truncated the file here
)

// Fact is a typed statement from a system file, command output or startup line:
// versions, configuration, load, mounts, processes.
type Fact struct {
	Pos
	Stamp
	Key   string  // dotted, documented in parse/facts/keys.go: "kubelet.version", "psi.io.full.avg60"
	Value string  // verbatim
	Num   float64 // numeric value in the key's unit, NaN if none
	Attrs []Field // further columns: pid, comm, wchan, device, …
	Raw   Clock   // clock of the line itself (sar rows, date output); zero: the fact holds at the time of the file
	Text  Text
}

// Where, When, From and Quote implement Record.
func (f *Fact) Where() Pos    { return f.Pos }
func (f *Fact) When() Stamp   { return f.Stamp }
func (f *Fact) From() Source  { return SrcFacts }
func (f *Fact) Quote() string { return f.Text.String() }

// Attr returns the named attribute, or "".
func (f *Fact) Attr(name string) string {
	return FieldOf(f.Attrs, name)
}

// Container is the state of a container or pod sandbox at one moment, as stated by
// a snapshot or a runtime log line.
type Container struct {
	Pos
	Stamp            // when it was in this state: snapshot time, or time of the transition
	ID        string // as printed; crictl tables truncate it to 13 characters
	Sandbox   bool   // a pod sandbox rather than a container
	SandboxID string // sandbox of the container, if stated
	PodUID    string
	PodName   string
	Namespace string
	Name      string // container name
	State     string // created, running, exited, unknown; for sandboxes ready, notready; "removed" from logs
	Created   int64  // Unix ns, 0 if unknown
	Started   int64
	Finished  int64
	ExitCode  *int
	Snapshot  int // index of the listing it belongs to, -1 for a transition in a log
	Text      Text
	Src       Source
}

// Where, When, From and Quote implement Record.
func (c *Container) Where() Pos    { return c.Pos }
func (c *Container) When() Stamp   { return c.Stamp }
func (c *Container) From() Source  { return c.Src }
func (c *Container) Quote() string { return c.Text.String() }

// Warning is a problem with the input. It is never fatal and always reported.
type Warning struct {
	Pos
	Msg string // lower case, no period
	Cut bool   // a limit excluded part of the input
	// Note: the input is of a kind that users should know of, but all of it was read. Any other warning
	// makes the input partial.
	Note bool
}

// String returns "path:line: message".
func (w Warning) String() string { return w.Pos.String() + ": " + w.Msg }

// Partial reports whether a warning says that something of the input was not read.
func Partial(ws []Warning) bool {
	return slices.ContainsFunc(ws, func(w Warning) bool { return !w.Note })
}
