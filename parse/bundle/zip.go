package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/flate"
)

// zip walks a zip archive: by its central directory if it has random access, else,
// or if the directory is damaged, by the local headers in one pass.
func (w *walker) zip(m member, src *counter) error {
	links := links{m: m}
	err := w.zipBy(m, src, &links)
	links.report(w)
	return w.ended(m, err)
}

func (w *walker) zipBy(m member, src *counter, links *links) error {
	if m.at == nil || m.size < 0 {
		return w.zipStream(m, src, links)
	}
	zr, err := zip.NewReader(m.at, m.size)
	if err != nil && !(errors.Is(err, zip.ErrInsecurePath) && zr != nil) {
		w.warnAt(m, m.size, "zip: the directory at the end cannot be read (%v); reading from the front instead", err)
		return w.zipStream(m, src, links)
	}
	if err := zipSound(zr); err != nil {
		w.warnAt(m, m.size, "zip: the directory at the end is wrong (%v); reading from the front instead", err)
		return w.zipStream(m, src, links)
	}
	return w.zipDirectory(m, zr, links)
}

// endsZip reports whether m ends as a zip archive does, whatever its beginning: with the record that says
// where the directory is.
func endsZip(m member) bool {
	if m.at == nil || m.size < zipEnd {
		return false
	}
	tail := make([]byte, min(m.size, zipEnd+zipComment))
	n, _ := m.at.ReadAt(tail, m.size-int64(len(tail)))
	tail = tail[:n]
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	return at >= 0 && len(tail)-at >= zipEnd && at+zipEnd+int(binary.LittleEndian.Uint16(tail[at+zipEnd-2:])) == len(tail)
}

// Lengths in bytes of the record at the end of an archive without its comment, and the longest comment.
const zipEnd, zipComment = 22, 1<<16 - 1

// zipSound returns an error if of no member the data are where the directory says.
func zipSound(zr *zip.Reader) (err error) {
	for _, f := range zr.File {
		if _, bad := f.DataOffset(); bad == nil {
			return nil
		} else if err == nil {
			err = fmt.Errorf("%q: %w", f.Name, cause(bad))
		}
	}
	return err
}

// zipDirectory reads the members in directory order. It stops at members that share
// compressed bytes with earlier ones: a zip bomb technique by which small archives
// expand to terabytes.
func (w *walker) zipDirectory(m member, zr *zip.Reader, links *links) error {
	seen := make(map[int64]bool, min(len(zr.File), maxNames))
	var found map[string]int64
	var packed uint64
	for _, f := range zr.File {
		if err := w.b.member(); err != nil {
			return err
		}
		links.name(f.Name)
		at, err := f.DataOffset()
		open := f.OpenRaw
		if err != nil {
			if found == nil {
				found = w.zipHeaders(m)
			}
			if at = found[f.Name]; at == 0 {
				w.warnAt(m, m.size, "zip: there is no header of %q where the directory says: the member is lost", f.Name)
				continue
			}
			w.warnAt(m, at, "zip: there is no header of %q where the directory says, but its data are at byte %d", f.Name, at)
			open = func() (io.Reader, error) { return io.NewSectionReader(m.at, at, int64(f.CompressedSize64)), nil }
		}
		if packed += f.CompressedSize64; f.CompressedSize64 > 0 && seen[at] || packed > uint64(m.size) {
			w.warnAt(m, at, "zip: %q shares its bytes with members before it: it and the members behind it are skipped", f.Name)
			return nil
		}
		seen[at] = true
		if err := w.zipFile(m, f, links, open); err != nil {
			return err
		}
	}
	return nil
}

// zipHeaders returns where the data of members begin by their local headers, of maxNames
// at most. Of two with one name, the last counts.
func (w *walker) zipHeaders(m member) map[string]int64 {
	found := map[string]int64{}
	src := newCounter(io.NewSectionReader(m.at, 0, m.size))
	for len(found) < maxNames && w.b.alive() == nil {
		b := src.peek(src.Size())
		i := bytes.Index(b, []byte("PK\x03\x04"))
		switch {
		case i < 0 && len(b) < 4:
			return found
		case i < 0:
			src.Discard(len(b) - 3)
			continue
		}
		src.Discard(i)
		if h := src.peek(30); len(h) == 30 {
			e, size := localHeader(h)
			if full := src.peek(size); len(full) == size {
				e.names(full)
				found[e.name] = src.consumed() + int64(size)
			}
		}
		src.Discard(4)
	}
	return found
}

// zipEntry is the metadata of a member, from the directory or a local header.
type zipEntry struct {
	name     string
	method   uint16
	flags    uint16
	crc      uint32
	packed   uint64
	size     uint64
	modified time.Time
}

func (w *walker) zipFile(m member, f *zip.File, links *links, open func() (io.Reader, error)) error {
	if mode := f.Mode(); !mode.IsRegular() {
		if !mode.IsDir() {
			links.device(f.Name)
		}
		return nil
	}
	e := zipEntry{f.Name, f.Method, f.Flags, f.CRC32, f.CompressedSize64, f.UncompressedSize64, f.Modified}
	in := w.zipMember(m, e)
	raw, err := open()
	if err != nil {
		w.warnAt(in, 0, "zip: %v", err)
		return nil
	}
	src := w.counter(raw)
	defer w.release(src)
	_, err = w.zipData(in, e, src, true)
	return err
}

func (w *walker) zipMember(m member, e zipEntry) member {
	in := m.inner(m.path+"!"+e.name, nil)
	if !e.modified.IsZero() && e.modified.Year() >= 1980 {
		in.mtime = e.modified.UnixNano()
	}
	return in
}

// Compression methods and flags.
const (
	zipStored    = 0
	zipDeflated  = 8
	zipBzip2     = 12
	zipZstd      = 93
	zipXZ        = 95
	zipEncrypted = 1 << 0
	zipTrailing  = 1 << 3 // sizes follow the data
)

// zipData decodes one member whose compressed bytes src yields. known says that
// e.crc and e.size are valid and are to be checked; otherwise the caller checks the
// result. It returns nil if the member cannot be decompressed.
func (w *walker) zipData(in member, e zipEntry, src *counter, known bool) (*summed, error) {
	if e.flags&zipEncrypted != 0 {
		w.warnAt(in, 0, "is encrypted: unpack it first")
		return nil, nil
	}
	r, done, err := w.zipMethod(e, src)
	if err != nil {
		w.warnAt(in, 0, "zip: %v", err)
		return nil, nil
	}
	defer done()
	sum := &summed{r: r, want: e, check: known}
	out := &expander{r: sum, b: w.b, path: in.path, what: "zip", in: src.consumed}
	in.r = out
	err = w.member(in)
	if err == nil {
		err = drain(out)
	}
	return sum, w.ended(in, err)
}

func (w *walker) zipMethod(e zipEntry, src *counter) (io.Reader, func(), error) {
	nothing := func() {}
	switch e.method {
	case zipStored:
		return src, nothing, nil
	case zipDeflated:
		return flate.NewReader(src.Reader), nothing, nil
	case zipBzip2:
		return w.codecs.open(fmtBzip2, src, w.b.lim.Dict)
	case zipZstd:
		return w.codecs.open(fmtZstd, src, w.b.lim.Dict)
	case zipXZ:
		return w.codecs.open(fmtXZ, src, w.b.lim.Dict)
	}
	return nil, nothing, fmt.Errorf("compression method %d is not supported", e.method)
}

// summed counts and checksums the data of a member and, if check is set, verifies
// them at its end.
type summed struct {
	r     io.Reader
	want  zipEntry
	check bool
	n     uint64
	crc   uint32
}

var errZipSum = errors.New("checksum or size is wrong")

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += uint64(n)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, p[:n])
	if err == io.EOF && s.check && (s.n != s.want.size || s.crc != s.want.crc) {
		err = errZipSum
	}
	return n, err
}

// zipStream reads local headers in sequence. It needs neither a directory nor
// random access. After damage it continues at the next local header.
func (w *walker) zipStream(m member, src *counter, links *links) error {
	z := zipScan{w: w, m: m, src: src, links: links}
	for {
		more, err := z.next()
		if err != nil || !more {
			return err
		}
	}
}

type zipScan struct {
	w     *walker
	m     member
	src   *counter
	links *links
}

// next reads one local header and its member. It returns false when there are no
// more.
func (z *zipScan) next() (bool, error) {
	h := z.src.peek(30)
	if len(h) < 4 {
		return false, z.cut(z.src.fault())
	}
	switch string(h[:4]) {
	case "PK\x03\x04":
	case "PK\x01\x02", "PK\x05\x06", "PK\x06\x06", "PK\x06\x08":
		return false, drain(z.src) // start of the directory: all members were read
	case "PK\x07\x08": // marker of a spanned archive in one piece
		z.src.Discard(4)
		return true, nil
	default:
		z.warn("zip: no header of a member at byte %d, where one should be; reading goes on at the next")
		return z.resync()
	}
	if len(h) < 30 {
		return false, z.cut(z.src.fault())
	}
	e, hsize := localHeader(h)
	full := z.src.peek(hsize)
	if len(full) < hsize {
		return false, z.cut(z.src.fault())
	}
	e.names(full)
	z.src.Discard(hsize)
	if err := z.w.b.member(); err != nil {
		return false, err
	}
	z.links.name(e.name)
	return z.member(e)
}

// cut warns about data that ends in the middle of a member.
func (z *zipScan) cut(err error) error {
	if err == io.EOF {
		z.warn("zip: data is cut short at byte %d; what was readable before it is used")
		return nil
	}
	return err
}

// warn adds a warning whose text states the current offset.
func (z *zipScan) warn(format string) {
	at := z.src.consumed()
	z.w.warnAt(z.m, at, format, at)
}

func localHeader(h []byte) (zipEntry, int) {
	le := binary.LittleEndian
	e := zipEntry{
		flags: le.Uint16(h[6:]), method: le.Uint16(h[8:]),
		modified: dosTime(le.Uint16(h[12:]), le.Uint16(h[10:])),
		crc:      le.Uint32(h[14:]), packed: uint64(le.Uint32(h[18:])), size: uint64(le.Uint32(h[22:])),
	}
	return e, 30 + int(le.Uint16(h[26:])) + int(le.Uint16(h[28:]))
}

// dosTime converts an MS-DOS timestamp, which has no time zone, as if it were UTC.
func dosTime(date, clock uint16) time.Time {
	return time.Date(int(date>>9)+1980, time.Month(date>>5&15), int(date&31),
		int(clock>>11), int(clock>>5&63), int(clock&31)*2, 0, time.UTC)
}

// names reads the file name and the zip64 sizes of a local header.
func (e *zipEntry) names(h []byte) {
	le := binary.LittleEndian
	n := int(le.Uint16(h[26:]))
	e.name = string(h[30 : 30+n])
	for x := h[30+n:]; len(x) >= 4; {
		id, size := le.Uint16(x), int(le.Uint16(x[2:]))
		if x = x[4:]; size > len(x) {
			return
		}
		if id == 1 && size >= 16 {
			e.size, e.packed = le.Uint64(x), le.Uint64(x[8:])
		}
		x = x[size:]
	}
}

func (z *zipScan) member(e zipEntry) (bool, error) {
	in := z.w.zipMember(z.m, e)
	if e.flags&zipTrailing == 0 || e.packed > 0 {
		return z.sized(in, e)
	}
	if e.method != zipDeflated || e.flags&zipEncrypted != 0 {
		z.w.warnAt(in, 0, "zip: its end is not stated before its data: skipped; give the archive as a file")
		return z.resync()
	}
	sum, err := z.w.zipData(in, e, z.src, false)
	if err != nil || sum == nil {
		return false, err
	}
	return z.trailer(in, sum)
}

// sized reads a member with known compressed size.
func (z *zipScan) sized(in member, e zipEntry) (bool, error) {
	if bytes.HasSuffix([]byte(e.name), []byte("/")) {
		return true, nil
	}
	body := &io.LimitedReader{R: z.src.Reader, N: int64(min(e.packed, 1<<62))}
	sub := z.w.counter(body)
	defer z.w.release(sub)
	if _, err := z.w.zipData(in, e, sub, e.flags&zipTrailing == 0); err != nil {
		return false, err
	}
	if err := drain(body); err != nil {
		return false, err
	}
	if body.N > 0 {
		return false, z.cut(z.src.fault())
	}
	if e.flags&zipTrailing != 0 {
		z.skipDescriptor()
	}
	return true, nil
}

// trailer reads the data descriptor after a member, with or without signature and
// with sizes of 4 or 8 bytes, and verifies the checksum.
func (z *zipScan) trailer(in member, sum *summed) (bool, error) {
	h := z.src.peek(24)
	le := binary.LittleEndian
	skip := 0
	if len(h) >= 4 && string(h[:4]) == "PK\x07\x08" {
		skip = 4
	}
	if len(h) < skip+12 {
		return false, z.cut(z.src.fault())
	}
	d := h[skip:]
	wide := len(d) >= 20 && le.Uint64(d[12:]) == sum.n && uint64(le.Uint32(d[8:])) != sum.n
	if wide {
		skip += 8
	}
	if le.Uint32(d) != sum.crc {
		z.w.warnAt(in, int64(sum.n), "zip: %v", errZipSum)
	}
	z.src.Discard(skip + 12)
	return true, nil
}

func (z *zipScan) skipDescriptor() {
	h := z.src.peek(28)
	if len(h) < 16 || string(h[:4]) != "PK\x07\x08" {
		z.src.Discard(12)
		return
	}
	if len(h) >= 28 && string(h[16:18]) != "PK" && string(h[24:26]) == "PK" {
		z.src.Discard(24)
		return
	}
	z.src.Discard(16)
}

// resync skips to the next local header after damage.
func (z *zipScan) resync() (bool, error) {
	z.src.Discard(1)
	for {
		b := z.src.peek(32 << 10)
		if len(b) < 4 {
			if err := z.src.fault(); err != io.EOF {
				return false, err
			}
			return false, nil
		}
		if i := bytes.Index(b, []byte("PK\x03\x04")); i >= 0 {
			z.src.Discard(i)
			return true, nil
		}
		if i := bytes.Index(b, []byte("PK\x05\x06")); i >= 0 {
			return false, drain(z.src)
		}
		z.src.Discard(len(b) - 3)
	}
}
