package bundle

import (
	"hash/maphash"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plegforensics/plegforensics/parse"
)

// The lines of a very large plain log are not kept: their text is read again when
// it is asked for, which is seldom. Its file stays open for as long as there are
// texts in it.
const (
	placesLeast = 8 << 20 // bytes of a log whose lines are not kept
	maxOpen     = 64      // such logs of the whole process; lines of others are kept
)

var openLogs atomic.Int64

// fileText is a log that is open for its texts.
type fileText struct {
	file    *parse.File
	at      io.ReaderAt
	close   func()
	symbols *parse.Symbols
	used    atomic.Bool // there are texts

	mu     sync.Mutex
	window []byte // what was read last
	start  int64  // of window in the file
	next   int64  // where the text ended that was asked for last
	hit    bool   // window held more than one such text
}

// newFileText takes over a file. It returns nil when too many are open.
func newFileText(f *parse.File, at io.ReaderAt, close func(), symbols *parse.Symbols) *fileText {
	if openLogs.Add(1) > maxOpen {
		openLogs.Add(-1)
		return nil
	}
	t := &fileText{file: f, at: at, symbols: symbols}
	t.close = sync.OnceFunc(func() {
		close()
		openLogs.Add(-1)
	})
	runtime.AddCleanup(t, func(close func()) { close() }, t.close)
	return t
}

// done is called when all runs were decoded.
func (t *fileText) done() {
	if !t.used.Load() {
		t.close()
	}
}

func (t *fileText) ReadAt(p []byte, off int64) (int, error) {
	defer runtime.KeepAlive(t)
	return t.at.ReadAt(p, off)
}

// Bounds of what is read for a text that stands near the one before: more and more
// at once, for as long as that serves further texts. Others are read alone.
const (
	near       = page
	leastAhead = page
	mostAhead  = 64 << 10
)

// slice returns n bytes at off of the file, fewer if it has fewer.
func (t *fileText) slice(off int64, n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text(off, n))
}

// append appends them to dst. Who reads beside another does without the window.
func (t *fileText) append(dst []byte, off int64, n int) []byte {
	if t.mu.TryLock() {
		defer t.mu.Unlock()
		return append(dst, t.text(off, n)...)
	}
	from := len(dst)
	dst = slices.Grow(dst, n)[:from+n]
	got, _ := t.ReadAt(dst[from:], off)
	return dst[:from+got]
}

// text returns them as they stand in the window, for as long as that is locked.
func (t *fileText) text(off int64, n int) []byte {
	if i := off - t.start; i >= 0 && i+int64(n) <= int64(len(t.window)) {
		t.hit = true
	} else {
		t.read(off, n)
	}
	t.next = off + int64(n)
	i := min(int(off-t.start), len(t.window))
	return t.window[i:min(i+n, len(t.window))]
}

func (t *fileText) read(off int64, n int) {
	size := n
	t.start = off
	if off >= t.next && off-t.next <= near {
		size = leastAhead
		if t.hit {
			size = min(2*max(len(t.window), leastAhead), mostAhead)
		}
		t.start = off &^ (page - 1)
		size = max(size, int(off-t.start)+n)
	}
	t.hit = false
	t.window = slices.Grow(t.window[:0], size)[:size]
	got, _ := t.ReadAt(t.window, t.start) // what is missing shows in the sum of the line
	t.window = t.window[:got]
}

// placed is a parse.FieldStore of lines of one run that stand in the file.
type placed struct {
	arena parse.Arena
	file  *fileText
	base  int64 // of the run in the file
	rows  parse.Rows
	lines []lineSum
}

// lineSum is how a line is known again.
type lineSum struct{ off, n, sum uint32 }

// lineSeed makes sums that no log can foresee.
var lineSeed = maphash.MakeSeed()

// Slice reads from the file.
func (p *placed) Slice(off, n uint32) string {
	at := p.base + int64(off)
	s := p.file.slice(at, int(n))
	if l := p.line(off, n); l != nil && l.sum != uint32(maphash.String(lineSeed, s)) {
		return parse.Changed(p.file.file, at)
	}
	return s
}

// Append reads from the file.
func (p *placed) Append(dst []byte, off, n uint32) []byte {
	at, from := p.base+int64(off), len(dst)
	dst = p.file.append(dst, at, int(n))
	if l := p.line(off, n); l != nil && l.sum != uint32(maphash.Bytes(lineSeed, dst[from:])) {
		return append(dst[:from], parse.Changed(p.file.file, at)...)
	}
	return dst
}

// line is what is known of a line that the store itself shall know again.
func (p *placed) line(off, n uint32) *lineSum {
	for i := range p.lines {
		if l := &p.lines[i]; l.off == off && l.n == n {
			return l
		}
	}
	return nil
}

// Row returns what begins with a row of fields.
func (p *placed) Row(n uint32) (parse.Row, *parse.Symbols) { return p.rows.At(n), p.file.symbols }

// runWriter is the parse.PlaceWriter of one run: it packs only what is no line of
// the run.
type runWriter struct {
	*packer
	placed *placed
	last   bool // the line kept last is placed
}

// writer returns one for the run at base; done gives the packer back.
func (t *fileText) writer(p *packer, base int64) *runWriter {
	x := &runWriter{packer: p, placed: &placed{file: t, base: base}}
	x.placed.arena = parse.Arena{Store: x.placed, Reread: true}
	return x
}

func (p *runWriter) done() {
	p.placed.rows, p.placed.lines = p.placedRows.Take(), slices.Clone(p.placedLines)
	p.placedLines = p.placedLines[:0]
	p.packer.done()
}

// KeepPlace refers to n bytes at from of the run.
func (p *runWriter) KeepPlace(from, n int) parse.Text {
	p.last = true
	p.placed.file.used.Store(true)
	return parse.NewText(&p.placed.arena, uint32(from), uint32(n))
}

// KeepLine refers to a line at from of the run and notes its sum.
func (p *runWriter) KeepLine(from int, line []byte) parse.Text {
	p.placedLines = append(p.placedLines, lineSum{uint32(from), uint32(len(line)), uint32(maphash.Bytes(lineSeed, line))})
	return p.KeepPlace(from, len(line))
}

// Keep packs a copy of the line.
func (p *runWriter) Keep(line []byte) parse.Text {
	p.last = false
	return p.packer.Keep(line)
}

// KeepRow puts the fields of the line kept last into its store.
func (p *runWriter) KeepRow(row []parse.Sym, values [][]byte) uint32 {
	if !p.last {
		return p.packer.KeepRow(row, values)
	}
	return p.placedRows.Add(row)
}
