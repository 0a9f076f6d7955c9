package logs

import (
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// lagRange is the least and largest lag of an origin.
type lagRange struct {
	set      bool
	min, max int64 // ns
	at       spot
	mark     parse.Mark
}

func (l *lagRange) add(s *scanner, p *spot) {
	lag := s.lag.of(p.env, p.raw)
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
// remembers the year, as neighbouring lines share it.
type lagYear struct {
	from, to   int64 // the year in which shifts hold, Unix ns
	early      int64 // what to add to a reading of January or February
	late       int64 // what to add to one of the other months
	beforeMarc int64 // where in YearUnknown March begins
}

// of returns envelope minus header, ns, as the two read.
func (y *lagYear) of(env, header parse.Clock) int64 {
	switch el, hl := env.Lack&parse.LackYear != 0, header.Lack&parse.LackYear != 0; {
	case el == hl && !el:
		return env.NS - header.NS
	case el == hl:
		return nearYear(env.NS-header.NS, leapYear)
	case hl:
		return nearYear(env.NS-y.in(env.NS, header.NS), 365*86400e9)
	}
	return nearYear(y.in(header.NS, env.NS)-header.NS, 365*86400e9)
}

// nearYear brings a difference that is about a year off near zero: the two
// readings lie on both sides of New Year.
func nearYear(d, year int64) int64 {
	switch {
	case d > year/2:
		return d - year
	case d < -year/2:
		return d + year
	}
	return d
}

// in moves a reading without a year into the year of ref.
func (y *lagYear) in(ref, ns int64) int64 {
	if ref < y.from || ref >= y.to {
		y.turn(time.Unix(0, ref).UTC().Year())
	}
	if ns < y.beforeMarc {
		return ns + y.early
	}
	return ns + y.late
}

func (y *lagYear) turn(year int) {
	at := func(year int, m time.Month) int64 { return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC).UnixNano() }
	y.from, y.to = at(year, time.January), at(year+1, time.January)
	y.beforeMarc = at(parse.YearUnknown, time.March)
	y.early = y.from - at(parse.YearUnknown, time.January)
	y.late = at(year, time.March) - y.beforeMarc
}
