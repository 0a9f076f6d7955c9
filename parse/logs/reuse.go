package logs

import (
	"sync"
	"unicode/utf8"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal"
)

// A large file has thousands of runs. A scanner passes its memory and what it has
// learned on to the next run; the result of a run does not depend on it.

// maxTaught is the number of learned items beyond which a scanner forgets them, for
// files in which every line brings something new.
const maxTaught = 4096

// idleScanners are the scanners of a decoder that currently have no run. They are
// freed with the decoder. A sync.Pool would keep them until a later garbage
// collection, and a batch has thousands of files.
type idleScanners struct {
	mu   sync.Mutex
	list []*scanner
}

func (i *idleScanners) get() (s *scanner) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.list) - 1; n >= 0 {
		s, i.list = i.list[n], i.list[:n]
	}
	return s
}

func (i *idleScanners) put(s *scanner) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.list = append(i.list, s)
}

// scanner returns a scanner set up for run; its method end gives it back.
func (d *Decoder) scanner(run Run) *scanner {
	s := d.idle.get()
	if s == nil {
		s = d.newScanner()
		s.d, s.parser = d, journal.NewParser(d.framing)
	}
	s.begin(run)
	return s
}

func (d *Decoder) newScanner() *scanner {
	if s, _ := d.set.retired.Get().(*scanner); s != nil && !d.opt.Brute {
		return s
	}
	s := &scanner{streams: map[streamKey]*stream{}, streamBy: map[*parse.Origin]*stream{}, batchOf: map[*parse.EventKind]*parse.Batch{}}
	s.forget()
	if d.opt.Brute {
		s.match = d.set.MatchBrute
	} else {
		s.matcher, s.picked, s.open.picked = d.set.NewMatcher(), make([]uint64, d.set.words), make([]uint64, d.set.words)
		s.match = s.matcher.Match
	}
	return s
}

// retire hands the memory of the scanners to the next file: an archive may hold
// very many small ones. No run may follow.
func (d *Decoder) retire() {
	for s := d.idle.get(); s != nil; s = d.idle.get() {
		if s.matcher == nil || len(s.callers)+len(s.origins)+len(s.writers)+len(s.kinds)+len(s.batchOf) > fewTaught {
			continue // emptying it would take longer than making a new one
		}
		clear(s.callers)
		clear(s.origins)
		clear(s.writers)
		clear(s.kinds)
		s.empty()
		clear(s.batches[:cap(s.batches)])
		s.parser.Release()
		s.d, s.parser, s.res, s.taken, s.called, s.lag = nil, nil, Result{}, 0, "", lagYear{}
		d.set.retired.Put(s)
	}
}

// fewTaught is the most learned items a retired scanner may have.
const fewTaught = 64

// forget drops what was learned from earlier runs.
func (s *scanner) forget() {
	s.callers, s.origins, s.writers = map[string]string{}, map[streamID]*parse.Origin{}, map[streamKey]*writer{}
	s.kinds = map[parse.EventKind]*parse.EventKind{}
}

// begin prepares for a run. It keeps nothing of the previous run except what was
// learned.
func (s *scanner) begin(run Run) {
	if len(s.callers)+len(s.origins)+len(s.writers)+len(s.kinds) > maxTaught {
		s.forget()
	}
	s.keep = run.Keep
	if s.keep == nil {
		s.keep = plainWriter{}
	}
	s.places, _ = s.keep.(parse.PlaceWriter)
	if s.matcher != nil {
		s.matcher.recent = s.fields.keepWith(s.keep)
	}
	s.data, s.base, s.at, s.line, s.off = run.Data, run.Offset, 0, 1, 0
	s.foreign = !s.d.binary && s.d.framing.Block != journal.ExportBlock && !utf8.Valid(run.Data)
	s.marked = 0
	s.section, s.known = "", run.Offset == 0 || !s.d.framing.Sections
	s.empty()
}

// empty drops the state of the previous run.
func (s *scanner) empty() {
	s.entry = journal.Entry{}
	s.open = openRecord{body: s.open.body[:0], picked: s.open.picked}
	clear(s.picked)
	s.skimmed, s.hit, s.unfinished = skimmed{}, false, false
	s.recent, s.oldest, s.brisk = [4]streamOfKey{}, 0, streamCache{}
	clear(s.streams)
	clear(s.streamBy)
	clear(s.batchOf)
	s.batches = s.batches[:0]
}

// end returns the result of the run and gives the scanner back.
func (s *scanner) end() Result {
	s.close()
	s.finish()
	res := s.res
	n := len(res.events)
	s.taken += n
	s.res = Result{events: res.events[n:]}
	res.events = res.events[:n:n]
	s.data, s.keep, s.places = nil, nil, nil
	s.d.idle.put(s)
	return res
}

// streams pools the streams of merged results.
var streams = sync.Pool{New: func() any { return new(stream) }}

// newStreamOf returns an empty stream.
func newStreamOf(w *writer) *stream {
	l := streams.Get().(*stream)
	l.writer = *w
	return l
}

// release returns merged streams to the pool. It empties them because their texts
// hold files open.
func (r *Result) release() {
	for _, l := range r.streams {
		clear(l.gaps)
		*l = stream{gaps: l.gaps[:0]}
		streams.Put(l)
	}
	r.streams = nil
}
