package logs

import (
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// audiences are the filters of a set, by who wrote a line: of a known writer
// only the literals count of which a signature admits it. The fewer they are,
// the fewer pieces of other messages look like one.
type audiences struct {
	chosen []place
	all    *audience                  // of whoever may have written anything
	of     map[parse.Source]*audience // of all sources that signatures name
	any    *audience                  // of those that none names
}

// audience is the filter of one source, built when it is first asked for.
type audience struct {
	source parse.Source
	once   sync.Once
	filter *filter
}

func newAudiences(entries []*entry, chosen []place) audiences {
	a := audiences{chosen: chosen, all: &audience{source: parse.SrcUnknown}, of: map[parse.Source]*audience{}, any: &audience{source: unnamed}}
	for _, e := range entries {
		for _, src := range e.Sources {
			if a.of[src] == nil {
				a.of[src] = &audience{source: src}
			}
		}
	}
	return a
}

// unnamed is a source that no signature can name.
const unnamed parse.Source = "\x00"

// filterOf returns the filter for the lines of a source: it finds the literals of
// the signatures that admit it, whatever the severity.
func (s *Set) filterOf(src parse.Source) *filter {
	a := s.filters.all
	if !admitsAll(src) {
		if a = s.filters.of[src]; a == nil {
			a = s.filters.any
		}
	}
	a.once.Do(func() {
		kept := make([]bool, len(s.entries))
		for i, e := range s.entries {
			kept[i] = e.admits(a.source)
		}
		a.filter = filterOf(s.filters.chosen, kept)
	})
	return a.filter
}

// admitsAll reports whether lines of a source may be any message: a writer that
// we could not name, or a daemon that we do not know, can be a wrapper around
// the real one.
func admitsAll(src parse.Source) bool { return src == parse.SrcUnknown || src == parse.SrcSystem }

// admits reports whether a line of that writer may be this message.
func (e *entry) admits(src parse.Source) bool {
	return len(e.Sources) == 0 || admitsAll(src) || slices.Contains(e.Sources, src)
}
