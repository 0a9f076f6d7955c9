package bundle

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// A large log that lies in the file system as it is needs no reader between it
// and the workers: each takes the next run as soon as it is done with one, looks
// where it can be cut, and reads it itself, so that what it decodes is in the
// cache of its core.
const (
	plainRun  = 256 << 10 // bytes of a run
	plainRuns = 4         // that make a log large
	page      = 4 << 10   // whole pages are copied faster
)

// plainLog is such a log.
type plainLog struct {
	at    io.ReaderAt
	size  int64 // when it was opened
	run   int64 // bytes of a run, a multiple of page
	limit int64 // of the length of a record

	mu     sync.Mutex // of what follows
	over   bool       // no more runs follow
	short  bool       // because the log could not be read on
	err    error      // because nothing may be read any more
	from   int64      // where the next run begins
	end    int64      // and where it should end
	window []byte     // before end

	text *fileText // where its lines stay, nil: they are kept
}

// errShrank is a file that is shorter than it was when it was opened.
var errShrank = errors.New("the file became shorter while it was read")

// plain returns the log that m is, nil if it must be read as a stream.
func (w *walker) plain(m member, d lineDecoder) *plainLog {
	run := w.l.opt.plainRun
	if m.at == nil || m.size < plainRuns*run || !d.CutsAnywhere() {
		return nil
	}
	return &plainLog{at: m.at, size: m.size, run: run, limit: int64(w.l.opt.Limits.Line)}
}

// firstWindow is how many bytes before the end of a run are read first, to find
// a place to cut.
func (p *plainLog) firstWindow() int64 { return max(p.run/32, 1) }

// cut returns where the next run ends: p.from if no place to cut is found within
// the limit. An error ends the log somewhere before that place.
func (p *plainLog) cut(d lineDecoder) (int64, error) {
	for p.end += p.run; p.end < p.size; p.end += max(p.run, (p.end-p.from)/p.run*p.run) {
		for n := p.firstWindow(); ; n *= 4 {
			from := max(p.end-n, p.from)
			p.window = slices.Grow(p.window[:0], int(p.end-from))[:p.end-from]
			if _, err := readAt(p.at, p.window, from); err != nil {
				return p.end, err
			}
			data := p.window
			if from > p.from { // in the middle of a line
				data = data[bytes.IndexByte(data, '\n')+1:]
			}
			if k := d.Cut(data, false); k > 0 {
				return p.end - int64(len(data)-k), nil
			}
			if from == p.from {
				break
			}
		}
		if p.end-p.from >= p.limit {
			return p.from, nil
		}
	}
	return p.size, nil
}

// read reads a stretch of the log into mem, or into memory of its own if that is
// too small.
func (p *plainLog) read(mem []byte, from, to int64) ([]byte, error) {
	start := from &^ (page - 1)
	if to-start > int64(len(mem)) {
		mem = make([]byte, to-start)
	}
	n, err := readAt(p.at, mem[:to-start], start)
	return mem[min(int(from-start), n):n], err
}

// readAt is ReadAt to which the end of the file is an error only when b is not
// full.
func readAt(r io.ReaderAt, b []byte, off int64) (int, error) {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return n, nil
	case err == io.EOF:
		return n, errShrank
	}
	return n, cause(err)
}

// plain lets all workers that are idle decode the runs of p together with the
// walker. It returns false when a record comes that is too long for a run: next
// reads from there.
func (lr *lineReader) plain(p *plainLog) bool {
	w := lr.w
	lr.s.close = w.o.keep()
	if p.size >= w.l.opt.placesLeast {
		if p.text = newFileText(lr.s.file, p.at, lr.s.close, w.l.store.symbols); p.text != nil {
			p.at, lr.s.close = p.text, p.text.done
		}
	}
	w.l.give(lr.buf)
	lr.buf = nil
	w.in.progress.Read.Add(-w.in.n) // the workers read the beginning again
	w.l.together(func() { lr.decodePlain(p) })
	lr.offset, w.in.n, lr.err = p.from, p.from, p.err
	if lr.err != nil || p.short || p.from == p.size {
		return true
	}
	w.in.r = io.NewSectionReader(p.at, p.from, p.size-p.from)
	lr.r, lr.buf = w.in, w.l.take()
	lr.eof, lr.err = lr.buf.fill(lr.r)
	return false
}

// decodePlain reads and decodes runs until no more follow.
func (lr *lineReader) decodePlain(p *plainLog) {
	l, s := lr.w.l, lr.s
	mem := <-l.pages
	if mem == nil {
		mem = make([]byte, p.run+p.firstWindow()+page)
	}
	defer func() { l.pages <- mem }()
	for {
		from, res := lr.nextPlain(p)
		if res == nil {
			return
		}
		to := res.end
		data, err := p.read(mem, from, to)
		if err != nil {
			res.err, res.end = err, from+int64(len(data))
		}
		l.opt.Progress.Read.Add(int64(len(data)))
		l.decodeRun(s, run{data: data, offset: from, file: p.text, last: to == p.size}, res)
		s.finish(l.ctx, res)
	}
}

// nextPlain returns where the next run begins, and its result without all but
// where it ends; nil if no more runs follow.
func (lr *lineReader) nextPlain(p *plainLog) (from int64, res *runResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from = p.from
	if p.over = p.over || from == p.size; p.over {
		return from, nil
	}
	if p.err = lr.w.b.alive(); p.err != nil {
		p.over = true
		return from, nil
	}
	to, err := p.cut(lr.s.lines)
	p.from, p.short = to, err != nil
	if p.over = p.short || to == from; to == from {
		return from, nil
	}
	return from, lr.s.add(&runResult{err: err, end: to})
}
