package clock

import "github.com/plegforensics/plegforensics/parse"

// form is what the clocks of all events of one parse.Event.RawKind have in common.
// A file has thousands of events of each of a few forms; what holds for the first
// need not be checked for the others.
type form struct {
	kind             uint16
	header, envelope parse.Clock // with NS 0
	lead             parse.Clock // the leading one of the two
	yearless         bool        // lead lacks the year
	both, alike      bool        // both clocks are set; they differ at most in NS
	plain            bool        // both have a year, or neither has
}

// formSlots is the number of forms cached; a file has few.
const formSlots = 4

// slotOf returns the cache slot of a form.
func slotOf(kind uint16) int { return int(kind^kind>>7) % formSlots }

func formOf(e *parse.Event) form {
	raw := e.Raw()
	f := form{kind: e.RawKind(), header: raw.Header, envelope: raw.Envelope}
	f.header.NS, f.envelope.NS = 0, 0
	f.lead = leading(f.header, f.envelope)
	f.yearless = f.lead.Lack&parse.LackYear != 0
	f.both = f.header.Set && f.envelope.Set
	f.alike = f.header == f.envelope
	f.plain = (f.header.Lack^f.envelope.Lack)&parse.LackYear == 0
	return f
}

// at returns the clocks of event e, which must be of the form.
func (f *form) at(e *parse.Event) (header, envelope parse.Clock) {
	header, envelope = f.header, f.envelope
	header.NS, envelope.NS = e.At, e.Arrived
	return header, envelope
}

// seeAll surveys consecutive events, the first at index i. The first event of a
// form takes the full path (see), the others a fast one.
func (s *survey) seeAll(i int, es []*parse.Event) {
	for k, e := range es {
		kind := e.RawKind()
		f := &s.forms[slotOf(kind)]
		if kind != f.kind || !s.likewise(i+k, e, f) {
			s.see(i+k, item{event: e})
			*f = formOf(e)
		}
	}
}

// likewise surveys an event of a known form that follows an item whose leading
// clock has the same parts. It returns false and does nothing if the event needs
// the full path.
func (s *survey) likewise(i int, e *parse.Event, f *form) bool {
	header, envelope := e.At, e.Arrived
	lead := header
	if f.envelope.Set {
		lead = envelope
	}
	if f.lead.Set != s.lead.Set || f.lead.Lack != s.lead.Lack || f.yearless && far(lead, s.walked) {
		return false
	}
	if f.yearless {
		if s.walked, s.lastBare = lead, i; leapDay(lead) {
			s.leap = i
		}
		if f.both && f.header.Lack&parse.LackYear == 0 {
			s.dated = i
		}
	}
	if f.header.Lack == 0 && f.header.Set && header > s.latest {
		s.latest, s.latestAt = header, i
	}
	if f.envelope.Lack == 0 && f.envelope.Set && envelope > s.latest {
		s.latest, s.latestAt = envelope, i
	}
	switch {
	case !f.both || f.alike && header == envelope:
	case f.plain && !far(header, envelope):
		s.group(f.header, f.envelope).add(envelope - header)
	default:
		s.compare(f.at(e))
	}
	s.lead.NS, s.leadAt = lead, i
	if e.EventKind != s.silent[0] && e.EventKind != s.silent[1] && !s.gatherInner(i, e) {
		s.silent[0], s.silent[1] = e.EventKind, s.silent[0]
	}
	return true
}

// far reports whether two readings without a year may lie in different years.
func far(a, b int64) bool { return a-b > halfYear || b-a > halfYear }
