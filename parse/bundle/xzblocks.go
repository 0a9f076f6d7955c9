package bundle

import (
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"
	"sync"

	"github.com/mikelolasagasti/xz"
)

// xzBlocks is the decompressed stream of an xz file with random access.
//
// Such a file is a sequence of streams; a stream consists of a header, blocks, an
// index and a footer. Blocks are independent, so they are decoded concurrently with
// the reader, several at a time if there are cores for it: each block is framed as
// a stream without check for the library. The check is computed by the reader, so
// that decoding, the slowest part, has a core for itself. Errors are reported where
// sequential reading would find them.
type xzBlocks struct {
	at    io.ReaderAt
	size  int64
	dict  uint32
	alive func() error
	seen  func(stored int64) // called with how much of the file was needed so far

	order chan xzJob // blocks in file order, for Read
	free  chan []byte
	stop  chan struct{}
	wait  sync.WaitGroup

	job   xzJob // the block being read
	sum   hash.Hash
	piece []byte
	rest  []byte
	in    int64 // file offset up to which data was needed for what was read
	err   error
}

const (
	xzMaxBlock = 256 << 20 // decompressed; a larger block would have to wait for the previous one anyway
	xzMinFile  = 512 << 10 // decompressed; less does not justify the goroutines
	xzPiece    = 256 << 10
	xzStep     = 128      // bytes per library read: on damage the library drops what it decoded in the call
	xzAhead    = 24 << 20 // bytes that a decoder may be ahead of the reader, if there are several
)

// Reported offsets must equal those of sequential reading, where the library reads
// pieces of xzInput bytes out of a buffer of xzBuffer bytes: an error is reported
// at the end of its piece.
const (
	xzInput  = 8 << 10
	xzBuffer = 64 << 10
)

// xzJob is a block and the channel for its decoded pieces.
type xzJob struct {
	block xzBlock
	out   chan xzPart
}

// xzPart is a piece of a block, or the error that ended it.
type xzPart struct {
	data   []byte
	in     int64 // file offset up to which data was read for it
	err    error
	header bool // err is about the headers
}

// xzDecoders returns how many decoders to use for the blocks of a file, 0 if it is
// best read sequentially.
func xzDecoders(blocks []xzBlock, jobs int) int {
	var sum, largest int64
	for _, b := range blocks {
		sum += b.size
		largest = max(largest, b.size)
	}
	switch {
	case sum < xzMinFile:
		return 0
	case largest > xzMaxBlock:
		return 1
	}
	return min(jobs, len(blocks), 4)
}

// start starts one goroutine for each of readers, whose entries may be nil; close
// stops them. It returns an error only if the headers of the first block are
// invalid.
func (x *xzBlocks) start(blocks []xzBlock, readers []*xz.Reader) error {
	ahead := 4
	if len(readers) > 1 {
		ahead = xzAhead / xzPiece
	}
	x.order = make(chan xzJob, len(readers))
	x.free = make(chan []byte, len(readers)*ahead)
	x.stop = make(chan struct{})
	jobs := make(chan xzJob)
	x.wait.Go(func() {
		defer close(x.order)
		defer close(jobs)
		for _, b := range blocks {
			j := xzJob{b, make(chan xzPart, ahead)}
			if !x.pass(x.order, j) || !x.pass(jobs, j) {
				return
			}
		}
	})
	for i := range readers {
		x.wait.Go(func() {
			for j := range jobs {
				x.decode(&readers[i], j)
			}
		})
	}
	x.open(<-x.order)
	p := <-x.job.out
	x.take(p)
	if p.header {
		return p.err
	}
	return nil
}

func (x *xzBlocks) pass(to chan xzJob, j xzJob) bool {
	select {
	case to <- j:
		return true
	case <-x.stop:
		return false
	}
}

// decode decodes a block, sends it in pieces and closes its channel.
func (x *xzBlocks) decode(r **xz.Reader, j xzJob) {
	defer close(j.out)
	in := j.block.stream(x)
	err := resetXZ(r, in, x.dict)
	if err != nil {
		x.send(j, xzPart{in: in.read(), err: err, header: true})
		return
	}
	for err == nil {
		buf := x.buffer()
		n := 0
		for n < len(buf) && err == nil {
			var k int
			k, err = (*r).Read(buf[n:min(n+xzStep, len(buf))])
			n += k
		}
		if n > 0 && !x.send(j, xzPart{data: buf[:n], in: in.read()}) {
			return
		}
	}
	if err != io.EOF {
		x.send(j, xzPart{in: in.read(), err: err})
	}
}

func (x *xzBlocks) buffer() []byte {
	select {
	case b := <-x.free:
		return b
	default:
		return make([]byte, xzPiece)
	}
}

func (x *xzBlocks) send(j xzJob, p xzPart) bool {
	select {
	case j.out <- p:
		return true
	case <-x.stop:
		return false
	}
}

// Read fills p unless the stream ends.
func (x *xzBlocks) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(x.rest) > 0 {
			k := copy(p[n:], x.rest)
			x.rest = x.rest[k:]
			n += k
			continue
		}
		if x.err != nil {
			break
		}
		x.next()
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, x.err
}

// next advances to the next piece or the next block.
func (x *xzBlocks) next() {
	if x.piece != nil {
		select {
		case x.free <- x.piece[:cap(x.piece)]:
		default:
		}
		x.piece = nil
	}
	if p, ok := <-x.job.out; ok {
		x.take(p)
		return
	}
	if x.err = x.verify(); x.err != nil {
		return
	}
	j, ok := <-x.order
	if !ok {
		x.seen(x.size)
		x.err = io.EOF
		return
	}
	x.open(j)
}

func (x *xzBlocks) open(j xzJob) {
	x.job, x.sum = j, newXZSum(j.block.check)
}

func (x *xzBlocks) take(p xzPart) {
	x.in, x.err = p.in, p.err
	x.seen(roundUp(x.in, xzBuffer, x.size))
	if x.sum != nil {
		x.sum.Write(p.data)
	}
	x.piece, x.rest = p.data, p.data
}

// verify compares the stored check of the block with that of the data read.
func (x *xzBlocks) verify() error {
	if x.sum == nil {
		return nil
	}
	b := x.job.block
	stored := make([]byte, xzSumSizes[b.check])
	at := b.offset + b.data()
	if n, err := x.at.ReadAt(stored, at); n < len(stored) {
		return short(err)
	}
	sum := x.sum.Sum(nil)
	if b.check != xzSHA256 {
		slices.Reverse(sum)
	}
	for i := range sum {
		if sum[i] != stored[i] {
			x.in = roundUp(at+int64(i)+1, xzInput, x.size)
			return xz.ErrData
		}
	}
	return nil
}

// consumed returns how much of the file was needed for what was read so far.
func (x *xzBlocks) consumed() int64 { return x.in }

func (x *xzBlocks) close() {
	close(x.stop)
	x.wait.Wait()
}

var xzCRC64 = crc64.MakeTable(crc64.ECMA)

// newXZSum returns the hash of a check type, nil if there is no check.
func newXZSum(check byte) hash.Hash {
	switch check {
	case xzCRC32:
		return crc32.NewIEEE()
	case xzCRC64ID:
		return crc64.New(xzCRC64)
	case xzSHA256:
		return sha256.New()
	}
	return nil
}

// roundUp rounds n up to a multiple of unit, at most end.
func roundUp(n, unit, end int64) int64 { return min((n+unit-1)/unit*unit, end) }

// short returns the error for a file that ended early: io.EOF becomes
// io.ErrUnexpectedEOF.
func short(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
