package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
)

const tarBlock = 512

// tarWalk walks one tar archive, or several that are concatenated.
type tarWalk struct {
	w     *walker
	m     member
	src   *tarSource
	links links
	begin int64  // offset of the current archive
	at    int64  // offset of the header of the current member
	name  string // of it, as far as it could be read
	body  bool   // its header is read
	ended bool   // the archive has an end mark
	// sparse is set once a sparse member was seen.
	sparse bool
}

// tar walks the members of a tar archive in archive order.
func (w *walker) tar(m member, src *counter) error {
	t := &tarWalk{w: w, m: m, src: &tarSource{counter: src}, links: links{m: m}}
	err := t.walk()
	t.links.report(w)
	return w.ended(m, err)
}

// walk continues after damage and after the end mark: archives may be concatenated,
// and what follows a broken header may be intact.
func (t *tarWalk) walk() error {
	for {
		bad := t.members()
		if bad != nil && !t.damage(bad) {
			return bad
		}
		zeros, found, err := t.src.nextHeader()
		switch {
		case bad != nil:
			t.damaged(bad, found)
		case err == nil:
			t.odd(zeros, found)
		}
		if err != nil || !found {
			return err
		}
		t.begin = t.src.consumed()
	}
}

// tarRecord is the unit in bytes to which archives are padded with zeros. Some are not padded at all.
const tarRecord = 20 * tarBlock

// odd warns if what stands behind the last member is no usual end of an archive: zeros may have been written over a
// member and its header. They begin at the current header; found says that a header is at the current place.
func (t *tarWalk) odd(zeros int64, found bool) {
	next := t.src.consumed()
	const lost = "if zeros were written over the header of a member, that is lost"
	switch rest := next - t.at - zeros; {
	case !t.ended && !t.sparse && next > t.begin:
		t.w.warnAt(t.m, next, "tar: there is no end mark at byte %d: the archive may be cut short; all members before it are read", next)
	case rest > 0 && found:
		t.w.warnAt(t.m, t.at, "tar: %d bytes behind the zeros at byte %d belong to no header: %s; reading goes on at byte %d, the next header", rest, t.at, lost, next)
	case rest > 0:
		t.w.warnAt(t.m, t.at, "tar: %d bytes behind the zeros at byte %d belong to no header: %s", rest, t.at, lost)
	case found && zeros != 2*tarBlock && (zeros >= 2*tarBlock+tarRecord || (next-t.begin)%tarRecord != 0):
		t.w.warnAt(t.m, t.at, "tar: %d zeros at byte %d are no usual end of an archive, and a member follows: %s", zeros, t.at, lost)
	}
}

// damage reports whether err is a fault of this archive.
func (t *tarWalk) damage(err error) bool {
	var s *streamError
	return t.w.l.ctx.Err() == nil && !errors.As(err, &s) && !isFinal(err)
}

// damaged warns of a fault of the archive: where it is, which member it cost, and
// where reading goes on, which it does at the current header if more is set.
func (t *tarWalk) damaged(err error, more bool) {
	member := fmt.Sprintf("a member whose header is at byte %d", t.at)
	if t.name != "" {
		member = fmt.Sprintf("%q, whose header is at byte %d", t.name, t.at)
	}
	at := t.src.consumed()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && t.body:
		t.w.warnAt(t.m, at, "tar: data is cut short at byte %d in %s; what was readable before it is used", at, member)
	case errors.Is(err, io.ErrUnexpectedEOF):
		t.w.warnAt(t.m, at, "tar: data is cut short in the header at byte %d; what was readable before it is used", t.at)
	case more:
		t.w.warnAt(t.m, t.at, "tar: %v: lost is %s; reading goes on at byte %d, the next header that is whole", err, member, at)
	default:
		t.w.warnAt(t.m, t.at, "tar: %v: lost is %s; no whole header follows", err, member)
	}
}

// legible returns the name in a damaged header, "" if it is none that was written so.
func legible(header []byte) string {
	name := string(text(header[:min(len(header), 100)]))
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return name
}

// damagedTar reports whether m is a tar archive with a damaged first header: the
// header looks like one or was overwritten by zeros, and an intact one follows. If m
// can be read only once, only the buffered bytes are searched.
func (w *walker) damagedTar(m member, src *counter) bool {
	if head := src.peek(tarBlock); !likeTarHeader(head) {
		all := src.peek(src.Size())
		if zeros := leadingNUL(all); zeros < tarBlock || zeros == len(all) {
			return false
		}
	}
	var behind io.Reader = bytes.NewReader(src.peek(src.Size()))
	if m.at != nil {
		behind = newRest(m.at, m.at, 0, m.size)
	}
	for b := make([]byte, src.Size()); w.b.alive() == nil; {
		n, err := io.ReadFull(behind, b)
		for at := 0; at+tarBlock <= n; at += tarBlock {
			if isTarHeader(b[at:]) {
				return true
			}
		}
		if err != nil {
			return false
		}
		if leadingNUL(b) == n {
			skipHole(behind)
		}
	}
	return false
}

// members reads the members up to the end mark of one archive.
func (t *tarWalk) members() error {
	for {
		b := t.src.peek(tarBlock)
		t.at, t.name, t.body, t.ended = t.src.consumed(), legible(b), false, len(b) > 0
		switch {
		case len(b) == 0 || len(b) == tarBlock && b[0] == 0:
			return t.endMark(b)
		case len(b) < tarBlock:
			return io.ErrUnexpectedEOF
		}
		var err error
		if h, ok := plainTarHead(b); ok {
			t.src.Discard(tarBlock)
			err = t.plain(h)
		} else if damagedHead(b) {
			err = t.headless(b)
		} else if n := t.extension(b); n > 0 {
			t.src.Discard(n)
		} else {
			err = t.other()
		}
		if err != nil {
			return err
		}
	}
}

// endMark handles a header without a name: nil at the end mark or the end of the
// data, else an error.
func (t *tarWalk) endMark(b []byte) error {
	if len(b) == 0 {
		if err := t.src.fault(); err != io.EOF {
			return err
		}
		return nil
	}
	for _, c := range b {
		if c != 0 {
			return tar.ErrHeader
		}
	}
	return nil
}

// plain reads a member with a header that plainTarHead accepted.
func (t *tarWalk) plain(h tarHead) error {
	if err := t.w.b.member(); err != nil {
		return err
	}
	t.name, t.body = h.name, true
	body := &tarBody{src: t.src.counter, left: h.size}
	if h.typ == '0' {
		t.links.name(h.name)
		in := t.m.inner(t.m.path+"!"+h.name, body)
		in.size, in.mtime = h.size, h.mtime*1e9
		if err := t.w.member(in); err != nil {
			return err
		}
	}
	return body.skip()
}

// other reads a member by package archive/tar, which supports all extensions. It
// consumes exactly the headers and the data of the member. After a sparse member,
// whose stored size archive/tar does not expose, it reads the rest of the archive.
func (t *tarWalk) other() error {
	tr := tar.NewReader(t.src)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !(errors.Is(err, tar.ErrInsecurePath) && h != nil) {
			return err
		}
		if err := t.w.b.member(); err != nil {
			return err
		}
		h.Name = t.links.shortened(h.Name)
		t.links.name(h.Name)
		t.name, t.body = h.Name, true
		if err := t.member(tr, h); err != nil {
			return err
		}
		if isSparse(h) {
			t.sparse = true
		}
		if t.sparse {
			continue
		}
		if _, err := io.Copy(io.Discard, tr); err != nil {
			return err
		}
		return (&tarBody{src: t.src.counter}).skip()
	}
}

// fileFlag reports whether a type flag is one of regular files; 0 is that of pre-POSIX archives.
func fileFlag(flag byte) bool {
	return flag == 0 || flag == tar.TypeReg || flag == tar.TypeGNUSparse || flag == tar.TypeCont
}

func (t *tarWalk) member(r io.Reader, h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeSymlink, tar.TypeLink:
		t.links.link(h.Name, t.links.shortened(h.Linkname), h.Typeflag == tar.TypeLink)
		return nil
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		t.links.device(h.Name)
		return nil
	case tar.TypeDir, tar.TypeXGlobalHeader:
		return nil
	default: // a file, as POSIX demands also of unknown types; GNU's M is the rest of one that began in another archive
		if h.Size == 0 && !fileFlag(h.Typeflag) {
			return nil
		}
	}
	in := t.m.inner(t.m.path+"!"+h.Name, r)
	in.size = h.Size
	in.mtime = h.ModTime.UnixNano()
	if h.ModTime.Unix() <= 0 {
		in.mtime = 0
	}
	if isSparse(h) {
		in.r = &expander{r: r, b: t.w.b, path: in.path, what: "sparse member", in: func() int64 { return 0 }}
		return t.w.ended(in, t.w.member(in))
	}
	return t.w.member(in)
}

func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// tarSource is the stream of a tar archive.
type tarSource struct{ *counter }

// nextHeader skips to the next block that is a valid header, first over whole blocks
// of zeros, of which it returns the number of bytes, then over anything else. found is
// false at the end of the data.
func (s *tarSource) nextHeader() (zeros int64, found bool, err error) {
	if off := s.consumed() % tarBlock; off != 0 {
		s.Discard(int(tarBlock - off))
	}
	for only := true; ; {
		b, err := s.Peek(tarBlock)
		if len(b) < tarBlock {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
			if leadingNUL(b) < len(b) {
				s.Discard(len(b))
			}
			return zeros, false, err
		}
		if isTarHeader(b) {
			return zeros, true, nil
		}
		if only = only && leadingNUL(b) == tarBlock; only {
			zeros += tarBlock
		}
		s.Discard(tarBlock)
	}
}

// maxLinks is how many links of an archive are remembered to detect cycles.
const maxLinks = 10000

// links checks the names and links in an archive. Nothing is ever followed or
// created; suspicious names are reported once per kind.
type links struct {
	m       member
	seen    map[uint64]bool // checksums of the names seen, at most maxNames
	seed    maphash.Seed    // random, so that no names can be crafted to agree
	target  map[string]string
	odd     [oddKinds]int
	example [oddKinds]string
}

const (
	oddName = iota
	oddLong
	oddDuplicate
	oddLink
	oddCircle
	oddDevice
	oddKinds
)

var oddWords = [oddKinds]string{
	oddName:      "names lead out of the archive; they are only names here",
	oddLong:      fmt.Sprintf("names are longer than %d bytes; only their beginnings and ends are used", maxName),
	oddDuplicate: "members have the name of an earlier one; all are read",
	oddLink:      "links lead out of the archive; no link is followed",
	oddCircle:    "links lead in a circle; no link is followed",
	oddDevice:    "devices or FIFOs are skipped",
}

func (l *links) add(kind int, example string) {
	if l.odd[kind]++; l.odd[kind] == 1 {
		l.example[kind] = example
	}
}

// maxNames bounds the memory for duplicate detection.
const maxNames = 200000

func (l *links) name(name string) {
	if outside(name) {
		l.add(oddName, name)
	}
	if strings.HasSuffix(name, "/") {
		return
	}
	if l.seen == nil {
		l.seen, l.seed = make(map[uint64]bool), maphash.MakeSeed()
	}
	sum := maphash.String(l.seed, name)
	if l.seen[sum] {
		l.add(oddDuplicate, name)
	} else if len(l.seen) < maxNames {
		l.seen[sum] = true
	}
}

// maxName is the length in bytes of the longest path that a system opens (PATH_MAX on
// Linux). Archives can hold names of a megabyte each.
const maxName = 4096

// shortened returns a copy of a name without the middle of one that no file can have.
func (l *links) shortened(name string) string {
	if len(name) <= maxName {
		return name
	}
	const half = maxName/2 - len("…")
	name = strings.ToValidUTF8(name[:half], "") + "…" + strings.ToValidUTF8(name[len(name)-half:], "")
	l.add(oddLong, name[:64]+"…")
	return name
}

func (l *links) link(name, target string, hard bool) {
	full := target
	if !hard && !strings.HasPrefix(target, "/") {
		full = path.Join(path.Dir(name), target)
	}
	if outside(full) {
		l.add(oddLink, name+" -> "+target)
	}
	if l.target == nil {
		l.target = make(map[string]string)
	}
	if len(l.target) < maxLinks {
		l.target[path.Clean(name)] = path.Clean(full)
	}
}

func (l *links) device(name string) { l.add(oddDevice, name) }

// outside reports whether name as a path leads out of the archive root. It also
// recognizes Windows paths.
func outside(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(path.Clean(name), "../") || path.Clean(name) == ".." ||
		len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') || strings.HasPrefix(name, `..\`) || strings.HasPrefix(name, `\\`)
}

func (l *links) report(w *walker) {
	for name := range l.target {
		if l.circles(name) {
			l.odd[oddCircle]++
			if l.example[oddCircle] == "" || name < l.example[oddCircle] {
				l.example[oddCircle] = name
			}
		}
	}
	pos := parse.Pos{File: w.fileOf(l.m)}
	for kind, n := range l.odd {
		if n > 0 {
			w.u.note(pos, "%d %s (first: %q)", n, oddWords[kind], l.example[kind])
		}
	}
}

// circles reports whether following name exceeds 40 links, which means a cycle.
func (l *links) circles(name string) bool {
	at := name
	for range 40 {
		next, ok := l.target[at]
		if !ok {
			return false
		}
		at = next
	}
	return true
}
