package parse

import "sort"

// JournalFile describes one of journald's own files among those of its machine.
type JournalFile struct {
	File    *File
	Machine string // machine ID
	Seqnum  string // ID of the sequence that its entries are numbered in
	State   string // "online", "offline", "archived"
	Entries int
	// Copies is the number of entries that are also in CopyOf or in other files
	// before this one. They are used only once.
	Copies int
	CopyOf *File

	Runs  []SeqRun
	Spans []JournalSpan
}

// SeqRun is a run of entries with consecutive sequence numbers.
type SeqRun struct {
	Line uint32 // line of the first entry, as in Pos
	N    uint32
	Seq  uint64
}

// JournalSpan is a run of entries of one boot between two steps of the wall clock.
type JournalSpan struct {
	Line       uint32 // first entry
	Offset     int64  // … in the file
	N          int    // entries
	Boot       string
	Mono, Wall int64 // of the first entry, µs: since boot, and Unix time
	// EndMono and EndWall are those of the last entry.
	EndMono, EndWall int64
	// Shift is what to add to the wall clock of the span to align it with the later
	// spans, in ns: the clock was set after the span was written.
	Shift int64
}

// SeqnumOf returns the sequence number of the entry at line, or 0 if unknown.
func (j *JournalFile) SeqnumOf(line uint32) uint64 {
	i := sort.Search(len(j.Runs), func(i int) bool { return j.Runs[i].Line > line }) - 1
	if i < 0 || line-j.Runs[i].Line >= j.Runs[i].N {
		return 0
	}
	return j.Runs[i].Seq + uint64(line-j.Runs[i].Line)
}

// Span returns the span of the entry at line, or nil.
func (j *JournalFile) Span(line uint32) *JournalSpan {
	i := sort.Search(len(j.Spans), func(i int) bool { return j.Spans[i].Line > line })
	if i == 0 {
		return nil
	}
	return &j.Spans[i-1]
}
