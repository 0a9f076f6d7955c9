package host

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Evidence is a record and what it is cited for.
type Evidence struct {
	parse.Record
	Note string // "" or a short clause: "last seen 3m5.3s before this line"
}

// Instant is a reconstructed moment with its uncertainty: the true moment lies within
// At ± Slack. The zero Instant is unknown.
type Instant struct {
	At    int64 // Unix ns
	Slack time.Duration
}

// Known reports whether the moment is known.
func (i Instant) Known() bool { return i.At != 0 }

// Time returns the moment in UTC.
func (i Instant) Time() time.Time { return time.Unix(0, i.At).UTC() }

// Earliest returns the earliest possible moment in Unix ns.
func (i Instant) Earliest() int64 { return i.At - int64(i.Slack) }

// Latest returns the latest possible moment in Unix ns.
func (i Instant) Latest() int64 { return i.At + int64(i.Slack) }

// Span is an interval in Unix ns; To is 0 while it is open.
type Span struct{ From, To int64 }

// Add extends the span to a moment.
func (s *Span) Add(at int64) {
	if s.From == 0 || at < s.From {
		s.From = at
	}
	s.To = max(s.To, at)
}

// Join extends the span to all of t, which may be empty.
func (s *Span) Join(t Span) {
	if t != (Span{}) {
		s.Add(t.From)
		s.Add(t.To)
	}
}

// Meets reports whether the spans share a moment; an empty one shares none.
func (s Span) Meets(t Span) bool {
	return s.From != 0 && t.From != 0 && s.From <= t.To && t.From <= s.To
}

// Records holds the records of one node, in time order.
type Records struct {
	Name  string
	Since int64 // nothing earlier is included, Unix ns; 0: not clipped on that side

	Events  []*parse.Event
	Facts   []*parse.Fact
	Series  []*parse.Series
	Scrapes []*parse.Scrape
	Objects []*parse.Object
	Markers []*parse.Marker
	Clocks  []parse.FileClock
	// Coverage describes all that was written, including lines without a signature.
	// Containers and Listings come from package cri.
	Coverage   []*parse.Coverage
	Containers []*parse.Container
	Listings   []parse.Listing
	// Have lists the sources that the input holds for this node; a source that is
	// absent could not be checked.
	Have map[parse.Source]bool

	// Beside is set if several kubelets wrote into one file at the same time: the first
	// line of this node's kubelet and that of another. Otherwise both are nil.
	Beside [2]*parse.Coverage

	// Interned holds the strings of the node's records. It is shared by all nodes of
	// the input.
	Interned *parse.StringTable

	index *Index // of Events; nil until first used
}

// Searched reports whether a search selected the lines of a file.
func (r *Records) Searched(f *parse.File) bool {
	return slices.ContainsFunc(r.Markers, func(m *parse.Marker) bool { return m.Kind == parse.MarkExcerpt && m.File == f })
}

// Between returns the Instant that covers [lo, hi].
func Between(lo, hi int64) Instant {
	return Instant{At: lo + (hi-lo)/2, Slack: time.Duration((hi - lo + 1) / 2)}
}
