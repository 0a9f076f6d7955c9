package binary

import "io"

// Geometry of the window: an entry and the data that only it uses are adjacent, and
// shared data is cached by the Reader, so a few pages serve almost every read. The
// slot of a page follows from its number, so a lookup takes a single comparison.
const (
	pageSize = 64 << 10
	pages    = 64
)

// window reads a file through a few cached pages.
type window struct {
	r     io.ReaderAt
	size  int64
	page  [pages]page
	span  []byte // for reads that span pages
	loads int64  // number of page loads left
}

type page struct {
	off int64 // -1 if empty
	buf []byte
}

// loadsPerPage limits the work that a file can cause with references back and
// forth: it is the average number of times that each page may be read. Files of
// real nodes stay below three.
const loadsPerPage = 64

func newWindow(r io.ReaderAt, size int64) *window {
	w := &window{r: r, size: size, loads: 1000 + loadsPerPage*(size/pageSize+1)}
	for i := range w.page {
		w.page[i].off = -1
	}
	return w
}

// at returns n bytes at off, valid until the next call. It returns nil if they are
// not within the file, cannot be read, or the budget of page loads is exhausted.
func (w *window) at(off int64, n int) []byte {
	if off < 0 || n < 0 || off > w.size-int64(n) {
		return nil
	}
	base := off &^ (pageSize - 1)
	if off+int64(n) > base+pageSize {
		return w.across(off, n)
	}
	p := &w.page[base/pageSize%pages]
	if p.off != base && !w.load(p, base) {
		return nil
	}
	return p.buf[off-base:][:n]
}

// across reads a range that spans pages.
func (w *window) across(off int64, n int) []byte {
	if !w.pay(int64(n)/pageSize + 1) {
		return nil
	}
	if cap(w.span) < n {
		w.span = make([]byte, n, n+n/4)
	}
	b := w.span[:n]
	if got, _ := w.r.ReadAt(b, off); got < n {
		return nil
	}
	return b
}

// load fills p with the page that begins at base.
func (w *window) load(p *page, base int64) bool {
	if !w.pay(1) {
		return false
	}
	if p.buf == nil {
		p.buf = make([]byte, pageSize)
	}
	n := min(pageSize, w.size-base)
	p.off = -1
	if got, _ := w.r.ReadAt(p.buf[:n], base); int64(got) < n {
		return false
	}
	p.off = base
	return true
}

// pay deducts n page loads from the budget and reports whether it sufficed.
func (w *window) pay(n int64) bool {
	w.loads -= n
	return w.loads >= 0
}
