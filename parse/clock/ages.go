package clock

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Lines about the age of the last relist all refer to one moment, the start of that
// relist, however often and wherever they are written. If a line that states its
// zone (a kubectl describe row) and lines that do not (the kubelet log) give starts
// that differ by a zone offset, that offset is the zone of the latter.

// aged is a line that states the age of the last relist.
type aged struct {
	clock parse.Clock // leading
	pos   parse.Pos
	age   int64
}

// mostAged is how many such lines are kept per file.
const mostAged = 64

// gatherAge records a line about an age. Lines that state their zone are kept
// separately: a pasted file may hold both kinds.
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

// byAges returns the zone that makes the relist start from ages of f equal to one
// from a line with a zone, if exactly one zone does.
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
