package clock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// halfYear tells a year roll-over from a clock jump or from lines out of order.
const halfYear = int64(182 * 24 * time.Hour)

// slackAhead is how far after the bounding moment a line may still lie: zones
// are not yet resolved when years are, and collectors take their time.
const slackAhead = int64(36 * time.Hour)

// latestYear is the latest year in which the reading is not after bound.
func latestYear(ns, bound int64) int {
	var cal calendar
	y := cal.yearOf(bound) + 1
	for cal.inYear(ns, y) > bound+slackAhead {
		y--
	}
	return y
}

// years gives every item the year of its leading clock.
func (f *file) years(a *anchors, opt Options) {
	f.shift = f.anchorYear(a, opt)
	if n := f.len(); n > 0 {
		f.year = f.newestYear()
	}
}

// yearAt is the year of an item whose leading clock lacks it, once it is known.
func (f *file) yearAt(index int) int { return f.yearOf(index) + f.shift }

// anchorYear returns what to add to the relative years.
func (f *file) anchorYear(a *anchors, opt Options) int {
	last := f.lastBare
	if last < 0 {
		f.yearBasis, f.yearTrust = "stated on each line", parse.Stated
		return 0
	}
	if opt.Year != 0 {
		f.yearBasis, f.yearTrust = "given by --year", parse.Stated
		given := opt.Year - f.yearOf(last)
		if proven, why, ok := f.anchorInFile(); ok && proven != given {
			f.overrule("year", strconv.Itoa(f.yearOf(last)+proven), why)
		}
		return given
	}
	if shift, why, ok := f.anchorInFile(); ok {
		f.yearBasis, f.yearTrust = why, parse.YearInferred
		return shift
	}
	if shift, why, ok := f.quotedYear(); ok {
		f.yearBasis, f.yearTrust = why, parse.YearInferred
		return shift
	}
	bound, why, trust := int64(0), "", parse.YearInferred
	if m, ok := a.newestOf(f.File); ok {
		bound, why = m.at, m.why
	} else if f.ModTime != 0 {
		bound, why, trust = f.ModTime, "assumed: modification time of the file", parse.YearGuessed
	} else if !opt.Now.IsZero() {
		bound, why, trust = opt.Now.UnixNano(), "assumed: the latest year that is not in the future", parse.YearGuessed
	}
	f.yearTrust = trust
	if bound == 0 {
		f.yearBasis = "unknown"
		return parse.YearUnknown - f.yearOf(last)
	}
	f.yearBasis = why
	shift := latestYear(f.item(last).lead().NS, bound) - f.yearOf(last)
	if f.leap >= 0 && !leapYear(f.yearOf(f.leap)+shift) {
		for f.yearBasis += "; 29 February proves a leap year"; !leapYear(f.yearOf(f.leap) + shift); {
			shift--
		}
	}
	return shift
}

// anchorInFile looks for a line whose other clock has the year that its leading
// clock lacks.
func (f *file) anchorInFile() (shift int, why string, ok bool) {
	if i := f.dated; i >= 0 {
		it := f.item(i)
		header, envelope := it.clocks()
		return f.cal.closest(envelope, header.NS) - f.yearOf(i), fmt.Sprintf("full stamp in %s", it.pos()), true
	}
	if shift, pos, ok := f.neighbour(); ok {
		return shift, fmt.Sprintf("full stamp in %s", pos), true
	}
	for _, s := range f.inner {
		it := f.item(s.index)
		if c := it.lead(); c.Lack&parse.LackYear != 0 {
			return f.cal.closest(c, s.at) - f.yearOf(s.index), fmt.Sprintf("full stamp in %s", it.pos()), true
		}
	}
	return 0, "", false
}

// maxQuoted is in how many lines a date with a year is looked for.
const maxQuoted = 256

// quotedYear takes the year from a line whose text holds a date less than a day from its
// own clock, which may be of another zone: the latest such, as texts recall what was.
func (f *file) quotedYear() (shift int, why string, ok bool) {
	for i := range min(f.timeline.len(), maxQuoted) {
		it := f.item(i)
		if it.event == nil || it.lead().Lack&parse.LackYear == 0 {
			continue
		}
		for _, t := range datesIn(it.event.Message()) {
			year := f.cal.closest(it.lead(), t.UnixNano())
			if apart := time.Duration(f.cal.moved(it.lead().NS, year) - t.UnixNano()).Abs(); apart < 24*time.Hour && (!ok || year-f.yearOf(i) > shift) {
				shift, why, ok = year-f.yearOf(i), fmt.Sprintf("date in %s", it.pos()), true
			}
		}
	}
	return shift, why, ok
}

// datesIn are the dates with a time of day in a text, 2016-02-11 14:22:20, as of UTC.
func datesIn(text string) (out []time.Time) {
	for i := 0; i+len(time.DateTime) <= len(text); i++ {
		if text[i+4] != '-' || text[i+7] != '-' || text[i+13] != ':' {
			continue
		}
		if t, err := time.Parse(time.DateTime, strings.Replace(text[i:i+len(time.DateTime)], "T", " ", 1)); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// neighbour takes the year from a line that states one, such as the heading of
// a log file, for the next line that does not; a heading may stand above the
// oldest line or, in reversed files, below it.
func (f *file) neighbour() (shift int, pos parse.Pos, ok bool) {
	if f.heading < 0 {
		return 0, parse.Pos{}, false
	}
	it := f.item(f.heading)
	year := f.cal.closest
	if m := it.marker; m != nil && beginning(m) {
		year = f.cal.notBefore
	}
	return year(f.item(f.headed).lead(), it.lead().NS) - f.yearOf(f.headed), it.pos(), true
}

// beginning reports whether a heading tells since when the journal keeps lines:
// "-- Logs begin at …", and since systemd 247 "-- Journal begins at …", or a
// unit since when it runs. All lines are later, by days or by a year.
func beginning(m *parse.Marker) bool {
	return m.Kind == parse.MarkHeader && (strings.Contains(m.Quote(), " begin") || strings.Contains(m.Quote(), ") since "))
}

func (f *file) newestYear() int {
	last := f.len() - 1
	if c := f.item(last).lead(); c.Lack&parse.LackYear == 0 {
		return f.cal.yearOf(c.NS)
	}
	return f.yearAt(last)
}
