package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// day is the length of a day in ns.
const day = int64(24 * time.Hour)

// calendar returns the year of readings and moves them to other years. Logs have
// millions of lines and few years, so it caches the last two years: readings with
// and without a year alternate. The zero value is ready to use. It is not safe for
// concurrent use.
type calendar struct{ recent, before page }

// leapDay reports whether a reading in parse.YearUnknown is on 29 February, which
// most years lack.
func leapDay(ns int64) bool { return ns >= leapFrom && ns < leapFrom+day }

var leapFrom = first(parse.YearUnknown, time.March) - day

func leapYear(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// page caches one year.
type page struct {
	year           int
	jan, mar, end  int64 // start of the year, of its March, of the next year (ns as if UTC)
	target         int   // year that readings were last moved to
	winter, summer int64 // offset in ns to target: of readings before March, of later ones
}

func (p *page) has(ns int64) bool { return ns >= p.jan && ns < p.end }

// turn returns the page of the year of a reading.
func (c *calendar) turn(ns int64) *page {
	if c.recent.has(ns) {
		return &c.recent
	}
	if c.before.has(ns) {
		return &c.before
	}
	y := time.Unix(0, ns).UTC().Year()
	c.before = c.recent
	c.recent = page{year: y, jan: first(y, time.January), mar: first(y, time.March), end: first(y+1, time.January)}
	c.recent.aim(y)
	return &c.recent
}

func (p *page) aim(year int) {
	p.target = year
	p.winter, p.summer = first(year, time.January)-p.jan, first(year, time.March)-p.mar
}

// first returns the first moment of a month, in ns as if UTC.
func first(year int, m time.Month) int64 {
	return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC).UnixNano()
}

func (c *calendar) yearOf(ns int64) int { return c.turn(ns).year }

// yearDay returns the day within the year, from 0.
func (c *calendar) yearDay(ns int64) int64 { return floorDiv(ns-c.turn(ns).jan, day) }

// moved moves a reading to year y, keeping month, day and time of day. 29 February
// becomes 1 March in years without one.
func (c *calendar) moved(ns int64, y int) int64 {
	p := c.turn(ns)
	switch y {
	case p.year:
		return ns
	case p.target:
	default:
		p.aim(y)
	}
	if ns < p.mar {
		return ns + p.winter
	}
	return ns + p.summer
}

// inYear moves a reading in parse.YearUnknown to year y. It returns other readings
// unchanged.
func (c *calendar) inYear(ns int64, y int) int64 {
	if y == 0 || y == parse.YearUnknown || c.yearOf(ns) != parse.YearUnknown {
		return ns
	}
	return c.moved(ns, y)
}

// closest returns the year in which the reading r without a year is closest to ref.
// If ref has no year either, both are in YearUnknown, and a difference of more than
// half a year means that the year changed between them.
func (c *calendar) closest(r parse.Clock, ref int64) int {
	if r.Lack&parse.LackYear == 0 {
		return 0
	}
	y := c.yearOf(ref)
	switch d := c.moved(r.NS, y) - ref; {
	case d > halfYear:
		return y - 1
	case d < -halfYear:
		return y + 1
	}
	return y
}

// notBefore returns the first year in which the reading r without a year is not
// before ref, less slackAhead for unknown zones.
func (c *calendar) notBefore(r parse.Clock, ref int64) int {
	if r.Lack&parse.LackYear == 0 {
		return 0
	}
	y := c.yearOf(ref)
	if c.moved(r.NS, y) < ref-slackAhead {
		return y + 1
	}
	return y
}
