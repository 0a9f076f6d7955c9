package bundle

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
)

// indexer builds the index of a journal file: sequence numbers and clocks of its
// entries.
type indexer struct {
	*parse.JournalFile
	boot       binary.ID // boot and clocks of the previous entry
	mono, wall int64
}

func newIndexer(f *parse.File, h binary.Header) *indexer {
	return &indexer{JournalFile: &parse.JournalFile{File: f, Machine: h.Machine.String(), Seqnum: h.Seqnum.String(), State: h.State.String()}}
}

// maxSpans bounds the cost of a hostile journal in which every entry sets the
// clock.
const maxSpans = 10000

func (x *indexer) add(e *binary.Entry) {
	x.Entries++
	if n := len(x.Runs); n > 0 && x.Runs[n-1].Seq+uint64(x.Runs[n-1].N) == e.Seqnum && x.Runs[n-1].Line+x.Runs[n-1].N == e.Number {
		x.Runs[n-1].N++
	} else {
		x.Runs = append(x.Runs, parse.SeqRun{Line: e.Number, N: 1, Seq: e.Seqnum})
	}
	if x.boot != e.Boot || len(x.Spans) == 0 || stepped(e.Monotonic-x.mono, e.Realtime-x.wall) {
		if len(x.Spans) < maxSpans {
			x.Spans = append(x.Spans, parse.JournalSpan{Line: e.Number, Offset: e.Offset, Boot: e.Boot.String(), Mono: e.Monotonic, Wall: e.Realtime})
		}
	}
	last := &x.Spans[len(x.Spans)-1]
	last.N++
	last.EndMono, last.EndWall = e.Monotonic, e.Realtime
	x.boot, x.mono, x.wall = e.Boot, e.Monotonic, e.Realtime
}

// stepped reports whether the wall clock was set between two entries, given the
// monotonic and wall time between them in µs. Slewing and the delay between the two
// clock readings of an entry stay below the threshold of 1 s plus 1/1000 of the
// interval.
func stepped(mono, wall int64) bool {
	drift := wall - mono
	return max(drift, -drift) > 1e6+max(mono, 0)/1000
}

// joinJournals merges the journal files of each machine: an entry that several
// files hold is used once, and entries written before the boot's clock was set are
// shifted to where the monotonic clock puts them. Slots must be in file order.
func joinJournals(slots []*slot) {
	var all []*slot
	for _, s := range slots {
		if len(s.part.Journals) > 0 {
			all = append(all, s)
		}
	}
	for i, s := range all {
		dropCopies(s, all[:i])
	}
	boots := map[string][]bootFile{}
	var order []string
	for _, s := range all {
		j := s.part.Journals[0]
		for i := range j.Spans {
			id := j.Machine + j.Spans[i].Boot
			of := boots[id]
			if of == nil {
				order = append(order, id)
			}
			if n := len(of); n == 0 || of[n-1].slot != s {
				of = append(of, bootFile{slot: s})
			}
			last := &of[len(of)-1]
			last.spans = append(last.spans, &j.Spans[i])
			boots[id] = of
		}
	}
	for _, id := range order {
		settleBoot(boots[id])
	}
}

// dropCopies drops from s the entries that files before it hold too. They are found
// by sequence number, which journald assigns per machine, not per file.
func dropCopies(s *slot, before []*slot) {
	j := s.part.Journals[0]
	var dup []parse.SeqRun
	for _, b := range before {
		k := b.part.Journals[0]
		if k.Seqnum != j.Seqnum || k.Machine != j.Machine {
			continue
		}
		if more := common(j.Runs, k.Runs); len(more) > 0 {
			if j.CopyOf == nil {
				j.CopyOf = k.File
			}
			dup = append(dup, more...)
		}
	}
	if len(dup) == 0 {
		return
	}
	dup = joined(dup)
	for _, r := range dup {
		j.Copies += int(r.N)
	}
	in := func(line uint32) bool {
		i, exact := slices.BinarySearchFunc(dup, line, func(r parse.SeqRun, line uint32) int { return cmp.Compare(r.Line, line) })
		return exact || i > 0 && line < dup[i-1].Line+dup[i-1].N
	}
	s.part.Events = slices.DeleteFunc(s.part.Events, func(e *parse.Event) bool { return in(e.Line) })
	s.part.Markers = slices.DeleteFunc(s.part.Markers, func(m *parse.Marker) bool { return in(m.Line) })
	if j.Copies == j.Entries {
		s.part.Coverage, s.part.Facts = nil, nil
		s.file.Unused = "all its entries stand in " + j.CopyOf.Path + " too"
	}
}

// common returns the parts of the runs of a whose sequence numbers are also in b.
// The result is in the order of a.
func common(a, b []parse.SeqRun) (out []parse.SeqRun) {
	b = slices.Clone(b)
	slices.SortFunc(b, func(x, y parse.SeqRun) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, r := range a {
		i, _ := slices.BinarySearchFunc(b, r.Seq, func(x parse.SeqRun, seq uint64) int { return cmp.Compare(x.Seq+uint64(x.N), seq+1) })
		for ; i < len(b) && b[i].Seq < r.Seq+uint64(r.N); i++ {
			from, to := max(r.Seq, b[i].Seq), min(r.Seq+uint64(r.N), b[i].Seq+uint64(b[i].N))
			if from < to {
				out = append(out, parse.SeqRun{Line: r.Line + uint32(from-r.Seq), N: uint32(to - from), Seq: from})
			}
		}
	}
	return out
}

// joined sorts runs by line and merges overlapping ones.
func joined(runs []parse.SeqRun) []parse.SeqRun {
	slices.SortFunc(runs, func(x, y parse.SeqRun) int { return cmp.Compare(x.Line, y.Line) })
	out := runs[:1]
	for _, r := range runs[1:] {
		last := &out[len(out)-1]
		if end := last.Line + last.N; r.Line < end {
			last.N = max(end, r.Line+r.N) - last.Line
		} else {
			out = append(out, r)
		}
	}
	return out
}

// firstSync is how long after boot, in µs, a forward step of the wall clock counts
// as the first setting of a wrong clock, which means that earlier entries are
// misdated. A later forward step means that the machine was suspended or frozen;
// earlier timestamps are right.
const firstSync = int64(time.Hour / time.Microsecond)

// settleBoot finds the steps of the wall clock within a boot and shifts the spans
// before a step that corrected the clock.
func settleBoot(files []bootFile) {
	mendEnds(files)
	var spans []*parse.JournalSpan
	for _, f := range files {
		spans = append(spans, f.spans...)
	}
	slices.SortStableFunc(spans, func(a, b *parse.JournalSpan) int { return cmp.Compare(a.Mono, b.Mono) })
	shift := make([]int64, len(spans))
	for i := len(spans) - 2; i >= 0; i-- {
		a, b := spans[i], spans[i+1]
		step := (b.Wall - b.Mono) - (a.Wall - a.Mono)
		switch {
		case !stepped(b.Mono-a.Mono, b.Wall-a.Wall):
			shift[i] = shift[i+1]
		case step < 0 || b.Mono < firstSync:
			shift[i] = shift[i+1] + step
		}
	}
	for i, s := range spans {
		s.Shift = shift[i] * 1000
	}
}

// orderJournals sorts events with the same timestamp from several journal files of
// a machine by sequence number, the order in which journald received them.
func orderJournals(b *parse.Bundle) {
	if len(b.Journals) < 2 {
		return
	}
	files := make(map[*parse.File]*parse.JournalFile, len(b.Journals))
	for _, j := range b.Journals {
		files[j.File] = j
	}
	same := func(i, j int) bool {
		x, y := files[b.Events[i].File], files[b.Events[j].File]
		return b.Events[i].At == b.Events[j].At && x != nil && y != nil && x.Seqnum == y.Seqnum && x.Machine == y.Machine
	}
	for i := 0; i < len(b.Events); {
		j := i + 1
		for j < len(b.Events) && same(i, j) {
			j++
		}
		if j-i > 1 {
			slices.SortStableFunc(b.Events[i:j], func(x, y *parse.Event) int {
				return cmp.Compare(files[x.File].SeqnumOf(x.Line), files[y.File].SeqnumOf(y.Line))
			})
		}
		i = j
	}
}
