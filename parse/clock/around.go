package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// beside collects readings without a zone that lie between two complete timestamps,
// as when lines of several services are pasted together. The zone is the one in
// which they lie between these.
type beside struct {
	between []bracket
	open    bracket // not closed yet
	opened  bool
	head    bracket // began before this part of the survey
	headed  bool
}

// bracket is a sequence of readings, from first to last, between two complete
// timestamps (Unix ns).
type bracket struct {
	from, to    int64
	first, last parse.Clock
}

// maxBrackets is how many are kept per file; more only confirm each other.
const maxBrackets = 64

// widestBracket is how far apart the two timestamps may be to determine a zone:
// zones are multiples of a quarter of an hour.
const widestBracket = int64(5 * time.Minute)

// see processes the transition from one leading clock to the next.
func (b *beside) see(last, c parse.Clock) {
	before, now := last.Set && last.Lack == 0, c.Set && c.Lack == 0
	bare := c.Set && c.Lack&parse.LackZone != 0 && c.Lack&parse.LackDate == 0
	switch {
	case before && bare:
		b.open, b.opened = bracket{from: last.NS, first: c}, true
	case now && !before && last.Set:
		b.close(last, c.NS)
	}
}

func (b *beside) close(last parse.Clock, to int64) {
	switch x := b.open; {
	case b.opened:
		x.last, x.to = last, to
		b.keep(x)
	case !b.headed && len(b.between) == 0:
		b.head, b.headed = bracket{to: to, last: last}, true
	}
	b.opened = false
}

func (b *beside) keep(x bracket) {
	if len(b.between) < maxBrackets && x.to >= x.from && x.to-x.from <= widestBracket {
		b.between = append(b.between, x)
	}
}

// join adds the result of a survey of the items that follow.
func (b *beside) join(later *beside) {
	if later.headed {
		b.close(later.head.last, later.head.to)
	}
	for _, x := range later.between {
		b.keep(x)
	}
	if later.opened {
		b.open, b.opened = later.open, true
	}
}

// zone returns the zone that all brackets allow, in seconds east of UTC; ok is
// false unless there is exactly one.
func (b *beside) zone(cal *calendar) (off int, ok bool) {
	const west, east = -12 * 4, 14 * 4
	n := 0
	for q := west; q <= east && len(b.between) > 0; q++ {
		fits := true
		for _, x := range b.between {
			fits = fits && x.allows(int64(q)*quarter, cal)
		}
		if fits {
			off, n = q*int(quarter/1e9), n+1
		}
	}
	return off, n == 1
}

// allows reports whether the readings, in a zone east ns east of UTC, lie between
// the timestamps. Readings may be truncated to the second.
func (x *bracket) allows(east int64, cal *calendar) bool {
	const cut = int64(time.Second)
	utc := func(c parse.Clock, near int64) int64 {
		if c.Lack&parse.LackYear != 0 {
			c.NS = cal.moved(c.NS, cal.closest(c, near+east))
		}
		return c.NS - east
	}
	return utc(x.first, x.from) >= x.from-cut && utc(x.last, x.to) <= x.to+cut
}
