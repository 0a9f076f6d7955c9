package bundle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/metrics"
)

// merge adds the results of all units to the bundle in the order of inputs, then
// paths, so that neither the order of archive members nor the timing of walkers
// shows. The records are sorted by time later.
func merge(b *parse.Bundle, units []*unit, groups []*slot) {
	var slots []*slot
	for _, u := range units {
		slots = append(slots, u.slots...)
		u.slots = nil
		accountUnit(b, u)
	}
	for _, s := range slots {
		b.Files = append(b.Files, s.file)
		accountSlot(b, s)
	}
	slices.SortStableFunc(slots, bySlot)
	slices.SortStableFunc(b.Files, byFile)
	joinJournals(slots)
	for _, s := range groups {
		accountTogether(b, &s.part)
	}
	for _, s := range append(slots, groups...) {
		add(b, &s.part)
		s.part = parse.Part{} // drop references, so that only the bundle keeps the records alive
	}
	b.Series = metrics.Once(b.Series)
	describe(b, units)
}

// settle applies the layout of each unit to members that came before its first
// sign.
func settle(units []*unit) {
	for _, u := range units {
		u.listed = make([]*parse.File, 0, len(u.slots))
		for _, s := range u.slots {
			u.listed = append(u.listed, s.file)
		}
		u.ids.finish(u.listed)
	}
}

func byFile(x, y *parse.File) int {
	return cmp.Or(cmp.Compare(x.Input, y.Input), cmp.Compare(x.Path, y.Path))
}

func bySlot(x, y *slot) int { return byFile(x.file, y.file) }

func accountUnit(b *parse.Bundle, u *unit) {
	in := &b.Inputs[u.input]
	in.Files += u.files - u.own
	in.Bytes += u.bytes
	in.Partial = in.Partial || parse.Partial(u.warnings)
	b.Warnings = append(b.Warnings, u.warnings...)
	if more := u.empty - maxUnlisted; more > 0 {
		b.Warnings = append(b.Warnings, parse.Warning{
			Pos:  parse.Pos{File: &parse.File{Path: u.path, Input: u.input}},
			Msg:  fmt.Sprintf("%d more members are empty or hold nothing but NUL bytes and are not listed", more),
			Note: true,
		})
	}
	if more := u.unlisted - maxUnlisted; more > 0 {
		b.Warnings = append(b.Warnings, parse.Warning{
			Pos: parse.Pos{File: &parse.File{Path: u.path, Input: u.input}},
			Msg: fmt.Sprintf("%d more members are of no recognized format and are not listed", more),
		})
	}
}

func accountSlot(b *parse.Bundle, s *slot) {
	in := &b.Inputs[s.file.Input]
	if s.used || !s.part.Empty() || len(s.part.Coverage) > 0 {
		in.FilesUsed++
	}
	in.Partial = in.Partial || parse.Partial(s.part.Warnings)
	if s.cut != nil { // the unit counted the whole file
		in.Bytes -= s.file.Size - s.cut.end
		s.file.Size = s.cut.end
	}
}

// accountTogether marks the inputs of which something was lost in files that are decoded together.
func accountTogether(b *parse.Bundle, p *parse.Part) {
	for i := range p.Warnings {
		if w := &p.Warnings[i]; w.File != nil && !w.Note {
			b.Inputs[w.File.Input].Partial = true
		}
	}
}

// add appends the results of one decoder.
func add(b *parse.Bundle, p *parse.Part) {
	if b.Events == nil {
		b.Events = slices.Clip(p.Events) // usually these are all
	} else {
		b.Events = append(b.Events, p.Events...)
	}
	b.Coverage = append(b.Coverage, p.Coverage...)
	b.Markers = append(b.Markers, p.Markers...)
	b.Facts = append(b.Facts, p.Facts...)
	b.Containers = append(b.Containers, p.Containers...)
	b.Warnings = append(b.Warnings, p.Warnings...)
	b.Listings = append(b.Listings, p.Listings...)
	b.Series = append(b.Series, p.Series...)
	b.Scrapes = append(b.Scrapes, p.Scrapes...)
	b.Objects = append(b.Objects, p.Objects...)
	b.Journals = append(b.Journals, p.Journals...)
}
