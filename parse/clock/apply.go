package clock

import (
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// calibrate determines years and zones of the file.
func (f *file) calibrate(a *anchors, opt Options) {
	if f.len() > 0 {
		f.years(a, opt)
		f.seasons(opt)
		f.zones(a, opt)
		f.repeated()
	}
}

// resolve dates all items of the file.
func (f *file) resolve(a *anchors, opt Options) {
	if f.len() == 0 {
		return
	}
	f.apply(opt)
	f.move()
	f.sortPieces()
	f.separators(a)
}

// move shifts the spans of a journal that were written before the clock was set to
// where the monotonic clock puts them.
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

// apply stamps all items: an event's time is the clock in the message, its arrival
// that of the framing. It also records the clock steps.
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

// dating walks over items in order, stamps them, and watches the order of the
// stamps.
type dating struct {
	stamper
	writers   writers
	recent    recent
	steps     []step // clock steps seen in the timestamps of one writer
	latest    int64  // time of the latest event processed
	ascending bool   // the events are in time order
	undated   bool   // an event has no time
}

func (f *file) dating() dating {
	return dating{latest: math.MinInt64, ascending: true, stamper: stamper{cal: f.cal, turns: f.turns, shift: f.shift, trust: f.yearTrust, second: f.second, changed: f.changed, summer: f.framed.summer(),
		envelope: reader{zone: f.envelope}, header: reader{zone: f.header}}}
}

// stretch stamps consecutive events of f, the first at index i, in parallel if
// worthwhile.
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
		} else if e.Origin.Source == parse.SrcKubeEvents {
			// Rows of a table are in no order, and tell of no step.
		} else if step := d.writers.step(e); step != 0 && !d.recent.holds(e) {
			d.jump(e, step)
		}
		d.recent.add(e)
	}
}

// recent are the last events that were stamped.
type recent struct {
	who [16]*parse.Origin
	at  [16]int64
	n   int
}

func (r *recent) add(e *parse.Event) {
	r.who[r.n%len(r.who)], r.at[r.n%len(r.at)] = e.Origin, e.At
	r.n++
}

// holds reports whether one of them is of the same writer and the same microsecond as a later one, whose time steps
// back: its line was pasted twice, and no clock was set.
func (r *recent) holds(e *parse.Event) bool {
	for i := range min(r.n, len(r.at)) {
		if r.at[i] == e.At && r.who[i] == e.Origin {
			return e.Res <= microsecond
		}
	}
	return false
}

var microsecond = parse.ResolutionOf(time.Microsecond)

// jump records a clock step of the node. In a file assembled from several logs,
// sections of other programs may start over or use another zone, so only events of
// the kubelet or with a host name count.
func (d *dating) jump(e *parse.Event, by int64) {
	if e.Origin.Source != parse.SrcKubelet && e.Origin.Host == "" {
		return
	}
	d.steps = append(d.steps, step{e, by})
}

// join adds the result for the events es that follow. If a writer's time steps back
// between the parts, it walks es again to find the steps.
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

// stamper converts the clock readings of one file into timestamps, in order.
type stamper struct {
	cal              *calendar
	turns            []turn      // upcoming changes of the year
	shift            int         // added to the years of turns
	year             int         // current year of leading clocks without a year
	trust            parse.Basis // basis of such years
	envelope, header reader
	second           []piece
	changed          []season // upcoming changes of the local time
	summer           bool     // the message's clock changes by an hour (daylight saving time) against the framing's, which states its zone
	known            [formSlots]constant
}

// read returns the times of the item at index by the clock of the message and by that
// of the framing; they have no basis if there is no such time.
func (s *stamper) read(index int, it item) (at, arrived parse.Stamp) {
	for len(s.turns) > 0 && s.turns[0].index <= index {
		s.year, s.turns = s.turns[0].year+s.shift, s.turns[1:]
	}
	for len(s.changed) > 0 && s.changed[0].index <= index {
		s.header.extra, s.envelope.extra, s.changed = s.header.extra+s.changed[0].header, s.envelope.extra+s.changed[0].envelope, s.changed[1:]
	}
	header, envelope := it.clocks()
	lead := leading(header, envelope)
	late := slices.ContainsFunc(s.second, func(p piece) bool { return index >= p.from && index < p.to })
	arrived, arrivedOK := s.absolute(envelope, lead, &s.envelope, late)
	at, ok := s.absolute(header, lead, &s.header, late)
	if s.summer && ok && arrivedOK && header.Lack&parse.LackZone != 0 && envelope.Lack&parse.LackZone == 0 && near(arrived.At-at.At-hour) {
		at.At += hour
	}
	return at, arrived
}

// item stamps the item at index.
func (s *stamper) item(index int, it item) {
	at, arrived := s.read(index, it)
	header, envelope := it.clocks()
	switch {
	case at.Basis != parse.NoTime:
		it.set(at, arrived.At)
	case arrived.Basis != parse.NoTime:
		it.set(arrived, arrived.At)
	case it.event != nil && (header.Set || envelope.Set):
		// A reading without a date gives no time.
		it.event.Resolve(parse.Stamp{}, 0)
	}
}

// absolute converts a reading into a timestamp, of a time that the clocks show twice the
// later one if late is set. ok is false if it has no date.
func (s *stamper) absolute(c, lead parse.Clock, z *reader, late bool) (parse.Stamp, bool) {
	if !c.Set || c.Lack&parse.LackDate != 0 {
		return parse.Stamp{}, false
	}
	st := parse.Stamp{At: c.NS, Res: parse.ResolutionOf(c.Res), Basis: parse.Stated}
	if c.Lack&parse.LackYear != 0 {
		st.At = s.cal.moved(c.NS, s.yearOf(c, lead))
		st.Basis = min(st.Basis, s.trust)
	}
	if c.Lack&parse.LackZone != 0 {
		off := z.at(st.At)
		if late && z.loc != nil {
			_, off = offsets(st.At, z.loc)
		}
		st.At -= int64(off) * int64(time.Second)
		st.Basis = min(st.Basis, z.basis)
	}
	return st, true
}

// yearOf returns the year of a reading without one: the current year for the
// leading clock, for the other the year in which it is closest to the leading
// clock.
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
