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
	f.apply(opt)
	f.move()
	f.sortPieces()
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
func (f *file) apply(opt Options) {
	d := f.dating()
	for i, x := range f.stretches() {
		d.stretch(i, x.events, f, opt)
		if x.mark != nil {
			d.item(i+len(x.events), *x.mark)
		}
	}
	f.undated, f.ascending = d.undated, d.ascending && !f.loose && !f.reversed
	f.steps(d.steps)
}

// dating is a walk over items that stamps them and sees how the stamps follow each
// other.
type dating struct {
	stamper
	writers   writers
	steps     []step // of the clock, as the stamps of one writer show them
	latest    int64  // event
	ascending bool   // the events are in order of time
	undated   bool   // one has no time
}

func (f *file) dating() dating {
	return dating{latest: math.MinInt64, ascending: true, stamper: stamper{cal: f.cal, turns: f.turns, shift: f.shift, trust: f.yearTrust, summer: f.framed.summer(),
		envelope: reader{zone: f.envelope}, header: reader{zone: f.header}}}
}

// stretch stamps events of f that follow each other, the first at index i.
func (d *dating) stretch(i int, es []*parse.Event, f *file, opt Options) {
	n := opt.parts(len(es))
	if n == 1 {
		d.all(i, es)
		return
	}
	later := make([]dating, n)
	froms := make([]int, n+1)
	opt.beside(len(es), func(of, from, to int) {
		part := d
		if of > 0 {
			later[of] = f.dating()
			later[of].cal = new(calendar)
			part = &later[of]
		}
		froms[of] = from
		part.all(i+from, es[from:to])
	})
	froms[len(later)] = len(es)
	for k := range later[1:] {
		d.join(&later[k+1], es[froms[k+1]:froms[k+2]])
	}
}

func (d *dating) all(i int, es []*parse.Event) {
	for k, e := range es {
		d.event(i+k, e)
		if e.At < d.latest {
			d.ascending = false
		}
		if d.latest = e.At; e.Basis == parse.NoTime {
			d.undated = true
		} else if step := d.writers.step(e); step != 0 {
			d.jump(e, step)
		}
	}
}

// jump notes a step of the node's clock. Of a file that was put together, sections of
// other programs may begin anew, or be in another zone.
func (d *dating) jump(e *parse.Event, by int64) {
	if e.Origin.Source != parse.SrcKubelet && e.Origin.Host == "" {
		return
	}
	d.steps = append(d.steps, step{e, by})
}

// join adds what was seen of the events that follow.
func (d *dating) join(later *dating, es []*parse.Event) {
	d.stamper = later.stamper
	d.ascending = d.ascending && later.ascending && es[0].At >= d.latest
	d.latest, d.undated = later.latest, d.undated || later.undated
	if d.writers.join(&later.writers) {
		d.steps = append(d.steps, later.steps...)
		return
	}
	for _, e := range es {
		if e.Basis == parse.NoTime {
			continue
		}
		if step := d.writers.step(e); step != 0 {
			d.jump(e, step)
		}
	}
}

// stamper turns the readings of one file into stamps, in order.
type stamper struct {
	cal              *calendar
	turns            []turn      // of the year, yet to come
	shift            int         // of their years
	year             int         // of a leading clock that lacks it
	trust            parse.Basis // of such years
	envelope, header reader
	summer           bool // the messages' clock changes by an hour against that of the framing, which states its zone
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
	if s.summer && ok && arrivedOK && header.Lack&parse.LackZone != 0 && envelope.Lack&parse.LackZone == 0 && near(arrived.At-at.At-hour) {
		at.At += hour
	}
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
