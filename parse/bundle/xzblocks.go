package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/mikelolasagasti/xz"
)

// An xz file is a row of streams; a stream is a header, blocks, an index and a
// footer. Blocks do not depend on each other. xzBlocks decodes them side by
// side: each block, framed as a stream of its own with an index of one record,
// goes through the library, which checks everything as usual. Only blocks that
// are not too large for that are taken; other files are read in sequence.

// xzBlock is one block as the index has it.
type xzBlock struct {
	offset   int64 // of the block header in the file
	unpadded int64
	size     int64 // decompressed
	check    byte  // kind of check: second byte of the stream flags
}

const (
	xzHeaderSize = 12
	xzMaxIndex   = 16 << 20
	xzMaxBlocks  = 1 << 16
	xzMaxBlock   = 256 << 20 // decompressed; a larger one would have to wait for the one before anyway
	xzChunk      = 1 << 20
	xzAhead      = 24 // chunks that a block may be ahead of the reader
)

var errXZIndex = errors.New("xz index cannot be used")

// xzIndex reads the blocks of all streams from the end of the file. Any doubt
// is an error: the file is then read in sequence, which tells what is wrong.
func xzIndex(at io.ReaderAt, size int64) ([]xzBlock, error) {
	var streams [][]xzBlock
	total := 0
	for end := size; end > 0; {
		var word [4]byte
		if _, err := at.ReadAt(word[:], end-4); err != nil {
			return nil, err
		}
		if word == [4]byte{} { // stream padding
			end -= 4
			continue
		}
		blocks, start, err := xzStream(at, end)
		if err != nil {
			return nil, err
		}
		if total += len(blocks); total > xzMaxBlocks {
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

// xzStream reads the index of the stream that ends at end and finds its start.
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
		isize > xzMaxIndex || isize > end-2*xzHeaderSize {
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
	for i := range blocks {
		blocks[i].offset += start + xzHeaderSize
	}
	return blocks, start, nil
}

// xzRecords parses an index. Offsets count from the first block; span is the
// length of all blocks.
func xzRecords(index []byte, check byte) (blocks []xzBlock, span int64, err error) {
	body := index[:len(index)-4]
	if index[0] != 0 || crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(index[len(index)-4:]) {
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
		if j <= 0 || unpadded == 0 || unpadded > 1<<40 || size > 1<<50 {
			return nil, 0, errXZIndex
		}
		body = body[i+j:]
		blocks = append(blocks, xzBlock{offset: span, unpadded: int64(unpadded), size: int64(size), check: check})
		span += padded(int64(unpadded))
	}
	return blocks, span, nil
}

func padded(n int64) int64 { return (n + 3) &^ 3 }

// stream frames a block as a stream of its own.
func (b xzBlock) stream(at io.ReaderAt) io.Reader {
	flags := []byte{0, b.check}
	head := binary.LittleEndian.AppendUint32(append([]byte("\xfd7zXZ\x00"), flags...), crc32.ChecksumIEEE(flags))
	index := binary.AppendUvarint(binary.AppendUvarint([]byte{0, 1}, uint64(b.unpadded)), uint64(b.size))
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	foot := append(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(tail)), tail...)
	foot = append(foot, "YZ"...)
	return io.MultiReader(bytes.NewReader(head), io.NewSectionReader(at, b.offset, padded(b.unpadded)), bytes.NewReader(append(index, foot...)))
}

// xzParallel is the decompressed stream of a file of several blocks.
type xzParallel struct {
	src   io.ReaderAt
	dict  uint32
	order chan xzJob // blocks in file order, for the reader
	free  chan []byte
	stop  chan struct{}
	wait  sync.WaitGroup
	job   xzJob // being read
	piece []byte
	rest  []byte
}

// xzJob is a block and where its decoder puts its pieces.
type xzJob struct {
	block xzBlock
	out   chan xzPiece
}

type xzPiece struct {
	data []byte
	err  error
}

// newXZParallel decodes with the given number of goroutines. close ends them.
func newXZParallel(src io.ReaderAt, blocks []xzBlock, workers int, dict uint32) *xzParallel {
	x := &xzParallel{src: src, dict: dict, order: make(chan xzJob, workers), stop: make(chan struct{})}
	x.free = make(chan []byte, workers*xzAhead)
	x.job.out = make(chan xzPiece)
	close(x.job.out)
	jobs := make(chan xzJob)
	x.wait.Go(func() {
		defer close(x.order)
		defer close(jobs)
		for _, b := range blocks {
			j := xzJob{b, make(chan xzPiece, xzAhead)}
			if !x.pass(x.order, j) || !x.pass(jobs, j) {
				return
			}
		}
	})
	for range workers {
		x.wait.Go(func() {
			var r *xz.Reader
			for j := range jobs {
				r = x.decode(r, j)
			}
		})
	}
	return x
}

func (x *xzParallel) pass(to chan xzJob, j xzJob) bool {
	select {
	case to <- j:
		return true
	case <-x.stop:
		return false
	}
}

// decode sends a block in pieces and closes its channel.
func (x *xzParallel) decode(r *xz.Reader, j xzJob) *xz.Reader {
	defer close(j.out)
	var err error
	in := j.block.stream(x.src)
	if r == nil {
		r, err = xz.NewReader(in, x.dict)
	} else {
		err = r.Reset(in)
	}
	for err == nil {
		buf := x.buffer()
		var n int
		n, err = io.ReadFull(r, buf)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if !x.send(j, xzPiece{data: buf[:n]}) {
			return nil
		}
	}
	if err != io.EOF {
		x.send(j, xzPiece{err: err})
	}
	return r
}

func (x *xzParallel) buffer() []byte {
	select {
	case b := <-x.free:
		return b
	default:
		return make([]byte, xzChunk)
	}
}

func (x *xzParallel) send(j xzJob, p xzPiece) bool {
	select {
	case j.out <- p:
		return true
	case <-x.stop:
		return false
	}
}

func (x *xzParallel) Read(p []byte) (int, error) {
	for len(x.rest) == 0 {
		x.recycle()
		piece, ok := <-x.job.out
		switch {
		case ok && piece.err != nil:
			return 0, piece.err
		case ok:
			x.piece, x.rest = piece.data, piece.data
		default:
			if x.job, ok = <-x.order; !ok {
				return 0, io.EOF
			}
		}
	}
	n := copy(p, x.rest)
	x.rest = x.rest[n:]
	return n, nil
}

func (x *xzParallel) recycle() {
	if x.piece != nil {
		select {
		case x.free <- x.piece[:cap(x.piece)]:
		default:
		}
	}
	x.piece = nil
}

// consumed is how much of the file the blocks read so far take.
func (x *xzParallel) consumed() int64 { return x.job.block.offset + x.job.block.unpadded }

func (x *xzParallel) close() {
	close(x.stop)
	x.wait.Wait()
}
