package bundle

import (
	"context"
	"fmt"
	"time"

	"github.com/plegforensics/plegforensics/parse/logs"
)

// Limits bound the cost of hostile input. A zero field takes the default given in
// parentheses. Hitting a limit always gives a warning with file and offset.
type Limits struct {
	Bytes     int64         // decompressed bytes of one top-level file, all layers together (128 GiB)
	Files     int           // members of one top-level file; also files of a directory (2^20)
	Logs      int           // logs read of one input (50,000), each costs about 4 KiB whatever its length; for metrics files the limit is a fifth of it
	Depth     int           // layers of archive or compression (12)
	Ratio     int64         // expansion ratio of one stream (250), enforced once …
	RatioFree int64         // … a top-level file has expanded to this many bytes (512 MiB)
	Line      int           // bytes of one line; the rest of a longer one is skipped (4 MiB)
	Whole     int64         // bytes of a member that must be decoded in one piece (64 MiB)
	Random    int64         // bytes of an archived member that needs random access (160 MiB)
	Group     int64         // bytes of archived members that are decoded together (256 MiB)
	Series    int           // samples kept per snapshot of a large metrics file (125,000); twice as many of metrics that the program itself uses
	Dict      int64         // dictionary or window of a decompressor (128 MiB)
	Time      time.Duration // wall time of the whole load (2 h)
}

// DefaultLimits are safe against hostile input and generous for real bundles.
var DefaultLimits = Limits{
	Bytes:     128 << 30,
	Files:     1 << 20,
	Logs:      50_000,
	Depth:     12,
	Ratio:     250,
	RatioFree: 512 << 20,
	Line:      logs.MaxRecord,
	Whole:     64 << 20,
	Random:    160 << 20,
	Group:     256 << 20,
	Series:    125_000,
	Dict:      128 << 20,
	Time:      2 * time.Hour,
}

// Hold sets the memory limit in bytes for files that cannot be streamed: metrics as
// protobuf or JSON, and journals or databases inside an archive.
func (l *Limits) Hold(n int64) {
	l.Whole, l.Random, l.Group = n, max(n, DefaultLimits.Random), max(n, DefaultLimits.Group)
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	orDefault(&l.Bytes, d.Bytes)
	orDefault(&l.Files, d.Files)
	orDefault(&l.Logs, d.Logs)
	orDefault(&l.Depth, d.Depth)
	orDefault(&l.Ratio, d.Ratio)
	orDefault(&l.RatioFree, d.RatioFree)
	orDefault(&l.Line, d.Line)
	orDefault(&l.Whole, d.Whole)
	orDefault(&l.Random, d.Random)
	orDefault(&l.Group, d.Group)
	orDefault(&l.Series, d.Series)
	orDefault(&l.Dict, d.Dict)
	orDefault(&l.Time, d.Time)
	return l
}

func orDefault[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// limitError reports that a limit was hit. If final is set, nothing more of the
// top-level file is read; otherwise only the current stream ends.
type limitError struct {
	msg   string // of the file: "expands to more than …"
	final bool
}

func (e *limitError) Error() string { return e.msg }

// freeStream is how far, in bytes, any one stream may expand regardless of its
// ratio once RatioFree is used up.
const freeStream = 16 << 20

// budget tracks what one top-level file has cost so far. It is used by one walker
// only.
type budget struct {
	ctx      context.Context
	lim      Limits
	deadline time.Time
	stored   int64 // size of the file, -1 when unknown
	out      int64 // decompressed bytes so far
	files    int
}

// alive returns the reason why reading must stop, nil if it may go on.
func (b *budget) alive() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(b.deadline) {
		return &limitError{fmt.Sprintf("is read no further after the time limit of %v", b.lim.Time), true}
	}
	return nil
}

// expand accounts for n more bytes of a stream that has so far consumed sIn and
// returned sOut bytes.
func (b *budget) expand(n int, sIn, sOut int64) error {
	b.out += int64(n)
	if b.out > b.lim.Bytes {
		return &limitError{fmt.Sprintf("expands to more than the limit of %d bytes (max-bytes): the rest is skipped", b.lim.Bytes), true}
	}
	if b.stored >= 0 && b.out > 2*b.lim.RatioFree && b.out/b.lim.Ratio > b.stored {
		return &limitError{fmt.Sprintf("expands more than %d times in all: the rest is skipped", b.lim.Ratio), true}
	}
	if b.out > b.lim.RatioFree && sOut > freeStream && sOut/b.lim.Ratio > sIn {
		return &limitError{fmt.Sprintf("expands more than %d times after %d bytes in total: the rest of it is skipped", b.lim.Ratio, b.lim.RatioFree), false}
	}
	return nil
}

// member accounts for one more archive member.
func (b *budget) member() error {
	b.files++
	if b.files > b.lim.Files {
		return &limitError{fmt.Sprintf("holds more than the limit of %d members (max-files): the rest is skipped", b.lim.Files), true}
	}
	return nil
}
