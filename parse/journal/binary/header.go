package binary

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Magic is the first eight bytes of every journal file.
const Magic = "LPKSHHRH"

// Incompatible flags of the header.
const (
	flagXZ      = 1 << 0
	flagLZ4     = 1 << 1
	flagKeyed   = 1 << 2
	flagZSTD    = 1 << 3
	flagCompact = 1 << 4
	flagsKnown  = flagXZ | flagLZ4 | flagKeyed | flagZSTD | flagCompact
)

// State is the state of the file according to its header.
type State uint8

// States of a journal file.
const (
	Offline  State = 0 // closed
	Online   State = 1 // open for writing when it was copied, or not closed properly
	Archived State = 2 // rotated, never written again
)

// String returns the state in lower case, "unknown" if it is not one of the constants.
func (s State) String() string {
	switch s {
	case Offline:
		return "offline"
	case Online:
		return "online"
	case Archived:
		return "archived"
	}
	return "unknown"
}

// ID is a 128-bit ID: machine, boot, file or sequence.
type ID [16]byte

// String returns the ID as 32 hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Header is the header of a journal file. Counts and times are the writer's: a file
// that was not closed may hold more than they state, and a valid file without
// entries has zero times.
type Header struct {
	State       State
	Compact     bool
	Keyed       bool
	Compression string // "xz", "lz4", "zstd", joined by "+", "" if none
	File        ID
	Machine     ID
	Seqnum      ID     // ID of the sequence that entries are numbered in
	Head, Tail  uint64 // sequence numbers of the first and last entry
	Entries     uint64
	First, Last int64 // realtime of the first and last entry, µs since the epoch

	size       int64 // size of the header
	arena      int64 // size of the objects after it
	entryArray int64
	tailObject int64
}

// errNotJournal means that the file is not a journal.
var errNotJournal = errors.New("not a journal file")

// minHeader is the size of the oldest header.
const minHeader = 208

// readHeader reads and checks the header of a file of size bytes.
func readHeader(r io.ReaderAt, size int64) (Header, error) {
	var b [minHeader]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		if errors.Is(err, io.EOF) {
			return Header{}, errNotJournal
		}
		return Header{}, err
	}
	if string(b[:8]) != Magic {
		return Header{}, errNotJournal
	}
	le := binary.LittleEndian
	flags := le.Uint32(b[12:])
	if flags&^uint32(flagsKnown) != 0 {
		return Header{}, fmt.Errorf("unknown incompatible flags %#x", flags&^uint32(flagsKnown))
	}
	h := Header{
		State:       State(b[16]),
		Compact:     flags&flagCompact != 0,
		Keyed:       flags&flagKeyed != 0,
		Compression: compressionNames(flags),
		File:        ID(b[24:40]),
		Machine:     ID(b[40:56]),
		Seqnum:      ID(b[72:88]),
		Entries:     le.Uint64(b[152:]),
		Tail:        le.Uint64(b[160:]),
		Head:        le.Uint64(b[168:]),
		First:       clampTime(le.Uint64(b[184:])),
		Last:        clampTime(le.Uint64(b[192:])),
		size:        clampOffset(le.Uint64(b[88:])),
		arena:       clampOffset(le.Uint64(b[96:])),
		tailObject:  clampOffset(le.Uint64(b[136:])),
		entryArray:  clampOffset(le.Uint64(b[176:])),
	}
	if h.size < minHeader || h.size > size || h.size%8 != 0 {
		return h, fmt.Errorf("header states its own size as %d", h.size)
	}
	return h, nil
}

// Next returns the offset of another journal that was joined to the one with the header h in
// a file of size bytes; 0 if there is none.
func (h Header) Next(r io.ReaderAt, size int64) int64 {
	buf := make([]byte, 1<<20)
	for from := max(h.size, min(h.tailObject, size)); from+minHeader <= size; {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-from)], from)
		for i := 0; ; i += len(Magic) {
			found := bytes.Index(buf[i:n], []byte(Magic))
			if found < 0 {
				break
			}
			i += found
			at := from + int64(i)
			if next, err := readHeader(io.NewSectionReader(r, at, size-at), size-at); err == nil && next.State <= Archived && next.size < 1<<12 {
				return at
			}
		}
		if err != nil || n < minHeader {
			break
		}
		from += int64(n - minHeader + 1)
	}
	return 0
}

func compressionNames(flags uint32) string {
	var s string
	for _, f := range []struct {
		bit  uint32
		name string
	}{{flagXZ, "xz"}, {flagLZ4, "lz4"}, {flagZSTD, "zstd"}} {
		if flags&f.bit == 0 {
			continue
		}
		if s != "" {
			s += "+"
		}
		s += f.name
	}
	return s
}

// maxTime is the largest number of microseconds that fits into int64 nanoseconds.
const maxTime = int64(1<<63-1) / 1000

func clampTime(v uint64) int64 { return int64(min(v, uint64(maxTime))) }

func clampOffset(v uint64) int64 { return int64(min(v, 1<<62)) }
