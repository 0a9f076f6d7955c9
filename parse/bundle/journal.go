package bundle

import (
	"io"

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
	keep := packer{store: l.store}
	p.LogPart = d.Finish(d.DecodeEntries(entriesOf(r), &keep))
	keep.close()
	for _, w := range r.Warnings() {
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: f, Offset: w.Offset}, Msg: w.Msg})
	}
	return p
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
