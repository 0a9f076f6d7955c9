package bundle

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// binaryJournal decodes one of journald's own files.
func binaryJournal(l *loader, f *parse.File, at io.ReaderAt, size int64) (p parse.Part) {
	r, err := binary.Open(at, size, binary.Limits{Field: logs.MaxRecord})
	if err != nil {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f}, Msg: err.Error()})
		return p
	}
	d := logs.NewEntryDecoder(f, l.opt.sigs, logs.Options{})
	p.LogPart = d.Finish(l.batches(d, r))
	for _, w := range r.Warnings() {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f, Offset: w.Offset}, Msg: w.Msg})
	}
	return p
}

// batches reads the entries in this goroutine and lets the workers decode them.
func (l *loader) batches(d *logs.Decoder, r *binary.Reader) []logs.Result {
	var results []*logs.Result
	var failed atomic.Pointer[string]
	var wg sync.WaitGroup
	for b := range d.Batches(entriesOf(r)) {
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
			keep := packer{store: l.store}
			*res = d.DecodeBatch(b, &keep)
			keep.close()
		})
	}
	wg.Wait()
	if s := failed.Load(); s != nil {
		panic(*s) // the walker notes that this file's decoder failed
	}
	out := make([]logs.Result, len(results))
	for i, res := range results {
		out[i] = *res
	}
	return out
}

// entriesOf hands the entries of a journal to the decoder of logs.
func entriesOf(r *binary.Reader) func(func(*logs.BinaryEntry) bool) {
	return func(yield func(*logs.BinaryEntry) bool) {
		var out logs.BinaryEntry
		var boot binary.ID
		for e := range r.Entries {
			if !e.Has(binary.Message) {
				continue
			}
			if e.Boot != boot || out.Boot == "" {
				boot, out.Boot = e.Boot, e.Boot.String()
			}
			out.Number, out.Offset, out.Realtime, out.Mono = e.Number, e.Offset, e.Realtime, e.Monotonic
			fill(&out.Fields, e)
			if !yield(&out) {
				return
			}
		}
	}
}

func fill(f *journal.Fields, e *binary.Entry) {
	f.Message = e.Get(binary.Message)
	f.Source = e.Get(binary.SourceRealtime)
	f.Host = e.Get(binary.Hostname)
	f.Ident = e.Get(binary.Identifier)
	f.Comm = e.Get(binary.Comm)
	f.PID = e.Get(binary.PID)
	f.SyslogPID = e.Get(binary.SyslogPID)
	f.Unit = e.Get(binary.SystemdUnit)
	f.Container = e.Get(binary.ContainerName)
	f.Transport = e.Get(binary.Transport)
}
