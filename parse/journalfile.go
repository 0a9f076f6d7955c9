package parse

import "sort"

// JournalFile is what one of journald's own files is, among those of its
// machine.
type JournalFile struct {
	File    *File
	Machine string // machine id
	Seqnum  string // id of the numbering that its entries count in
	State   string // "online", "offline", "archived"
	Entries int
	// Copies is how many of its entries stand in CopyOf, or in other files
	// before this one, too: they are used once.
	Copies int
	CopyOf *File

	Runs  []SeqRun
	Spans []JournalSpan
}

// SeqRun is a run of entries whose sequence numbers follow each other.
type SeqRun struct {
	Line uint32 // of the first, as Pos has it
	N    uint32
	Seq  uint64
}

// JournalSpan is a run of entries of one boot between two steps of the wall
// clock.
type JournalSpan struct {
	Line       uint32 // first entry
	Boot       string
	Mono, Wall int64 // of the first entry: since boot, and Unix time, µs
	// Shift is what to add to the wall clock of the span to have it on the
	// axis of the spans behind it, ns: the clock was set after it was written.
	Shift int64
}

// SeqnumOf returns the sequence number of an entry, 0 when there is none.
func (j *JournalFile) SeqnumOf(line uint32) uint64 {
	i := sort.Search(len(j.Runs), func(i int) bool { return j.Runs[i].Line > line }) - 1
	if i < 0 || line-j.Runs[i].Line >= j.Runs[i].N {
		return 0
	}
	return j.Runs[i].Seq + uint64(line-j.Runs[i].Line)
}

// Span returns the span of an entry, nil when there is none.
func (j *JournalFile) Span(line uint32) *JournalSpan {
	i := sort.Search(len(j.Spans), func(i int) bool { return j.Spans[i].Line > line })
	if i == 0 {
		return nil
	}
	return &j.Spans[i-1]
}
