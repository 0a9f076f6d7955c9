package clock

import (
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// innerStamp is a timestamp with the year inside the message of an item. The
// kubelet prints the heartbeat of a node condition with date, zone and nanoseconds,
// taken about 80 µs before the line itself. Traces of slow operations state their
// start, up to some minutes before the line, without a zone since Kubernetes 1.19. Of
// a volume operation that failed it prints until when it waits and for how long, which
// gives the moment of the failure, just before the line. Where a certificate is held against the
// clock, the error states this, in the zone of the process.
type innerStamp struct {
	index int // of the item
	at    int64
	what  string
	zoned bool // at is in UTC, and close enough to the line to derive the zone of its clock
	local bool // it states the offset of the process's own zone
	east  int  // that offset, in seconds
}

// goTime is the heartbeat layout of Go's time.Time; the other one is RFC 3339.
const goTime = "2006-01-02 15:04:05.999999999 -0700"

// parseHeartbeat parses either layout; the zone abbreviation and the m=+… part of
// the first are ignored. local says that the stamp is in the zone of the process.
func parseHeartbeat(s string) (t time.Time, local, ok bool) {
	if len(s) > len(time.DateOnly) && s[len(time.DateOnly)] == 'T' {
		t, err := parse.ParseTime(time.RFC3339Nano, s)
		return t, false, err == nil
	}
	f := strings.Fields(s)
	if len(f) < 3 {
		return t, false, false
	}
	t, err := parse.ParseTime(goTime, strings.Join(f[:3], " "))
	return t, true, err == nil
}

// traceTime is the layout of a trace's start since Kubernetes 1.19.
const traceTime = "02-Jan-2006 15:04:05.000"

// gatherInner records the inner timestamp of an event and the age it states. Only
// lines written at that moment by the kubelet count: kubectl describe rows quote
// old heartbeats. It reports whether lines of the event's kind may have any of
// these.
func (s *survey) gatherInner(index int, e *parse.Event) bool {
	what, field, zoned := "heartbeat", "", true
	aged := e.Is(parse.SigAge)
	if aged {
		s.gatherAge(e)
	}
	switch {
	case e.Is(parse.SigNotReady):
		field = e.Field("heartbeat")
	case e.Is(parse.SigClock):
		if now, err := parse.ParseTime(time.RFC3339, e.Field("now")); err == nil {
			_, east := now.Zone()
			s.inner = append(s.inner, innerStamp{index, now.UnixNano(), "certificate check's", true, true, east})
		}
		return true
	case e.Is(parse.SigTrace):
		total, err := time.ParseDuration(e.Field("total"))
		what, field, zoned = "trace's", e.Field("started"), err == nil && total < time.Duration(quarter)
	case e.Is(parse.SigRetry):
		until, local, ok := parseHeartbeat(e.Field("until"))
		if after, err := time.ParseDuration(e.Field("after")); ok && err == nil {
			_, east := until.Zone()
			s.inner = append(s.inner, innerStamp{index, until.Add(-after).UnixNano(), "retry", true, local, east})
		}
		return true
	default:
		return aged
	}
	if t, local, ok := parseHeartbeat(field); ok {
		_, east := t.Zone()
		s.inner = append(s.inner, innerStamp{index, t.UnixNano(), what, zoned, local, east})
	} else if t, err := parse.ParseTime(traceTime, field); err == nil {
		s.inner = append(s.inner, innerStamp{index: index, at: t.UnixNano(), what: what})
	}
	return true
}

// byAnchor derives the zone of the message's clock from the inner timestamps. If they tell of several, as
// over a change to summer time, the first is only assumed.
func (f *file) byAnchor() (zone, bool) {
	var out zone
	found := false
	for i := range f.inner {
		s := &f.inner[i]
		changed, moved := f.changedBy(s.index)
		if header, _ := f.item(s.index).clocks(); !header.Set {
			changed = moved
		}
		off, ok := f.offset(s, changed)
		if !ok {
			continue
		}
		if !found {
			out, found = fixed(off, "from the "+s.what+" stamp in "+f.item(s.index).pos().String(), parse.ZoneInferred), true
		} else if off != out.off {
			return fixed(out.off, "assumed: its stamps are of several zones, "+out.name+" and "+offsetName(off), parse.ZoneGuessed), true
		}
	}
	return out, found
}

// offset returns the offset, in seconds east of UTC, that an inner timestamp shows its line's reading to have, less changed.
func (f *file) offset(s *innerStamp, changed int) (int, bool) {
	c, envelope := f.item(s.index).clocks()
	if !c.Set {
		c = envelope
	}
	if c.Lack&parse.LackZone == 0 || !s.zoned {
		return 0, false
	}
	local := c.NS
	if c.Lack&parse.LackYear != 0 {
		local = f.cal.moved(c.NS, f.cal.closest(c, s.at))
	}
	off := zoneDifference(local - s.at)
	if late := local - s.at - int64(s.east)*1e9; s.local && late > -int64(2*time.Second) && late < quarter {
		off = s.east // the line came later than its stamp
	}
	return off - changed, off >= -13*3600 && off <= 15*3600
}
