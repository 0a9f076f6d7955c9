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
