package tsdb

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Framing of the write-ahead log (Prometheus tsdb/docs/format/wal.md): pages of 32
// KiB hold fragments of records; each fragment has a byte with type and
// compression, its length, and its CRC-32C. A record does not span segments.
const (
	pageSize   = 32 << 10
	headerSize = 7
	maxRecord  = 64 << 20 // bytes, decompressed

	typeMask   = 0x07
	snappyFlag = 0x08
	zstdFlag   = 0x10

	fragTerm, fragFull, fragFirst, fragMiddle, fragLast = 0, 1, 2, 3, 4
)

// segment reads the records of one log segment. After damage it continues at the
// next page; a record that began before is dropped.
type segment struct {
	f      File
	page   [pageSize]byte
	rec    []byte
	plain  []byte
	zstd   *zstd.Decoder
	bad    int
	badAt  int64
	record func(rec []byte) error
}

var errBadRecord = errors.New("damaged record")

// read calls record with each record of the segment.
func (s *segment) read() {
	whole := false // a record is incomplete and continues
	for off := int64(0); off < s.f.Size; off += pageSize {
		n, _ := io.ReadFull(io.NewSectionReader(s.f.At, off, pageSize), s.page[:])
		whole = s.fragments(s.page[:n], off, whole)
	}
	if whole {
		s.fail(s.f.Size)
	}
}

// fragments reads one page and returns whether a record continues on the next.
func (s *segment) fragments(page []byte, off int64, whole bool) bool {
	for i := 0; i < len(page); {
		head := page[i]
		if head&typeMask == fragTerm {
			return whole // the rest of the page is padding
		}
		if len(page)-i < headerSize {
			s.fail(off + int64(i))
			return false
		}
		n := int(binary.BigEndian.Uint16(page[i+1:]))
		body := page[i+headerSize:]
		if n > len(body) || crc32.Checksum(body[:n], castagnoli) != binary.BigEndian.Uint32(page[i+3:]) {
			s.fail(off + int64(i))
			return false
		}
		whole = s.fragment(head, body[:n], off+int64(i), whole)
		i += headerSize + n
	}
	return whole
}

// fragment adds one fragment to the current record and returns whether the record
// continues.
func (s *segment) fragment(head byte, body []byte, off int64, whole bool) bool {
	switch kind := head & typeMask; {
	case kind == fragFull || kind == fragFirst:
		if whole {
			s.fail(off)
		}
		s.rec = append(s.rec[:0], body...)
	case !whole:
		return false // the record's beginning was damaged
	default:
		s.rec = append(s.rec, body...)
	}
	if k := head & typeMask; (k == fragFull || k == fragLast) && s.deliver(head) != nil {
		s.fail(off)
	}
	return head&typeMask == fragFirst || head&typeMask == fragMiddle
}

func (s *segment) fail(off int64) {
	if s.bad == 0 {
		s.badAt = off
	}
	s.bad++
}

// deliver decompresses the record and passes it to s.record. The stated size is
// checked before memory is allocated for it.
func (s *segment) deliver(head byte) error {
	rec := s.rec
	switch {
	case head&snappyFlag != 0:
		n, err := snappy.DecodedLen(rec)
		if err != nil || n > maxRecord || n > 64*len(rec)+1024 {
			return errBadRecord
		}
		if rec, err = snappy.Decode(s.plain[:cap(s.plain)], rec); err != nil {
			return err
		}
		s.plain = rec
	case head&zstdFlag != 0:
		if s.zstd == nil {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecord))
			if err != nil {
				return err
			}
			s.zstd = d
		}
		var err error
		if rec, err = s.zstd.DecodeAll(rec, s.plain[:0]); err != nil {
			return err
		}
		s.plain = rec
	}
	if len(rec) == 0 {
		return nil
	}
	return s.record(rec)
}
