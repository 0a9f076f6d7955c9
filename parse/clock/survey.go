package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// survey is the result of one pass over the readings of a file: everything that
// does not depend on year and zone, which are unknown yet. Indices are of items, -1
// for none.
type survey struct {
	*behind // state of the pass; nil afterwards
	cal     *calendar

	latest       int64 // reading of the newest complete timestamp
	latestAt     int
	turns        []turn
	lastBare     int // last item whose leading clock lacks the year
	leap         int // last of those that is on 29 February
	dated        int // last of those whose message has a clock with the year
	heading      int // last item with a year next to one without
	headed       int // that neighbor
	anyHeader    bool
	bareHeader   bool // a message's clock lacks the zone
	zoned        bool // a clock of the framing states its zone
	bareEnvelope bool // a clock of the framing lacks it
	bareLine     bool // a line has only a framing clock, which lacks the zone

	inner        []innerStamp
	ages, stated []aged // on lines without and with a zone

	// Differences of the two clocks of lines: those where only the message's states
	// its zone, those where only the framing's does, those where neither does.
	full, framed, bare lag

	beside
}

// behind is the state of a pass: what it remembers of earlier items.
type behind struct {
	forms  [formSlots]form     // forms of events seen
	silent [2]*parse.EventKind // last two event kinds without inner timestamps
	lead   parse.Clock         // leading clock of the last item with one
	leadAt int                 // its index
	year   int                 // current year, relative
	walked int64               // last reading without a year, 0 for none
}

// turn is an index from which the relative year applies.
type turn struct{ index, year int }

// lag is the range of differences of the two clocks of a line in ns, envelope minus
// header.
type lag struct {
	least, most int64
	known       bool
	between     bool // one difference was neither close to the first nor a whole hour away
}

func (l *lag) add(ns int64) {
	switch {
	case !l.known:
		l.least, l.most, l.known = ns, ns, true
	case ns >= l.least && ns-l.least < int64(2*time.Second):
	default:
		l.between = l.between || !near(ns-l.least) && !near(ns-l.least-hour) && !near(ns-l.least+hour)
		l.least, l.most = min(l.least, ns), max(l.most, ns)
	}
}

func (l *lag) join(other lag) {
	if other.known {
		l.add(other.least)
		l.add(other.most)
		l.between = l.between || other.between
	}
}

const hour = int64(time.Hour)

// near reports whether a difference in ns is within the usual delay of lines, ±5 s.
func near(d int64) bool { return d > -int64(5*time.Second) && d < int64(5*time.Second) }

// summer reports whether one of the clocks changed by an hour (daylight saving
// time) while the other states its zone. Any other differences would indicate a
// delayed log instead.
func (l *lag) summer() bool { return l.known && !l.between && near(l.most-l.least-hour) }

// look surveys all items.
func (s *survey) look(t *timeline, opt Options) {
	s.begin()
	for i, x := range t.stretches() {
		s.seeStretch(i, x.events, opt)
		if x.mark != nil {
			s.see(i+len(x.events), *x.mark)
		}
	}
	s.behind = nil
}

func (s *survey) begin() { s.latestAt, s.lastBare, s.leap, s.dated, s.heading = -1, -1, -1, -1, -1 }

// seeStretch surveys consecutive events, the first at index i.
func (s *survey) seeStretch(i int, es []*parse.Event, opt Options) {
	if len(es) == 0 {
		return
	}
	var later []survey // parts after the first; the first is s itself
	if n := opt.parts(len(es)); n > 1 {
		later = make([]survey, n)
	}
	lead, leadAt := s.lead, s.leadAt
	opt.beside(len(es), func(of, from, to int) {
		part := s
		if of > 0 {
			part = &later[of]
			part.behind, part.cal = new(behind), new(calendar)
			part.begin()
			part.lead, part.leadAt = lead, leadAt
			for k := from - 1; k >= 0; k-- {
				if c := (item{event: es[k]}).lead(); c.Set {
					part.lead, part.leadAt = c, i+k
					break
				}
			}
		}
		part.seeAll(i+from, es[from:to])
	})
	for k := 1; k < len(later); k++ {
		part := &later[k]
		if len(part.turns) > 0 {
			s.walkOn(part, item{event: es[part.turns[0].index-i]}.lead().NS)
		}
		s.join(part)
	}
}

// walkOn renumbers the years of a later survey to continue those of s; first is its
// first reading without a year.
func (s *survey) walkOn(later *survey, first int64) {
	s.walk(first)
	from := s.year
	for _, t := range later.turns {
		s.year = from + t.year
		s.turn(t.index)
	}
	s.year, s.walked = from+later.year, later.walked
}

// join adds the result of a survey of the items that follow, except its years.
func (s *survey) join(later *survey) {
	if later.latest > s.latest {
		s.latest, s.latestAt = later.latest, later.latestAt
	}
	s.lastBare, s.leap, s.dated = max(s.lastBare, later.lastBare), max(s.leap, later.leap), max(s.dated, later.dated)
	if later.heading >= 0 {
		s.heading, s.headed = later.heading, later.headed
	}
	s.anyHeader, s.bareHeader = s.anyHeader || later.anyHeader, s.bareHeader || later.bareHeader
	s.zoned, s.bareEnvelope = s.zoned || later.zoned, s.bareEnvelope || later.bareEnvelope
	s.bareLine = s.bareLine || later.bareLine
	s.inner = append(s.inner, later.inner...)
	s.ages, s.stated = joinAged(s.ages, later.ages), joinAged(s.stated, later.stated)
	s.lead, s.leadAt = later.lead, later.leadAt
	s.full.join(later.full)
	s.framed.join(later.framed)
	s.bare.join(later.bare)
	s.beside.join(&later.beside)
}

// see surveys one item of any kind.
func (s *survey) see(i int, it item) {
	header, envelope := it.clocks()
	for _, c := range [...]parse.Clock{header, envelope} {
		if c.Set && c.Lack == 0 && c.NS > s.latest {
			s.latest, s.latestAt = c.NS, i
		}
	}
	lead := leading(header, envelope)
	if lead.Lack&parse.LackYear != 0 {
		s.walk(lead.NS)
		s.turn(i)
		if s.lastBare = i; leapDay(lead.NS) {
			s.leap = i
		}
		if header.Set && header.Lack&parse.LackYear == 0 {
			s.dated = i
		}
	}
	switch {
	case full(s.lead) && yearless(lead):
		s.heading, s.headed = s.leadAt, i
	case yearless(s.lead) && full(lead):
		s.heading, s.headed = i, s.leadAt
	}
	if lead.Set { // items without a time are ignored
		s.beside.see(s.lead, lead)
		s.lead, s.leadAt = lead, i
	}
	s.compare(header, envelope)
	if it.event != nil {
		s.gatherInner(i, it.event)
	}
}

// turn records the year of an item whose leading clock lacks it.
func (s *survey) turn(i int) {
	if n := len(s.turns); n == 0 || s.turns[n-1].year != s.year {
		s.turns = append(s.turns, turn{i, s.year})
	}
}

// walk counts years relative to the first item: a backward step of more than half a
// year is a year change, a forward step of more than that a line from before it.
func (s *survey) walk(now int64) {
	if s.walked != 0 {
		switch d := now - s.walked; {
		case d < -halfYear:
			s.year++
		case d > halfYear:
			s.year--
		}
	}
	s.walked = now
}

func full(c parse.Clock) bool {
	return c.Set && c.Lack&(parse.LackYear|parse.LackDate) == 0
}

func yearless(c parse.Clock) bool { return c.Set && c.Lack&parse.LackYear != 0 }

// compare records which clocks of a line state their zone and how far they differ.
func (s *survey) compare(header, envelope parse.Clock) {
	if envelope.Set {
		zoned := envelope.Lack&parse.LackZone == 0
		s.zoned, s.bareEnvelope = s.zoned || zoned, s.bareEnvelope || !zoned
	}
	if !header.Set {
		s.bareLine = s.bareLine || envelope.Set && envelope.Lack&parse.LackZone != 0
		return
	}
	s.anyHeader = true
	s.bareHeader = s.bareHeader || header.Lack&parse.LackZone != 0
	switch {
	case !envelope.Set || envelope == header:
	case header.Lack&parse.LackYear == 0 && envelope.Lack&parse.LackYear != 0:
		s.group(header, envelope).add(s.cal.inYear(envelope.NS, s.cal.closest(envelope, header.NS)) - header.NS)
	default:
		s.group(header, envelope).add(envelope.NS - s.cal.inYear(header.NS, s.cal.closest(header, envelope.NS)))
	}
}

// group returns the lag that a line with these clocks counts for.
func (s *survey) group(header, envelope parse.Clock) *lag {
	switch {
	case header.Lack&parse.LackZone == 0:
		if envelope.Lack&parse.LackZone == 0 {
			return new(lag) // irrelevant for zones
		}
		return &s.full
	case envelope.Lack&parse.LackZone == 0:
		return &s.framed
	}
	return &s.bare
}

// yearOf returns the relative year of an item whose leading clock lacks it.
func (s *survey) yearOf(index int) int {
	year := 0
	for _, t := range s.turns {
		if t.index > index {
			break
		}
		year = t.year
	}
	return year
}
