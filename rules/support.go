package rules

import (
	"slices"
	"strings"
)

// Support counts the independent public incidents (one per issue thread) among the
// references of a definition, and reports whether one of the references is a proof in
// source: a fix, a commit or a file.
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

// Supported reports whether a built-in definition rests on at least two independent
// incidents or a proof in source. User definitions always count as supported.
func (d *Def) Supported() bool {
	if !strings.HasPrefix(d.Place.File, builtinDir) {
		return true
	}
	incidents, source := d.Support()
	return incidents >= 2 || source
}

// threadOf strips the fragment and a trailing slash from a reference.
func threadOf(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	return strings.TrimSuffix(ref, "/")
}

// Forget removes a thread from the references, so that a cause resting on it alone becomes
// unsupported. It is used to test the rules on a thread that they were built from.
func (p *Pack) Forget(thread string) {
	for _, d := range p.Causes {
		d.References = slices.DeleteFunc(slices.Clone(d.References), func(ref string) bool { return threadOf(ref) == threadOf(thread) })
	}
}
