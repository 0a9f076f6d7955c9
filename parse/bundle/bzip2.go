package bundle

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// bzip2Stream is the decompressed stream of a bzip2 file. Like the library it reads
// concatenated streams; unlike it, it goes on behind a damaged block: blocks are
// independent and begin with a magic of 48 bits, at any bit. Each is framed for the
// library as a stream of its own.
//
// A block with a wrong checksum is not used: one wrong bit scrambles all of its
// text. Nothing tells how long the text of a lost block was, so only text is read
// across one; what follows in an archive or a database would be at wrong offsets.
// Zeros take the place of a lost block, as after a crash, lest the halves of two
// lines become one.
type bzip2Stream struct {
	src   *counter
	level byte
	next  uint64 // magic of what follows
	at    int64  // offset of that magic in the file
	tail  uint   // number of bits read behind the magic, the lowest ones of last
	last  byte   // last byte read
	body  []byte // the current block as stored, behind its magic
	frame []byte // … as a stream of its own

	z       io.Reader // decoder
	pos     int       // how much of frame it has read
	from    int64     // offset of the block in frame
	begun   bool      // text of it was used before it was verified
	buf     []byte
	held    []byte // text of the block that is not used yet
	out     []byte // text to be returned
	after   error  // why nothing follows the current block, whose end is not known; nil if something does
	pending error  // to be returned after out
	err     error  // … was returned
	sums    uint32 // checksum of the blocks of the current stream
	used    bool   // some text was used
	binary  bool   // … and is not text
	gap     bool   // the previous block is lost
	lost    bzip2Lost
}

const (
	bzip2Block = 0x314159265359 // begins a block
	bzip2End   = 0x177245385090 // ends a stream
	bzip2Mask  = 1<<48 - 1

	// A block has at most 32,767 groups of 50 symbols of up to 20 bits, and tables.
	bzip2Longest = 5 << 20
	// Text beyond 900,000 bytes comes from long repeats. More than this is not held
	// until its checksum is known.
	bzip2Held = 2 << 20
	// After so many lost blocks reading ends, as each costs a decoder, and after so many
	// bytes without a magic.
	bzip2MostLost = 1000
	bzip2Farthest = 64 << 20
	// Bytes in a frame that hold nothing of its block: the magic at the end and the
	// checksum, but for the bits that complete the last byte of the block.
	bzip2Trailer = 10
)

// bzip2Starts are the bytes that a magic may have before its last one, at any bit.
var bzip2Starts = func() (is [256]bool) {
	for _, magic := range []uint64{bzip2Block, bzip2End} {
		for shift := range 8 {
			is[byte(magic>>(8-shift))] = true
		}
	}
	return is
}()

var errBzip2Far = bzip2.StructuralError("no further block")

// errBzip2Magic is the decoder's error for what follows a block with a right checksum.
const errBzip2Magic = bzip2.StructuralError("bad magic value found")

// bzip2Lost is the error at the end of a stream of which blocks are lost.
type bzip2Lost struct {
	blocks   int
	from, to int64 // compressed bytes from the first of them to behind the last
	why      error // why the first is lost
	rest     bool  // what follows is not used either
	binary   bool  // … because it is no text
}

func (e *bzip2Lost) Error() string {
	s := fmt.Sprintf("%s of the compressed bytes %d to %d cannot be decoded (%s): the text is lost", parse.Plural(e.blocks, "block"), e.from, e.to, plain(e.why))
	switch {
	case e.binary:
		return s + ", and so is what follows, as it is no plain text and its place is not known; what was readable before it is used"
	case e.rest:
		return s + ", and so is what follows; what was readable before it is used"
	}
	return s + "; what was readable before and behind it is used"
}

func newBzip2(src *counter) (*bzip2Stream, error) {
	s := &bzip2Stream{src: src}
	return s, s.open()
}

// open reads the header of a stream and the magic behind it.
func (s *bzip2Stream) open() error {
	var h [10]byte
	if _, err := io.ReadFull(s.src, h[:]); err != nil {
		return short(err)
	}
	if !isBzip2(h[:]) {
		return bzip2.StructuralError("no bzip2 stream where one should begin")
	}
	s.level, s.sums, s.tail, s.last = h[3], 0, 0, h[9]
	s.next = binary.BigEndian.Uint64(h[2:]) & bzip2Mask
	s.at = s.src.consumed() - 6
	return nil
}

// Read implements io.Reader.
func (s *bzip2Stream) Read(p []byte) (int, error) {
	for len(s.out) == 0 && s.err == nil {
		s.err = s.step()
	}
	if len(s.out) == 0 {
		return 0, s.err
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// step decodes a piece of a block, which may complete the one before.
func (s *bzip2Stream) step() error {
	if s.z == nil {
		if s.pending == nil {
			s.pending = s.advance()
		}
		if err := s.pending; err != nil {
			return err
		}
		s.z = bzip2.NewReader(bzip2Frames{s})
	}
	if cap(s.buf) == 0 {
		s.buf = make([]byte, 64<<10)
	}
	n, err := s.z.Read(s.buf)
	s.held = append(s.held, s.buf[:n]...)
	switch {
	case err == io.EOF:
		s.z = nil
	case err == errBzip2Magic:
		s.z, s.pending = nil, s.after
		return s.use()
	case err != nil && s.after != nil:
		return s.after
	case err != nil:
		s.z, s.held = nil, s.held[:0]
		return s.lose(s.from, err)
	case len(s.held) > bzip2Held:
		return s.use()
	}
	return nil
}

// advance reads up to the next block that may be decoded, and it.
func (s *bzip2Stream) advance() error {
	for {
		for s.next == bzip2End {
			if err := s.finish(); err != nil {
				return err
			}
		}
		s.from = s.at
		whole, err := s.load()
		if err != nil {
			s.after = s.ended(err)
		}
		if whole {
			s.pos, s.begun = 0, false
			return nil
		}
		if s.after != nil {
			return s.after
		}
		if err := s.lose(s.from, bzip2.StructuralError("no end of a block")); err != nil {
			return err
		}
	}
}

// bzip2Frames are the blocks for the decoder, each as a stream of its own.
type bzip2Frames struct{ *bzip2Stream }

// ReadByte implements io.ByteReader. A decoder asks for what is behind a block after
// it returned some of its text, and for what is behind its frame after it verified
// the checksum; one that asks earlier has missed the end of a damaged block.
func (s bzip2Frames) ReadByte() (byte, error) {
	switch {
	case s.pos >= len(s.frame)-bzip2Trailer && !s.begun && len(s.held) == 0:
		return 0, io.ErrUnexpectedEOF
	case s.pos == len(s.frame) && s.after != nil:
		return 0, io.ErrUnexpectedEOF
	case s.pos == len(s.frame):
		err := s.use()
		if err == nil {
			err = s.advance()
		}
		if err != nil {
			s.pending = err
			return 0, io.EOF
		}
	}
	b := s.frame[s.pos]
	s.pos++
	return b, nil
}

// Read is not used: the decoder reads bytes.
func (s bzip2Frames) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// ended returns the error for a stream that ends early.
func (s *bzip2Stream) ended(err error) error {
	if s.lost.blocks == 0 || err == io.EOF {
		return err
	}
	s.lost.rest = true
	return &s.lost
}

// load reads a block and the magic behind it into body. It returns false if the block
// is longer than any can be. With an error, no magic follows: the block may be whole,
// and what is behind it damaged.
func (s *bzip2Stream) load() (whole bool, err error) {
	s.body = append(s.body[:0], s.last)
	w, have := uint64(s.last), s.tail // have counts the bits behind the previous magic
	skew := s.tail
	for {
		b, err := s.src.ReadByte()
		if err != nil {
			s.cut(skew, uint(len(s.body))*8+1)
			return len(s.body) <= bzip2Longest, short(err)
		}
		if w, have = w<<8|uint64(b), have+8; have > 8*bzip2Farthest {
			return false, errBzip2Far
		}
		if len(s.body) <= bzip2Longest {
			s.body = append(s.body, b)
		}
		if !bzip2Starts[byte(w>>8)] {
			continue
		}
		for shift := uint(0); shift < 8 && have >= 48+shift; shift++ {
			if m := w >> shift & bzip2Mask; m == bzip2Block || m == bzip2End {
				s.next, s.tail, s.last = m, shift, b
				s.at = s.src.consumed() - int64(48+shift+7)/8
				s.cut(skew, have-48-shift)
				return len(s.body) <= bzip2Longest, nil
			}
		}
	}
}

// cut makes body a stream of one block: n bits of it, of which the first are the
// lowest skew bits of its first byte. If n is more than there are, the stream has no end,
// and what follows its bits completes no magic.
func (s *bzip2Stream) cut(skew, n uint) {
	in := s.body
	if skew == 0 {
		in = in[1:]
	} else {
		for i := range len(in) - 1 {
			in[i] = in[i]<<(8-skew) | in[i+1]>>skew
		}
	}
	s.frame = append(append(s.frame[:0], 'B', 'Z', 'h', s.level), "1AY&SY"...)
	if n > uint(len(in))*8 || n < 32 { // too long, or too short for a checksum
		s.frame = append(append(s.frame, in...), bytes.Repeat([]byte{0xff}, 2*bzip2Trailer)...)
		return
	}
	sum := in[:4]
	s.sums = bits.RotateLeft32(s.sums, 1) ^ binary.BigEndian.Uint32(sum)
	s.frame = append(s.frame, in[:(n+7)/8]...)
	end := append([]byte("\x17\x72\x45\x38\x50\x90"), sum...)
	free := (8 - n%8) % 8 // of the last byte
	if free == 0 {
		s.frame = append(s.frame, end...)
		return
	}
	last := len(s.frame) - 1
	s.frame[last] &^= 1<<free - 1
	for _, b := range end {
		s.frame[last] |= b >> (8 - free)
		s.frame = append(s.frame, b<<free)
		last++
	}
}

// use passes on the text of a block.
func (s *bzip2Stream) use() error {
	text := s.held
	s.held = s.held[:0] // text is copied below
	s.binary = s.binary || bytes.IndexByte(text, 0) >= 0
	if s.binary && s.lost.blocks > 0 {
		s.lost.rest, s.lost.binary = true, true
		return &s.lost
	}
	if s.gap { // the text begins in mid-line
		s.gap = false
		text = text[bytes.IndexByte(text, '\n')+1:]
		if s.used {
			text = slices.Concat(newline, holeOfNUL, text)
		}
	}
	s.out, s.used, s.begun = append(s.out, text...), true, true
	return nil
}

// lose counts a block that begins at from as lost. It returns an error if nothing
// more can be used.
func (s *bzip2Stream) lose(from int64, why error) error {
	l := &s.lost
	if l.blocks == 0 {
		l.from, l.why = from, why
	}
	l.blocks++
	l.to, s.gap = s.at, true
	l.binary = s.binary
	if l.rest = s.binary || l.blocks >= bzip2MostLost; l.rest {
		return l
	}
	return nil
}

// finish reads the end of a stream, and the beginning of the next one.
func (s *bzip2Stream) finish() error {
	var b [5]byte
	b[0] = s.last
	if _, err := io.ReadFull(s.src, b[1:]); err != nil {
		return s.ended(short(err))
	}
	want := uint32((uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:]))) >> s.tail)
	switch {
	case s.lost.blocks == 0 && want != s.sums:
		return bzip2.StructuralError("file checksum mismatch")
	case len(s.src.peek(1)) > 0:
		if err := s.open(); err != nil {
			return s.ended(err)
		}
		return nil
	case s.src.fault() != io.EOF:
		return s.ended(s.src.fault())
	case s.lost.blocks > 0:
		return &s.lost
	}
	return io.EOF
}
