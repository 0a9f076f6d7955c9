// Package bundle opens inputs, whatever they are wrapped in, and runs the decoders
// over them. It is the only package with I/O and goroutines.
//
// Each top-level file has a walker, which recognizes compression and archives by
// content and unwraps them in one pass. It never writes to the input and never
// follows a link; large database files inside an archive are spooled to unlinked
// temporary files. The walker cuts text members into runs of whole lines, which
// workers decode in parallel; of a large uncompressed log the workers read the runs
// themselves. Other members go to their decoder whole, as a random-access view, or
// in groups. Results are merged in file order, so the output does not depend on the
// number of workers.
//
// Input is hostile. Everything a member expands to counts against Limits. A problem
// becomes a parse.Warning with its position, and the readable rest is still
// decoded.
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

// Options configures Load. The zero value is usable.
type Options struct {
	Jobs     int       // decoding workers, default GOMAXPROCS
	Stdin    io.Reader // content of the input "-"
	Limits   Limits    // zero fields take the default
	Clock    clock.Options
	Progress *Progress // updated while loading, may be nil
	// Asked reports whether the caller asked for a metric beyond those that the
	// rules and the rebuild use; nil means all are wanted. Other metrics of a large
	// snapshot are only counted.
	Asked func(metric string) bool
	// Held is called after samples were read with the number of metric series
	// added; nil: not called. Calls do not overlap.
	Held func(series int)

	Signatures *logs.Set // log signatures to match; nil: the built-in ones

	// newLines returns the decoder of a text log; tests replace it.
	newLines func(f *parse.File, head []byte) lineDecoder
	// plainRun and placesLeast override the constants of the same names; tests make
	// them small.
	plainRun, placesLeast int64
}

// Progress counts what has been read so far. Read it from any goroutine.
type Progress struct {
	Read  atomic.Int64 // bytes of the inputs, as stored
	Total atomic.Int64 // size of the inputs in bytes, as far as known
	Files atomic.Int64 // members seen
	file  atomic.Pointer[string]
}

// File returns the path of the member begun last, "" before the first.
func (p *Progress) File() string {
	if s := p.file.Load(); s != nil {
		return *s
	}
	return ""
}

// begin records that reading of a member begins.
func (p *Progress) begin(path string) {
	p.Files.Add(1)
	p.file.Store(&path)
}

// ErrNoInput is returned when none of the inputs could be opened. The bundle
// returned with it holds a warning for each.
var ErrNoInput = errors.New("no input could be opened")

// Load reads all inputs: files, directories, archives, or "-" for Options.Stdin.
// Problems of the input are warnings in the bundle. The error is ErrNoInput when
// nothing could be opened, or the error of ctx: a canceled Load returns within a
// second even while a read blocks. Slices of the bundle are sorted by time, then
// position, and do not depend on Options.Jobs.
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
	b.Interned = l.store.interned
	series := l.series()
	accountTogether(b, series)
	add(b, series)
	nameNodes(b, units)
	b.Facts = append(b.Facts, facts.Combined(b.Facts)...)
	sortByTime(b, clock.Resolve(b, l.opt.Clock))
	foldRepeats(b)
	dropRepeats(b)
	return b
}
