package clock

import (
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// constant is what the stamps of events of one form (parse.Event.RawKind) differ
// in from their readings, and as long as it stays so: readings of one half of a
// year, between two changes of the zone's clock, are all moved by the same.
type constant struct {
	kind             uint16 // 0: nothing is known
	header, envelope span
	both             bool        // there are two clocks, else one
	framing          bool        // and that is the framing's
	turn             int         // index of the item with which the year turns
	stamp            parse.Stamp // all but the moment
}

// span is by how much readings are moved, from one to before another.
type span struct{ from, to, by int64 }

// always is the span of a reading that is not there.
var always = span{math.MinInt64, math.MaxInt64, 0}

func (s *span) holds(ns int64) bool { return ns >= s.from && ns < s.to }

// limit shortens a span to readings from one to before another.
func (s *span) limit(from, to int64) { s.from, s.to = max(s.from, from), min(s.to, to) }

// apart is how far the two clocks of a line may part for their years to be
// beyond doubt, whatever their zones.
const apart = halfYear / 2

// dates stamps an event if what is known holds for it.
func (c *constant) dates(index int, e *parse.Event) bool {
	if index >= c.turn || !c.header.holds(e.At) || !c.envelope.holds(e.Arrived) {
		return false
	}
	st, arrived := c.stamp, e.Arrived+c.envelope.by
	if st.At = e.At + c.header.by; c.framing {
		st.At = arrived
	}
	if d := st.At - arrived; c.both && (d >= apart || d <= -apart) {
		return false
	}
	e.Resolve(st, arrived)
	return true
}

// event stamps the event of an index.
func (s *stamper) event(index int, e *parse.Event) {
	kind := e.RawKind()
	c := &s.known[slotOf(kind)]
	if kind != 0 && c.kind == kind && c.dates(index, e) {
		return
	}
	raw := e.Raw()
	s.item(index, item{event: e})
	c.kind = 0
	if x, ok := s.learn(raw); ok && !s.summer {
		*c = x
		c.kind, c.stamp = kind, e.Stamp
	}
}

// learn finds by how much the readings of the event just stamped were moved, and
// for how long others are. Where the year of a reading was in doubt it does not.
func (s *stamper) learn(raw parse.RawClocks) (c constant, ok bool) {
	header, envelope := raw.Header, raw.Envelope
	c.both, c.framing = header.Set && envelope.Set, !header.Set
	if c.turn = math.MaxInt; len(s.turns) > 0 {
		c.turn = s.turns[0].index
	}
	lead := leading(header, envelope)
	year := s.year
	if lead.Lack&parse.LackYear == 0 {
		year = s.cal.yearOf(lead.NS)
	}
	var sure bool
	c.header, ok = s.span(header, lead, year, &s.header)
	c.envelope, sure = s.span(envelope, lead, year, &s.envelope)
	if lead.Lack&parse.LackYear == 0 && header.Lack&parse.LackYear != 0 {
		p := s.cal.turn(lead.NS)
		c.envelope.limit(p.jan, p.end)
	}
	return c, ok && sure
}

// span is that of a reading of the year.
func (s *stamper) span(c, lead parse.Clock, year int, z *reader) (span, bool) {
	out := always
	if !c.Set {
		return out, true
	}
	if c.Lack&parse.LackDate != 0 {
		return out, false
	}
	if c.Lack&parse.LackYear != 0 {
		if s.yearOf(c, lead) != year {
			return out, false
		}
		p := s.cal.turn(c.NS)
		if out.limit(p.jan, p.mar); c.NS >= p.mar {
			out = span{p.mar, p.end, 0}
		}
		out.by = s.cal.moved(c.NS, year) - c.NS
	}
	if c.Lack&parse.LackZone != 0 {
		off := int64(z.at(c.NS+out.by)) * int64(time.Second)
		if z.loc != nil {
			if !z.holds(c.NS + out.by) {
				return out, false
			}
			out.limit(less(z.from, out.by), less(z.to, out.by))
		}
		out.by -= off
	}
	return out, true
}

// less subtracts from a bound, unless there is none.
func less(bound, by int64) int64 {
	if bound == math.MinInt64 || bound == math.MaxInt64 {
		return bound
	}
	return bound - by
}
