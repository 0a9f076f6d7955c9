package host

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Evidence is a record and what it is cited for.
type Evidence struct {
	parse.Record
	Note string // "" or a short clause: "last seen 3m5.3s before this line"
}

// Instant is a reconstructed moment and its uncertainty: the true moment lies
// within At ± Slack. The zero Instant is unknown.
type Instant struct {
	At    int64 // Unix ns
	Slack time.Duration
}

// Known reports whether the moment is known at all.
func (i Instant) Known() bool { return i.At != 0 }

// Time returns the moment in UTC.
func (i Instant) Time() time.Time { return time.Unix(0, i.At).UTC() }

// Earliest is the first moment that it may be, Unix ns.
func (i Instant) Earliest() int64 { return i.At - int64(i.Slack) }

// Latest is the last moment that it may be, Unix ns.
func (i Instant) Latest() int64 { return i.At + int64(i.Slack) }

// Span is a stretch of time; To is 0 while open.
type Span struct{ From, To int64 }

// Records are what the input holds of one node, in time order.
type Records struct {
	Name  string
	Since int64 // nothing from before is among them, Unix ns; 0: Clip left that side open

	Events  []*parse.Event
	Facts   []*parse.Fact
	Series  []*parse.Series
	Scrapes []*parse.Scrape
	Objects []*parse.Object
	Markers []*parse.Marker
	Clocks  []parse.FileClock
	// Coverage says what was written at all, lines without a signature
	// included; Containers and Listings are what package cri read.
	Coverage   []*parse.Coverage
	Containers []*parse.Container
	Listings   []parse.Listing
	// Have tells which sources the input holds for this node; what is not
	// here could not be looked at.
	Have map[parse.Source]bool

	// Beside is the first line of the node's kubelet, and of another that wrote into the same
	// file at the same time; nil of one kubelet.
	Beside [2]*parse.Coverage

	// StringTable are of the texts of events, and of what is read from them.
	Interned *parse.StringTable

	index *Index // of Events, once it was asked for
}

// Between is a moment known to lie in [lo, hi].
func Between(lo, hi int64) Instant {
	return Instant{At: lo + (hi-lo)/2, Slack: time.Duration((hi - lo + 1) / 2)}
}
