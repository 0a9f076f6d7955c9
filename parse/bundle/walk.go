package bundle

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// walker reads units one after the other. It is used by one goroutine.
type walker struct {
	l      *loader
	u      *unit
	o      *opened // the open file of u
	in     *input  // counts bytes read of o
	b      *budget
	codecs codecs
	idle   []*counter
	// snippets are the texts of unknown kind of an archive that had few files so far.
	snippets []snippet

	cut string // path of the file last reported as cut short
}

// counter returns a counter for r, reusing released ones.
func (w *walker) counter(r io.Reader) *counter {
	c, ok := pop(&w.idle)
	if !ok {
		return newCounter(r)
	}
	c.src = countingReader{r: r}
	c.Reset(&c.src)
	return c
}

func (w *walker) release(c *counter) {
	c.src = countingReader{}
	w.idle = append(w.idle, c)
}

// member is a stream being unwrapped.
type member struct {
	path  string // parse.File.Path
	mtime int64
	size  int64 // stored size if known, else -1
	r     io.Reader
	at    io.ReaderAt // random access to the same bytes, nil if they can be read only once
	depth int
	lone  bool // named on the command line
}

func (m *member) inner(path string, r io.Reader) member {
	return member{path: path, mtime: m.mtime, size: -1, r: r, depth: m.depth + 1}
}

// unit walks one top-level file.
func (w *walker) unit(u *unit) {
	defer u.end()
	if u.open == nil {
		return
	}
	w.u = u
	w.b = &budget{ctx: w.l.ctx, lim: w.l.opt.Limits, deadline: w.l.deadline}
	pos := parse.Pos{File: &parse.File{Path: u.path, Input: u.input}}
	o, err := u.open()
	if err != nil {
		u.warn(pos, "cannot be read: %v", cause(err))
		return
	}
	defer func() { o.close() }()
	w.b.stored = o.size
	in := &input{r: o.r, b: w.b, progress: w.l.opt.Progress}
	w.o, w.in = o, in
	m := member{path: u.path, mtime: o.mtime, size: o.size, r: in, at: o.at, lone: u.lone}
	err = w.member(m)
	if err == nil {
		err = w.readSnippets()
	}
	u.files = max(u.files, w.b.files)
	if err == nil || w.l.ctx.Err() != nil {
		return
	}
	if w.cut != u.path {
		pos.Offset = in.n
		u.warn(pos, "%v", plain(err))
	}
}

// member unwraps one layer of m, or decodes it. An error ends the enclosing layer
// too: it is final, or it comes from a layer outside m.
func (w *walker) member(m member) error {
	src := w.counter(m.r)
	defer w.release(src)
	switch framed, err := skipFrames(src); {
	case err != nil:
		return w.ended(m, err)
	case framed:
		m.at = nil
	}
	head := src.peek(peekLen)
	f := detect(head)
	if n := leadingNUL(head); f == fmtNone && n > 0 {
		head, f = w.behindNUL(src, head)
		if f != fmtNone {
			m.at = nil // what is decoded no longer begins at offset 0
		}
	}
	if f == fmtNone && w.damagedTar(m, src) {
		f = fmtTar
	}
	if f == fmtNone && sealed(head) == "" && program(head) == "" && (isBinary(head) || strings.HasSuffix(strings.ToLower(m.path), ".zip")) && endsZip(m) {
		f = fmtZip
	}
	if m.depth == 0 {
		w.u.kind = f
	}
	if f != fmtNone && m.depth >= w.b.lim.Depth {
		w.warnAt(m, 0, "nested more than %d layers deep (max-depth): not opened", w.b.lim.Depth)
		return nil
	}
	why := sealed(head)
	if why == "" && m.lone {
		if isScript(head) {
			head = src.peek(scriptLen)
		}
		why = program(head)
	}
	if why != "" {
		w.warnAt(m, 0, "%s", why)
		return nil
	}
	switch f {
	case fmtTar:
		return w.tar(m, src)
	case fmtZip:
		return w.zip(m, src)
	case fmtUTF16LE, fmtUTF16BE:
		return w.utf16(m, newUTF16(src, f == fmtUTF16BE))
	case fmtNone:
		if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
			src.Discard(3)
			m.at = nil
		}
		if u := appended(m, src, head); u != nil {
			return w.utf16(m, u)
		}
		m.r = src
		return w.leaf(m)
	}
	return w.compressed(m, src, f)
}

// behindNUL looks for a compressed stream behind zeros at the beginning of a file, as a crash leaves
// them, and moves src to it. It returns what begins there and its format.
func (w *walker) behindNUL(src *counter, head []byte) ([]byte, format) {
	all := src.peek(src.Size())
	behind := all[leadingNUL(all):]
	switch f := detect(behind); f {
	case fmtGzip, fmtXZ, fmtZstd, fmtBzip2, fmtLZ4:
		src.Discard(len(all) - len(behind))
		return src.peek(peekLen), f
	}
	return head, fmtNone
}

// as returns m with its bytes replaced by those of r.
func (m member) as(r io.Reader) member {
	m.r, m.at, m.size = r, nil, -1
	return m
}

// utf16 decodes a text in UTF-16, and tells where its encoding changes if it is used.
func (w *walker) utf16(m member, u *utf16Reader) error {
	before := len(w.u.slots)
	err := w.leaf(m.as(u))
	if s := w.u.slots; len(s) == before || s[before].file.Unused != "" {
		return err
	}
	for _, t := range u.turns {
		w.warnAt(m, t.at, "%v", t)
	}
	if u.more > 0 {
		w.warnAt(m, u.turns[maxTurns-1].at, "the encoding changes %d times more", u.more)
	}
	return err
}

// compressed unwraps a compressed stream; its content keeps the path of m.
func (w *walker) compressed(m member, src *counter, f format) error {
	r, consumed, done, err := w.decompressor(m, src, f)
	defer done()
	if err != nil {
		return w.ended(m, &streamError{path: m.path, what: string(f), in: consumed(), err: err})
	}
	out := &expander{r: r, b: w.b, path: m.path, what: string(f), in: consumed}
	in := m.inner(m.path, out)
	in.lone = m.lone
	if err := w.member(in); err != nil {
		return w.ended(m, err)
	}
	return w.ended(m, drain(out))
}

// decompressor opens the stream of a compressed member. A large xz file with a
// usable index is decoded concurrently with the walker.
func (w *walker) decompressor(m member, src *counter, f format) (r io.Reader, consumed func() int64, done func(), err error) {
	if in, ok := m.r.(*input); ok && f == fmtXZ && m.at != nil {
		if blocks, err := xzIndex(m.at, m.size); err == nil {
			if n := xzDecoders(blocks, w.l.opt.Jobs); n > 0 {
				x := &xzBlocks{at: m.at, size: m.size, dict: maxXZDict(w.b.lim.Dict), alive: w.b.alive, seen: in.reached}
				done, err := w.codecs.openXZBlocks(x, blocks, n)
				return x, x.consumed, done, err
			}
		}
	}
	r, done, err = w.codecs.open(f, src, w.b.lim.Dict)
	return r, src.consumed, done, err
}

// drain reads a stream to its end, so that its checksums are verified.
func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// ended reports an error that arose in the layer of m as a warning and returns nil;
// other errors are returned.
func (w *walker) ended(m member, err error) error {
	if err == nil || w.l.ctx.Err() != nil || isFinal(err) {
		return err
	}
	var s *streamError
	if errors.As(err, &s) && s.path != m.path {
		return err
	}
	if s != nil {
		if !s.warned {
			w.warnAt(m, s.out, "%v", s)
		}
		s.warned = true
		return nil
	}
	w.warnAt(m, 0, "%v", plain(err))
	return nil
}

// cutShort warns that an error of an outer layer cut f short.
func (w *walker) cutShort(f *parse.File, offset int64, err error) {
	var s *streamError
	if err == nil || w.l.ctx.Err() != nil || errors.As(err, &s) && s.path == f.Path {
		return
	}
	w.cut = f.Path
	w.u.warn(parse.Pos{File: f, Offset: offset}, "ends here because %s", because(err))
}

func (w *walker) warnAt(m member, offset int64, format string, args ...any) {
	w.u.warn(parse.Pos{File: w.fileOf(m), Offset: offset}, format, args...)
}

// fileOf returns a File for positions in m itself, an archive or compressed file
// that has no slot.
func (w *walker) fileOf(m member) *parse.File {
	return &parse.File{Path: m.path, Input: w.u.input, ModTime: m.mtime, Size: m.size}
}

// cause strips the path from an error of package os; the warning states it already.
func cause(err error) error {
	if told := Told(err); told != err {
		return told
	}
	var p interface{ Unwrap() error }
	if errors.As(err, &p) {
		if u := p.Unwrap(); u != nil {
			return u
		}
	}
	return err
}
