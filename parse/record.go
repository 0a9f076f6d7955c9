package parse

import (
	"fmt"
	"hash/maphash"
	"slices"
	"time"
)

// Source names who wrote a line; it is the "source" of evidence.
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

// Record is anything a bundle says at a place. Findings hold records, never
// copies of their text.
type Record interface {
	Where() Pos
	When() Stamp
	From() Source
	Quote() string // the raw line; writers escape and cut it
}

// Origin is who wrote a run of lines: one process, as far as the lines tell.
// Origins are interned per file, so comparing pointers compares origins.
type Origin struct {
	Source Source
	Host   string // hostname of the envelope, "" if none
	Ident  string // syslog identifier, e.g. "kubelet", "kubenswrapper"
	Unit   string // systemd unit, if stated
	Boot   string // boot id, 32 hex digits, if stated
	PID    int    // of the envelope or the klog header, 0 if none
}

// IdentAbout is the identifier of a line that others wrote about the node that is its host.
const IdentAbout = "about the node"

// Event is a log line that at least one signature picked. A log may hold
// millions of them, so it fills one line of a processor's cache.
type Event struct {
	*Batch
	Stamp              // resolved event time: the header's clock if there is one, else the envelope's
	Offset      int64  // byte offset of the line in the decompressed file
	Arrived     int64  // resolved envelope time, Unix ns, 0 if none
	text, width uint32 // the text: offset in the store of the batch, and length
	Line        uint32 // 1-based
	sum         uint32 // of the message, 0 unknown: see SetSum
	Body        uint16 // length of the decoded message, kept right behind the text, where the message does not stand in it verbatim (JSON framing, joined lines); else 0
	Msg         uint16 // offset of the message in the text, after framing and klog header; capped at 65535
	fields      uint16 // where the store of the batch keeps the fields, 0 if it does not: see SetFields
	raw         uint16 // what At and Arrived are before package clock has read them; since then the granularity of Arrived
}

// Batch is what the events of one kind whose texts lie in one store have in common.
// It may be put under another kind, with all its events.
type Batch struct {
	*EventKind
	arena *Arena
}

// NewBatch returns a batch for events of a kind whose texts lie in the store of t.
func NewBatch(k *EventKind, t Text) *Batch { return &Batch{k, t.arena} }

// Holds reports whether the batch is for texts of the store of t.
func (l *Batch) Holds(t Text) bool { return l.arena == t.arena }

// NewEvent returns an event with a batch of its own; rest is what it is beside kind
// and text.
func NewEvent(k *EventKind, t Text, rest Event) *Event {
	rest.Batch = NewBatch(k, t)
	rest.SetText(t)
	return &rest
}

// SetText gives the event its text, which its batch holds.
func (e *Event) SetText(t Text) { e.text, e.width = t.off, t.n }

// Text is the whole raw line, or all lines of a multi-line record.
func (e *Event) Text() Text { return Text{e.arena, e.text, e.width} }

// EventKind is what an event has in common with others. It is shared and never
// changes.
type EventKind struct {
	File     *File
	Origin   *Origin // who wrote it, never nil
	Sigs     *SigSet // what it matched, never empty
	Caller   string  // "generic.go:238", "" if none
	Severity byte    // 'I', 'W', 'E', 'F' or 0
	Headed   bool    // the message brought a clock of its own
	Bare     bool    // it states neither when nor by whom it was written
	Told     bool    // it is bare, and stands among sentences of people
}

func (e *Event) Where() Pos   { return Pos{e.File, e.Offset, e.Line} }
func (e *Event) When() Stamp  { return e.Stamp }
func (e *Event) From() Source { return e.Origin.Source }

// Quote returns the raw line. Where that is read again and is not the line that
// was decoded, it says so instead, as Message does.
func (e *Event) Quote() string {
	raw, _ := e.read()
	return raw
}

// AppendQuote appends what Quote returns to dst, for callers who look at many
// lines and keep none.
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

// read returns the text, and the message as it stands in it.
func (e *Event) read() (raw, msg string) {
	raw = e.Text().String()
	msg = raw[min(int(e.Msg), len(raw)):]
	if e.Text().reread() && sumOf(msg) != e.sum {
		raw = Changed(e.File, e.Offset)
		msg = raw
	}
	return raw, msg
}

// Changed stands for a line at off of a file that is not there any more.
func Changed(f *File, off int64) string {
	return fmt.Sprintf("(%s was changed after it was read: the line at byte %d cannot be quoted)", f.Path, off)
}

// messageLen is the length of Message.
func (e *Event) messageLen() int {
	if e.Body > 0 {
		return int(e.Body)
	}
	return max(int(e.width)-int(e.Msg), 0)
}

// sumSeed makes sums that no log can foresee.
var sumSeed = maphash.MakeSeed()

// SetSum notes the sum of the message, by which Unique compares.
func (e *Event) SetSum(msg []byte) { e.sum = sumOfBytes(msg) }

// sumOf is the sum of a message.
func sumOf(msg string) uint32 { return uint32(maphash.String(sumSeed, msg)) | 1 }

func sumOfBytes(msg []byte) uint32 { return uint32(maphash.Bytes(sumSeed, msg)) | 1 }

func (e *Event) messageSum() uint32 {
	if e.sum == 0 {
		return sumOf(e.Message())
	}
	return e.sum
}

// Is reports whether the line matched the signature id.
func (e *Event) Is(id string) bool { return e.Sigs.Has(id) }

// Field returns the named field that one of the line's signatures extracts,
// "" when there is none. It parses the text at each call: call it once.
func (e *Event) Field(name string) string {
	if shape, values, of := e.taken(); of != nil {
		for _, n := range of.Names(shape) {
			if v := values.Next(); n == name {
				return of.Text(v)
			}
		}
		return ""
	}
	for _, f := range e.Fields() {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Fields returns the fields of all matched signatures, in signature order, those
// that were taken as the line was decoded or else from its text.
func (e *Event) Fields() []Field { return e.AppendFields(nil) }

// AppendFields appends what Fields returns to dst, for callers who read many
// events and keep none of the slices.
func (e *Event) AppendFields(dst []Field) []Field {
	if shape, values, of := e.taken(); of != nil {
		for _, name := range of.Names(shape) {
			dst = append(dst, Field{name, of.Text(values.Next())})
		}
		return dst
	}
	return e.Extract(dst)
}

// Extract appends what the signatures find in the text.
func (e *Event) Extract(dst []Field) []Field {
	msg := e.Message()
	for _, s := range e.Sigs.Sigs {
		if s.Extract != nil {
			dst = s.Extract(msg, dst)
		}
	}
	return dst
}

// SetFields says where the store of Text, a FieldStore, keeps the fields. What
// lies too far back in the store is left to be read from the text.
func (e *Event) SetFields(row uint32) {
	if e.fields = uint16(row); uint32(e.fields) != row {
		e.fields = 0
	}
}

// taken returns the fields that were taken as the line was decoded, the values
// and what follows them in the store; of is nil if none were.
func (e *Event) taken() (shape Sym, values Row, of *Symbols) {
	if e.fields == 0 {
		return 0, Row{}, nil
	}
	store, ok := e.Text().fields()
	if !ok {
		return 0, Row{}, nil // the text was replaced: what it says counts
	}
	values, of = store.Row(uint32(e.fields))
	return values.Next(), values, of
}

// Field is a named value taken from a line, verbatim.
type Field struct{ Name, Value string }

// Sig is a known message. Package logs builds them from its data files.
type Sig struct {
	ID      string
	Sources []Source                              // who writes it; empty: anybody
	Extract func(msg string, dst []Field) []Field // appends the fields of a message
	// Bulk marks messages that come by the hundred thousand. Their lines
	// are never warnings by themselves.
	Bulk bool
	// Symptom marks messages that tell what failed, as the kubelet sees it, and
	// never why.
	Symptom bool
	// Lag is how long after its beginning a trouble is logged; LagCall stands
	// for the deadline of a runtime call.
	Lag time.Duration
	// LagField names the field that states it, "" for none.
	LagField string
}

// LagCall as the Lag of a signature stands for the deadline of a runtime call,
// which is a setting of the node.
const LagCall time.Duration = -1

// SigSet is the set of signatures that one line matched, interned.
type SigSet struct{ Sigs []*Sig }

// Timeless reports whether commands write such lines too, or a dump of stacks, in which none has a time.
func (s *SigSet) Timeless() bool {
	return slices.ContainsFunc(s.Sigs, func(g *Sig) bool {
		return slices.Contains(g.Sources, SrcFacts) || slices.Contains(g.Sources, SrcStack)
	})
}

// Has reports whether the set holds id.
func (s *SigSet) Has(id string) bool {
	for _, g := range s.Sigs {
		if g.ID == id {
			return true
		}
	}
	return false
}

// Coverage says what one origin wrote into one file, lines without any
// signature included. It is how silence is told from absence. First, last and
// gaps are in order of time: in a file with the newest line first, FirstLine
// is the one that stands last.
type Coverage struct {
	File      *File
	Origin    *Origin
	Lines     int
	Kept      int // records among them that matched a signature
	FirstLine Mark
	LastLine  Mark
	Gaps      []Gap // silences longer than GapMin or GapMinOther, oldest first
	MinLag    int64 // least and largest envelope minus header clock, ns, raw (zone offset included)
	MaxLag    int64
	MaxLagAt  Mark
	HasLag    bool
	MaxV      int  // highest klog verbosity that a known V-message proves, -1 if none
	Reversed  bool // newest line first
}

// GapMin is the shortest silence of an origin that Coverage records.
const GapMin = 5e9 // ns

// GapMinOther is the same for origins that are known not to be the kubelet.
const GapMinOther = 60e9 // ns

// Gap is a silence of one origin between two of its lines.
type Gap struct{ Last, Next Mark }

// Mark is a line and its clock, for lines that need not be kept.
type Mark struct {
	Pos
	Stamp
	Raw      Clock // header clock, else envelope
	Envelope Clock // the framing's clock, if there is one; equal to Raw on lines without a header
	Text     Text  // kept for first and last lines and for gap edges only
}

// Marker is a line in which the log speaks about itself: headers, reboots,
// lost messages.
type Marker struct {
	Pos
	Stamp
	Kind MarkerKind
	Boot string // boot id if it names one
	N    int    // number of messages lost, if it tells; else 0
	Text Text
	Raw  Clock
}

func (m *Marker) Where() Pos    { return m.Pos }
func (m *Marker) When() Stamp   { return m.Stamp }
func (m *Marker) From() Source  { return SrcSystemd }
func (m *Marker) Quote() string { return m.Text.String() }

// MarkerKind says what a marker line says.
type MarkerKind string

// Marker kinds.
const (
	MarkHeader     MarkerKind = "header"     // "-- Logs begin at …", "Log file created at: …"
	MarkReboot     MarkerKind = "reboot"     // "-- Reboot --", "-- Boot <id> --"
	MarkEmpty      MarkerKind = "empty"      // "-- No entries --"
	MarkSuppressed MarkerKind = "suppressed" // "Suppressed N messages from …", "Missed N kernel messages"
	MarkNull       MarkerKind = "null"       // journal JSON null: the message was lost at export
	MarkClock      MarkerKind = "clock"      // "Time has been changed", "clock_step"
	MarkRotated    MarkerKind = "rotated"    // "Journal started", rotation
	MarkExcerpt    MarkerKind = "excerpt"    // "--": a search left lines out here
	MarkTruncated  MarkerKind = "truncated"  // the collector or the upload cut the file here
)

// Fact is a typed statement of a system file, command output or start-up line:
// versions, configuration, load, mounts, processes.
type Fact struct {
	Pos
	Stamp
	Key   string  // dotted, documented in parse/facts/keys.go: "kubelet.version", "psi.io.full.avg60"
	Value string  // verbatim
	Num   float64 // numeric value in the key's unit, NaN when it has none
	Attrs []Field // further columns: pid, comm, wchan, device, …
	Raw   Clock   // clock of the line itself (sar rows, date output); the zero Clock: it holds at the time of the file
	Text  Text
}

func (f *Fact) Where() Pos    { return f.Pos }
func (f *Fact) When() Stamp   { return f.Stamp }
func (f *Fact) From() Source  { return SrcFacts }
func (f *Fact) Quote() string { return f.Text.String() }

// Attr returns the named attribute, "" if it has none.
func (f *Fact) Attr(name string) string {
	for _, a := range f.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Container is the state of a container or pod sandbox at one moment, as a
// snapshot or a runtime log line states it.
type Container struct {
	Pos
	Stamp            // when it was in this state (snapshot time, or time of the transition)
	ID        string // as printed; crictl tables cut it to 13 characters
	Sandbox   bool   // a pod sandbox, not a container
	SandboxID string // of a container, if stated
	PodUID    string
	PodName   string
	Namespace string
	Name      string // container name
	State     string // created, running, exited, unknown; for sandboxes ready, notready; "removed" from logs
	Created   int64  // Unix ns, 0 unknown
	Started   int64
	Finished  int64
	ExitCode  *int
	Snapshot  int // index of the listing it belongs to, -1 for a transition from a log
	Text      Text
	Src       Source
}

func (c *Container) Where() Pos    { return c.Pos }
func (c *Container) When() Stamp   { return c.Stamp }
func (c *Container) From() Source  { return c.Src }
func (c *Container) Quote() string { return c.Text.String() }

// Warning is an input problem. It is never fatal and always reported.
type Warning struct {
	Pos
	Msg string // lower case, no full stop
	Cut bool   // a limit left a part of the input out
}

func (w Warning) String() string { return w.Pos.String() + ": " + w.Msg }
