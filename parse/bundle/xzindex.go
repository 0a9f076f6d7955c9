package bundle

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// xzBlock is one block as described by the index.
type xzBlock struct {
	offset   int64 // file offset of the block header
	unpadded int64
	size     int64 // decompressed
	check    byte  // check type: second byte of the stream flags
}

// data returns the length of a block in the file, padded, without its check.
func (b xzBlock) data() int64 { return padded(b.unpadded) - xzSumSizes[b.check] }

// Check types.
const (
	xzCRC32   = 1
	xzCRC64ID = 4
	xzSHA256  = 10
)

// xzSumSizes are the sizes in bytes of the supported checks.
var xzSumSizes = map[byte]int64{0: 0, xzCRC32: 4, xzCRC64ID: 8, xzSHA256: 32}

const (
	xzHeaderSize = 12
	xzMaxIndex   = 16 << 20
	xzMaxBlocks  = 1 << 16  // blocks and streams together
	xzMaxPadding = 64 << 10 // bytes between and after streams
)

var errXZIndex = errors.New("xz index cannot be used")

// xzIndex reads the index of all streams, from the end of the file. Anything
// unusual is an error; the file is then read sequentially, which finds the cause.
func xzIndex(at io.ReaderAt, size int64) ([]xzBlock, error) {
	var streams [][]xzBlock
	total, padding := 0, 0
	for end := size; end > 0; {
		var word [4]byte
		if _, err := at.ReadAt(word[:], end-4); err != nil {
			return nil, err
		}
		if word == [4]byte{} { // stream padding
			if padding += 4; padding > xzMaxPadding {
				return nil, errXZIndex
			}
			end -= 4
			continue
		}
		blocks, start, err := xzStream(at, end)
		if err != nil {
			return nil, err
		}
		if total += 1 + len(blocks); total > xzMaxBlocks {
			return nil, errXZIndex
		}
		streams = append(streams, blocks)
		end = start
	}
	var out []xzBlock
	for i := len(streams) - 1; i >= 0; i-- {
		out = append(out, streams[i]...)
	}
	return out, nil
}

// xzStream reads the index of the stream that ends at end, and returns its blocks
// and its start. It verifies the stream header there.
func xzStream(at io.ReaderAt, end int64) ([]xzBlock, int64, error) {
	var footer [xzHeaderSize]byte
	if end < 2*xzHeaderSize+8 || end%4 != 0 {
		return nil, 0, errXZIndex
	}
	if _, err := at.ReadAt(footer[:], end-xzHeaderSize); err != nil {
		return nil, 0, err
	}
	isize := (int64(binary.LittleEndian.Uint32(footer[4:])) + 1) * 4
	if string(footer[10:]) != "YZ" || crc32.ChecksumIEEE(footer[4:10]) != binary.LittleEndian.Uint32(footer[:]) ||
		isize < 8 || isize > xzMaxIndex || isize > end-2*xzHeaderSize {
		return nil, 0, errXZIndex
	}
	index := make([]byte, isize)
	if _, err := at.ReadAt(index, end-xzHeaderSize-isize); err != nil {
		return nil, 0, err
	}
	blocks, span, err := xzRecords(index, footer[9])
	if err != nil {
		return nil, 0, err
	}
	start := end - xzHeaderSize - isize - span - xzHeaderSize
	if start < 0 {
		return nil, 0, errXZIndex
	}
	var header [xzHeaderSize]byte
	if _, err := at.ReadAt(header[:], start); err != nil {
		return nil, 0, err
	}
	if header != xzHeader(footer[9]) || footer[8] != 0 {
		return nil, 0, errXZIndex
	}
	for i := range blocks {
		blocks[i].offset += start + xzHeaderSize
	}
	return blocks, start, nil
}

// xzHeader returns a stream header with the given check type.
func xzHeader(check byte) (h [xzHeaderSize]byte) {
	copy(h[:], "\xfd7zXZ\x00")
	h[7] = check
	binary.LittleEndian.PutUint32(h[8:], crc32.ChecksumIEEE(h[6:8]))
	return h
}

// xzRecords parses an index. Block offsets are relative to the first block; span is
// the length of all blocks.
func xzRecords(index []byte, check byte) (blocks []xzBlock, span int64, err error) {
	sum, known := xzSumSizes[check]
	body := index[:len(index)-4]
	if !known || index[0] != 0 || crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(index[len(index)-4:]) {
		return nil, 0, errXZIndex
	}
	body = body[1:]
	n, i := binary.Uvarint(body)
	if i <= 0 || n > uint64(len(index)) {
		return nil, 0, errXZIndex
	}
	body = body[i:]
	for range n {
		unpadded, i := binary.Uvarint(body)
		if i <= 0 {
			return nil, 0, errXZIndex
		}
		size, j := binary.Uvarint(body[i:])
		if j <= 0 || unpadded <= uint64(sum) || unpadded > 1<<40 || size > 1<<50 {
			return nil, 0, errXZIndex
		}
		body = body[i+j:]
		blocks = append(blocks, xzBlock{offset: span, unpadded: int64(unpadded), size: int64(size), check: check})
		span += padded(int64(unpadded))
	}
	if string(body) != "\x00\x00\x00"[:min(len(body), 3)] || len(body) > 3 {
		return nil, 0, errXZIndex
	}
	return blocks, span, nil
}

func padded(n int64) int64 { return (n + 3) &^ 3 }
