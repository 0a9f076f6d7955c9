package bundle

import (
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
)

// codecs caches idle decompressors of one walker, for archives with many small
// compressed members. Decompressors nest, so each kind is a stack.
type codecs struct {
	gzip []*gzip.Reader
	zstd []*zstd.Decoder
	xz   []*xz.Reader
}

// maxIdle bounds each stack, because an xz reader retains its dictionary.
const maxIdle = 2

// open returns the decompressed stream of src and a function that returns the
// decompressor to the cache.
func (c *codecs) open(f format, src *counter, dict int64) (io.Reader, func(), error) {
	nothing := func() {}
	switch f {
	case fmtGzip:
		r, err := c.openGzip(src)
		if err != nil {
			return nil, nothing, err
		}
		return r, func() { c.gzip = keepIdle(c.gzip, r.z) }, nil
	case fmtXZ:
		r, err := c.openXZ(src.Reader, dict)
		if err != nil {
			return nil, nothing, err
		}
		return xzSteps{r}, func() { c.xz = keepIdle(c.xz, r) }, nil
	case fmtZstd:
		r, err := c.openZstd(src.Reader, dict)
		if err != nil {
			return nil, nothing, err
		}
		return r, func() { c.zstd = keepIdle(c.zstd, r) }, nil
	case fmtBzip2:
		r, err := newBzip2(src)
		return r, nothing, err
	case fmtLZ4:
		return lz4.NewReader(src.Reader), nothing, nil
	}
	return nil, nothing, errors.New("unknown compression")
}

func keepIdle[T any](stack []T, v T) []T {
	if len(stack) >= maxIdle {
		return stack
	}
	return append(stack, v)
}

func pop[T any](stack *[]T) (v T, ok bool) {
	if n := len(*stack); n > 0 {
		v = (*stack)[n-1]
		*stack = (*stack)[:n-1]
		return v, true
	}
	return v, false
}

func (c *codecs) openXZ(src io.Reader, dict int64) (*xz.Reader, error) {
	r, _ := pop(&c.xz)
	err := resetXZ(&r, src, maxXZDict(dict))
	return r, err
}

// xzSteps reads in small steps: on damaged data the library drops everything it has
// decoded during the call.
type xzSteps struct{ r *xz.Reader }

func (x xzSteps) Read(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = x.r.Read(p[n:min(n+xzStep, len(p))])
		n += k
	}
	if n > 0 {
		err = nil // the next call returns it again
	}
	return n, err
}

// resetXZ resets *r to src, creating the reader if *r is nil.
func resetXZ(r **xz.Reader, src io.Reader, dict uint32) (err error) {
	if *r != nil {
		return (*r).Reset(src)
	}
	*r, err = xz.NewReader(src, dict)
	return err
}

func maxXZDict(limit int64) uint32 { return uint32(min(limit, 1<<31)) }

// openXZBlocks starts decoding the given blocks of an xz file in parallel. done
// stops it and returns the readers to the cache.
func (c *codecs) openXZBlocks(x *xzBlocks, blocks []xzBlock, decoders int) (done func(), err error) {
	readers := make([]*xz.Reader, decoders)
	for i := range readers {
		readers[i], _ = pop(&c.xz)
	}
	done = func() {
		x.close()
		for _, r := range readers {
			if r != nil {
				c.xz = keepIdle(c.xz, r)
			}
		}
	}
	return done, x.start(blocks, readers)
}

func (c *codecs) openZstd(src io.Reader, dict int64) (*zstd.Decoder, error) {
	if r, ok := pop(&c.zstd); ok {
		return r, r.Reset(src)
	}
	// One goroutine is enough: the next stage runs concurrently anyway.
	return zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(dict)), zstd.WithDecoderMaxMemory(1<<62))
}

func (c *codecs) openGzip(src *counter) (*gzipStream, error) {
	z, ok := pop(&c.gzip)
	if !ok {
		z = new(gzip.Reader)
	}
	if err := z.Reset(src.Reader); err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipStream{z: z, src: src}, nil
}

// gzipStream reads the members of a gzip file in sequence. Unlike the library it
// continues after a member with a wrong checksum and reports that at the end. Zeros
// after the last member are padding; anything else is reported.
type gzipStream struct {
	z   *gzip.Reader
	src *counter
	bad error
}

var (
	errGzipSum     = errors.New("checksum is wrong")
	errGzipGarbage = errors.New("bytes after the end are no gzip data and are ignored,")
)

func (g *gzipStream) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if errors.Is(err, gzip.ErrChecksum) {
			g.bad = errGzipSum
			err = io.EOF
		}
		if err == nil || n > 0 && err == io.EOF {
			return n, nil
		}
		if err != io.EOF {
			return n, err
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next advances to the next member. It returns io.EOF after the last one.
func (g *gzipStream) next() error {
	for {
		h := g.src.peek(3)
		if len(h) > 0 && h[0] == 0 {
			g.src.Discard(1)
			continue
		}
		if len(h) == 0 {
			return g.end(g.src.fault())
		}
		if detect(h) != fmtGzip {
			return g.end(errGzipGarbage)
		}
		if err := g.z.Reset(g.src.Reader); err != nil {
			return g.end(err)
		}
		g.z.Multistream(false)
		return nil
	}
}

func (g *gzipStream) end(err error) error {
	if g.bad != nil && (err == io.EOF || err == errGzipGarbage) {
		return g.bad
	}
	return err
}
