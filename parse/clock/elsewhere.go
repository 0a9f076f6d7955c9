package clock

import (
	"math"

	"github.com/plegforensics/plegforensics/parse"
)

// stretchOf is the time from the earliest to the latest of some readings.
type stretchOf struct{ from, to int64 }

func (s *stretchOf) add(ns int64) { s.from, s.to = min(s.from, ns), max(s.to, ns) }

// apart is how much time lies between two stretches, 0 if they overlap.
func (s stretchOf) apart(t stretchOf) int64 { return max(0, s.from-t.to, t.from-s.to) }

// statedZone is the one zone that lines state, in quarters of an hour east of UTC, and the time of these lines.
type statedZone struct {
	stretchOf
	east    int8
	known   bool // a line states its zone
	several bool // lines state different zones
}

func noZone() statedZone { return statedZone{stretchOf: stretchOf{math.MaxInt64, math.MinInt64}} }

func (z *statedZone) join(o statedZone) {
	if !o.known {
		return
	}
	z.several = z.several || o.several || z.known && z.east != o.east
	z.east, z.known = o.east, true
	z.from, z.to = min(z.from, o.from), max(z.to, o.to)
}

// zoneStated returns the zone that lines of the file state.
func (f *file) zoneStated() statedZone {
	z := noZone()
	for _, m := range f.marks {
		if m.marker != nil { // a heading
			continue
		}
		header, envelope := m.clocks()
		for _, c := range [...]parse.Clock{header, envelope} {
			if c.Set && c.Lack&^parse.LackYear == 0 {
				z.join(statedZone{stretchOf{c.NS, c.NS}, c.East, true, false})
			}
		}
	}
	return z
}

// noteZone records the zone other than UTC that lines of a file state: containers log in UTC beside a node that does not.
func (a *anchors) noteZone(f *file) {
	z := f.zoneStated()
	if !z.known || z.east == 0 && !z.several {
		return
	}
	of, ok := a.east[f.Input]
	if !ok {
		of = noZone()
	}
	of.join(z)
	a.east[f.Input] = of
}

// elsewhere is the one zone that lines of the file state, in seconds east of UTC, if
// those that state none come nearer to them in it than in UTC: crictl and klog write the
// local time of the node into a paste in which containerd states its zone. A kubelet
// in a container logs in UTC beside them. Of other files of the input it is so if they come
// within a quarter of an hour.
func (f *file) elsewhere(a *anchors) (off int, where string, ok bool) {
	z, where, most := f.zoneStated(), "log", int64(math.MaxInt64)
	if !z.known {
		z, where, most = a.east[f.Input], "input", quarter
	}
	if !z.known || z.several || z.east == 0 {
		return 0, "", false
	}
	bare := stretchOf{math.MaxInt64, math.MinInt64}
	for _, m := range f.marks {
		if c := m.lead(); m.marker == nil && c.Set && c.Lack&parse.LackZone != 0 && c.Lack&parse.LackDate == 0 {
			if c.Lack&parse.LackYear != 0 {
				c.NS = f.cal.moved(c.NS, f.cal.closest(c, z.from))
			}
			bare.add(c.NS)
		}
	}
	by := int64(z.east) * quarter
	if bare.to == math.MinInt64 {
		return 0, "", false
	}
	local := stretchOf{bare.from - by, bare.to - by}
	return int(by / 1e9), where, local.apart(z.stretchOf) < bare.apart(z.stretchOf) && local.apart(z.stretchOf) < most
}
