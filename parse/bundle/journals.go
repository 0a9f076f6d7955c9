package bundle

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
)

// indexer notes where the entries of a journal file stand among those of its
// machine.
type indexer struct {
	*parse.JournalFile
	boot       binary.ID // of the entry before, and its clocks
	mono, wall int64
}

func newIndexer(f *parse.File, h binary.Header) *indexer {
	return &indexer{JournalFile: &parse.JournalFile{File: f, Machine: h.Machine.String(), Seqnum: h.Seqnum.String(), State: h.State.String()}}
}

// maxSpans bounds what a hostile journal, each entry of which sets the clock,
// can cost.
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
			x.Spans = append(x.Spans, parse.JournalSpan{Line: e.Number, Boot: e.Boot.String(), Mono: e.Monotonic, Wall: e.Realtime})
		}
	}
	x.boot, x.mono, x.wall = e.Boot, e.Monotonic, e.Realtime
}

// stepped reports whether the wall clock was set between two moments: what
// slewing and the delay between the two readings of an entry make is less. All
// in µs.
func stepped(mono, wall int64) bool {
	drift := wall - mono
	return max(drift, -drift) > 1e6+max(mono, 0)/1000
}

// joinJournals makes the journal files of each machine one: an entry that
// several files hold is used once, and stretches of a boot that were written
// before its clock was set move to where the boot's own clock has them. Slots
// are in the order of files.
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
	boots := map[string][]*parse.JournalSpan{}
	var order []string
	for _, s := range all {
		j := s.part.Journals[0]
		for i := range j.Spans {
			id := j.Machine + j.Spans[i].Boot
			if boots[id] == nil {
				order = append(order, id)
			}
			boots[id] = append(boots[id], &j.Spans[i])
		}
	}
	for _, id := range order {
		settleBoot(boots[id])
	}
}

// dropCopies drops from s what the files before it hold too: journald numbers
// the entries of a machine, whatever file they go to.
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

// common returns the runs of a, by their lines, whose numbers b has too.
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

// joined sorts runs by line and joins those that overlap.
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

// firstSync is how long after boot a step forward is the first setting of a
// clock that was wrong: what was written before it is dated wrongly. Later it
// is a machine that was suspended or frozen, and the stamps before it are right.
const firstSync = int64(time.Hour / time.Microsecond)

// settleBoot finds the steps of the wall clock within a boot. What was written
// before a step that corrected the clock moves by it.
func settleBoot(spans []*parse.JournalSpan) {
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

// orderJournals brings events of one moment that stand in several journal files
// of a machine into the order in which journald took them.
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
