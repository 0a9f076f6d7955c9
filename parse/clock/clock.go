// Package clock puts every record of a bundle on one time axis. It infers the
// year and the zone that syslog and klog stamps leave out, from what the bundle
// itself says, and keeps the basis of each inference for all to see.
//
// Anchors, in order of trust: the user's --tz and --year; a second clock on the
// same line that states what the first lacks; zone and collection time that the
// collector recorded; full stamps elsewhere in the bundle; modification times.
// The zone last assumed is UTC.
//
// It is pure: the moment of the analysis, if it is to count, is an argument.
package clock

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Options override or complete what the bundle says.
type Options struct {
	Zone *time.Location // --tz: zone of stamps that carry none; nil: infer
	Year int            // --year: year of the newest line of a file; 0: infer
	Now  time.Time      // upper bound for years when nothing else bounds them; zero: none
}

// Resolve fills the stamps of all events, markers and coverage of b in place
// and appends how it did so, one entry a file, to b.Clocks. Events lose their raw
// clocks: a bundle is resolved once.
func Resolve(b *parse.Bundle, opt Options) {
	files := collect(b)
	for _, j := range b.Journals {
		for _, f := range files {
			if f.File == j.File {
				f.journal = j
			}
		}
	}
	anchors := gather(b, files)
	for _, f := range files {
		f.resolve(anchors, opt)
	}
	stampFacts(b, anchors)
	datesSinceBoot(b, files)
	for _, f := range files {
		b.Clocks = append(b.Clocks, f.report())
	}
}

// item is one dated thing of a file: exactly one of its pointers is set. It
// holds no clock of its own, because a log may have millions of them.
type item struct {
	event  *parse.Event
	mark   *parse.Mark
	marker *parse.Marker
	year   int // of the leading clock, once walked
}

func (it *item) pos() parse.Pos {
	switch {
	case it.event != nil:
		return it.event.Where()
	case it.mark != nil:
		return it.mark.Pos
	}
	return it.marker.Pos
}

// header is the clock inside the message.
func (it *item) header() parse.Clock {
	switch {
	case it.event != nil:
		return it.event.Raw().Header
	case it.mark != nil && it.mark.Raw != it.mark.Envelope:
		return it.mark.Raw
	}
	return parse.Clock{}
}

// envelope is the clock of the framing.
func (it *item) envelope() parse.Clock {
	switch {
	case it.event != nil:
		return it.event.Raw().Envelope
	case it.mark != nil:
		return it.mark.Envelope
	}
	return it.marker.Raw
}

func (it *item) set(s parse.Stamp, arrived int64) {
	switch {
	case it.event != nil:
		it.event.Resolve(s, arrived)
	case it.mark != nil:
		it.mark.Stamp = s
	default:
		it.marker.Stamp = s
	}
}

// lead is the clock that orders the file: the framing's, else the message's.
func (it *item) lead() parse.Clock {
	if c := it.envelope(); c.Set {
		return c
	}
	return it.header()
}

// file is all dated items of one file, oldest first.
type file struct {
	*parse.File
	items    []item
	coverage []*parse.Coverage
	events   []*parse.Event // oldest first
	markers  []*parse.Marker
	inner    []innerStamp
	zoneWord string // zone named by a header line: "UTC", "CEST"
	reversed bool

	envelope, header zone
	year             int
	yearBasis        string
	yearTrust        parse.Basis
	jumps            []parse.Jump
	journal          *parse.JournalFile // of a binary journal
	moved            int
}

// collect groups the dated items of b by file, in path order.
func collect(b *parse.Bundle) []*file {
	by := map[*parse.File]*file{}
	of := func(f *parse.File) *file {
		if by[f] == nil {
			by[f] = &file{File: f}
		}
		return by[f]
	}
	for _, e := range b.Events {
		f := of(e.File)
		f.events = append(f.events, e)
	}
	for _, m := range b.Markers {
		f := of(m.File)
		f.markers = append(f.markers, m)
		f.zoneWord = zoneWord(m, f.zoneWord)
		if !m.Raw.Set {
			continue
		}
		f.items = append(f.items, item{marker: m})
	}
	for _, c := range b.Coverage {
		f := of(c.File)
		f.coverage = append(f.coverage, c)
		f.addMarks(c)
	}
	var files []*file
	for _, f := range by {
		f.order()
		f.gatherInner()
		files = append(files, f)
	}
	sort.Slice(files, func(i, j int) bool {
		a, b := files[i].File, files[j].File
		if a.Input != b.Input {
			return a.Input < b.Input
		}
		return a.Path < b.Path
	})
	return files
}

// addMarks adds the marks of one origin.
func (f *file) addMarks(c *parse.Coverage) {
	f.addMark(&c.FirstLine)
	f.addMark(&c.LastLine)
	if c.HasLag {
		f.addMark(&c.MaxLagAt)
	}
	for i := range c.Gaps {
		f.addMark(&c.Gaps[i].Last)
		f.addMark(&c.Gaps[i].Next)
	}
}

// addMark adds a mark. Where its two clocks are one, the line has no header.
func (f *file) addMark(m *parse.Mark) {
	if m.Raw.Set || m.Envelope.Set {
		f.items = append(f.items, item{mark: m})
	}
}

// zoneWord returns the zone that a header line names ("-- Logs begin at Fri
// 2017-11-03 13:31:21 UTC"), else what was known before.
func zoneWord(m *parse.Marker, before string) string {
	if m.Kind != parse.MarkHeader {
		return before
	}
	for _, w := range strings.FieldsFunc(m.Quote(), func(r rune) bool { return r == ' ' || r == ',' }) {
		if w == "UTC" || w == "GMT" {
			return w
		}
	}
	return before
}

// order brings the items into the order of the file and turns a newest-first
// file round. Events come in order already, so only the few marks are sorted,
// and both are merged.
func (f *file) order() {
	before := func(a, b item) int { return comparePos(a.pos(), b.pos()) }
	slices.SortStableFunc(f.items, before)
	if !slices.IsSortedFunc(f.events, byPos) {
		slices.SortStableFunc(f.events, byPos)
	}
	marks := f.items
	f.items = make([]item, 0, len(marks)+len(f.events))
	for _, e := range f.events {
		for len(marks) > 0 && comparePos(marks[0].pos(), e.Where()) <= 0 {
			f.items, marks = append(f.items, marks[0]), marks[1:]
		}
		f.items = append(f.items, item{event: e})
	}
	f.items = append(f.items, marks...)
	for _, c := range f.coverage {
		f.reversed = f.reversed || c.Reversed
	}
	if f.reversed {
		slices.Reverse(f.items)
		slices.Reverse(f.events)
	}
}

func byPos(a, b *parse.Event) int { return comparePos(a.Where(), b.Where()) }

// comparePos orders two positions of one file.
func comparePos(a, b parse.Pos) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Line, b.Line))
}

func (f *file) report() parse.FileClock {
	return parse.FileClock{File: f.File, Envelope: f.envelope.info(f), Header: f.header.info(f),
		Year: f.year, YearBasis: f.yearBasis, Reversed: f.reversed, Jumps: f.jumps, Moved: f.moved}
}
