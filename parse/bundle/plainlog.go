package bundle

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// A large uncompressed log in the file system is read by the workers themselves:
// each takes the next run when it has finished one, finds where it can be cut, and
// reads it, so that the data is in its core's cache when it is decoded.
const (
	plainRun  = 256 << 10 // bytes per run
	plainRuns = 4         // runs that make a log large
	page      = 4 << 10   // bytes; reads of whole, aligned pages are faster
)

// plainLog is a log that is read by the workers.
type plainLog struct {
	at    io.ReaderAt
	size  int64 // size when it was opened
	run   int64 // bytes per run, a multiple of page
	limit int64 // maximum length of a record

	mu     sync.Mutex // guards the fields below
	over   bool       // no more runs follow
	short  bool       // … because the log could not be read any further
	err    error      // … because the context ended or a limit was hit
	from   int64      // start of the next run
	end    int64      // planned end of the next run
	window []byte     // data before end, to find a cut

	text *fileText // file to read texts from again, nil: texts are kept in memory
}

// errShrank reports that a file is shorter than when it was opened.
var errShrank = errors.New("the file became shorter while it was read")

// plain returns m as a plainLog, nil if it must be read as a stream.
func (w *walker) plain(m member, d lineDecoder) *plainLog {
	run := w.l.opt.plainRun
	if m.at == nil || m.size < plainRuns*run || !d.CutsAnywhere() {
		return nil
	}
	return &plainLog{at: m.at, size: m.size, run: run, limit: int64(w.l.opt.Limits.Line)}
}

// firstWindow returns how many bytes before the planned end of a run are read first
// to find a cut.
func (p *plainLog) firstWindow() int64 { return max(p.run/32, 1) }

// cut returns where the next run ends, p.from if there is no cut within the limit.
// On a read error the log ends somewhere before the returned offset.
func (p *plainLog) cut(d lineDecoder) (int64, error) {
	for p.end += p.run; p.end < p.size; p.end += max(p.run, (p.end-p.from)/p.run*p.run) {
		for n := p.firstWindow(); ; n *= 4 {
			from := max(p.end-n, p.from)
			p.window = slices.Grow(p.window[:0], int(p.end-from))[:p.end-from]
			if _, err := readAt(p.at, p.window, from); err != nil {
				return p.end, err
			}
			data := p.window
			if from > p.from { // the window begins in mid-line
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

// read reads bytes from to to of the log into mem, or into new memory if mem is too
// small.
func (p *plainLog) read(mem []byte, from, to int64) ([]byte, error) {
	start := from &^ (page - 1)
	if to-start > int64(len(mem)) {
		mem = make([]byte, to-start)
	}
	n, err := readAt(p.at, mem[:to-start], start)
	return mem[min(int(from-start), n):n], err
}

// readAt is ReadAt, except that reaching the end of the file is an error
// (errShrank) only if b is not full.
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

// plain decodes the runs of p in all idle workers and the walker. It returns false
// when a record is too long for a run; next must continue from there.
func (lr *lineReader) plain(p *plainLog) bool {
	w := lr.w
	lr.s.close = w.o.keep()
	if p.size >= w.l.opt.placesLeast {
		if p.text = newFileText(lr.s.file, p.at, lr.s.close, w.l.store.interned); p.text != nil {
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
	w.in.r = newRest(p.at, w.o.at, p.from, p.size)
	lr.r, lr.buf = w.in, w.l.take()
	lr.eof, lr.err = lr.buf.fill(lr.r)
	return false
}

// decodePlain reads and decodes runs until there are no more.
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

// nextPlain returns the start of the next run and its result, of which only end and
// err are set; nil if there are no more runs.
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
