package bundle

import (
	"bytes"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how a text is written.
type encoding uint8

const (
	inUTF8 encoding = iota
	inUTF16LE
	inUTF16BE
)

func (e encoding) String() string { return [...]string{"UTF-8", "UTF-16LE", "UTF-16BE"}[e] }

// other returns the other byte order of UTF-16.
func (e encoding) other() encoding { return inUTF16LE + inUTF16BE - e }

// utf16Reader converts UTF-16 to UTF-8; newUTF16 has consumed a byte order mark.
// Lone surrogates become U+FFFD. Offsets in records refer to the UTF-8 text.
//
// The encoding of a log may change: what another program or shell appends is in its own
// encoding, and a lost or added byte swaps the halves of all characters behind it. Text
// read in the wrong one has hardly a character of ASCII, while what a log writes first
// in a line is in ASCII. So wherever a character is not ASCII, what follows is judged in
// all encodings, and the reader goes over to the one in which it is ASCII.
type utf16Reader struct {
	src  *counter
	enc  encoding
	out  []byte
	i    int
	high uint16 // pending high surrogate
	prev uint16 // unit, or byte, before
	err  error

	turns []turned // changes of the encoding, the first maxTurns
	more  int      // further ones
}

// turned is a change of the encoding.
type turned struct {
	at       int64 // offset in the bytes of the file
	from, to encoding
	lost     bool // a byte there belongs to no character
}

// maxTurns is how many changes of the encoding of a file are told one by one.
const maxTurns = 100

func (t turned) String() string {
	what := fmt.Sprintf("the encoding changes from %v to %v at byte %d", t.from, t.to, t.at)
	if t.from == t.to {
		what = fmt.Sprintf("a byte of %v is missing, or one was added, at byte %d", t.from, t.at)
	} else if t.lost {
		what += ", where a character is damaged"
	}
	return what + "; what follows is read accordingly"
}

const (
	judged = 64             // bytes by which an encoding is judged
	ahead  = judged + 3 + 1 // … behind a byte order mark and one byte that is skipped
	block  = 32 << 10       // bytes converted at a time
	varied = 6              // different characters that prove a text: rows of a table repeat a few
)

// newUTF16 discards the byte order mark of src, if it has one.
func newUTF16(src *counter, big bool) *utf16Reader {
	u := &utf16Reader{src: src, enc: inUTF16LE, prev: '\n'}
	if big {
		u.enc = inUTF16BE
	}
	if b := src.peek(2); len(b) == 2 && unitAt(b, big) == 0xfeff {
		src.Discard(2)
	}
	return u
}

// unmarked returns the byte order of a text in UTF-16 without a byte order mark, as a
// part of a file has, cut anywhere; fmtNone if head is none. A text in ASCII that lost
// half of a character reads as one in the other byte order.
func unmarked(head []byte) format {
	if len(head) < judged || head[0] != 0 && head[1] != 0 {
		return fmtNone
	}
	if _, ok := readable(head, inUTF16LE); ok {
		return fmtUTF16LE
	}
	if _, ok := readable(head, inUTF16BE); ok {
		return fmtUTF16BE
	}
	return fmtNone
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for u.i == len(u.out) && u.err == nil {
		u.out, u.i = u.out[:0], 0
		u.convert()
	}
	n := copy(p, u.out[u.i:])
	u.i += n
	if n == 0 {
		return 0, u.err
	}
	return n, nil
}

// convert converts the next block. Every decision sees the same bytes ahead wherever
// blocks begin.
func (u *utf16Reader) convert() {
	in := u.src.peek(block)
	end := len(in)
	if end == block {
		end -= ahead
	}
	i, before := 0, -1
	for i < end && i != before {
		if before = i; u.enc == inUTF8 {
			i = u.narrow(in, i, end)
		} else {
			i = u.wide(in, i, end)
		}
	}
	u.src.Discard(i)
	if i == 0 {
		u.finish(len(in))
	}
}

// wide converts UTF-16 from i to end or to a change of the encoding, and returns where it
// stopped.
func (u *utf16Reader) wide(in []byte, i, end int) int {
	big := u.enc == inUTF16BE
	for ; i < end && i+1 < len(in); i += 2 {
		v := unitAt(in[i:], big)
		if v < utf8.RuneSelf && u.high == 0 {
			u.out, u.prev = append(u.out, byte(v)), v
			continue
		}
		if v >= utf8.RuneSelf {
			if n, ok := u.turn(in[i:], i); ok {
				return i + n
			}
			if v == 0xfeff && u.prev == '\n' {
				continue // of a file that was appended
			}
		}
		u.unit(v)
		u.prev = v
	}
	return i
}

// appended returns a reader of a text in UTF-8 to which text in UTF-16 is appended, as Windows
// PowerShell does; nil if there is no such text. A file is not read for it: what it ends with
// tells. A stream can only be read once, so that any text is read by way of the reader.
func appended(m member, src *counter, head []byte) *utf16Reader {
	if !isText(head) {
		return nil
	}
	if m.at != nil {
		tail := src.peek(src.Size())
		if int64(len(tail)) < m.size {
			tail = make([]byte, peekLen)
			n, _ := m.at.ReadAt(tail, m.size-peekLen)
			tail = tail[:n]
		}
		if i := bytes.IndexByte(tail, 0); i < 0 || unmarked(tail[i:]) == fmtNone {
			return nil
		}
	}
	return &utf16Reader{src: src, prev: '\n'}
}

// narrow is wide for UTF-8. It passes bytes that are none as they are.
func (u *utf16Reader) narrow(in []byte, i, end int) int {
	if b := in[i:end]; bytes.IndexByte(b, 0) < 0 && bytes.IndexByte(b, 0xfe) < 0 && bytes.IndexByte(b, 0xff) < 0 {
		u.out, u.prev = append(u.out, b...), uint16(b[len(b)-1])
		return end
	}
	for ; i < end; i++ {
		c := in[i]
		if c == 0 && !bytes.HasPrefix(in[i+1:], []byte{0}) || c >= 0xfe {
			if n, ok := u.turn(in[i:], i); ok {
				return i + n
			}
		}
		u.out = append(u.out, c)
		u.prev = uint16(c)
	}
	return i
}

func unitAt(b []byte, big bool) uint16 {
	if big {
		return uint16(b[0])<<8 | uint16(b[1])
	}
	return uint16(b[0]) | uint16(b[1])<<8
}

// way is an encoding in which to read on, behind a number of bytes that are skipped.
type way struct {
	to   encoding
	skip int
	mark bool // only behind a byte order mark
}

// ways returns how to read on where the encoding changes, the likeliest first. Behind a
// byte that was lost, text in ASCII is the same in both byte orders. So the other one is
// believed only by its mark, or at the start of a line for UTF-16LE, in which Windows
// appends without one.
func (u *utf16Reader) ways() []way {
	le, be := way{to: inUTF16LE}, way{to: inUTF16BE}
	start := u.prev == '\n'
	switch {
	case u.enc == inUTF8 && start:
		return []way{le, be, {to: inUTF16LE, skip: 1}}
	case u.enc == inUTF8:
		return []way{le, {to: inUTF16LE, skip: 1}, be}
	case u.enc == inUTF16BE && start:
		return []way{le, {to: inUTF8}, {to: inUTF16BE, skip: 1}, {to: inUTF8, skip: 1}, {inUTF16LE, 1, true}}
	}
	other := u.enc.other()
	return []way{{to: inUTF8}, {to: u.enc, skip: 1}, {other, 0, true}, {to: inUTF8, skip: 1}, {other, 1, true}}
}

// turn goes over to the encoding in which w, at offset i of the block, is readable, and
// returns how many bytes of w to skip; ok is false if w is to be read as before.
func (u *utf16Reader) turn(w []byte, i int) (skip int, ok bool) {
	for _, x := range u.ways() {
		mark, ok := readable(w[min(x.skip, len(w)):], x.to)
		if !ok || x.mark && mark == 0 {
			continue
		}
		t := turned{at: u.src.consumed() + int64(i), from: u.enc, to: x.to, lost: x.skip > 0}
		if u.enc == inUTF8 && x.skip > 0 && w[0] == 0 && u.prev > 0 && u.prev < utf8.RuneSelf {
			t.at, t.lost = t.at-1, false // the byte before is the lower half of a character
		}
		u.went(t)
		return x.skip + mark, true
	}
	return 0, false
}

// went records a change of the encoding. The damage that a lost byte is stands as NUL in
// the text, which marks its line as damaged.
func (u *utf16Reader) went(t turned) {
	u.enc = t.to
	if u.high != 0 {
		u.high = 0
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
	}
	if t.lost {
		u.out = append(u.out, 0)
	}
	if len(u.turns) == maxTurns {
		u.more++
		return
	}
	u.turns = append(u.turns, t)
}

// readable reports whether w begins with text in an encoding that no other text could be
// taken for: nearly all of it is ASCII, of several characters. Behind a byte order mark,
// of which it returns the length, half is enough.
func readable(w []byte, enc encoding) (mark int, ok bool) {
	if enc == inUTF8 {
		return readable8(w)
	}
	big := enc == inUTF16BE
	if len(w) >= 2 && unitAt(w, big) == 0xfeff {
		mark = 2
	}
	w = w[mark:min(len(w), mark+judged)]
	n := len(w) / 2
	var seen ascii
	for i := range n {
		v := unitAt(w[2*i:], big)
		if v < utf8.RuneSelf && seen.add(byte(v)) {
			continue
		}
		if mark == 0 && (i == 0 || (i+1-seen.n)*8 > n) {
			return 0, false
		}
	}
	if mark > 0 {
		return mark, seen.n > 0 && 2*seen.n >= n
	}
	return 0, n >= 4 && seen.kinds() >= min(varied, (n+1)/2)
}

// least8 is how many bytes prove UTF-8. The end of a text in Chinese may be a few
// characters both halves of which are ASCII.
const least8 = 16

func readable8(w []byte) (mark int, ok bool) {
	if bytes.HasPrefix(w, []byte("\xef\xbb\xbf")) {
		mark = 3
	}
	whole := len(w) <= mark+judged
	w = w[mark:min(len(w), mark+judged)]
	var seen ascii
	for i := 0; i < len(w); {
		c := w[i]
		if c < utf8.RuneSelf {
			if !seen.add(c) && c != 0x1b {
				return 0, false
			}
			i++
			continue
		}
		if mark == 0 && i == 0 {
			return 0, false
		}
		r, n := utf8.DecodeRune(w[i:])
		if r == utf8.RuneError && n <= 1 && (whole || utf8.FullRune(w[i:])) {
			return 0, false
		}
		i += n
	}
	if mark > 0 {
		return mark, 2*seen.n >= len(w)
	}
	return 0, len(w) >= least8 && 2*seen.n >= len(w) && seen.kinds() >= varied
}

// ascii counts characters of text.
type ascii struct {
	n    int
	seen [2]uint64
}

// add counts c if it is a character of text in ASCII.
func (a *ascii) add(c byte) bool {
	if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > '~' {
		return false
	}
	a.n++
	a.seen[c>>6] |= 1 << (c & 63)
	return true
}

// kinds returns how many different ones there are.
func (a *ascii) kinds() int { return bits.OnesCount64(a.seen[0]) + bits.OnesCount64(a.seen[1]) }

func (u *utf16Reader) unit(v uint16) {
	if u.high != 0 {
		r := utf16.DecodeRune(rune(u.high), rune(v))
		u.high = 0
		u.out = utf8.AppendRune(u.out, r)
		if r != utf8.RuneError {
			return
		}
	}
	if v >= 0xd800 && v < 0xdc00 {
		u.high = v
		return
	}
	u.out = utf8.AppendRune(u.out, rune(v))
}

func (u *utf16Reader) finish(rest int) {
	if u.high != 0 || rest == 1 {
		u.high = 0
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
	}
	u.err = u.src.fault()
}
