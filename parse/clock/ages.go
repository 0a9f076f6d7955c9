package clock

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Lines about the age of the last relist name one moment, however often and wherever
// they are written: that relist's start. Where a line that states its zone (a row of
// kubectl describe) and lines that do not (the kubelet's log) name starts that lie a
// zone apart, that is the zone of the latter.

// aged is a line about the age of the last relist.
type aged struct {
	clock parse.Clock // leading
	pos   parse.Pos
	age   int64
}

// mostAged is how many of such lines of a file are kept.
const mostAged = 64

// gatherAge notes a line about an age. Those that state their zone are kept apart: a
// paste may have them below.
func (s *survey) gatherAge(e *parse.Event) {
	c := item{event: e}.lead()
	to := &s.stated
	if c.Lack&parse.LackZone != 0 {
		to = &s.ages
	}
	if !c.Set || c.Lack&parse.LackDate != 0 || len(*to) >= mostAged {
		return
	}
	if age, err := time.ParseDuration(e.Field("age")); err == nil && age > 0 {
		*to = append(*to, aged{c, e.Where(), int64(age)})
	}
}

func joinAged(a, b []aged) []aged { return append(a, b[:min(len(b), mostAged-len(a))]...) }

// byAges is the zone in which the ages in a file name a relist that lines with a zone
// name too, if it is the only one.
func (f *file) byAges(a *anchors) (zone, bool) {
	var found []zone
	for _, t := range a.stated {
		if t.pos.File.Input != f.Input || t.pos.File.Node != f.Node && t.pos.File.Node != "" && f.Node != "" {
			continue
		}
		for _, x := range f.ages {
			local := x.clock.NS
			if x.clock.Lack&parse.LackYear != 0 {
				local = f.cal.moved(local, f.cal.closest(x.clock, t.clock.NS))
			}
			apart := local - x.age - (t.clock.NS - t.age)
			off := floorDiv(apart+quarter/2, quarter) * quarter
			slack := int64(x.clock.Res + t.clock.Res + 100*time.Millisecond)
			if d := apart - off; off < -12*hour || off > 14*hour || d > slack || d < -slack {
				continue
			}
			z := fixed(int(off/1e9), fmt.Sprintf("from the age in %s, which %s names with its zone", x.pos, t.pos), parse.ZoneInferred)
			if !slices.ContainsFunc(found, func(y zone) bool { return y.off == z.off }) {
				found = append(found, z)
			}
		}
	}
	if len(found) != 1 {
		return zone{}, false
	}
	return found[0], true
}
