package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// resolve dates all items of the file.
func (f *file) resolve(a *anchors, opt Options) {
	if len(f.items) == 0 {
		return
	}
	f.years(a, opt)
	f.zones(a, opt)
	for i := range f.items {
		f.apply(&f.items[i])
	}
	f.findJumps()
	f.move()
	f.separators(a)
}

// move puts the stretches of a journal that were written before the clock was
// set where the boot's own clock has them.
func (f *file) move() {
	if f.journal == nil {
		return
	}
	moved := map[*parse.JournalSpan]bool{}
	for i := range f.items {
		it := &f.items[i]
		if s := f.journal.Span(it.pos().Line); s != nil && s.Shift != 0 {
			it.shift(s.Shift)
			moved[s] = true
		}
	}
	f.moved = len(moved)
}

// shift moves what the item was stamped with.
func (it *item) shift(by int64) {
	switch {
	case it.event != nil && it.event.Basis > parse.NoTime:
		it.event.At += by
		if it.event.Arrived != 0 {
			it.event.Arrived += by
		}
	case it.mark != nil && it.mark.Basis > parse.NoTime:
		it.mark.At += by
	case it.marker != nil && it.marker.Basis > parse.NoTime:
		it.marker.At += by
	}
}

// apply stamps one item: the message's clock is the event's time, the
// framing's is its arrival.
func (f *file) apply(it *item) {
	arrived, arrivedOK := f.absolute(it.envelope(), it, f.envelope)
	at, ok := f.absolute(it.header(), it, f.header)
	if !ok {
		at = arrived
		if !arrivedOK {
			it.undated()
			return
		}
		it.set(at, at.At)
		return
	}
	it.set(at, arrived.At)
}

// undated takes a reading that dates nothing, a time of day alone, off an event.
func (it *item) undated() {
	if it.event != nil && it.event.Raw() != (parse.RawClocks{}) {
		it.event.Resolve(parse.Stamp{}, 0)
	}
}

// absolute turns a reading of it into a stamp.
func (f *file) absolute(c parse.Clock, it *item, z zone) (parse.Stamp, bool) {
	if !c.Set || c.Lack&parse.LackDate != 0 {
		return parse.Stamp{}, false
	}
	s := parse.Stamp{At: c.NS, Res: c.Res, Basis: parse.Stated}
	if c.Lack&parse.LackYear != 0 {
		s.At = moved(c.NS, f.yearOf(c, it))
		s.Basis = min(s.Basis, f.yearTrust)
	}
	if c.Lack&parse.LackZone != 0 {
		s.At -= int64(z.at(s.At)) * int64(time.Second)
		s.Basis = min(s.Basis, z.basis)
	}
	return s, true
}

// yearOf is the year of a reading: walked for the leading clock, and the one
// that brings it closest to the leading clock for the other.
func (f *file) yearOf(c parse.Clock, it *item) int {
	lead := it.lead()
	if c == lead || lead.Lack&parse.LackYear != 0 && time.Unix(0, c.NS).UTC().YearDay() == time.Unix(0, lead.NS).UTC().YearDay() {
		if lead.Lack&parse.LackYear != 0 {
			return it.year
		}
	}
	ref := lead.NS
	if lead.Lack&parse.LackYear != 0 {
		ref = moved(lead.NS, it.year)
	}
	return closestYear(c, parse.Clock{NS: ref, Set: true})
}

// jumpMin is the smallest step backwards that counts as a step of the clock:
// less is the reordering of concurrent writers.
const jumpMin = int64(2 * time.Second)

// findJumps notes where the resolved time of one writer steps back.
func (f *file) findJumps() {
	for _, m := range f.markers {
		if m.Kind == parse.MarkClock {
			f.jumps = append(f.jumps, parse.Jump{At: parse.Mark{Pos: m.Pos, Stamp: m.Stamp, Raw: m.Raw, Text: m.Text}})
		}
	}
	newest := map[*parse.Origin]*parse.Event{}
	for _, e := range f.events {
		if e.Basis == parse.NoTime {
			continue
		}
		prev := newest[e.Origin]
		if prev == nil || e.At >= prev.At {
			newest[e.Origin] = e
			continue
		}
		if step := e.At - prev.At; step < -jumpMin {
			f.jumps = append(f.jumps, parse.Jump{At: parse.Mark{Pos: e.Where(), Stamp: e.Stamp, Text: e.Text}, Step: step})
			newest[e.Origin] = e
		}
	}
}
