package bundle

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/journal/binary"
)

// indexed indexes entries given as sequence number, seconds since boot and
// wall-clock seconds.
func indexed(name string, boot byte, entries ...[3]int64) *slot {
	f := &parse.File{Path: name}
	x := newIndexer(f, binary.Header{Machine: binary.ID{1}, Seqnum: binary.ID{2}})
	s := &slot{file: f}
	for i, e := range entries {
		x.add(&binary.Entry{Number: uint32(i + 1), Seqnum: uint64(e[0]), Monotonic: e[1] * 1e6, Realtime: e[2] * 1e6, Boot: binary.ID{boot}})
		s.part.Events = append(s.part.Events, parse.NewEvent(&parse.EventKind{File: f}, parse.Text{}, parse.Event{Line: uint32(i + 1)}))
	}
	s.part.Coverage = []*parse.Coverage{{File: f}}
	s.part.Journals = []*parse.JournalFile{x.JournalFile}
	return s
}

// TestJournalCopies: exactly the entries that an earlier file of the machine holds
// are dropped.
func TestJournalCopies(t *testing.T) {
	a := indexed("system.journal", 1, [3]int64{10, 1, 101}, [3]int64{11, 2, 102}, [3]int64{14, 3, 103}, [3]int64{15, 4, 104})
	b := indexed("system@1.journal~", 1, [3]int64{9, 0, 100}, [3]int64{10, 1, 101}, [3]int64{12, 2, 102}, [3]int64{14, 3, 103}, [3]int64{16, 9, 109})
	c := indexed("user-1000.journal", 1, [3]int64{12, 2, 102}, [3]int64{14, 3, 103})
	joinJournals([]*slot{a, b, c})
	lines := func(s *slot) (out []uint32) {
		for _, e := range s.part.Events {
			out = append(out, e.Line)
		}
		return out
	}
	for _, w := range []struct {
		s      *slot
		lines  []uint32
		copies int
	}{{a, []uint32{1, 2, 3, 4}, 0}, {b, []uint32{1, 3, 5}, 2}, {c, nil, 2}} {
		if got := lines(w.s); !equal(got, w.lines) || w.s.part.Journals[0].Copies != w.copies {
			t.Errorf("%s: entries %v of %v, %d copies, want %d", w.s.file.Path, got, w.lines, w.s.part.Journals[0].Copies, w.copies)
		}
	}
	if c.file.Unused == "" || c.part.Coverage != nil || b.file.Unused != "" || b.part.Coverage == nil {
		t.Errorf("unused: %q, %q", b.file.Unused, c.file.Unused)
	}
}

func equal(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestJournalClock: entries written before the clock was set move by the step,
// across files; entries before a suspension do not move.
func TestJournalClock(t *testing.T) {
	const year = 365 * 86400
	boots := indexed("a.journal", 1, [3]int64{1, 5, 105}, [3]int64{2, 30, 130}, [3]int64{3, 40, 140 + year}, [3]int64{4, 50, 150 + year})
	user := indexed("u.journal", 1, [3]int64{5, 20, 120}, [3]int64{6, 45, 145 + year})
	joinJournals([]*slot{boots, user})
	shifts := func(s *slot) (out []int64) {
		for _, x := range s.part.Journals[0].Spans {
			out = append(out, x.Shift/1e9)
		}
		return out
	}
	for _, s := range []*slot{boots, user} {
		if got := shifts(s); len(got) != 2 || got[0] != year || got[1] != 0 {
			t.Errorf("%s: shifts %v, want %d and 0", s.file.Path, got, year)
		}
	}
	asleep := indexed("b.journal", 2, [3]int64{1, 90000, 1000}, [3]int64{2, 90010, 1010}, [3]int64{3, 90011, 9000})
	back := indexed("c.journal", 3, [3]int64{1, 90000, 1000}, [3]int64{2, 90010, 910})
	joinJournals([]*slot{asleep, back})
	if got := shifts(asleep); len(got) != 2 || got[0] != 0 {
		t.Errorf("suspension: shifts %v", got)
	}
	if got := shifts(back); len(got) != 2 || got[0] != -100 {
		t.Errorf("clock set back: shifts %v", got)
	}
	j := boots.part.Journals[0]
	if j.Span(2).Shift == 0 || j.Span(3).Shift != 0 || j.SeqnumOf(4) != 4 || j.SeqnumOf(5) != 0 {
		t.Error("spans or sequence numbers by line are wrong")
	}
}
