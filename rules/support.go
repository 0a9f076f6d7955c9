package rules

import (
	"slices"
	"strings"
)

// Support counts the independent public incidents that the references of a
// definition name, an issue thread each, and reports whether one of them is a
// proof in source: a fix, a commit, a file.
func (d *Def) Support() (incidents int, source bool) {
	var seen []string
	for _, ref := range d.References {
		thread := threadOf(ref)
		switch {
		case strings.Contains(thread, "/pull/"), strings.Contains(thread, "/commit/"), strings.Contains(thread, "/blob/"):
			source = true
		case strings.Contains(thread, "/issues/") && !slices.Contains(seen, thread):
			seen = append(seen, thread)
			incidents++
		}
	}
	return incidents, source
}

// Supported reports whether at least two independent incidents or a proof in
// source stand behind a built-in definition. For one of the user the user vouches.
func (d *Def) Supported() bool {
	if !strings.HasPrefix(d.Place.File, builtinDir) {
		return true
	}
	incidents, source := d.Support()
	return incidents >= 2 || source
}

// threadOf is a reference without what points into the page.
func threadOf(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	return strings.TrimSuffix(ref, "/")
}

// Forget takes a thread out of the references, as if it were not known yet: what
// rests on it alone is then not supported. It is how the rules are tried on a thread
// that they were made from.
func (p *Pack) Forget(thread string) {
	for _, d := range p.Causes {
		d.References = slices.DeleteFunc(slices.Clone(d.References), func(ref string) bool { return threadOf(ref) == threadOf(thread) })
	}
}
