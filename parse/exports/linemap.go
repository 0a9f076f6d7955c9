package exports

import "sort"

// lineMap maps output lines to the lines of the export they come from. Lines that
// were never added map to the same offset from the span before. Lines count from 0.
type lineMap []span

// span maps output lines from out on: to the lines of the export from in on, or, if
// same is set, all to line in.
type span struct {
	out, in, last int // last is the last output line added
	same          bool
}

// add records the origin of an output line after all earlier ones.
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
