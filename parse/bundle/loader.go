package bundle

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
)

// loader is the state of one call of Load.
type loader struct {
	ctx      context.Context
	cancel   context.CancelFunc
	opt      Options
	deadline time.Time
	opened   int // inputs that could be opened

	bufs  chan *buffer  // recycled run buffers; nil entries are not allocated yet
	pages chan []byte   // read buffers, one for each goroutine that may read a file itself at a time; nil entries are not allocated yet
	jobs  chan func()   // work for the workers
	big   chan struct{} // semaphore: held while a large member is in memory
	store *textStore

	groupMu sync.Mutex
	groups  map[groupKey]*group

	samplesMu sync.Mutex
	samples   *metrics.Set // of all metrics files
}

// unit is one top-level file, read from front to back by one walker.
type unit struct {
	input     int
	path      string                  // parse.File.Path
	lone      bool                    // named on the command line, not found in a directory
	few       bool                    // of an input of no known layout with few files
	open      func() (*opened, error) // nil: nothing to read, warnings only
	close     func()                  // set on the last unit of a directory
	bytes     int64                   // decompressed bytes that were read
	files     int
	unlisted  int
	empty     int           // members that are empty or hold nothing but NUL bytes
	own       int           // members that are reports of this program
	logs      int           // logs it holds, read or not
	snapshots int           // metrics files it holds, read or not
	count     *logCount     // counts logs of the input
	metrics   *logCount     // counts metrics files of the input
	place     int           // index of the unit in count and metrics
	held      int64         // bytes kept in memory for groups
	spooled   int64         // bytes kept in temporary files for groups
	slots     []*slot       // until merged
	listed    []*parse.File // files of all slots, set by settle
	warnings  []parse.Warning
	kind      format     // outermost wrapping
	id        identity   // identity of a file in a directory
	ids       identifier // for the members of an archive
}

// opened is an open top-level file.
type opened struct {
	r     io.Reader
	at    io.ReaderAt // nil if not seekable
	size  int64       // -1 when unknown
	mtime int64
	close func()
}

// keep transfers the duty to close the file to the caller.
func (o *opened) keep() (close func()) {
	close, o.close = o.close, func() {}
	return close
}

func (u *unit) warn(pos parse.Pos, format string, args ...any) {
	u.warnings = append(u.warnings, parse.Warning{Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// cut adds a warning that a limit left something out.
func (u *unit) cut(pos parse.Pos, format string, args ...any) {
	u.warn(pos, format, args...)
	u.warnings[len(u.warnings)-1].Cut = true
}

// note adds a warning that does not mark the input as partially read.
func (u *unit) note(pos parse.Pos, format string, args ...any) {
	u.warnings = append(u.warnings, parse.Warning{Pos: pos, Note: true, Msg: fmt.Sprintf(format, args...)})
}

func newLoader(ctx context.Context, opt Options) *loader {
	ctx, cancel := context.WithCancel(ctx)
	l := &loader{
		ctx: ctx, cancel: cancel, opt: opt,
		deadline: time.Now().Add(opt.Limits.Time),
		jobs:     make(chan func(), opt.Jobs),
		big:      make(chan struct{}, 1),
		store:    newTextStore(),
		groups:   make(map[groupKey]*group),
	}
	n := max(4, 2*opt.Jobs) // per worker one being decoded and one queued; a walker holds one
	l.bufs = make(chan *buffer, n)
	for range n {
		l.bufs <- nil
	}
	l.pages = make(chan []byte, opt.Jobs)
	for range opt.Jobs {
		l.pages <- nil
	}
	return l
}

// run walks the units and decodes their content. Walkers take units in order; all
// results stay with the unit, so timing does not affect the output.
func (l *loader) run(units []*unit) {
	var workers, walkers sync.WaitGroup
	for range max(1, l.opt.Jobs-1) { // plus a walker, which works too: see do
		workers.Go(func() {
			for job := range l.jobs {
				job()
			}
		})
	}
	var next atomic.Int64
	for range min(l.opt.Jobs, len(units)) {
		walkers.Go(func() {
			w := &walker{l: l}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				if l.ctx.Err() != nil {
					units[i].end() // others may wait for this one
					return
				}
				w.unit(units[i])
			}
		})
	}
	walkers.Wait()
	close(l.jobs)
	workers.Wait()
	l.spareBuffers()
}

// do runs a job in a worker, or in the calling walker if all workers are busy: the
// walker then need not wait for a core, and what it just read is still in the CPU
// cache. With Jobs == 1 the single worker runs all jobs.
func (l *loader) do(job func()) {
	if l.opt.Jobs == 1 {
		l.jobs <- job
		return
	}
	select {
	case l.jobs <- job:
	default:
		job()
	}
}

// together runs the same job concurrently in the idle workers and the calling
// walker. It returns when the walker's call has returned; others may still be
// running.
func (l *loader) together(job func()) {
	if l.opt.Jobs == 1 {
		done := make(chan struct{})
		l.jobs <- func() {
			defer close(done)
			job()
		}
		<-done
		return
	}
	for range l.opt.Jobs - 1 {
		select {
		case l.jobs <- job:
		default:
		}
	}
	job()
}
