package bundle

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// lineDecoder decodes one text log. Decode may run concurrently on different runs
// of the same file; Join gets the results in file order.
type lineDecoder interface {
	// Cut returns the length of the longest prefix of buf that ends at a
	// record boundary, len(buf) when eof.
	Cut(buf []byte, eof bool) int
	// CutsAnywhere reports whether Cut depends only on the lines themselves, not on
	// everything since the last cut.
	CutsAnywhere() bool
	// Decode numbers the lines of a run from 1 and returns their count.
	Decode(r run) (result any, lines int)
	// Join adds the result of the next run; before is the number of lines that
	// precede it in the file.
	Join(result any, before uint32)
	Finish() parse.LogPart
}

// run is a sequence of whole records of one file.
type run struct {
	data   []byte
	offset int64
	keep   parse.TextWriter
	file   *fileText // file from which its texts are read again; nil if they are kept in memory
	last   bool
}

const (
	runSize  = 512 << 10 // bytes read at a time
	headroom = 32 << 10  // room before the data for the rest of the previous run
	headLen  = 256 << 10 // how much of a file identification and framing detection may look at
)

// buffer holds a run. Reads go to headroom, which is page-aligned in a large
// allocation, so that page-aligned file offsets meet page-aligned memory.
type buffer struct {
	mem      []byte
	from, to int
}

func (b *buffer) data() []byte { return b.mem[b.from:b.to] }

// take returns a free buffer, waiting if necessary. A goroutine must not hold
// another one, or it may deadlock.
func (l *loader) take() *buffer {
	b := <-l.bufs
	if b == nil {
		b, _ = spare.Get().(*buffer)
	}
	if b == nil {
		b = &buffer{mem: make([]byte, headroom+runSize)}
	}
	b.from, b.to = headroom, headroom
	return b
}

// give releases a buffer. One that had to grow is left to the garbage collector.
func (l *loader) give(b *buffer) {
	if len(b.mem) > headroom+runSize {
		b = nil
	}
	l.bufs <- b
}

// spare holds buffers of loads that have ended, for the next ones: a batch loads
// thousands of small bundles.
var spare sync.Pool // of *buffer

// spareBuffers gives up the free buffers.
func (l *loader) spareBuffers() {
	for range len(l.bufs) {
		if b := <-l.bufs; b != nil {
			spare.Put(b)
		}
		l.bufs <- nil
	}
}

// fill reads until the buffer is full. eof is true if nothing follows, because of
// the end of r or an error.
func (b *buffer) fill(r io.Reader) (eof bool, err error) {
	for b.to < len(b.mem) {
		n, err := r.Read(b.mem[b.to:])
		b.to += n
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	return false, nil
}

// prepend puts the rest of the previous run before the data.
func (b *buffer) prepend(rest []byte) {
	if len(rest) > b.from {
		mem := make([]byte, headroom+len(rest)+runSize)
		b.mem, b.from, b.to = mem, headroom+len(rest), headroom+len(rest)
	}
	b.from -= copy(b.mem[b.from-len(rest):], rest)
}

// grow extends the buffer by the length of its data.
func (b *buffer) grow() {
	mem := make([]byte, len(b.mem)+b.to-b.from)
	copy(mem[b.from:], b.data())
	b.mem = mem
}

// lineReader cuts one text member into runs.
type lineReader struct {
	w      *walker
	s      *slot
	r      io.Reader
	buf    *buffer
	offset int64 // of the first byte in buf
	rest   []byte
	eof    bool
	err    error          // error that ended the member early
	long   *parse.Warning // warning to attach to the run submitted next
}

// lines decodes a text log whose beginning, without the skipped bytes, is already
// in buf. It returns the read error that cut the member short, if any.
func (w *walker) lines(s *slot, m member, buf *buffer, skipped int64, eof bool, err error) error {
	head := buf.data()
	s.lines = w.l.opt.newLines(s.file, withoutHoles(head[:min(len(head), headLen)]))
	s.described(head)
	if s.file.Layout == "" && len(head) <= pasteMost {
		s.part.Facts = facts.Pasted(s.file, head)
	}
	lr := &lineReader{w: w, s: s, r: m.r, buf: buf, offset: skipped, eof: eof, err: err}
	if p := w.plain(m, s.lines); p == nil || err != nil || !lr.plain(p) {
		for lr.next() {
		}
	}
	if s.file.Size = lr.offset; s.laid != nil {
		s.file.Size = s.laid.Size()
	}
	w.u.bytes += s.file.Size
	s.end(w.l.ctx)
	return lr.err
}

// described extracts nodes from "kubectl describe node" output in the text. A text
// that describes one node and holds no log lines belongs to that node.
func (s *slot) described(head []byte) {
	nodes := facts.Described(s.file, head)
	if len(nodes) == 0 || logs.IsGuide(head) {
		return
	}
	several := slices.ContainsFunc(nodes, func(o *parse.Object) bool { return o.Name != nodes[0].Name })
	if !several && s.file.Node == "" && !hasLogLines(head) {
		s.file.Node = nodes[0].Name
	}
	s.part.Objects = nodes
}

// next submits one run. It returns false after the last one.
func (lr *lineReader) next() bool {
	data := lr.buf.data()
	limit := lr.w.l.opt.Limits.Line
	n := lr.s.lines.Cut(data, lr.eof)
	for n <= 0 && !lr.eof && len(data) < limit {
		lr.buf.grow()
		lr.eof, lr.err = lr.buf.fill(lr.r)
		data = lr.buf.data()
		n = lr.s.lines.Cut(data, lr.eof)
	}
	if lr.eof {
		n = len(data)
	}
	whole := lr.eof || n > 0 && data[n-1] == '\n'
	if !whole {
		n = lr.tooLong(data, n)
	}
	lr.rest = append(lr.rest[:0], data[n:]...)
	lr.buf.to = lr.buf.from + n
	ended := lr.eof || data[n-1] == '\n'
	lr.submit(lr.eof && lr.err == nil) // an error tells by itself where the text ends
	if !lr.refill() {
		return false
	}
	if !ended {
		lr.skipLine()
	}
	return true
}

// tooLong returns where to cut a record that exceeds the limit: where the decoder
// suggested (n), else after its last whole line, else at the end of the data.
func (lr *lineReader) tooLong(data []byte, n int) int {
	if n <= 0 {
		n = bytes.LastIndexByte(data, '\n') + 1
	}
	if n <= 0 {
		n = len(data)
	}
	pos := parse.Pos{File: lr.s.file, Offset: lr.offset + int64(bytes.LastIndexByte(data[:n-1], '\n')+1)}
	pos.Line = 1 + uint32(bytes.Count(data[:n-1], newline)) // relative to the run
	lr.long = &parse.Warning{Pos: pos, Msg: fmt.Sprintf("line or record longer than %d bytes: the rest of it is skipped", n)}
	return n
}

// refill takes a new buffer and reads on after the rest of the last run. It returns
// false at the end.
func (lr *lineReader) refill() bool {
	if lr.eof {
		return false
	}
	lr.buf = lr.w.l.take()
	lr.buf.prepend(lr.rest)
	lr.eof, lr.err = lr.buf.fill(lr.r)
	return true
}

// submit queues the buffer for decoding.
func (lr *lineReader) submit(last bool) {
	l, s, buf := lr.w.l, lr.s, lr.buf
	res := s.add(&runResult{long: lr.long})
	r := run{data: buf.data(), offset: lr.offset, last: last}
	lr.offset += int64(len(r.data))
	lr.buf, lr.long = nil, nil
	l.do(func() {
		l.decodeRun(s, r, res)
		l.give(buf)
		s.finish(l.ctx, res)
	})
}

var newline = []byte{'\n'}

// skipLine drops the rest of the current line.
func (lr *lineReader) skipLine() {
	for {
		data := lr.buf.data()
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			lr.buf.from += i + 1
			lr.offset += int64(i + 1)
			return
		}
		lr.offset += int64(len(data))
		lr.buf.from, lr.buf.to = headroom, headroom
		if lr.eof {
			return
		}
		if leadingNUL(data) == len(data) {
			lr.offset += skipHole(lr.r)
		}
		lr.eof, lr.err = lr.buf.fill(lr.r)
	}
}

// writer returns the writer that keeps the lines of r; done must be called on it
// after decoding.
func (l *loader) writer(r *run) interface {
	parse.TextWriter
	done()
} {
	p := l.store.packer()
	if r.file == nil {
		return p
	}
	return r.file.writer(p, r.offset)
}

// decodeRun decodes one run in a worker.
func (l *loader) decodeRun(s *slot, r run, res *runResult) {
	if l.ctx.Err() != nil {
		return
	}
	keep := l.writer(&r)
	r.keep = keep
	defer func() {
		if res.failure = failure(recover()); res.failure != "" {
			res.lines = bytes.Count(r.data, newline)
		}
	}()
	res.result, res.lines = s.lines.Decode(r)
	keep.done()
}

// failure formats a recovered panic value as a warning, "" for nil.
func failure(p any) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("the decoder failed on this file and part of it is lost; please report this: %v at %s", p, site(debug.Stack()))
}

// site returns the source position of a panic in a stack trace: the first frame
// below the runtime's.
func site(stack []byte) string {
	_, after, ok := bytes.Cut(stack, []byte("panic("))
	if !ok {
		return "an unknown place"
	}
	lines := bytes.SplitN(after, newline, 5)
	if len(lines) < 4 {
		return "an unknown place"
	}
	where, _, _ := bytes.Cut(bytes.TrimSpace(lines[3]), []byte(" "))
	if i := bytes.LastIndexByte(where, '/'); i >= 0 {
		where = where[i+1:]
	}
	return string(where)
}
