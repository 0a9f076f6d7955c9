package clock

import (
	"slices"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Where summer time begins or ends, the lines of one process go on, but readings without a zone jump by an hour: from just
// before a whole hour to just after the one that is shown next. Such a jump is a change of the local time only at a moment
// at which some zone has one, or where stamps with a zone show it: an hour that is missing from a log looks alike.

// season is a change of the local time: from the item at index on, readings that lack their zone lie further east, by
// seconds.
type season struct {
	index            int
	header, envelope int
	pos              parse.Pos
}

// summerZones are zones whose local times change at different moments and by different rules; others change as one of them.
var summerZones = []string{"Europe/London", "Europe/Berlin", "Europe/Helsinki", "Atlantic/Azores", "America/New_York", "America/Havana",
	"America/Santiago", "America/Asuncion", "America/Sao_Paulo", "America/Mexico_City", "America/St_Johns", "America/Nuuk",
	"Australia/Sydney", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham", "Asia/Jerusalem", "Asia/Beirut", "Asia/Amman",
	"Asia/Tehran", "Africa/Cairo", "Europe/Moscow", "Europe/Chisinau"}

// changes reports whether the clocks of some zone that show at (ns as if UTC) are changed by d then.
func changes(at, d int64) bool {
	return slices.ContainsFunc(summerZones, func(name string) bool {
		loc, err := time.LoadLocation(name)
		if err != nil {
			return false
		}
		_, off := time.Unix(0, at-day).In(loc).Zone()
		t := time.Unix(0, at-int64(off)*1e9).In(loc)
		_, before := t.Add(-1).Zone()
		_, after := t.Zone()
		return int64(after-before)*1e9 == d && before == off
	})
}

// seasons finds the changes of the local time in a file whose zone is not given.
func (f *file) seasons(opt Options) {
	if opt.Zone != nil || f.reversed || f.loose || collectedInUTC[f.Layout] || f.zoneWord == "UTC" || f.zoneWord == "GMT" {
		return
	}
	for _, c := range f.coverage {
		if c.Origin.Source != parse.SrcKubelet {
			continue
		}
		most := int64(time.Minute)
		for i := range c.Gaps {
			if d := c.Gaps[i].Next.Raw.NS - c.Gaps[i].Last.Raw.NS; d <= goesOn {
				most = max(most, d)
			}
		}
		for i := 0; i < len(c.Gaps) && len(f.changed) < parse.Many; i++ {
			f.season(&c.Gaps[i], most)
		}
	}
	slices.SortFunc(f.changed, func(a, b season) int { return a.index - b.index })
	if !f.seasonable() {
		f.changed = nil
	}
}

// season records the change, if any, between two lines of a process that follow each other, no further apart than most, as
// others of its lines are.
func (f *file) season(g *parse.Gap, most int64) {
	from, to := item{mark: &g.Last}, item{mark: &g.Next}
	i, j := f.find(g.Last.Pos), f.find(g.Next.Pos)
	if j <= i {
		return
	}
	h0, e0 := from.clocks()
	h1, e1 := to.clocks()
	s := season{index: j, header: f.change(h0, h1, j, most), envelope: f.change(e0, e1, j, most), pos: g.Next.Pos}
	if s.header == 0 && s.envelope == 0 {
		return
	}
	a, b := from.lead(), to.lead()
	for k := i + 1; k < j; k++ { // lines of others in between
		if c := f.item(k).lead(); c.Set && c.Lack == a.Lack && abs(c.NS-b.NS) < abs(c.NS-a.NS) {
			s.index, s.pos = k, f.item(k).pos()
			break
		}
	}
	if !slices.ContainsFunc(f.changed, func(x season) bool { return abs(int64(x.index-s.index)) <= int64(j-i) }) {
		f.changed = append(f.changed, s)
	}
}

// change returns by how many seconds the local time changes between the readings of two items, of which the later one has the
// index; 0 if it does not, or if they would be more than most apart.
func (f *file) change(a, b parse.Clock, index int, most int64) int {
	if !a.Set || !b.Set || a.Lack != b.Lack || a.Lack&parse.LackZone == 0 || a.Lack&parse.LackDate != 0 {
		return 0
	}
	year := 0
	if a.Lack&parse.LackYear != 0 {
		year = f.yearAt(index)
	}
	from, to := f.cal.inYear(a.NS, year), f.cal.inYear(b.NS, year)
	at := -floorDiv(-from, hour) * hour // the next whole hour
	for _, d := range [...]int64{hour, -hour, hour / 2, -hour / 2} {
		if pause := to - from - d; pause >= 0 && pause <= most && to >= at+d && changes(at, d) {
			return int(d / 1e9)
		}
	}
	return 0
}

// seasonable reports whether no stamps with a zone, before and after the changes, show that the local time did not change.
func (f *file) seasonable() bool {
	offs := map[int]int{} // by what the changes move readings: the offset that the stamps tell without them
	for i := range f.inner {
		if off, ok := f.offset(&f.inner[i], 0); ok {
			header, envelope := f.changedBy(f.inner[i].index)
			offs[header+envelope] = off
		}
	}
	for a, x := range offs {
		for b, y := range offs {
			if a != b && x == y {
				return false
			}
		}
	}
	return true
}

// changedBy returns by how many seconds the readings of the item at index are moved by changes before it.
func (f *file) changedBy(index int) (header, envelope int) {
	for _, s := range f.changed {
		if s.index <= index {
			header, envelope = header+s.header, envelope+s.envelope
		}
	}
	return header, envelope
}

// find returns the index of the first item that does not stand before pos.
func (f *file) find(pos parse.Pos) int {
	return sort.Search(f.len(), func(i int) bool { return comparePos(f.item(i).pos(), pos) >= 0 })
}

func abs(d int64) int64 { return max(d, -d) }
