package clock

import "github.com/plegforensics/plegforensics/parse"

// form is what the clocks of events of one parse.Event.RawKind have in common.
// A file has events of a few forms by the thousand; what holds for the first of
// a form need not be asked again for the others.
type form struct {
	kind             uint16
	header, envelope parse.Clock // without their readings
	lead             parse.Clock // the leading one
	yearless         bool        // the leading clock lacks the year
	both, alike      bool        // both clocks are there; they differ in the reading only
	plain            bool        // both have a year, or neither
}

// formSlots is how many forms are remembered: a file has few.
const formSlots = 4

// slotOf is where a form is remembered.
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

// at returns the clocks of an event of the form.
func (f *form) at(e *parse.Event) (header, envelope parse.Clock) {
	header, envelope = f.header, f.envelope
	header.NS, envelope.NS = e.At, e.Arrived
	return header, envelope
}

// seeAll surveys events that follow each other, the first at index i: the first
// of a form as see does, and of the others what may differ.
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

// likewise surveys an event of a form that was seen, behind an item whose leading
// clock has as much. It reports false, and has done nothing, where more is to be
// asked.
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

// far reports whether the year may turn between two readings.
func far(a, b int64) bool { return a-b > halfYear || b-a > halfYear }
