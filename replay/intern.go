package replay

import "strings"

// interner keeps one copy of each name. A name cut out of a line would hold the
// whole line in memory, and pods come up again and again.
type interner map[string]string

func (n interner) of(s string) string {
	if have, ok := n[s]; ok {
		return have
	}
	s = strings.Clone(s)
	n[s] = s
	return s
}

// podNames interns the names of pods by their parts.
type podNames map[[2]string]string

func (n podNames) of(ns, name string) string {
	if have, ok := n[[2]string{ns, name}]; ok {
		return have
	}
	s := strings.Clone(podName(ns, name))
	if i := len(s) - len(name); i > 0 {
		ns, name = s[:i-1], s[i:]
	} else {
		ns, name = strings.Clone(ns), s
	}
	n[[2]string{ns, name}] = s
	return s
}

// slab makes values of one kind in blocks: of hundreds of thousands, each on its
// own would cost more than it holds.
type slab[T any] struct{ free []T }

func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.free = make([]T, 256)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}
