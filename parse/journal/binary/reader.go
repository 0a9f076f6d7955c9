package binary

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"
)

// Limits bounds the cost of a file. A zero limit means its default.
type Limits struct {
	Field    int // maximum length in bytes of a field value, longer ones are truncated; default 1 MiB
	Entries  int // maximum number of entries, default 1<<26
	Warnings int // maximum number of warnings kept, default 100
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		v   *int
		def int
	}{{&l.Field, 1 << 20}, {&l.Entries, 1 << 26}, {&l.Warnings, 100}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	return l
}

// maxItems is the number of fields that journald allows in an entry.
const maxItems = 1024

// Field identifies a field of an entry that Get returns.
type Field uint8

// Fields that the decoders need.
const (
	Message Field = iota
	SourceRealtime
	Hostname
	Identifier
	PID
	SyslogPID
	Comm
	SystemdUnit
	ContainerName
	Transport
	Priority
	MessageID
	numFields
	unwanted = numFields
	damaged  = numFields + 1 // its payload is not what was written
)

// fieldNames are the names of the fields in the file.
var fieldNames = [numFields]string{
	"MESSAGE", "_SOURCE_REALTIME_TIMESTAMP", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_PID", "SYSLOG_PID",
	"_COMM", "_SYSTEMD_UNIT", "CONTAINER_NAME", "_TRANSPORT", "PRIORITY", "MESSAGE_ID",
}

// longestName is the length of the longest of fieldNames including the '='.
const longestName = len("_SOURCE_REALTIME_TIMESTAMP=")

// Entry is an entry of a journal. The Reader reuses it and its values.
type Entry struct {
	Number    uint32 // 1-based, in file order
	Offset    int64  // offset of the ENTRY object
	Seqnum    uint64
	Realtime  int64 // when journald received it, µs since the epoch
	Monotonic int64 // the same on the monotonic clock of the boot, µs
	Boot      ID
	Lost      bool // the message is damaged, so that there is none

	fields [numFields][]byte // slices of own or of the reader's cache
	own    [numFields][]byte
	set    [numFields]bool
	torn   bool   // a field is damaged, and left out
	items  []byte // items of the ENTRY object, for Fields
}

// Clone returns a copy that stays valid.
func (e *Entry) Clone() *Entry {
	c := *e
	c.own = [numFields][]byte{}
	for i, v := range c.fields {
		c.fields[i] = bytes.Clone(v)
	}
	c.items = bytes.Clone(e.items)
	return &c
}

// Get returns the value of a field, or nil if the entry does not have it.
func (e *Entry) Get(f Field) []byte {
	if !e.set[f] {
		return nil
	}
	return e.fields[f]
}

// Has reports whether the entry has the field.
func (e *Entry) Has(f Field) bool { return e.set[f] }

// Warning is a problem with the file at an offset.
type Warning struct {
	Offset int64
	Msg    string
	Note   bool // nothing is lost by it
}

// Reader reads the entries of one file. It must not be used concurrently.
type Reader struct {
	Header Header

	win    *window
	packed unpacker
	limits Limits
	known  [cacheSlots]known
	shared [cacheSlots]cached
	entry  Entry
	reads  uint64 // number of entries read so far
	sums   int64  // budget of payload bytes that may still be held against their hashes
	warned []Warning

	changed   int   // number of payloads that are text, but not that of their hashes
	changedAt int64 // offset of the first
	quiet     int   // number of warnings beyond the limit
}

// cacheSlots is the number of shared DATA objects whose value is cached: host,
// unit, command line and the like occur in nearly every entry.
const cacheSlots = 1 << 13

// maxCached is the maximum length of a cached value.
const maxCached = 4 << 10

// known is the offset of the DATA object cached in a slot, and its field. It is
// stored separately from the value because it is examined for each item of each
// entry and the value only for a few.
type known uint64

const _ = 15 - uint(damaged) // a field fits in four bits

func knownAs(off int64, f Field) known { return known(off)<<4 | known(f) }

// is reports whether the slot caches the object at off.
func (k known) is(off int64) bool { return k>>4 == known(off) && k != 0 }

func (k known) field() Field { return Field(k & 15) }

type cached struct {
	value []byte
	user  uint64 // number (in reads) of the last entry that refers to value
}

// Open reads the header of a journal file of size bytes.
func Open(r io.ReaderAt, size int64, limits Limits) (*Reader, error) {
	h, err := readHeader(r, size)
	if err != nil {
		return nil, fmt.Errorf("journal header: %w", err)
	}
	jr := &Reader{Header: h, win: newWindow(r, size), limits: limits.withDefaults()}
	jr.packed.left = 64<<20 + unpackRatio*size
	jr.sums = 64<<20 + sumRatio*size
	return jr, nil
}

// Warnings returns the problems found so far.
func (r *Reader) Warnings() []Warning {
	if r.quiet == 0 {
		return r.warned
	}
	more := Warning{Msg: fmt.Sprintf("%d more unreadable objects", r.quiet)}
	return append(r.warned[:len(r.warned):len(r.warned)], more)
}

func (r *Reader) warn(off int64, format string, args ...any) {
	if len(r.warned) >= r.limits.Warnings {
		r.quiet++
		return
	}
	r.warned = append(r.warned, Warning{Offset: off, Msg: fmt.Sprintf(format, args...)})
}

func (r *Reader) note(off int64, format string, args ...any) {
	r.warn(off, format, args...)
	if n := len(r.warned); r.quiet == 0 && n > 0 {
		r.warned[n-1].Note = true
	}
}

// Entries iterates over the entries in the order in which they were written. An
// entry is valid until the next one. Call it at most once.
func (r *Reader) Entries(yield func(*Entry) bool) {
	n := 0
	r.offsets(func(off, size int64) (more bool) {
		e, ok := r.read(off, size)
		if !ok {
			return true
		}
		if n++; n > r.limits.Entries {
			r.warn(off, "more than %d entries, the rest is left out", r.limits.Entries)
			return false
		}
		e.Number = uint32(n)
		return yield(e)
	})
	if r.win.loads < 0 {
		r.warn(0, "the file points to and fro without end, the rest is left out")
	}
	if r.changed > 0 {
		more := ""
		if r.changed > 1 {
			more = fmt.Sprintf(" and of %d more", r.changed-1)
		}
		r.note(r.changedAt, "the text of this field%s is not that of the stored hash: it was changed after it was written, as where names are replaced, or is damaged; it is used as it is", more)
	}
	if r.sums < 0 {
		r.warn(0, "fields are used more than %d times each on average, the rest is not held against its hashes", sumRatio)
	}
	if r.packed.left <= 0 {
		r.warn(0, "the file unpacks to more than %d times its size, the rest is left packed", unpackRatio)
	}
}

// read reads the ENTRY object at off.
func (r *Reader) read(off, size int64) (*Entry, bool) {
	per, _ := r.itemSize()
	n := (size - entryHeader) / per
	if n > maxItems {
		r.warn(off, "entry of %d fields, only %d are read", n, maxItems)
		n = maxItems
	}
	b := r.win.at(off, int(entryHeader+n*per))
	if b == nil {
		r.warn(off, "entry cannot be read")
		return nil, false
	}
	e := &r.entry
	le := binary.LittleEndian
	seqnum, realtime, monotonic := le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:])
	if seqnum == 0 || realtime == 0 || realtime >= 1<<55 || monotonic >= 1<<55 || n <= 0 {
		r.warn(off, "entry with impossible sequence number, time or size")
		return nil, false
	}
	e.Offset, e.Seqnum, e.Realtime, e.Monotonic = off, seqnum, int64(realtime), int64(monotonic)
	e.Boot = ID(b[40:56])
	e.items = append(e.items[:0], b[entryHeader:]...)
	r.collect(e, int(per))
	return e, true
}

// collect fills the fields of e from its items. If a field occurs twice, the last
// one wins, as in journalctl's text output.
func (r *Reader) collect(e *Entry, per int) {
	e.set, e.torn = [numFields]bool{}, false
	r.reads++
	for items := e.items; len(items) >= per; items = items[per:] {
		off := r.offsetAt(items)
		slot := off >> 3 % cacheSlots
		if k := r.known[slot]; k.is(off) {
			if f := k.field(); f == damaged {
				e.torn = true
			} else if f != unwanted {
				c := &r.shared[slot]
				e.fields[f], e.set[f], c.user = c.value, true, r.reads
			}
			continue
		}
		r.data(e, off)
	}
	if !e.set[Message] && !e.torn {
		r.nameless(e, per)
	}
	e.Lost = e.torn && !e.set[Message]
}

// nameless looks for a damaged field of an entry without a message: it may be the message, whose name is damaged.
func (r *Reader) nameless(e *Entry, per int) {
	for items := e.items; len(items) >= per; items = items[per:] {
		off := r.offsetAt(items)
		o, ok := r.object(off)
		if !ok || o.kind != objData {
			continue // data has warned
		}
		sum, ok := r.stored(off)
		if !ok {
			continue
		}
		if b, cut, ok := r.payload(off, o, r.limits.Field); ok && !cut && !r.intact(off, b, sum) {
			e.torn = true
			r.warn(off, damagedField, e.Offset)
		}
	}
}

// damagedField is the warning about a field whose payload is not what its hash is of.
const damagedField = "field of the entry at %d is damaged: its bytes are neither those that its hash is of nor text; it is left out"

// stored returns the hash in the header of the DATA object at off.
func (r *Reader) stored(off int64) (sum uint64, ok bool) {
	b := r.win.at(off+objHeader, 8)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// sumRatio limits what is hashed relative to the file size, like unpackRatio.
const sumRatio = 4

// intact reports whether a payload is what was written, by the hash that was stored of it. Text that is
// another is taken as it is, since names are replaced in journals that are given away; Entries notes it.
func (r *Reader) intact(off int64, payload []byte, sum uint64) bool {
	if r.sums < 0 {
		return true // Entries warns of it
	}
	r.sums -= int64(len(payload)) + 16
	switch {
	case r.Header.sum(payload) == sum:
	case !isText(payload):
		return false
	default:
		if r.changed++; r.changed == 1 {
			r.changedAt = off
		}
	}
	return true
}

// isText reports whether b is UTF-8 without control characters other than those of text on a terminal.
func isText(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(c rune) bool { return c < '\t' || c > '\r' && c < ' ' && c != 0x1b })
}

// put copies a value, which the next read may overwrite, into the entry.
func (e *Entry) put(f Field, value []byte) {
	e.own[f] = append(e.own[f][:0], value...)
	e.fields[f], e.set[f] = e.own[f], true
}

// data reads the DATA object at off into e and caches it if other entries share it.
func (r *Reader) data(e *Entry, off int64) {
	o, ok := r.object(off)
	if !ok || o.kind != objData {
		at := off
		if off < r.Header.size || off >= r.win.size {
			at = e.Offset // it is the entry that is damaged
		}
		r.warn(at, "field of the entry at %d is no data object", e.Offset)
		return
	}
	head := r.win.at(off, 64)
	if head == nil {
		r.warn(off, "field of the entry at %d cannot be read", e.Offset)
		return
	}
	sum, uses := binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[56:])
	f, value, ok := r.field(off, o, sum)
	if !ok {
		e.torn = true
		r.warn(off, "field of the entry at %d cannot be unpacked", e.Offset)
		return
	}
	switch f {
	case unwanted:
	case damaged:
		e.torn = true
		r.warn(off, damagedField, e.Offset)
	default:
		e.put(f, value)
	}
	if uses > 1 && len(value) <= maxCached {
		slot := off >> 3 % cacheSlots
		r.known[slot] = knownAs(off, f)
		c := &r.shared[slot]
		if c.user == r.reads {
			c.value = nil // the current entry still refers to it
		}
		c.value = append(c.value[:0], value...)
	}
}

// field returns the field of a DATA object with that hash, and its value. For an unwanted or
// damaged field the value is nil.
func (r *Reader) field(off int64, o object, sum uint64) (Field, []byte, bool) {
	limit := longestName
	if o.flags != 0 {
		limit += r.limits.Field // decompressing twice costs more than decompressing it whole once
	}
	head, cut, ok := r.payload(off, o, limit)
	if !ok {
		return unwanted, nil, false
	}
	f := fieldOf(head)
	if f == unwanted {
		return unwanted, nil, true
	}
	name := len(fieldNames[f]) + 1
	whole := head
	if cut && o.flags == 0 {
		if whole, cut, ok = r.payload(off, o, name+r.limits.Field); !ok || len(whole) < name {
			return unwanted, nil, false
		}
		if cut {
			r.warn(off, "field %s was cut at %d bytes", fieldNames[f], r.limits.Field)
		}
	}
	if !cut && !r.intact(off, whole, sum) {
		return damaged, nil, true
	}
	return f, whole[name:], true
}

// fieldOf returns the wanted field that a payload begins with, or unwanted.
func fieldOf(head []byte) Field {
	for f, name := range fieldNames {
		if len(head) > len(name) && head[len(name)] == '=' && string(head[:len(name)]) == name {
			return Field(f)
		}
	}
	return unwanted
}

// Fields iterates over all fields of the entry in file order. The slices are valid
// until the next iteration.
func (r *Reader) Fields(e *Entry, yield func(name, value []byte) bool) {
	per, _ := r.itemSize()
	items := append([]byte(nil), e.items...)
	for ; len(items) >= int(per); items = items[per:] {
		off := r.offsetAt(items)
		o, ok := r.object(off)
		if !ok || o.kind != objData {
			continue // collect has warned
		}
		b, _, ok := r.payload(off, o, r.limits.Field)
		if !ok {
			continue
		}
		name, value, found := bytes.Cut(b, []byte("="))
		if found && !yield(name, value) {
			return
		}
	}
}
