package bundle

import (
	"fmt"
	"io"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// binaryJournal decodes a binary journal file of journald.
func binaryJournal(l *loader, f *parse.File, at io.ReaderAt, size int64) (p parse.Part) {
	r, err := binary.Open(at, size, binary.Limits{Field: logs.MaxRecord})
	if err != nil {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f}, Msg: err.Error()})
		return p
	}
	d := logs.NewEntryDecoder(f, l.opt.Signatures, logs.Options{})
	x := newIndexer(f, r.Header)
	m := &mender{file: f}
	p.LogPart = d.Finish(l.batches(d, entriesOf(m.mended(r.Entries), x)))
	p.Journals = append(p.Journals, x.JournalFile)
	p.Warnings = append(p.Warnings, m.warnings()...)
	if next := r.Header.Next(at, size); next > 0 {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f, Offset: next}, Msg: fmt.Sprintf("another journal begins at byte %d of the file: it is not read; split the file there", next)})
	}
	for _, w := range r.Warnings() {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f, Offset: w.Offset}, Msg: w.Msg, Note: w.Note})
	}
	return p
}

// batches reads entries in the calling goroutine and decodes them in the workers.
// It panics if a worker's decoder panicked.
func (l *loader) batches(d *logs.Decoder, entries iter.Seq[*logs.BinaryEntry]) []logs.Result {
	var results []*logs.Result
	var failed atomic.Pointer[string]
	var wg sync.WaitGroup
	for b := range d.Batches(entries) {
		if l.ctx.Err() != nil {
			break
		}
		res := new(logs.Result)
		results = append(results, res)
		wg.Add(1)
		l.do(func() {
			defer wg.Done()
			defer func() {
				if x := recover(); x != nil {
					s := fmt.Sprint(x)
					failed.Store(&s)
				}
			}()
			keep := l.store.packer()
			*res = d.DecodeBatch(b, keep)
			keep.done()
			b.Release()
		})
	}
	wg.Wait()
	if s := failed.Load(); s != nil {
		panic(*s) // recovered by slot.survive, which records that the decoder of this file failed
	}
	out := make([]logs.Result, len(results))
	for i, res := range results {
		out[i] = *res
	}
	return out
}

// entriesOf yields the entries of a journal that have a message or lost it, and adds
// all entries to the index.
func entriesOf(entries iter.Seq[*binary.Entry], x *indexer) iter.Seq[*logs.BinaryEntry] {
	return func(yield func(*logs.BinaryEntry) bool) {
		var out logs.BinaryEntry
		var boot binary.ID
		for e := range entries {
			x.add(e)
			if !e.Has(binary.Message) && !e.Lost {
				continue
			}
			if e.Boot != boot || out.Boot == "" {
				boot, out.Boot = e.Boot, e.Boot.String()
			}
			out.Number, out.Offset, out.Realtime, out.Mono = e.Number, e.Offset, e.Realtime, e.Monotonic
			out.Lost = e.Lost
			fill(&out.Fields, e)
			if !yield(&out) {
				return
			}
		}
	}
}

// maxDelay is the longest plausible delay in µs between a message's own timestamp
// and its receipt by journald.
const maxDelay = int64(time.Hour / time.Microsecond)

// otherClock reports whether source, the sender's timestamp in decimal µs, comes
// from a clock that was set before journald received the message: early in a boot
// senders use the time of the last shutdown or an arbitrary one.
func otherClock(source []byte, received int64) bool {
	us, err := strconv.ParseInt(string(source), 10, 64)
	return err != nil || received-us > maxDelay || us-received > maxDelay
}

func fill(f *journal.Fields, e *binary.Entry) {
	f.Message = e.Get(binary.Message)
	if f.Source = e.Get(binary.SourceRealtime); f.Source != nil && otherClock(f.Source, e.Realtime) {
		f.Source = nil
	}
	f.Host = e.Get(binary.Hostname)
	f.Ident = e.Get(binary.Identifier)
	f.Comm = e.Get(binary.Comm)
	f.PID = e.Get(binary.PID)
	f.SyslogPID = e.Get(binary.SyslogPID)
	f.Unit = e.Get(binary.SystemdUnit)
	f.Container = e.Get(binary.ContainerName)
	f.Transport = e.Get(binary.Transport)
}
