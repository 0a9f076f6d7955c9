package clock

import (
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// innerStamp is a full stamp inside the message of an item: the kubelet prints
// the heartbeat of a node condition with date, zone and nanoseconds, taken
// about 80 µs before the line itself.
type innerStamp struct {
	index int // of the item
	at    int64
}

// heartbeat layouts: Go's time.Time, and RFC 3339 with whole seconds.
const goTime = "2006-01-02 15:04:05.999999999 -0700"

// parseHeartbeat reads either form; the m=+… part and the zone word of the
// first are dropped.
func parseHeartbeat(s string) (at int64, ok bool) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UnixNano(), true
	}
	f := strings.Fields(s)
	if len(f) < 3 {
		return 0, false
	}
	t, err := time.Parse(goTime, strings.Join(f[:3], " "))
	if err != nil {
		return 0, false
	}
	return t.UnixNano(), true
}

// gatherInner notes the inner stamp of an event. Rows of kubectl
// describe quote heartbeats long past, so only lines that the kubelet wrote at
// that moment count.
// It reports whether lines of the event's kind may have one.
func (s *survey) gatherInner(index int, e *parse.Event) bool {
	if !e.Is(parse.SigNotReady) {
		return false
	}
	if at, ok := parseHeartbeat(e.Field("heartbeat")); ok {
		s.inner = append(s.inner, innerStamp{index: index, at: at})
	}
	return true
}

// byAnchor derives the zone of the message's clock from an inner stamp.
func (f *file) byAnchor() (zone, bool) {
	for _, s := range f.inner {
		it := f.item(s.index)
		c, envelope := it.clocks()
		if !c.Set {
			c = envelope
		}
		if c.Lack&parse.LackZone == 0 {
			continue
		}
		local := c.NS
		if c.Lack&parse.LackYear != 0 {
			local = f.cal.moved(c.NS, f.cal.closest(c, s.at))
		}
		off := zoneDifference(local - s.at)
		if off < -13*3600 || off > 15*3600 {
			continue
		}
		return fixed(off, "from the heartbeat stamp in "+it.pos().String(), parse.ZoneInferred), true
	}
	return zone{}, false
}
