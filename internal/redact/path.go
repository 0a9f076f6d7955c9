package redact

import (
	"regexp"
	"strings"
	"sync"
)

// The names of inputs, and of directories and files in them, are given by people and collectors and
// may contain customer, cluster, host, or case number. Whatever is not a word of reports or known
// layouts is treated as a name.

// learnPath learns the names in a path.
func (r *Redactor) learnPath(path string) {
	for i := 0; i < len(path); i++ {
		if i += escapeAt(path, i); i == len(path) || !isAlnum(path[i]) {
			continue
		}
		if n := len(stamped().FindString(path[i:min(len(path), i+32)])); n > 0 {
			i += n - 1
			continue
		}
		j := wordEnd(path, i)
		if w := path[i:j]; isPathName(w) {
			r.learn(Path, w)
		} else if counted(path, i, j) {
			r.learnStrange(path, i, j)
		}
		i = j
	}
}

// stamped matches a date, with or without a time of day, that ends there: 2026-11-20T23:33:00Z.
var stamped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20\d\d-[01]\d-[0-3]\d(?:[T_][0-2]\d[:_-]?[0-5]\d(?:[:_-]?[0-5]\d)?Z?)?\b`)
})

// isPathName reports whether a word of a path may identify somebody.
func isPathName(w string) bool {
	digits := len(w) - len(strings.Trim(w, "0123456789"))
	switch {
	case digits == len(w):
		return len(w) >= 6 && !isDate(w)
	case len(w) < 3, vocabulary()[strings.ToLower(w)], figures().MatchString(w):
		return false
	case len(w) >= 16 && allHex(w): // IDs of journals, containers, archives
		return false
	}
	return true
}

// isDate reports whether a number is a date, a date with a time, or seconds since the epoch.
func isDate(w string) bool {
	return strings.HasPrefix(w, "20") && (len(w) == 8 || len(w) == 12 || len(w) == 14) || strings.HasPrefix(w, "1") && len(w) == 10
}

// Path replaces the names in the path of an input, including numbers and words that are kept
// elsewhere.
func (r *Redactor) Path(path string) string {
	r.learnPath(path)
	r.Settle()
	var b strings.Builder
	last := 0
	for i := 0; i < len(path); {
		if i += escapeAt(path, i); i == len(path) || !isAlnum(path[i]) {
			i++
			continue
		}
		j := wordEnd(path, i)
		if n := r.lookup(path[i:j]); n != nil && n.plain && (n.kind == Path || n.kind == Node) {
			n.count++
			b.WriteString(path[last:i])
			b.WriteString(n.pseudonym)
			last = j
		}
		i = j
	}
	return r.Text(b.String() + path[last:])
}
