package clock

import (
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// resolve dates all items of the file.
func (f *file) resolve(a *anchors, opt Options) {
	if f.len() == 0 {
		return
	}
	f.years(a, opt)
	f.zones(a, opt)
	f.apply()
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
	move := func(it item) {
		if s := f.journal.Span(it.pos().Line); s != nil && s.Shift != 0 {
			it.shift(s.Shift)
			moved[s] = true
		}
	}
	for _, e := range f.events {
		move(item{event: e})
	}
	for _, it := range f.marks {
		move(it)
	}
	f.moved = len(moved)
	f.ascending = f.ascending && f.moved == 0
}

// apply stamps all items: the message's clock is the event's time, the
// framing's is its arrival. It also notes the steps of the clock, those that the
// log tells of before those that the stamps of one writer show.
func (f *file) apply() {
	s := stamper{cal: &f.cal, turns: f.turns, shift: f.shift, trust: f.yearTrust,
		envelope: reader{zone: f.envelope}, header: reader{zone: f.header}}
	var steps []parse.Jump
	w, latest := writers{}, int64(math.MinInt64)
	f.ascending = !f.loose && !f.reversed
	for i, x := range f.stretches() {
		for k, e := range x.events {
			s.event(i+k, e)
			if e.At < latest {
				f.ascending = false
			}
			if latest = e.At; e.Basis == parse.NoTime {
				f.undated = true
			} else if step := w.step(e); step != 0 {
				steps = append(steps, parse.Jump{At: parse.Mark{Pos: e.Where(), Stamp: e.Stamp, Text: parse.PlainText(e.Quote())}, Step: step})
			}
		}
		if x.mark != nil {
			s.item(i+len(x.events), *x.mark)
		}
	}
	f.jumps = append(f.told(), steps...)
}

// stamper turns the readings of one file into stamps, in order.
type stamper struct {
	cal              *calendar
	turns            []turn      // of the year, yet to come
	shift            int         // of their years
	year             int         // of a leading clock that lacks it
	trust            parse.Basis // of such years
	envelope, header reader
	known            [formSlots]constant
}

// item stamps the item of an index.
func (s *stamper) item(index int, it item) {
	for len(s.turns) > 0 && s.turns[0].index <= index {
		s.year, s.turns = s.turns[0].year+s.shift, s.turns[1:]
	}
	header, envelope := it.clocks()
	lead := leading(header, envelope)
	arrived, arrivedOK := s.absolute(envelope, lead, &s.envelope)
	at, ok := s.absolute(header, lead, &s.header)
	switch {
	case ok:
		it.set(at, arrived.At)
	case arrivedOK:
		it.set(arrived, arrived.At)
	case it.event != nil && (header.Set || envelope.Set):
		// A reading that dates nothing, a time of day alone.
		it.event.Resolve(parse.Stamp{}, 0)
	}
}

// absolute turns a reading into a stamp.
func (s *stamper) absolute(c, lead parse.Clock, z *reader) (parse.Stamp, bool) {
	if !c.Set || c.Lack&parse.LackDate != 0 {
		return parse.Stamp{}, false
	}
	st := parse.Stamp{At: c.NS, Res: parse.ResolutionOf(c.Res), Basis: parse.Stated}
	if c.Lack&parse.LackYear != 0 {
		st.At = s.cal.moved(c.NS, s.yearOf(c, lead))
		st.Basis = min(st.Basis, s.trust)
	}
	if c.Lack&parse.LackZone != 0 {
		st.At -= int64(z.at(st.At)) * int64(time.Second)
		st.Basis = min(st.Basis, z.basis)
	}
	return st, true
}

// yearOf is the year of a reading: walked for the leading clock, and the one
// that brings it closest to the leading clock for the other.
func (s *stamper) yearOf(c, lead parse.Clock) int {
	ref := lead.NS
	if lead.Lack&parse.LackYear != 0 {
		if c == lead || s.cal.yearDay(c.NS) == s.cal.yearDay(lead.NS) {
			return s.year
		}
		ref = s.cal.moved(lead.NS, s.year)
	}
	return s.cal.closest(c, ref)
}
