package clock

import (
	"fmt"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// halfYear tells a year roll-over from a clock jump or from lines out of order.
const halfYear = int64(182 * 24 * time.Hour)

// slackAhead is how far after the bounding moment a line may still lie: zones
// are not yet resolved when years are, and collectors take their time.
const slackAhead = int64(36 * time.Hour)

// inYear moves a reading of year parse.YearUnknown to the year y. Readings that
// have a year are moved by the same number of years.
func inYear(ns int64, y int) int64 {
	if y == 0 || y == parse.YearUnknown {
		return ns
	}
	t := time.Unix(0, ns).UTC()
	if t.Year() != parse.YearUnknown {
		return ns
	}
	return time.Date(y, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).UnixNano()
}

// latestYear is the latest year in which the reading is not after bound.
func latestYear(ns, bound int64) int {
	y := time.Unix(0, bound).UTC().Year() + 1
	for inYear(ns, y) > bound+slackAhead {
		y--
	}
	return y
}

// closestYear is the year in which the year-less reading c is closest to ref.
// If ref has no year either, both stand in YearUnknown and a difference over
// half a year means that the year turned between them.
func closestYear(c, ref parse.Clock) int {
	if c.Lack&parse.LackYear == 0 {
		return 0
	}
	y := yearOf(ref.NS)
	switch d := moved(c.NS, y) - ref.NS; {
	case d > halfYear:
		return y - 1
	case d < -halfYear:
		return y + 1
	}
	return y
}

// day is the length of a day in ns.
const day = int64(24 * time.Hour)

// moved is inYear without the exception for YearUnknown itself. Logs have
// millions of lines, so the calendar is asked for the day only.
func moved(ns int64, y int) int64 {
	n := floorDiv(ns, day)
	t := time.Unix(n*(day/1e9), 0).UTC()
	return time.Date(y, t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).UnixNano() + ns - n*day
}

func yearOf(ns int64) int { return time.Unix(0, ns).UTC().Year() }

// years gives every item the year of its leading clock.
func (f *file) years(a *anchors, opt Options) {
	f.walk()
	shift := f.anchorYear(a, opt)
	for i := range f.items {
		f.items[i].year += shift
	}
	if n := len(f.items); n > 0 {
		f.year = f.newestYear()
	}
}

// walk numbers the years relative to the first item: each step back of more
// than half a year is a roll-over, each step forward of more than that is a
// line from before it.
func (f *file) walk() {
	year, prev := 0, int64(0)
	for i := range f.items {
		c := f.items[i].lead()
		if c.Lack&parse.LackYear == 0 {
			continue
		}
		if prev != 0 {
			switch d := c.NS - prev; {
			case d < -halfYear:
				year++
			case d > halfYear:
				year--
			}
		}
		prev = c.NS
		f.items[i].year = year
	}
}

// anchorYear returns what to add to the relative years.
func (f *file) anchorYear(a *anchors, opt Options) int {
	last := -1
	for i := range f.items {
		if f.items[i].lead().Lack&parse.LackYear != 0 {
			last = i
		}
	}
	if last < 0 {
		f.yearBasis, f.yearTrust = "stated on each line", parse.Stated
		return 0
	}
	if opt.Year != 0 {
		f.yearBasis, f.yearTrust = "given by --year", parse.Stated
		return opt.Year - f.items[last].year
	}
	if shift, why, ok := f.anchorInFile(); ok {
		f.yearBasis, f.yearTrust = why, parse.YearInferred
		return shift
	}
	bound, why, trust := int64(0), "", parse.YearInferred
	if m, ok := a.newestOf(f.File); ok {
		bound, why = m.at, m.why
	} else if f.ModTime != 0 {
		bound, why, trust = f.ModTime, "modification time of the file", parse.YearGuessed
	} else if !opt.Now.IsZero() {
		bound, why, trust = opt.Now.UnixNano(), "assumed: the latest year that is not in the future", parse.YearGuessed
	}
	f.yearTrust = trust
	if bound == 0 {
		f.yearBasis = "unknown"
		return parse.YearUnknown - f.items[last].year
	}
	f.yearBasis = why
	return latestYear(f.items[last].lead().NS, bound) - f.items[last].year
}

// anchorInFile looks for a line whose other clock has the year that its leading
// clock lacks.
func (f *file) anchorInFile() (shift int, why string, ok bool) {
	for i := len(f.items) - 1; i >= 0; i-- {
		it := &f.items[i]
		c, ref := it.lead(), it.header()
		if c.Lack&parse.LackYear == 0 || !ref.Set || ref.Lack&parse.LackYear != 0 || ref == c {
			continue
		}
		return closestYear(c, ref) - it.year, fmt.Sprintf("full stamp in %s", it.pos()), true
	}
	if shift, pos, ok := f.neighbour(); ok {
		return shift, fmt.Sprintf("full stamp in %s", pos), true
	}
	for _, s := range f.inner {
		if s.index < 0 || s.index >= len(f.items) {
			continue
		}
		it := &f.items[s.index]
		if c := it.lead(); c.Lack&parse.LackYear != 0 {
			return closestYear(c, parse.Clock{NS: s.at, Set: true}) - it.year, fmt.Sprintf("full stamp in %s", it.pos()), true
		}
	}
	return 0, "", false
}

// neighbour takes the year from a line that states one, such as the heading of
// a log file, for the next line that does not; a heading may stand above the
// oldest line or, in reversed files, below it.
func (f *file) neighbour() (shift int, pos parse.Pos, ok bool) {
	for i := len(f.items) - 1; i >= 0; i-- {
		full := f.items[i].lead()
		if !full.Set || full.Lack&(parse.LackYear|parse.LackDate) != 0 {
			continue
		}
		for _, j := range []int{i + 1, i - 1} {
			if j < 0 || j >= len(f.items) {
				continue
			}
			if c := f.items[j].lead(); c.Set && c.Lack&parse.LackYear != 0 {
				return closestYear(c, full) - f.items[j].year, f.items[i].pos(), true
			}
		}
	}
	return 0, parse.Pos{}, false
}

func (f *file) newestYear() int {
	it := &f.items[len(f.items)-1]
	if c := it.lead(); c.Lack&parse.LackYear == 0 {
		return time.Unix(0, c.NS).UTC().Year()
	}
	return it.year
}
