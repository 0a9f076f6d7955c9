package clock

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// day is the length of a day in ns.
const day = int64(24 * time.Hour)

// calendar tells the year of readings and moves them to other years. Logs have
// millions of lines and few years, so it remembers the two years last asked for:
// readings with and without a year alternate. The zero calendar is ready.
type calendar struct{ recent, before page }

// leapDay reports whether a reading of parse.YearUnknown is of 29 February, which
// most years do not have.
func leapDay(ns int64) bool { return ns >= leapFrom && ns < leapFrom+day }

var leapFrom = first(parse.YearUnknown, time.March) - day

func leapYear(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }

// page is one year.
type page struct {
	year           int
	jan, mar, end  int64 // its first moment, that of March, that of the next year
	target         int   // the year that readings were last moved to
	winter, summer int64 // by how much: those before March, the others
}

func (p *page) has(ns int64) bool { return ns >= p.jan && ns < p.end }

// turn opens the calendar at the year of a reading.
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

// first is the first moment of a month.
func first(year int, m time.Month) int64 {
	return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC).UnixNano()
}

func (c *calendar) yearOf(ns int64) int { return c.turn(ns).year }

// yearDay is the number of the day within its year.
func (c *calendar) yearDay(ns int64) int64 { return floorDiv(ns-c.turn(ns).jan, day) }

// moved moves a reading to the year y: month, day and time of day stay. The 29th
// of February is the 1st of March in years that have none.
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

// inYear moves a reading of year parse.YearUnknown to the year y. Other readings
// stay as they are.
func (c *calendar) inYear(ns int64, y int) int64 {
	if y == 0 || y == parse.YearUnknown || c.yearOf(ns) != parse.YearUnknown {
		return ns
	}
	return c.moved(ns, y)
}

// closest is the year in which the year-less reading r is closest to ref. If ref
// has no year either, both stand in YearUnknown and a difference over half a
// year means that the year turned between them.
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

// notBefore is the first year in which the year-less reading r is not before
// ref, zones aside.
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
