package exports

import "sort"

// lineMap tells which line of an export each line laid out comes from. Lines
// that nobody added stand where they stood. Lines count from 0.
type lineMap []span

// span are lines laid out from out on: as many lines of the export from in on,
// or all of the line in.
type span struct {
	out, in, last int // last is the last line laid out that was added
	same          bool
}

// add notes a line behind all others.
func (m *lineMap) add(out, in int) {
	if n := len(*m); n > 0 {
		s := &(*m)[n-1]
		if s.of(out) == in {
			s.last = out
			return
		}
		if s.last == s.out && s.in == in {
			s.same, s.last = true, out
			return
		}
	} else if out == in {
		return
	}
	*m = append(*m, span{out: out, in: in, last: out})
}

func (m lineMap) of(out int) int {
	i := sort.Search(len(m), func(i int) bool { return m[i].out > out }) - 1
	if i < 0 {
		return out
	}
	return m[i].of(out)
}

func (s *span) of(out int) int {
	if s.same {
		return s.in
	}
	return s.in + out - s.out
}
