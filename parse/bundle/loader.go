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

// loader is one run of Load.
type loader struct {
	ctx      context.Context
	cancel   context.CancelFunc
	opt      Options
	deadline time.Time
	opened   int // inputs that could be opened

	bufs  chan *buffer  // recycled run buffers; nil entries are not allocated yet
	pages chan []byte   // of those who read for themselves, for as many as may at once
	jobs  chan func()   // work for the workers
	big   chan struct{} // held by whoever keeps a large member in memory
	store *textStore

	groupMu sync.Mutex
	groups  map[groupKey]*group

	samplesMu sync.Mutex
	samples   *metrics.Set // of all metrics files
}

// unit is one top-level file: what one walker reads from front to back.
type unit struct {
	input     int
	path      string                  // parse.File.Path
	lone      bool                    // named on the command line, not found in a directory
	only      bool                    // the only file of its input
	open      func() (*opened, error) // nil: nothing to read, warnings only
	close     func()                  // set on the last unit of a directory
	stored    int64
	bytes     int64 // decompressed bytes that decoders or sniffers saw
	files     int
	unlisted  int
	own       int           // of files, reports of this program
	logs      int           // that it holds, read or not
	snapshots int           // files of metrics that it holds, read or not
	count     *logCount     // of the input
	metrics   *logCount     // its files of metrics
	place     int           // there
	held      int64         // bytes kept in memory for groups
	spooled   int64         // bytes kept in temporary files for groups
	slots     []*slot       // until they are merged
	listed    []*parse.File // theirs, once all are known
	warnings  []parse.Warning
	partial   bool
	kind      format     // outermost wrapping
	id        identity   // of a file in a directory
	ids       identifier // of the members of an archive
}

// opened is a top-level file that was opened.
type opened struct {
	r     io.Reader
	at    io.ReaderAt // nil when it cannot seek
	size  int64       // -1 when unknown
	mtime int64
	close func()
}

// keep leaves the closing of the file to the caller.
func (o *opened) keep() (close func()) {
	close, o.close = o.close, func() {}
	return close
}

func (u *unit) warn(pos parse.Pos, format string, args ...any) {
	u.warnings = append(u.warnings, parse.Warning{Pos: pos, Msg: fmt.Sprintf(format, args...)})
	u.partial = true
}

// cut is the warning that a limit left something out.
func (u *unit) cut(pos parse.Pos, format string, args ...any) {
	u.warn(pos, format, args...)
	u.warnings[len(u.warnings)-1].Cut = true
}

// note is a warning that loses nothing.
func (u *unit) note(pos parse.Pos, format string, args ...any) {
	u.warnings = append(u.warnings, parse.Warning{Pos: pos, Msg: fmt.Sprintf(format, args...)})
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
	n := max(4, 2*opt.Jobs) // a worker decodes one, one waits for it; a walker has one
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

// run walks the units and decodes what they hold. Walkers take units in order;
// everything a unit yields stays with the unit, so their timing never shows.
func (l *loader) run(units []*unit) {
	var workers, walkers sync.WaitGroup
	for range max(1, l.opt.Jobs-1) { // and a walker: see do
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
					units[i].end() // others may wait for it
					return
				}
				w.unit(units[i])
			}
		})
	}
	walkers.Wait()
	close(l.jobs)
	workers.Wait()
}

// do hands a job to the workers. When they have enough to do, the walker does it
// itself, so that it need not wait for its turn on a core, and what it has just
// read is near. One job at a time means one worker.
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

// together lets the workers that have nothing to do, and the walker, do the same
// job side by side. It returns when the walker is done with it.
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
