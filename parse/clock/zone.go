package clock

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// zone is a time zone and how it is known. The zero zone is unknown.
type zone struct {
	name  string
	loc   *time.Location // nil: a fixed offset
	off   int            // seconds east of UTC, when loc is nil
	why   string
	basis parse.Basis
}

// at returns the offset of the zone at a local reading, in seconds east of UTC.
func (z zone) at(local int64) int {
	if z.loc == nil {
		return z.off
	}
	early, _ := offsets(local, z.loc)
	return early
}

// offsets returns the offsets of a zone at a local reading, in seconds east of UTC: where
// the clocks are set back, they show a time twice, first with the early one.
func offsets(local int64, loc *time.Location) (early, late int) {
	t := utcOf(local, loc)
	_, early = t.Zone()
	late = early
	start, end := t.ZoneBounds()
	if !end.IsZero() {
		if _, off := end.Zone(); off < early && local-int64(off)*1e9 >= end.UnixNano() {
			late = off
		}
	}
	if !start.IsZero() {
		if _, off := start.Add(-1).Zone(); off > early && local-int64(off)*1e9 < start.UnixNano() {
			early = off
		}
	}
	return early, late
}

// reader returns zone offsets for readings that are mostly close together. It
// caches the interval between two zone transitions, without the two days at either
// end, where the offset depends on the interpretation of the reading.
type reader struct {
	zone
	from, to int64
	last     int // offset in [from, to)
	extra    int // seconds by which changes of the local time move a fixed offset
}

func (r *reader) at(local int64) int {
	if r.loc == nil {
		return r.off + r.extra
	}
	if r.holds(local) {
		return r.last
	}
	const margin, most = 2 * 86400, math.MaxInt64 / int64(time.Second)
	t := utcOf(local, r.loc)
	r.last, _ = offsets(local, r.loc)
	r.from, r.to = math.MinInt64, math.MaxInt64
	start, end := t.ZoneBounds()
	if s := start.Unix() + margin; !start.IsZero() && s > -most {
		r.from = s * int64(time.Second)
	}
	if s := end.Unix() - margin; !end.IsZero() && s < most {
		r.to = s * int64(time.Second)
	}
	return r.last
}

func (r *reader) holds(local int64) bool { return local >= r.from && local < r.to }

// utcOf returns the time at which a wall clock in loc shows local (ns as if UTC).
func utcOf(local int64, loc *time.Location) time.Time {
	t := time.Unix(0, local).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
}

// named returns a zone by location if name is one ("America/New_York" includes its
// transitions), else by offset: an abbreviation such as "CST" is ambiguous.
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

// offsetName formats an offset in seconds: "UTC", "+05:30".
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

func (z zone) info(f *file, changed int) parse.ZoneInfo {
	out := parse.ZoneInfo{Name: z.name, Offset: z.at(f.newest()), Basis: z.why}
	if changed != 0 && z.loc == nil && z.basis < parse.Stated {
		out.Offset += changed
		out.Name, out.Basis = offsetName(out.Offset), z.why+", and the local time changes from "+z.name
	}
	return out
}

// against returns how far the framing's clock, in a zone that changes its offset, is ahead of the message's if read in that
// zone, by lines whose time it does not show twice: over a change, the readings alone differ by both differences.
func (f *file) against(z zone) (l lag) {
	var twice lag
	if z.loc == nil {
		return l
	}
	for i := range f.len() {
		header, envelope := f.item(i).clocks()
		if !header.Set || !envelope.Set || header == envelope || header.Lack&parse.LackZone == 0 || envelope.Lack&parse.LackZone == 0 {
			continue
		}
		local, year := envelope.NS, 0
		if envelope.Lack&parse.LackYear != 0 {
			year = f.yearAt(i)
		}
		local = f.cal.inYear(local, year)
		early, late := offsets(local, z.loc)
		utc := local - int64(early)*int64(time.Second)
		d := utc - f.cal.inYear(header.NS, f.cal.closest(header, utc))
		if early == late {
			l.add(d)
		} else if !twice.known {
			twice.add(d) // shown for the first time
		}
	}
	if !l.known {
		return twice
	}
	return l
}

// newest returns the leading reading of the file's newest line, in its year.
func (f *file) newest() int64 {
	last := f.len() - 1
	if last < 0 {
		return 0
	}
	c, year := f.item(last).lead(), f.shift
	if c.Lack&parse.LackYear != 0 {
		year = f.yearAt(last)
	}
	return f.cal.inYear(c.NS, year)
}

const quarter = parse.Quarter

// zones determines the zones of the framing's and the messages' clocks that state
// none. In the log of one service, messages with and without a zone may alternate,
// such as those of logrus and klog in k3s, and pasted lines may have several
// framings; each reading is resolved by what it lacks itself.
func (f *file) zones(a *anchors, opt Options) {
	ahead, known := f.full.zone()     // zone of the envelope, seconds east
	behind, framed := f.framed.zone() // zone of the header, seconds west
	apart, haveApart := f.bare.zone() // envelope zone minus header zone, seconds
	switch {
	case !f.bareEnvelope && f.zoned:
		f.envelope = own()
	case known:
		f.envelope = fixed(ahead, "from the message's own clock on the same lines", parse.ZoneInferred)
	case framed && haveApart:
		f.envelope = fixed(apart-behind, "from the other framing's clock", parse.ZoneInferred)
	default:
		f.envelope = f.base(a, opt)
		if z, ok := f.byAnchor(); ok && f.bareHeader && haveApart && opt.Zone == nil { // the anchor is of the message's clock
			f.header, f.envelope = z, fixed(z.off+apart, z.why, z.basis)
			return
		}
	}
	switch {
	case !f.anyHeader:
	case !f.bareHeader && f.bareLine:
		f.header = f.envelope // only for the report; the messages' clocks state their zone
	case !f.bareHeader:
		f.header = own()
	case framed && f.framed.summer():
		f.header = fixed(-behind, "from the framing's clock on the same lines, which also tells of an hour of summer time", parse.ZoneInferred)
	case framed:
		f.header = fixed(-behind, "from the framing's clock on the same lines", parse.ZoneInferred)
	case !haveApart:
		f.header = f.base(a, opt)
	case apart == 0:
		f.header = f.envelope
	default:
		// The two clocks are in different zones: a containerized kubelet logs in
		// UTC whatever the zone of the node; the envelope is in the node's zone.
		z := f.envelope
		if z.basis == parse.ZoneGuessed && f.zoneWord != "" { // the framing's zone has a name other than UTC
			f.header, f.envelope = z, fixed(apart, z.why+", and the framing's clock runs "+offsetName(apart)+" ahead", z.basis)
			return
		}
		off := z.at(f.newest()) - apart
		if l := f.against(z); l.known {
			least, _ := l.zone()
			off = -least
		}
		f.header = fixed(off, z.why+", and the framing's clock runs "+offsetName(apart)+" ahead", z.basis)
	}
}

func own() zone { return zone{name: "stated", why: "stated on each line", basis: parse.Stated} }

func fixed(off int, why string, basis parse.Basis) zone {
	return zone{name: offsetName(off), off: off, why: why, basis: basis}
}

// collectedInUTC are layouts whose logs come from the OpenShift node API, which
// prints journals in UTC.
var collectedInUTC = map[string]bool{"must-gather": true, "openshift-ci": true, "insights": true, "node-logs": true}

// base returns the zone of timestamps without one: --tz, else the inferred zone.
func (f *file) base(a *anchors, opt Options) zone {
	if opt.Zone != nil {
		z := zone{name: opt.Zone.String(), loc: opt.Zone, why: "given by --tz", basis: parse.Stated}
		if proven := f.inferred(a); proven.basis > parse.ZoneGuessed && proven.at(f.newest()) != z.at(f.newest()) {
			f.overrule("time zone", proven.name, proven.why)
		}
		return z
	}
	return f.inferred(a)
}

// inferred returns the zone that the input implies.
func (f *file) inferred(a *anchors) zone {
	if z, ok := f.byAnchor(); ok {
		return z
	}
	if collectedInUTC[f.Layout] && f.Role != parse.RoleKernelLog {
		return fixed(0, "the collector has the journal printed in UTC", parse.ZoneInferred)
	}
	if z, ok := a.zoneOf(f.File); ok {
		return z
	}
	if off, seasonal, ok := parse.ZoneOffset(f.zoneWord); ok && !seasonal {
		return fixed(off, "named in a header line of the log", parse.ZoneInferred)
	}
	if off, ok := f.beside.zone(f.cal); ok {
		return fixed(off, "from the lines around them that state theirs", parse.ZoneInferred)
	}
	if z, ok := f.byAges(a); ok {
		return z
	}
	if z, ok := f.quotedZone(); ok {
		return z
	}
	if off, where, ok := f.elsewhere(a); ok {
		return fixed(off, "assumed: other lines of the "+where+" state it", parse.ZoneGuessed)
	}
	if f.zoneWord != "" {
		return fixed(0, "assumed: "+f.zoneWord+" is a name and no offset", parse.ZoneGuessed)
	}
	if len(f.changed) > 0 { // the one without summer time is taken for UTC
		return fixed(max(-cmp.Or(f.changed[0].header, f.changed[0].envelope), 0), "assumed: no zone recognized for lines without one, and a jump of theirs is taken for summer time", parse.ZoneGuessed)
	}
	return fixed(0, "assumed: no zone recognized for lines without one", parse.ZoneGuessed)
}

// zone returns the zone difference of the two clocks of a line in seconds, from the
// smallest lag of the file: a stalled log pipeline can only make envelopes later.
func (l *lag) zone() (seconds int, ok bool) {
	if !l.known {
		return 0, false
	}
	return zoneDifference(l.least), true
}

// zoneDifference separates zone difference from delay in the smallest lag of a file
// (ns): a lag within seconds above a multiple of a quarter of an hour is a zone
// difference; any other is one of whole half hours plus a delay.
func zoneDifference(lag int64) int {
	lag += int64(2 * time.Second) // framings may truncate to the second
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
