package clock

import (
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// constant caches the difference between readings and timestamps for events of one
// form (parse.Event.RawKind), and the range in which it is valid: readings within
// the same part of a year and between two zone transitions all move by the same
// amount.
type constant struct {
	kind             uint16 // 0: empty
	header, envelope span
	both             bool        // there are two clocks
	framing          bool        // the only clock is the framing's
	turn             int         // index of the item at which the year changes
	stamp            parse.Stamp // resolution and basis; At is set for each event
}

// span says by how much (ns) readings in [from, to) are moved.
type span struct{ from, to, by int64 }

// always is the span of an absent reading.
var always = span{math.MinInt64, math.MaxInt64, 0}

func (s *span) holds(ns int64) bool { return ns >= s.from && ns < s.to }

// limit narrows the span to readings in [from, to).
func (s *span) limit(from, to int64) { s.from, s.to = max(s.from, from), min(s.to, to) }

// apart is how far the two clocks of a line may differ with their years still
// certain, whatever their zones.
const apart = halfYear / 2

// dates stamps the event if the cached constant applies, and reports whether it
// does.
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

// event stamps the event at index.
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

// learn derives the constant from the readings of the event just stamped. ok is
// false if the year of a reading was in doubt.
func (s *stamper) learn(raw parse.RawClocks) (c constant, ok bool) {
	header, envelope := raw.Header, raw.Envelope
	c.both, c.framing = header.Set && envelope.Set, !header.Set
	if c.turn = math.MaxInt; len(s.turns) > 0 {
		c.turn = s.turns[0].index
	}
	if len(s.changed) > 0 {
		c.turn = min(c.turn, s.changed[0].index)
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

// span returns the span around reading c in the given year.
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

// less subtracts by from a bound unless it is infinite.
func less(bound, by int64) int64 {
	if bound == math.MinInt64 || bound == math.MaxInt64 {
		return bound
	}
	return bound - by
}
