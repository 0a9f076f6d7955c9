package bundle

import (
	"bytes"
	"io"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/exports"
	"github.com/plegforensics/plegforensics/parse/metrics"
)

// maxUnlisted is how many members of unknown role a unit lists one by one, and how many
// empty ones.
const maxUnlisted = 10000

// leaf decodes a member that needs no further unwrapping. It returns the error of
// an outer layer that cut it short.
func (w *walker) leaf(m member) error {
	w.l.opt.Progress.begin(m.path)
	if m.depth == 0 || m.lone || w.b.files == 0 { // archives count their members
		w.b.files++
	}
	buf := w.l.take()
	eof, err := buf.fill(m.r)
	skipped, eof, err := buf.skipHole(m.r, eof, err)
	if skipped > 0 {
		m.at = nil // data no longer begins at offset 0
	}
	if buf.from == buf.to && err == nil {
		w.l.give(buf)
		return w.empty(m, skipped)
	}
	head := buf.data()[:min(buf.to-buf.from, headLen)]
	f := &parse.File{Path: m.path, Input: w.u.input, ModTime: m.mtime, Size: -1, Container: containerOf(m.path)}
	why, form, guessed := w.identify(f, withoutHoles(head), m.lone || w.u.few)
	var laid *exports.Reader
	if form != exports.None {
		f.Export = true
		m, laid, eof, err = w.layOut(m, buf, form, err)
	}
	d := decoderFor(f.Role)
	if why != "" {
		d = nil
	}
	if d == nil {
		if f.Unused = why; why == "" {
			f.Unused = whyUnknown
		}
		w.keepSnippet(f, m, buf.data(), eof)
		w.l.give(buf)
		w.unused(f, m)
		return w.passOn(f, 0, err)
	}
	if d.lines {
		if w.u.logs++; w.u.count.full(w.u.logs - 1) {
			w.l.give(buf)
			return err
		}
	}
	if d.samples {
		if w.u.snapshots++; w.u.metrics.over(w.u.place, w.u.snapshots-1) {
			w.l.give(buf)
			return err
		}
	}
	s := &slot{file: f, laid: laid, guessed: guessed, named: m.lone, log: d.lines}
	w.u.slots = append(w.u.slots, s)
	switch {
	case d.lines:
		err = w.lines(s, m, buf, skipped, eof, err)
	case d.random != nil:
		err = w.random(s, d, m, buf, err)
	case d.group != nil:
		err = w.grouped(s, d, m, buf, eof, err)
	default:
		err = w.whole(s, d, m, buf, eof, err)
	}
	return w.passOn(f, f.Size, err)
}

// passOn reports where a leaf was cut short by err, if it was, and returns err to
// the layer that caused it.
func (w *walker) passOn(f *parse.File, offset int64, err error) error {
	if err == nil {
		return nil
	}
	w.cutShort(f, max(offset, 0), err)
	return err
}

func (w *walker) empty(m member, skipped int64) error {
	if w.u.close != nil {
		return nil // not a file: the unit that represents a directory
	}
	if w.u.empty++; w.u.empty > maxUnlisted {
		return nil
	}
	f := &parse.File{Path: m.path, Input: w.u.input, ModTime: m.mtime, Unused: whyEmpty}
	w.u.slots = append(w.u.slots, &slot{file: f})
	if skipped > 0 {
		f.Unused = whyHole
	}
	if m.lone {
		w.u.warn(parse.Pos{File: f}, "%s", map[bool]string{false: "is empty", true: whyHole}[skipped > 0])
	}
	return nil
}

// sayUnknown is the warning for a file named by the user whose format is unknown.
const sayUnknown = "not a recognized format"

// unused lists a member that no decoder handles. Our own reports do not count as
// files of the input, so that the report of an input is the same before and after
// it was written beside it.
func (w *walker) unused(f *parse.File, m member) {
	if f.Unused == whyOwn {
		w.u.own++
	}
	if m.lone {
		what := sayUnknown
		if f.Unused == whyOwn {
			what = "is " + whyOwn
		}
		w.u.warn(parse.Pos{File: f}, "%s", what)
	}
	if w.u.unlisted++; w.u.unlisted > maxUnlisted {
		return
	}
	w.u.slots = append(w.u.slots, &slot{file: f})
}

// fewFiles is how many files people collect by hand. In a directory or an archive of no known layout with no more
// files than that, each text of unknown kind is read as if it had been given itself.
const fewFiles = 32

// snippet is a short text of unknown kind.
type snippet struct {
	f    *parse.File
	m    member
	text []byte
}

// keepSnippet keeps a short text of unknown kind in an archive that may turn out to have few files.
func (w *walker) keepSnippet(f *parse.File, m member, data []byte, eof bool) {
	switch {
	case w.b.files > fewFiles:
		w.snippets = nil
	case w.u.lone && !w.u.few && !m.lone && eof && f.Unused == whyUnknown && isText(withoutHoles(data)):
		w.snippets = append(w.snippets, snippet{f, m, bytes.Clone(data)})
	}
}

// readSnippets decodes the unknown texts of an archive with few files as if each had been given itself.
func (w *walker) readSnippets() error {
	kept := w.snippets
	if w.snippets = nil; w.b.files > fewFiles || w.u.ids.kind() != "" || w.u.count.full(w.u.logs) {
		return nil
	}
	w.u.few = true
	for _, x := range kept {
		w.u.slots = slices.DeleteFunc(w.u.slots, func(s *slot) bool { return s.file == x.f })
		w.u.unlisted--
		x.m.r, x.m.at = bytes.NewReader(x.text), nil
		if err := w.leaf(x.m); err != nil {
			return err
		}
	}
	return nil
}

// whole passes a member to its decoder in one piece.
func (w *walker) whole(s *slot, d *decoder, m member, buf *buffer, eof bool, err error) error {
	if eof {
		w.decodeWhole(s, d, buf.data(), func() { w.l.give(buf) })
		return err
	}
	if d.samples && metrics.CanStream(buf.data()) {
		return w.samples(s, d, m, buf)
	}
	data, release, cut, err := w.slurp(buf, m.r, w.b.lim.Whole)
	if cut {
		w.u.cut(parse.Pos{File: s.file, Offset: int64(len(data))}, "larger than the %d bytes that are held in memory of a file of this kind: the rest is skipped; --max-held raises the limit", w.b.lim.Whole)
	}
	w.decodeWhole(s, d, data, release)
	return err
}

func (w *walker) decodeWhole(s *slot, d *decoder, data []byte, release func()) {
	s.file.Size = int64(len(data))
	w.u.bytes += int64(len(data))
	w.l.do(func() {
		defer release()
		defer s.survive()
		if d.samples {
			w.sample(s, data)
			return
		}
		s.part = d.whole(s.file, data)
		if d.paste {
			w.pasted(s, data)
		}
	})
}

// slurp reads a large member into memory. Only one large member of the whole load
// is in memory at a time; the caller must call release.
func (w *walker) slurp(buf *buffer, r io.Reader, limit int64) (data []byte, release func(), cut bool, err error) {
	w.l.big <- struct{}{}
	data = append(make([]byte, 0, max(2*runSize, len(buf.data()))), buf.data()...)
	w.l.give(buf)
	for err == nil && int64(len(data)) < limit {
		if len(data) == cap(data) { // grow by hand: never allocate beyond limit
			data = append(make([]byte, 0, min(2*int64(cap(data)), limit)), data...)
		}
		var n int
		n, err = r.Read(data[len(data):min(int64(cap(data)), limit)])
		data = data[:len(data)+n]
	}
	if err == io.EOF {
		err = nil
	} else if err == nil {
		cut = more(r)
	}
	return data, func() { <-w.l.big }, cut, err
}

// more reports whether r has another byte.
func more(r io.Reader) bool {
	var b [1]byte
	n, _ := io.ReadFull(r, b[:])
	return n > 0
}

// random gives a decoder a random-access view behind any leading zeros: the file itself,
// or a copy in memory of an archive member.
func (w *walker) random(s *slot, d *decoder, m member, buf *buffer, err error) error {
	if m.at != nil {
		zeros := leadingNUL(buf.data())
		m.at, m.size = io.NewSectionReader(m.at, int64(zeros), m.size-int64(zeros)), m.size-int64(zeros)
		w.l.give(buf)
		s.file.Size = m.size
		w.u.bytes += m.size
		w.decodeRandom(s, d, m.at, m.size, func() {})
		return err
	}
	buf.from += leadingNUL(buf.data())
	data, release, cut, serr := w.slurp(buf, m.r, w.b.lim.Random)
	if err == nil {
		err = serr
	}
	if cut {
		w.u.cut(parse.Pos{File: s.file, Offset: int64(len(data))}, "larger than the %d bytes that are held in memory for a file of this kind inside an archive: the rest is skipped; give the unpacked file to have all of it read, or raise the limit by --max-held", w.b.lim.Random)
	}
	s.file.Size = int64(len(data))
	w.u.bytes += int64(len(data))
	w.decodeRandom(s, d, bytes.NewReader(data), int64(len(data)), release)
	return err
}

// decodeRandom runs in the walker, because the walker closes the file afterwards.
func (w *walker) decodeRandom(s *slot, d *decoder, at io.ReaderAt, size int64, release func()) {
	defer release()
	defer s.survive()
	s.part = d.random(w.l, s.file, at, size)
}
