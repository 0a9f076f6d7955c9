package clock

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Two files may hold records of the same moments: a log in two forms holds the same
// lines, and the kubelet reports what the container runtime logs. If one of the
// files states no zone, the offset between the two gives it.

// mostLinked is how many lines of each kind are compared per file.
const mostLinked = 1 << 14

// mostAligned is how many files of assumed zones are compared with each other.
const mostAligned = 16

// link finds the zones of files that state none, from files with a known zone. Files
// whose zones stay assumed are at least put on one axis with each other.
func link(files []*file, opt Options) {
	var unknown []*file
	known := files // a file with lines without a zone may have others that state it
	for _, f := range files {
		if f.assumed() || opt.Zone != nil && f.given() {
			unknown = append(unknown, f)
		}
	}
	for len(unknown) > 0 && len(known) > 0 {
		l := newLinks(unknown)
		for _, f := range known {
			l.compare(f, false)
		}
		rest := unknown[:0:0]
		known = nil
		for i, f := range unknown {
			if by, why, ok := l.of[i].zone(); !ok {
				rest = append(rest, f)
			} else if f.assumed() {
				f.moveZone(by, why, parse.ZoneInferred)
				known = append(known, f)
			} else if by != 0 {
				f.overrule("time zone", offsetName(f.zoneOfLines()+by), why)
			}
		}
		unknown = rest
	}
	unknown = slices.DeleteFunc(unknown, func(f *file) bool { return !f.assumed() })
	slices.SortStableFunc(unknown, func(a, b *file) int { return b.clocks() - a.clocks() })
	for i, f := range unknown[:min(len(unknown), mostAligned)] {
		if i == 0 {
			continue
		}
		l := newLinks(unknown[i : i+1])
		for _, before := range unknown[:i] {
			l.compare(before, true)
		}
		if by, why, ok := l.of[0].zone(); ok && by != 0 {
			f.moveZone(by, "assumed: "+why+", whose zone is assumed too", parse.ZoneGuessed)
		}
	}
}

// clocks is how many clocks the lines of the file have.
func (f *file) clocks() (n int) {
	if f.anyHeader {
		n++
	}
	if f.zoned || f.bareEnvelope {
		n++
	}
	return n
}

// assumed reports whether a zone of the file is only assumed.
func (f *file) assumed() bool {
	return len(f.events) > 0 && (f.bareHeader && f.header.basis == parse.ZoneGuessed || f.bareEnvelope && f.envelope.basis == parse.ZoneGuessed)
}

// given reports whether the user gave the zone of the file.
func (f *file) given() bool {
	return len(f.events) > 0 && (f.bareHeader && f.header.loc != nil || f.bareEnvelope && f.envelope.loc != nil)
}

// zoneOfLines is the zone of the clock that dates the lines, in seconds east of UTC.
func (f *file) zoneOfLines() int {
	if f.bareHeader {
		return f.header.at(f.newest())
	}
	return f.envelope.at(f.newest())
}

// moveZone adds by seconds to the assumed zones.
func (f *file) moveZone(by int, why string, basis parse.Basis) {
	for _, z := range [...]*zone{&f.header, &f.envelope} {
		if z.basis == parse.ZoneGuessed {
			*z = fixed(z.off+by, why, basis)
		}
	}
}

// change is what happened to a container or sandbox.
type change struct {
	id  string
	end bool // it ended; else it started
}

// linked is what is compared of a file without a zone.
type linked struct {
	file     *file
	told     [2]map[change]int64 // by the runtime, by the kubelet: when it says that something changed
	copies   map[int64]int       // how many lines of other files are copies of lines here, by how much later the lines here seem
	copyOf   parse.Pos           // one of them
	pairs    [2][]parse.Told     // with changes here told by the runtime, by the kubelet
	pairedTo parse.Pos           // a line of the last pair
}

// sample is a line to be found in other files.
type sample struct {
	event *parse.Event
	at    int64
	of    int // index in links.of
}

type links struct {
	of      []linked
	samples map[int64][]sample // by the reading within a quarter of an hour, which no zone changes
	changes map[change][]int   // indexes in of
}

func newLinks(files []*file) *links {
	l := &links{of: make([]linked, len(files)), samples: map[int64][]sample{}, changes: map[change][]int{}}
	for i, f := range files {
		x := &l.of[i]
		x.file, x.copies, x.told = f, map[int64]int{}, [2]map[change]int64{{}, {}}
		every := max(1, len(f.events)/mostLinked)
		f.each(func(n int, e *parse.Event, at int64, sure, fresh bool) {
			if sure {
				return
			}
			if within, ok := fine(e); ok && n%every == 0 {
				l.samples[within] = append(l.samples[within], sample{e, at, i})
			}
			who, tells := teller(e)
			if !tells || fresh && who == byKubelet || len(x.told[who]) >= mostLinked {
				return
			}
			if c, ok := changeIn(e, who); ok {
				if _, again := x.told[who][c]; !again {
					x.told[who][c] = at
					l.changes[c] = append(l.changes[c], i)
				}
			}
		})
	}
	return l
}

// each calls do for each event that has a time, with its index, and says whether the
// zone of that time is known, and whether a kubelet wrote it in the minute after its
// start: then it reports containers that have run for long.
func (f *file) each(do func(n int, e *parse.Event, at int64, sure, fresh bool)) {
	d, n, started := f.dating(), 0, int64(0)
	sure := func(c parse.Clock, z *zone) bool {
		return c.Lack&parse.LackZone == 0 || z.basis > parse.ZoneGuessed && z.loc == nil
	}
	for i, x := range f.stretches() {
		for k, e := range x.events {
			it := item{event: e}
			at, arrived := d.read(i+k, it)
			header, envelope := it.clocks()
			known := sure(header, &f.header)
			if at.Basis == parse.NoTime {
				at, known = arrived, sure(envelope, &f.envelope)
			}
			if at.Basis != parse.NoTime {
				if e.Is(parse.SigVersion) || e.Is(parse.SigStarting) || e.Is(parse.SigFlag) {
					started = at.At
				}
				do(n, e, at.At, known, started != 0 && at.At-started < int64(time.Minute))
			}
			n++
		}
	}
}

// fine returns the reading of the message's own clock within a quarter of an hour, if
// it is exact enough to recognize the line by it.
func fine(e *parse.Event) (within int64, ok bool) {
	if !e.Headed || e.Caller == "" {
		return 0, false
	}
	h := e.Raw().Header
	if !h.Set || h.Res > time.Microsecond || h.Lack&parse.LackDate != 0 {
		return 0, false
	}
	return (h.NS - floorDiv(h.NS, quarter)*quarter) / 1e3 * 1e3, true // the text format of klog cuts to microseconds
}

// Who tells of a change.
const (
	byRuntime = iota
	byKubelet
)

// teller returns who reports changes by lines like e.
func teller(e *parse.Event) (who int, ok bool) {
	switch {
	case e.Is(parse.SigEvent) && e.Origin.Source == parse.SrcKubelet:
		return byKubelet, true
	case e.Is(parse.SigCtrLife) && e.Origin.Source != parse.SrcKubelet:
		return byRuntime, true
	}
	return 0, false
}

// changeIn returns the change that an event of a teller reports.
func changeIn(e *parse.Event, who int) (c change, ok bool) {
	const random = 12 // digits of an ID that no other has
	if who == byKubelet {
		typ := e.Field("type")
		c = change{e.Field("data"), typ == "ContainerDied"}
		return c, (c.end || typ == "ContainerStarted") && len(c.id) >= random
	}
	op := e.Field("op")
	c = change{e.Field("id"), op == "exited"}
	return c, (c.end || op == "started") && len(c.id) >= random && e.Field("err") == ""
}

// compare looks for lines and changes of the linked files in the file f, also in lines
// with an assumed zone if guess is set.
func (l *links) compare(f *file, guess bool) {
	seen := 0
	told := map[change]bool{}
	f.each(func(_ int, e *parse.Event, at int64, sure, fresh bool) {
		if !sure && !guess {
			return
		}
		if within, ok := fine(e); ok {
			for _, s := range l.samples[within] {
				if x := &l.of[s.of]; x.file != f && parse.SameMessage(s.event, e) {
					x.copies[(s.at/1e3-at/1e3)*1e3]++
					x.copyOf = e.Where()
				}
			}
		}
		if len(l.changes) == 0 || seen >= mostLinked {
			return
		}
		who, tells := teller(e)
		if !tells || fresh && who == byKubelet {
			return
		}
		c, ok := changeIn(e, who)
		if !ok {
			return
		}
		if seen++; told[c] {
			return
		}
		told[c] = true
		for _, i := range l.changes[c] {
			x := &l.of[i]
			here, ok := x.told[1-who][c]
			if !ok {
				continue
			}
			p := parse.Told{Change: at, Event: here}
			if who == byKubelet {
				p = parse.Told{Change: here, Event: at}
			}
			x.pairs[1-who] = append(x.pairs[1-who], p)
			x.pairedTo = e.Where()
		}
	})
}

// zone returns how far the zone of the file lies east of what is assumed, in seconds.
func (x *linked) zone() (by int, why string, ok bool) {
	best, total := int64(0), 0
	for d, n := range x.copies {
		if d%quarter != 0 || d < -26*hour || d > 26*hour {
			continue
		}
		if total += n; n > x.copies[best] || n == x.copies[best] && d < best {
			best = d
		}
	}
	if n := x.copies[best]; n > 1 && n >= total-total/16 { // lines of two zones, as over a change to summer time, prove none
		return int(best / 1e9), "from the same lines in " + x.copyOf.File.Path, true
	}
	late, ok := parse.Delay(x.pairs[byKubelet])
	if !ok {
		late, ok = parse.Delay(x.pairs[byRuntime])
		late = -late
	}
	if !ok || !inUse(x.file.zoneOfLines()+int(late/1e9)) {
		return 0, "", false
	}
	return int(late / 1e9), "from the changes of containers, which " + x.pairedTo.File.Path + " dates too", true
}

// inUse reports whether some zone has that offset, in seconds east of UTC: whole hours,
// and the other ones of the IANA database in the years of Kubernetes.
func inUse(off int) bool {
	if off < -12*3600 || off > 14*3600 {
		return false
	}
	switch off / 900 {
	case -38, -14, -10, 14, 18, 22, 23, 26, 34, 35, 38, 42, 51, 55: // -9:30 to +13:45
		return true
	}
	return off%3600 == 0
}
