package binary

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
)

// unpacker holds the decompressors and their output buffer.
type unpacker struct {
	zstd *zstd.Decoder
	xz   *xz.Reader
	buf  []byte
	left int64 // budget of bytes, compressed and decompressed, that may still be processed; xz bytes count xzCost times
}

const (
	// maxDictionary is sufficient because journald compresses each field
	// separately.
	maxDictionary = 8 << 20
	// unpackRatio limits the total decompressed size relative to the file size, so
	// that entries sharing one payload cannot cause unbounded work.
	unpackRatio = 16
	// xzCost is roughly how much slower xz is than the others.
	xzCost = 4
)

// unpack returns at most limit bytes of a compressed payload. It rejects an lz4
// payload whose decompressed size exceeds most.
func (u *unpacker) unpack(flags byte, b []byte, limit, most int) (out []byte, cut bool, ok bool) {
	if u.left <= 0 {
		return nil, false, false
	}
	cost := int64(1)
	switch flags {
	case packedXZ:
		cost = xzCost
		out, cut, ok = u.fill(u.openXZ(b), limit)
	case packedZSTD:
		out, cut, ok = u.fill(u.openZSTD(b), limit)
	case packedLZ4:
		out, cut, ok = u.lz4(b, limit, most)
	}
	u.left -= cost * int64(len(out)+len(b))
	return out, cut, ok
}

func (u *unpacker) openXZ(b []byte) io.Reader {
	if u.xz != nil {
		if u.xz.Reset(bytes.NewReader(b)) != nil {
			return nil
		}
		return u.xz
	}
	x, err := xz.NewReader(bytes.NewReader(b), maxDictionary)
	if err != nil {
		return nil
	}
	u.xz = x
	return x
}

func (u *unpacker) openZSTD(b []byte) io.Reader {
	if u.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDictionary))
		if err != nil {
			return nil
		}
		u.zstd = d
	}
	if u.zstd.Reset(bytes.NewReader(b)) != nil {
		return nil
	}
	return u.zstd
}

// fill reads at most limit bytes from src into the buffer.
func (u *unpacker) fill(src io.Reader, limit int) (out []byte, cut bool, ok bool) {
	if src == nil {
		return nil, false, false
	}
	n, idle := 0, 0
	for n <= limit && idle < 8 {
		if n == len(u.buf) {
			u.buf = append(u.buf, make([]byte, max(4<<10, n))...)
		}
		k, err := src.Read(u.buf[n:min(len(u.buf), limit+1)])
		if n += k; k == 0 {
			idle++
		}
		if err == io.EOF {
			return u.buf[:min(n, limit)], n > limit, true
		}
		if err != nil {
			return nil, false, false
		}
	}
	return u.buf[:min(n, limit)], true, true
}

// lz4 decompresses one block that is preceded by its size.
func (u *unpacker) lz4(b []byte, limit, most int) (out []byte, cut bool, ok bool) {
	if len(b) < 8 {
		return nil, false, false
	}
	size := binary.LittleEndian.Uint64(b)
	if size > uint64(most) {
		return nil, false, false
	}
	if len(u.buf) < int(size) {
		u.buf = make([]byte, size)
	}
	n, err := lz4.UncompressBlock(b[8:], u.buf[:size])
	if err != nil {
		return nil, false, false
	}
	return u.buf[:min(n, limit)], n > limit, true
}
