package simulate

import "github.com/plegforensics/plegforensics/parse"

// Feed turns lines of a snapshots file into steps. It holds one snapshot back
// so that each knows when the next one began.
type Feed struct {
	Decoder SnapshotDecoder
	held    *Snapshot
}

// Line reads one line and gives do the snapshot before it, if there is one.
func (f *Feed) Line(text []byte, pos parse.Pos, do func(*Snapshot)) {
	s := f.Decoder.Decode(text, pos)
	if s == nil {
		return
	}
	f.push(s, do)
}

func (f *Feed) push(s *Snapshot, do func(*Snapshot)) {
	if f.held != nil {
		f.held.Next = s.At
		do(f.held)
	}
	f.held = s
}

// End gives do the last snapshot.
func (f *Feed) End(do func(*Snapshot)) {
	if f.held != nil {
		do(f.held)
		f.held = nil
	}
}
