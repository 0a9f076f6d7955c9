package bundle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// hole is the shortest run of NUL bytes that counts as a hole in a text.
// logrotate's copytruncate leaves one before the first line, a power failure before
// the lines that were being written.
const hole = 64

var holeOfNUL = make([]byte, hole)

var manyNUL = make([]byte, 4096)

// leadingNUL returns how many NUL bytes b begins with. It compares 4 KiB at a time,
// so that terabytes of zeros are skipped at memory speed.
func leadingNUL(b []byte) int {
	n := 0
	for len(b)-n >= len(manyNUL) && bytes.Equal(b[n:n+len(manyNUL)], manyNUL) {
		n += len(manyNUL)
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// withoutHoles returns the beginning of a member without its holes, for
// identification. Decoders get the data with the holes, so that offsets stay exact.
func withoutHoles(head []byte) []byte {
	if !bytes.Contains(head, holeOfNUL) {
		return head
	}
	out := make([]byte, 0, len(head))
	for len(head) > 0 {
		i := bytes.Index(head, holeOfNUL)
		if i < 0 {
			return append(out, head...)
		}
		out = append(out, head[:i]...)
		head = head[i+leadingNUL(head[i:]):]
	}
	return out
}

// skipHole drops a hole at the beginning of a member that is longer than what
// identification looks at, and returns how many bytes it dropped. It does not read what
// a sparse file does not store.
func (b *buffer) skipHole(r io.Reader, eof bool, err error) (int64, bool, error) {
	var skipped int64
	for err == nil && b.from < b.to {
		nothing := leadingNUL(b.data())
		if nothing == 0 || skipped == 0 && nothing < min(len(b.data()), headLen) {
			break
		}
		skipped += int64(nothing)
		n := copy(b.mem[headroom:], b.data()[nothing:])
		b.from, b.to = headroom, headroom+n
		if !eof {
			if n == 0 {
				skipped += skipHole(r)
			}
			eof, err = b.fill(r)
		}
	}
	return skipped, eof, err
}

// skipFrames drops skippable frames, with which zstd and lz4 files may begin; the
// format is decided by what follows. It reports whether there were any, with an error
// if the data ends within one.
func skipFrames(src *counter) (found bool, err error) {
	for {
		h := src.peek(8)
		if !isSkippable(h) {
			return found, nil
		}
		found = true
		size := int64(binary.LittleEndian.Uint32(h[4:])) + 8
		at := src.consumed()
		if n, err := io.CopyN(io.Discard, src.Reader, size); err == io.EOF {
			return found, fmt.Errorf("data is cut short: the skippable frame at byte %d has %d of its %d bytes, and nothing follows", at, n, size)
		} else if err != nil {
			return found, err
		}
	}
}
