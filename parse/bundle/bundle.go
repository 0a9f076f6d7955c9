// Package bundle opens inputs, whatever they are wrapped in, and runs the
// decoders over them. It is the only package with I/O and goroutines.
//
// The flow: a walker per top-level file peels compression and archives by
// content, in one pass, never writing to the input and never following a link.
// (Large database files inside an archive wait in nameless temporary files.) It
// cuts text members into runs of whole lines, which workers decode in
// parallel, and read themselves where a large log lies open; other members go
// to their decoder whole, as a random-access view, or in groups. What the runs
// gave is put together in the order of the file, so the number of workers never
// shows in the result.
//
// Input is hostile. Everything a member expands to is counted against Limits;
// a problem becomes a parse.Warning with its position and the readable rest is
// still decoded.
package bundle

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/clock"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// Options of Load. The zero value is usable.
type Options struct {
	Jobs     int       // decoding workers, default GOMAXPROCS
	Stdin    io.Reader // what the input "-" reads
	Limits   Limits    // zero fields take the default
	Clock    clock.Options
	Progress *Progress // updated while loading, may be nil
	// Asked reports whether the caller asks for a metric beside those that rules
	// and the rebuild look at; nil: for all. Of others a large snapshot is only counted.
	Asked func(metric string) bool
	// Held is told how many more metric series are held each time that samples were
	// read; nil: nobody is. One call at a time.
	Held func(series int)

	Signatures *logs.Set // that lines are held against; nil: the built-in ones

	// newLines makes the decoder of a text log; tests replace it.
	newLines func(f *parse.File, head []byte) lineDecoder
	// plainRun and placesLeast are the constants; tests make them small.
	plainRun, placesLeast int64
}

// Progress counts what has been read so far. Read it from any goroutine.
type Progress struct {
	Read  atomic.Int64 // bytes of the inputs, as stored
	Total atomic.Int64 // bytes that the inputs hold, as far as known
	Files atomic.Int64 // members seen
	file  atomic.Pointer[string]
}

// File is the member that was begun last, "" before the first.
func (p *Progress) File() string {
	if s := p.file.Load(); s != nil {
		return *s
	}
	return ""
}

// begin notes that a member is read.
func (p *Progress) begin(path string) {
	p.Files.Add(1)
	p.file.Store(&path)
}

// ErrNoInput says that none of the inputs could be opened. The bundle returned
// with it holds a warning for each.
var ErrNoInput = errors.New("no input could be opened")

// Load reads all inputs: files, directories, archives, "-" for Options.Stdin.
// Problems of the input are warnings in the bundle. The error is ErrNoInput
// when nothing could be opened, or the error of ctx: a cancelled Load returns
// within a second even when a read blocks. Slices of the bundle are sorted by
// time, then position, and do not depend on Options.Jobs.
func Load(ctx context.Context, inputs []string, opt Options) (*parse.Bundle, error) {
	if opt.Jobs <= 0 {
		opt.Jobs = runtime.GOMAXPROCS(0)
	}
	if opt.Progress == nil {
		opt.Progress = new(Progress)
	}
	opt.Limits = opt.Limits.withDefaults()
	if opt.Signatures == nil {
		opt.Signatures = logs.Builtin()
	}
	if opt.newLines == nil {
		opt.newLines = textLogs(opt.Signatures)
	}
	orDefault(&opt.plainRun, plainRun)
	orDefault(&opt.placesLeast, placesLeast)

	l := newLoader(ctx, opt)
	defer l.cancel()
	done := make(chan *parse.Bundle, 1)
	go func() { done <- l.load(inputs) }()
	select {
	case b := <-done:
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l.opened == 0 {
			return b, ErrNoInput
		}
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *loader) load(inputs []string) *parse.Bundle {
	b := &parse.Bundle{Inputs: make([]parse.Input, len(inputs))}
	var units []*unit
	for i, path := range inputs {
		b.Inputs[i].Path = path
		of := l.expand(i, path)
		countLogs(of, l.opt.Limits.Logs)
		units = append(units, of...)
	}
	defer closeRoots(units)
	l.run(units)
	dropLogs(units)
	settle(units)
	if l.ctx.Err() != nil {
		return b
	}
	merge(b, units, l.collect())
	b.Symbols = l.store.symbols
	add(b, l.series())
	nameNodes(b, units)
	b.Facts = append(b.Facts, facts.Combined(b.Facts)...)
	sortByTime(b, clock.Resolve(b, l.opt.Clock))
	foldRepeats(b)
	dropRepeats(b)
	return b
}
