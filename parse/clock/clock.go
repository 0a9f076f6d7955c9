// Package clock puts every record of a bundle on one time axis. It infers the year
// and the zone that syslog and klog timestamps omit from other content of the
// bundle, and records the basis of each inference.
//
// Anchors, in order of precedence: the user's --tz and --year; a second clock on
// the same line that states what the first omits; zone and collection time recorded
// by the collector; complete timestamps elsewhere in the bundle; modification
// times. A zone that cannot be inferred is assumed to be UTC.
//
// The package is pure: the current time, if it is to count, is an argument.
package clock

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Options override or complete what the bundle says about time.
type Options struct {
	Zone *time.Location // --tz: zone of timestamps without one; nil: infer
	Year int            // --year: year of the newest line of each file; 0: infer
	Now  time.Time      // upper bound for years if nothing else bounds them; zero: none

	// Parallel runs tasks, possibly concurrently, and returns when all are done;
	// the tasks share no data that they write. nil: sequentially.
	Parallel func(tasks ...func())

	stretch int // events per part, for tests; 0: default
}

// Resolve sets the timestamps of all records of b in place and appends to b.Clocks
// one entry per file that says how. Events lose their raw clocks, so a bundle can
// be resolved only once. It reports whether all events are known to be in time
// order, ties in file order.
func Resolve(b *parse.Bundle, opt Options) (ordered bool) {
	files := collect(b, opt)
	journals := map[*parse.File]*parse.JournalFile{}
	for _, j := range b.Journals {
		journals[j.File] = j
	}
	for _, f := range files {
		f.journal = journals[f.File]
	}
	anchors := gather(b, files)
	for _, f := range files {
		f.calibrate(anchors, opt)
	}
	link(files, opt)
	for _, f := range files {
		f.resolve(anchors, opt)
	}
	warnOverruled(b, files)
	warnMisplaced(b, files)
	warnDoubtful(b, files)
	warnStepped(b, files)
	warnSeasons(b, files)
	stampFacts(b, anchors)
	datesSinceBoot(b, files)
	for _, f := range files {
		b.Clocks = append(b.Clocks, f.report())
		ordered = ordered || len(f.events) == len(b.Events) && f.ascending
	}
	return ordered
}

// warnOverruled warns that the zone or year given by the user contradicts the
// input, for the first such file only.
func warnOverruled(b *parse.Bundle, files []*file) {
	for _, f := range files {
		for _, proven := range f.overruled {
			b.Warnings = append(b.Warnings, parse.Warning{Pos: parse.Pos{File: f.File}, Note: true, Msg: "the " + proven})
		}
		if f.overruled != nil {
			return
		}
	}
}

// warnMisplaced warns about files with parts in the wrong order.
func warnMisplaced(b *parse.Bundle, files []*file) {
	for _, f := range files {
		if f.misplaced.IsValid() {
			b.Warnings = append(b.Warnings, parse.Warning{Pos: f.misplaced, Note: true,
				Msg: "parts stand in the wrong order: from this line on the log is older than what stands before it, and is read in the order of time"})
		}
	}
}

// warnDoubtful warns about lines in an hour that the clocks of their zone show twice.
func warnDoubtful(b *parse.Bundle, files []*file) {
	for _, f := range files {
		if f.doubtful.IsValid() {
			b.Warnings = append(b.Warnings, parse.Warning{Pos: f.doubtful, Note: true,
				Msg: "the clocks of the time zone show this hour twice, and the lines do not tell which of the two it is: the first is assumed, and the times may be an hour later"})
		}
	}
}

// warnSeasons tells where the local time changes.
func warnSeasons(b *parse.Bundle, files []*file) {
	for _, f := range files {
		for _, s := range f.changed {
			by := time.Duration(cmp.Or(s.header, s.envelope)) * time.Second
			b.Warnings = append(b.Warnings, parse.Warning{Pos: s.pos, Note: true,
				Msg: fmt.Sprintf("before this line the stamps, whose zone is not stated, jump by %+d minutes, at a moment at which clocks are set to or from summer time: taken for that change, and for neither a hole in the log nor a clock that was set; give --tz if it is none", int(by.Minutes()))})
		}
	}
}

// warnStepped warns about clocks that stepped too often for every step to be kept.
func warnStepped(b *parse.Bundle, files []*file) {
	for _, f := range files {
		if kept := len(f.jumps); kept < f.stepped {
			b.Warnings = append(b.Warnings, parse.Counted(f.jumps[0].At.Pos, f.stepped, "clock step", kept, "the first, the last and the largest"))
		}
	}
}

// overrule records a contradiction between the input and an option, once.
func (f *file) overrule(what, proven, why string) {
	note := what + " given is not the one that the input proves, " + proven + " (" + why + ")"
	if !slices.Contains(f.overruled, note) {
		f.overruled = append(f.overruled, note)
	}
}

// file holds the dated items of one file: events, possibly millions, and few marks
// between them.
type file struct {
	*parse.File
	timeline
	survey
	coverage []*parse.Coverage
	markers  []*parse.Marker
	zoneWord string // zone named by a header line, such as "UTC" or "CEST"

	envelope, header zone
	second           []piece   // items in an hour that the clocks show twice, when they show it the second time
	changed          []season  // changes of the local time, oldest first
	doubtful         parse.Pos // first line in such an hour of which nothing tells which time it is
	overruled        []string  // contradictions between input and options
	shift            int       // added to the relative years of the survey
	year             int
	yearBasis        string
	yearTrust        parse.Basis
	jumps            []parse.Jump
	stepped          int                // number of clock steps
	misplaced        parse.Pos          // first line of a part that is older than what precedes it
	undated          bool               // an event has no time
	ascending        bool               // the events are in time order as stored in the bundle
	journal          *parse.JournalFile // if the file is a binary journal
	moved            int
}

// collect groups the dated items of b by file and surveys each file. The result is
// in path order.
func collect(b *parse.Bundle, opt Options) []*file {
	by := map[*parse.File]*file{}
	cal := new(calendar)
	of := func(f *parse.File) *file {
		have := by[f]
		if have == nil {
			have = &file{File: f, survey: survey{cal: cal}}
			by[f] = have
		}
		return have
	}
	for _, r := range runs(b.Events, opt) {
		of(r.events[0].File).addEvents(r.events, r.ordered)
	}
	for _, m := range b.Markers {
		f := of(m.File)
		f.markers = append(f.markers, m)
		f.zoneWord = zoneWord(m, f.zoneWord)
		if m.Raw.Set {
			f.marks = append(f.marks, item{marker: m})
		}
	}
	for _, c := range b.Coverage {
		f := of(c.File)
		f.coverage = append(f.coverage, c)
		f.reversed = f.reversed || c.Reversed
		f.addMarks(c)
	}
	files := make([]*file, 0, len(by))
	room := new(behind)
	for _, f := range by {
		f.order()
		*room = behind{}
		f.behind = room
		f.look(&f.timeline, opt)
		if f.zoneWord == "" && f.bareEnvelope {
			f.zoneWord = f.namedZone()
		}
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

// run is a sequence of consecutive events of one file.
type run struct {
	events  []*parse.Event
	ordered bool // in file order
}

// runs splits events into runs.
func runs(events []*parse.Event, opt Options) []run {
	parts := make([][]run, opt.parts(len(events)))
	opt.beside(len(events), func(of, from, to int) {
		for i, n := from, from; i < to; i = n {
			f, ordered := events[i].File, true
			for n = i + 1; n < to; n++ {
				before, e := events[n-1], events[n]
				if e.EventKind != before.EventKind && e.File != f {
					break
				}
				ordered = ordered && byPos(before, e) <= 0
			}
			parts[of] = append(parts[of], run{events[i:n:n], ordered})
		}
	})
	out, to := parts[0], 0
	for _, r := range out {
		to += len(r.events)
	}
	for _, part := range parts[1:] {
		last := &out[len(out)-1]
		before, e := last.events[len(last.events)-1], part[0].events[0]
		if before.File == e.File {
			from := to - len(last.events)
			to += len(part[0].events)
			*last = run{events[from:to:to], last.ordered && part[0].ordered && byPos(before, e) <= 0}
			part = part[1:]
		}
		for _, r := range part {
			to += len(r.events)
		}
		out = append(out, part...)
	}
	return out
}

// zoneWord returns the zone named by a header line ("-- Logs begin at Fri
// 2017-11-03 13:31:21 UTC"), else before. Abbreviations such as CST are ambiguous.
// A time alone is in the zone of who looked at the log.
func zoneWord(m *parse.Marker, before string) string {
	if q := m.Quote(); m.Kind != parse.MarkHeader || q != "" && q[0]-'0' <= 9 {
		return before
	}
	clock := false // the previous word is a time of day
	for _, w := range strings.FieldsFunc(m.Quote(), func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == ';' }) {
		if w == "UTC" || w == "GMT" || clock && len(w) <= 5 && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
			return w
		}
		clock = strings.Count(w, ":") == 2
	}
	return before
}

// namedZone returns the ambiguous abbreviation of a zone that lines name behind their
// date and time ("Fri 2026-11-20 18:33:25 CST node …"), "" if they name none.
func (f *file) namedZone() string {
	const few = 8 // lines looked at
	for _, e := range f.events[:min(len(f.events), few)] {
		if e.Raw().Envelope.Lack != parse.LackZone {
			continue
		}
		words := strings.SplitN(e.Quote(), " ", 6)
		for i := 1; i+2 < len(words); i++ { // a word behind it is the host
			if date, _, _ := strings.Cut(words[i], "."); strings.Count(words[i-1], "-") == 2 && strings.Count(date, ":") == 2 && !strings.ContainsAny(words[i+2], "[:") {
				if w := words[i+1]; len(w) >= 3 && len(w) <= 5 && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
					return w
				}
			}
		}
	}
	return ""
}

func (f *file) report() parse.FileClock {
	header, envelope := f.changedBy(f.len())
	framing, message := f.envelope, f.header
	if f.anyHeader && !f.bareHeader && !f.bareEnvelope && !f.zoned { // no framing, and messages that state their zone
		framing = message
	}
	return parse.FileClock{File: f.File, Envelope: framing.info(f, envelope), Header: message.info(f, header),
		Year: f.year, YearBasis: f.yearBasis, Reversed: f.reversed, Jumps: f.jumps, Stepped: f.stepped, Moved: f.moved}
}
