package logs

import (
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// audiences holds the filters of a set by line source. For lines of a known source,
// only the literals of signatures that admit it matter. The fewer literals, the
// fewer false positives of the filter.
type audiences struct {
	chosen []place
	all    *audience                  // for sources that may have written anything: see admitsAll
	of     map[parse.Source]*audience // for each source that a signature names
	any    *audience                  // for sources that no signature names
}

// audience is the filter of one source, built on first use.
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

// filterOf returns the filter for the lines of a source. It finds the literals of
// the signatures that admit the source, for any severity.
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

// admitsAll reports whether a line of src may be any message: an unknown writer or
// an unknown daemon may be a wrapper around the real one.
func admitsAll(src parse.Source) bool { return src == parse.SrcUnknown || src == parse.SrcSystem }

// admits reports whether a line from src may be this message.
func (e *entry) admits(src parse.Source) bool {
	return len(e.Sources) == 0 || admitsAll(src) || slices.Contains(e.Sources, src)
}
