package logs

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// lagRange is the smallest and largest lag of an origin.
type lagRange struct {
	set      bool
	min, max int64 // ns
	at       spot
	mark     parse.Mark
}

// add extends the range by the lag of the line at p.
func (l *lagRange) add(lag int64, p *spot) {
	if !l.set || lag < l.min {
		l.min = lag
	}
	if !l.set || lag > l.max {
		l.max, l.at = lag, *p
	}
	l.set = true
}

func (l *lagRange) finish(s *scanner) {
	if l.set {
		l.mark = s.mark(&l.at)
	}
}

// lagYear computes lags where one clock has a year and the other has none. It
// caches the year because adjacent lines share it.
type lagYear struct {
	year     int
	from, to int64 // bounds of the year, Unix ns
	shift    yearShift
}

// yearShift is what to add to readings in YearUnknown to move them to a given year.
type yearShift struct {
	early int64 // for January and February
	late  int64 // for the other months
}

// march is the beginning of March in YearUnknown.
var march = startOf(parse.YearUnknown, time.March)

func startOf(year int, m time.Month) int64 {
	return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC).UnixNano()
}

func shiftTo(year int) yearShift {
	return yearShift{startOf(year, time.January) - startOf(parse.YearUnknown, time.January), startOf(year, time.March) - march}
}

func (y yearShift) move(ns int64) int64 {
	if ns < march {
		return ns + y.early
	}
	return ns + y.late
}

// across returns envelope minus header in ns. The two readings may lie on either
// side of New Year.
func (y *lagYear) across(env, header *parse.Clock) int64 {
	el, hl := env.Lack&parse.LackYear != 0, header.Lack&parse.LackYear != 0
	switch {
	case el && hl:
		return nearYear(env.NS - header.NS)
	case hl:
		return env.NS - y.nearest(env.NS, header.NS)
	case el:
		return y.nearest(header.NS, env.NS) - header.NS
	}
	return env.NS - header.NS
}

// nearYear reduces a difference of about a year to near zero: the two readings lie
// on either side of New Year.
func nearYear(d int64) int64 {
	switch {
	case d > leapYear/2:
		return d - leapYear
	case d < -leapYear/2:
		return d + leapYear
	}
	return d
}

// nearest moves ns, a reading without a year, to the year in which it is nearest to
// ref.
func (y *lagYear) nearest(ref, ns int64) int64 {
	if ref < y.from || ref >= y.to {
		y.year = time.Unix(0, ref).UTC().Year()
		y.from, y.to = startOf(y.year, time.January), startOf(y.year+1, time.January)
		y.shift = shiftTo(y.year)
	}
	at := y.shift.move(ns)
	switch d := ref - at; {
	case d > leapYear/2:
		return shiftTo(y.year + 1).move(ns)
	case d < -leapYear/2:
		return shiftTo(y.year - 1).move(ns)
	}
	return at
}
