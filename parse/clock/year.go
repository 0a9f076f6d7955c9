package clock

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// halfYear in ns distinguishes a year change from a clock step or lines out of
// order.
const halfYear = int64(182 * 24 * time.Hour)

// slackAhead in ns is how far after the bound a line may lie: zones are not
// resolved yet when years are, and collecting takes time.
const slackAhead = int64(36 * time.Hour)

// latestYear returns the latest year in which the reading is not after bound, plus
// slackAhead.
func latestYear(ns, bound int64) int {
	var cal calendar
	y := cal.yearOf(bound) + 1
	for cal.inYear(ns, y) > bound+slackAhead {
		y--
	}
	return y
}

// years determines the years of the leading clocks.
func (f *file) years(a *anchors, opt Options) {
	f.shift = f.anchorYear(a, opt)
	if n := f.len(); n > 0 {
		f.year = f.newestYear()
	}
}

// yearAt returns the year of an item whose leading clock lacks it.
func (f *file) yearAt(index int) int { return f.yearOf(index) + f.shift }

// anchorYear returns what to add to the relative years, and sets yearBasis and
// yearTrust.
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
	if _, ok := a.collectedOf(f.File); !ok {
		if shift, why, ok := f.nearYear(a); ok {
			f.yearBasis, f.yearTrust = why, parse.YearInferred
			return shift
		}
	}
	bound, why, trust := int64(0), "", parse.YearInferred
	if end, pos := f.journalEnd(); end != 0 {
		bound, why, trust = end, fmt.Sprintf("assumed: the last of several years that the heading of %s spans", pos), parse.YearGuessed
	} else if m, ok := a.newestOf(f.File); ok {
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

// anchorInFile looks for a line with a second clock or a neighbor that states the
// year.
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

// maxQuoted is how many items are searched for a date with a year.
const maxQuoted = 256

// quotedYear derives the year from a line whose text holds a date less than a day
// from its own clock, which may be in another zone. It uses the latest such date,
// since texts refer to the past.
func (f *file) quotedYear() (shift int, why string, ok bool) {
	f.quoted(func(i int, it item, t parse.Date, year int) {
		if !ok || year-f.yearOf(i) > shift {
			shift, why, ok = year-f.yearOf(i), fmt.Sprintf("date in %s", it.pos()), true
		}
	})
	return shift, why, ok
}

// quotedZone derives the zone from dates that say it and that lines state as their own moment: in local time, up to a
// minute before the line; in UTC, in which many programs print what is hours old, up to a second. A moment at which the
// line was written tells the zone by how far the line's clock is from it.
func (f *file) quotedZone() (z zone, ok bool) {
	several := false
	f.quoted(func(_ int, it item, t parse.Date, year int) {
		most := time.Minute
		if t.East == 0 {
			most = time.Second
		}
		late := time.Duration(f.cal.moved(it.lead().NS, year) - t.Read.UnixNano())
		if t.Own {
			off := late.Round(15 * time.Minute)
			late, t.East, most = late-off, int(off/time.Second), 5*time.Second
		}
		if !t.Zoned || it.lead().Lack&parse.LackZone == 0 || late < -time.Second || late > most {
			return
		}
		if ok && z.off != t.East {
			several = true
		}
		z, ok = fixed(t.East, fmt.Sprintf("from the date in %s", it.pos()), parse.ZoneInferred), true
	})
	return z, ok && !several
}

// quoted calls found with each date in the text of a line that is less than a day from the line's own clock, which lacks
// the year, and with that year.
func (f *file) quoted(found func(i int, it item, t parse.Date, year int)) {
	for i := range min(f.timeline.len(), maxQuoted) {
		it := f.item(i)
		text := ""
		switch {
		case it.event != nil:
			text = it.event.Message()
		case it.mark != nil:
			text = it.mark.Text.String()
		}
		if text == "" || it.lead().Lack&parse.LackYear == 0 {
			continue
		}
		for _, t := range parse.DatesIn(text) {
			year := f.cal.closest(it.lead(), t.Read.UnixNano())
			if apart := time.Duration(f.cal.moved(it.lead().NS, year) - t.Read.UnixNano()).Abs(); apart < 24*time.Hour {
				found(i, it, t, year)
			}
		}
	}
}

// neighbour derives the year from a line that states one, such as the heading of a
// log file, for an adjacent line that does not. In reversed files the heading is
// below the oldest line.
func (f *file) neighbour() (shift int, pos parse.Pos, ok bool) {
	if f.heading < 0 {
		return 0, parse.Pos{}, false
	}
	it, lead := f.item(f.heading), f.item(f.headed).lead()
	if m := it.marker; m == nil || !beginning(m) {
		return f.cal.closest(lead, it.lead().NS) - f.yearOf(f.headed), it.pos(), true
	}
	if end, _ := f.journalEnd(); end != 0 {
		return 0, parse.Pos{}, false
	}
	return f.cal.notBefore(lead, it.lead().NS) - f.yearOf(f.headed), it.pos(), true
}

// ago returns how long ago a unit started, as its state tells: "…; 2 years 5 months ago".
func ago(text string) (years, months int) {
	_, rest, _ := strings.Cut(text, "; ")
	words := strings.Fields(rest)
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		switch unit := strings.TrimSuffix(words[i+1], "s"); {
		case err != nil || n > 99:
			return years, months
		case unit == "year":
			years = n
		case unit == "month":
			months = n
		}
	}
	return years, months
}

// journalEnd returns the end of the journal that a heading states, or when a unit's state was shown, and the heading,
// if the line beside it may be of more than one year until then; else 0.
func (f *file) journalEnd() (end int64, pos parse.Pos) {
	if f.heading < 0 {
		return 0, parse.Pos{}
	}
	it, lead := f.item(f.heading), f.item(f.headed).lead()
	if it.marker == nil || !beginning(it.marker) {
		return 0, parse.Pos{}
	}
	if dates := parse.DatesIn(it.marker.Quote()); len(dates) >= 2 {
		end = dates[len(dates)-1].Read.UnixNano()
	} else if years, months := ago(it.marker.Quote()); years > 0 {
		end = time.Unix(0, it.lead().NS).AddDate(years, months+1, 0).UnixNano() // the rest is rounded down
	} else {
		return 0, parse.Pos{}
	}
	if latestYear(lead.NS, end) == f.cal.notBefore(lead, it.lead().NS) {
		return 0, parse.Pos{}
	}
	return end, it.pos()
}

// beginning reports whether a heading states since when the journal has entries
// ("-- Logs begin at …", since systemd 247 "-- Journal begins at …") or since when
// a unit is active. All lines are later, by up to a year or more. Since when a unit is
// not is about the time of its last lines.
func beginning(m *parse.Marker) bool {
	return m.Kind == parse.MarkHeader && (strings.Contains(m.Quote(), " begin") || strings.Contains(m.Quote(), "Active: active ("))
}

func (f *file) newestYear() int {
	last := f.len() - 1
	if c := f.item(last).lead(); c.Lack&parse.LackYear == 0 {
		return f.cal.yearOf(c.NS)
	}
	return f.yearAt(last)
}
