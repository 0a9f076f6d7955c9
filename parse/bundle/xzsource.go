package bundle

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// xzSource reads one block framed as a stream of its own without check.
type xzSource struct {
	x          *xzBlocks
	head, tail []byte // framing before and after the block
	off, end   int64  // rest of the block in the file
}

func (b xzBlock) stream(x *xzBlocks) *xzSource {
	head := xzHeader(0)
	index := binary.AppendUvarint(binary.AppendUvarint([]byte{0, 1}, uint64(b.unpadded-xzSumSizes[b.check])), uint64(b.size))
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	foot := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), head[6:8]...)
	tail := binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(foot))
	tail = append(append(tail, foot...), "YZ"...)
	return &xzSource{x: x, head: head[:], tail: tail, off: b.offset, end: b.offset + b.data()}
}

func (s *xzSource) Read(p []byte) (n int, err error) {
	select {
	case <-s.x.stop:
		return 0, io.ErrClosedPipe
	default:
	}
	if err := s.x.alive(); err != nil {
		return 0, err
	}
	n = copy(p, s.head)
	if s.head = s.head[n:]; n > 0 && s.off != int64(n) {
		return n, nil
	}
	// The first block of the file directly follows the header, so both are returned
	// by one Read.
	if s.off < s.end {
		k := min(int64(len(p)-n), s.end-s.off, xzInput-s.off%xzInput)
		m, err := s.x.at.ReadAt(p[n:n+int(k)], s.off)
		s.off += int64(m)
		if n += m; n > 0 {
			return n, nil
		}
		return 0, short(err)
	}
	n = copy(p, s.tail)
	if s.tail = s.tail[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// read returns how much of the file sequential reading would have read.
func (s *xzSource) read() int64 { return roundUp(s.off, xzInput, s.x.size) }
