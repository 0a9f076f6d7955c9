package bundle

import (
	"cmp"
	"hash/maphash"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plegforensics/plegforensics/parse"
)

// Lines of a very large plain log are not kept in memory. Their text is read again
// from the file when needed, which is seldom; the file stays open as long as texts
// refer to it.
const (
	placesLeast = 8 << 20 // minimum size in bytes of a log that is read again
	maxOpen     = 64      // such logs open at a time in the process; lines of further logs are kept in memory
)

var openLogs atomic.Int64

// fileText is a log that is kept open to read texts from it. It is safe for
// concurrent use.
type fileText struct {
	file     *parse.File
	at       io.ReaderAt
	close    func()
	interned *parse.StringTable
	used     atomic.Bool // texts refer to it

	mu     sync.Mutex
	window []byte // bytes read last
	start  int64  // offset of window in the file
	next   int64  // end of the text requested last
	hit    bool   // window served more than one text
}

// newFileText takes ownership of a file. It returns nil when too many are open.
func newFileText(f *parse.File, at io.ReaderAt, close func(), interned *parse.StringTable) *fileText {
	if openLogs.Add(1) > maxOpen {
		openLogs.Add(-1)
		return nil
	}
	t := &fileText{file: f, at: at, interned: interned}
	t.close = sync.OnceFunc(func() {
		close()
		openLogs.Add(-1)
	})
	runtime.AddCleanup(t, func(close func()) { close() }, t.close)
	return t
}

// done must be called when all runs are decoded. It closes a file that no text
// refers to.
func (t *fileText) done() {
	if !t.used.Load() {
		t.close()
	}
}

func (t *fileText) ReadAt(p []byte, off int64) (int, error) {
	defer runtime.KeepAlive(t)
	return t.at.ReadAt(p, off)
}

// Read-ahead for a text close behind the previous one: it doubles as long as the
// window serves further texts. Other texts are read alone.
const (
	near       = page
	leastAhead = page
	mostAhead  = 64 << 10
)

// slice returns up to n bytes at off of the file; fewer at its end.
func (t *fileText) slice(off int64, n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text(off, n))
}

// append is like slice but appends to dst. If another goroutine holds the window,
// it reads from the file directly.
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

// text is like slice but returns a part of the window. The caller must hold mu
// while using it.
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
	got, _ := t.ReadAt(t.window, t.start) // a short read is detected by the checksum of the line
	t.window = t.window[:got]
}

// placed is the parse.FieldStore for the lines of one run that are read again from
// the file.
type placed struct {
	arena parse.Arena
	file  *fileText
	base  int64 // offset of the run in the file
	rows  parse.Rows
	lines []lineSum // sorted by place
}

// lineSum is the position, length and checksum of a line within its run; the
// checksum detects a file that changed.
type lineSum struct{ off, n, sum uint32 }

func byPlace(x, y lineSum) int { return cmp.Or(cmp.Compare(x.off, y.off), cmp.Compare(x.n, y.n)) }

// lineSeed is random, so that no log can be crafted to collide.
var lineSeed = maphash.MakeSeed()

// Slice implements parse.FieldStore. If the line changed in the file, it returns
// the text of parse.Changed.
func (p *placed) Slice(off, n uint32) string {
	at := p.base + int64(off)
	s := p.file.slice(at, int(n))
	if l := p.line(off, n); l != nil && l.sum != uint32(maphash.String(lineSeed, s)) {
		return parse.Changed(p.file.file, at)
	}
	return s
}

// Append is like Slice but appends to dst.
func (p *placed) Append(dst []byte, off, n uint32) []byte {
	at, from := p.base+int64(off), len(dst)
	dst = p.file.append(dst, at, int(n))
	if l := p.line(off, n); l != nil && l.sum != uint32(maphash.Bytes(lineSeed, dst[from:])) {
		return append(dst[:from], parse.Changed(p.file.file, at)...)
	}
	return dst
}

// line returns the checksum entry of the text at off of length n, nil if there is
// none.
func (p *placed) line(off, n uint32) *lineSum {
	i, ok := slices.BinarySearchFunc(p.lines, lineSum{off: off, n: n}, byPlace)
	if !ok {
		return nil
	}
	return &p.lines[i]
}

// Row returns the row of fields numbered n.
func (p *placed) Row(n uint32) (parse.Row, *parse.StringTable) { return p.rows.At(n), p.file.interned }

// runWriter is the parse.PlaceWriter of one run. It packs only lines that are not
// part of the run as stored in the file.
type runWriter struct {
	*packer
	placed *placed
	last   bool // the line kept last refers to the file
}

// writer returns a runWriter for the run at file offset base; its done releases the
// packer.
func (t *fileText) writer(p *packer, base int64) *runWriter {
	x := &runWriter{packer: p, placed: &placed{file: t, base: base}}
	x.placed.arena = parse.Arena{Store: x.placed, Reread: true}
	return x
}

func (p *runWriter) done() {
	p.placed.rows, p.placed.lines = p.placedRows.Take(), slices.Clone(p.placedLines)
	slices.SortFunc(p.placed.lines, byPlace) // nearly sorted already
	p.placedLines = p.placedLines[:0]
	p.packer.done()
}

// KeepPlace returns a text that refers to n bytes at offset from of the run.
func (p *runWriter) KeepPlace(from, n int) parse.Text {
	p.last = true
	p.placed.file.used.Store(true)
	return parse.NewText(&p.placed.arena, uint32(from), uint32(n))
}

// KeepLine returns a text that refers to the line at offset from of the run, and
// records its checksum.
func (p *runWriter) KeepLine(from int, line []byte) parse.Text {
	p.placedLines = append(p.placedLines, lineSum{uint32(from), uint32(len(line)), uint32(maphash.Bytes(lineSeed, line))})
	return p.KeepPlace(from, len(line))
}

// Keep packs a copy of the line.
func (p *runWriter) Keep(line []byte) parse.Text {
	p.last = false
	return p.packer.Keep(line)
}

// KeepRow stores the fields of the line kept last and returns the number of the
// row.
func (p *runWriter) KeepRow(row []parse.StringID, values [][]byte) uint32 {
	if !p.last {
		return p.packer.KeepRow(row, values)
	}
	return p.placedRows.Add(row)
}
