package exports

import "bytes"

// Damage is the first place of an export of which something could not be read.
type Damage struct {
	Line   uint32 // from 1; 0: there is no damage
	Offset int64
	Why    string // lower case, no period
	end    int64  // offset behind it
}

const (
	whyZeros   = "zeros stand in place of what was written: records are lost"
	whyInvalid = "a record cannot be read, as it is damaged: it is lost, and maybe some behind it"
	whyCut     = "data is cut short: this record or list has no end"
	whyLong    = "a text of more than 1 MiB is skipped"
)

// hole is a run of zeros that no writer leaves.
var hole = make([]byte, 64)

// Damage returns the first damage that was met so far.
func (s *source) Damage() Damage { return s.damage }

// damaged records that what stands in the window from from to to cannot be read. Of
// damage within damage the inner is kept.
func (s *source) damaged(from, to int, why string) {
	at := s.size - int64(len(s.win))
	if d := &s.damage; d.Line == 0 || d.Why == why && at+int64(from) < d.end {
		*d = Damage{uint32(s.line+bytes.Count(s.win[:from], newline)) + 1, at + int64(from), why, at + int64(to)}
	}
}

// holes looks for zeros in what was read last, n bytes, except at the beginning of
// the file, where a rotation leaves them.
func (s *source) holes(n int) {
	from := max(len(s.win)-n-len(hole), 0)
	i := bytes.Index(s.win[from:], hole)
	if i < 0 {
		return
	}
	if i += from; s.size-int64(len(s.win)-i) > 0 {
		s.damaged(i, len(s.win), whyZeros)
	}
}
