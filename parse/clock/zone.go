package clock

import (
	"fmt"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// zone is a zone and how it is known. The zero zone is unknown.
type zone struct {
	name  string
	loc   *time.Location // nil: a fixed offset
	off   int            // seconds east of UTC, when loc is nil
	why   string
	basis parse.Basis
}

// at returns the offset of the zone at a local reading, in seconds east.
func (z zone) at(local int64) int {
	if z.loc == nil {
		return z.off
	}
	_, off := utcOf(local, z.loc).Zone()
	return off
}

// utcOf is the moment at which the wall clock of loc shows local (ns as if UTC).
func utcOf(local int64, loc *time.Location) time.Time {
	t := time.Unix(0, local).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
}

// named is a zone by name where the name is a place, by offset otherwise: "CST"
// alone says nothing, "America/New_York" says when the clock changes.
func named(name string, off int, why string) zone {
	z := zone{name: name, off: off, why: why, basis: parse.ZoneInferred}
	if loc, err := time.LoadLocation(name); err == nil && len(name) > 4 && name != "Local" {
		z.loc = loc
	}
	if z.name == "" {
		z.name = offsetName(off)
	}
	return z
}

// offsetName spells an offset: "UTC", "+05:30".
func offsetName(off int) string {
	if off == 0 {
		return "UTC"
	}
	sign := '+'
	if off < 0 {
		sign, off = '-', -off
	}
	return fmt.Sprintf("%c%02d:%02d", sign, off/3600, off%3600/60)
}

func (z zone) info(f *file) parse.ZoneInfo {
	return parse.ZoneInfo{Name: z.name, Offset: z.at(f.newest()), Basis: z.why}
}

// newest is the reading of the file's newest line, in its year.
func (f *file) newest() int64 {
	if len(f.items) == 0 {
		return 0
	}
	it := &f.items[len(f.items)-1]
	return inYear(it.lead().NS, it.year)
}

// quarter is the granularity of zone offsets.
const quarter = int64(15 * time.Minute)

// zones finds the zone of both clocks of the file.
func (f *file) zones(a *anchors, opt Options) {
	diff, haveDiff := f.difference() // envelope zone minus header zone, seconds
	env, hdr := f.stated((*item).envelope), f.stated((*item).header)
	switch {
	case env && hdr:
		f.envelope, f.header = own(), own()
		return
	case env && haveDiff:
		f.envelope = own()
		f.header = fixed(-diff, "from the framing's clock on the same lines", parse.ZoneInferred)
		return
	case hdr && haveDiff:
		f.header = own()
		f.envelope = fixed(diff, "from the message's own clock on the same lines", parse.ZoneInferred)
		return
	}
	base := f.base(a, opt)
	f.envelope, f.header = base, base
	if env {
		f.envelope = own()
	}
	if hdr {
		f.header = own()
	}
	if !f.has((*item).header) {
		f.header = zone{}
	}
	if haveDiff && diff != 0 && !env && !hdr {
		// The two clocks are in different zones. A containerised kubelet
		// logs in UTC whatever the node does; the base is the node's.
		f.header = fixed(base.at(f.newest())-diff, base.why+", and the framing's clock runs "+offsetName(diff)+" ahead", base.basis)
	}
}

// collectedInUTC are layouts whose logs come from the API of OpenShift's nodes,
// which prints journals in UTC.
var collectedInUTC = map[string]bool{"must-gather": true, "openshift-ci": true, "insights": true, "node-logs": true}

func own() zone { return zone{name: "stated", why: "stated on each line", basis: parse.Stated} }

func fixed(off int, why string, basis parse.Basis) zone {
	return zone{name: offsetName(off), off: off, why: why, basis: basis}
}

// base is the zone of stamps that carry none.
func (f *file) base(a *anchors, opt Options) zone {
	if opt.Zone != nil {
		return zone{name: opt.Zone.String(), loc: opt.Zone, why: "given by --tz", basis: parse.Stated}
	}
	if z, ok := f.byAnchor(); ok {
		return z
	}
	if collectedInUTC[f.Layout] && f.Role != parse.RoleKernelLog {
		return fixed(0, "the collector has the journal printed in UTC", parse.ZoneInferred)
	}
	if z, ok := a.zoneOf(f.File); ok {
		return z
	}
	switch f.zoneWord {
	case "UTC", "GMT", "Z":
		return fixed(0, "named in a header line of the log", parse.ZoneInferred)
	}
	return fixed(0, "assumed: nothing in the input states it", parse.ZoneGuessed)
}

// stated reports whether the clock that pick returns carries its zone on the
// lines that have it.
func (f *file) stated(pick func(*item) parse.Clock) bool {
	for i := range f.items {
		if c := pick(&f.items[i]); c.Set {
			return c.Lack&parse.LackZone == 0
		}
	}
	return false
}

// has reports whether any item has the clock that pick returns.
func (f *file) has(pick func(*item) parse.Clock) bool {
	for i := range f.items {
		if pick(&f.items[i]).Set {
			return true
		}
	}
	return false
}

// difference returns the constant difference of the two clocks of a line,
// envelope minus header, rounded to a quarter of an hour: the zone difference.
// The smallest lag of the file decides, because a stalled log pipeline can only
// make envelopes late.
func (f *file) difference() (seconds int, ok bool) {
	least := int64(0)
	for i := range f.items {
		it := &f.items[i]
		if !it.envelope().Set || !it.header().Set || it.envelope() == it.header() {
			continue
		}
		lag := it.envelope().NS - inYear(it.header().NS, closestYear(it.header(), it.envelope()))
		if it.header().Lack&parse.LackYear == 0 && it.envelope().Lack&parse.LackYear != 0 {
			lag = inYear(it.envelope().NS, closestYear(it.envelope(), it.header())) - it.header().NS
		}
		if !ok || lag < least {
			least, ok = lag, true
		}
	}
	if !ok {
		return 0, false
	}
	return zoneDifference(least), true
}

// zoneDifference tells zone from lateness in the smallest lag of a file. A lag
// within seconds of a quarter of an hour is a zone; any other is a zone of
// whole half hours and a late line on top.
func zoneDifference(lag int64) int {
	lag += int64(2 * time.Second) // framings may cut their stamp to the second
	if whole := floorDiv(lag, quarter) * quarter; lag-whole < int64(7*time.Second) {
		return int(whole / 1e9)
	}
	return int(floorDiv(lag, 2*quarter) * 2 * quarter / 1e9)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
