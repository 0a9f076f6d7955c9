package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// beside notes where readings that lack their zone stand between two full stamps,
// as in a paste of lines of several services: the zone is the one in which they lie
// between these.
type beside struct {
	between []bracket
	open    bracket // that has no end yet
	opened  bool
	head    bracket // that began before the survey did
	headed  bool
}

// bracket is readings from first to last, in order, between two full stamps.
type bracket struct {
	from, to    int64
	first, last parse.Clock
}

// maxBrackets is how many of a file are kept: they only confirm each other.
const maxBrackets = 64

// widestBracket is how far apart two stamps may lie to tell the zone of what
// stands between them: zones are a quarter of an hour apart.
const widestBracket = int64(5 * time.Minute)

// see notes the step from one leading clock to the next.
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

// join adds what a survey of the items that follow noted.
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

// zone is the only zone that all brackets allow, in seconds east of UTC.
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

// allows reports whether the readings lie between the stamps in a zone. Stamps may
// be cut to the second.
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
