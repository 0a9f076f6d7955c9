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

// elsewhere is the one zone that lines of the file state, in seconds east of UTC, if
// those that state none come nearer to them in it than in UTC: crictl and klog write the
// local time of the node into a paste in which containerd states its zone. A kubelet
// in a container logs in UTC beside them.
func (f *file) elsewhere() (off int, ok bool) {
	full, bare := stretchOf{math.MaxInt64, math.MinInt64}, stretchOf{math.MaxInt64, math.MinInt64}
	var east int8
	for _, m := range f.marks {
		header, envelope := m.clocks()
		for _, c := range [...]parse.Clock{header, envelope} {
			if !c.Set || c.Lack&^parse.LackYear != 0 {
				continue
			}
			if full.to != math.MinInt64 && c.East != east {
				return 0, false
			}
			east = c.East
			full.add(c.NS)
		}
	}
	if east == 0 {
		return 0, false
	}
	for _, m := range f.marks {
		if c := m.lead(); c.Set && c.Lack&parse.LackZone != 0 && c.Lack&parse.LackDate == 0 {
			if c.Lack&parse.LackYear != 0 {
				c.NS = f.cal.moved(c.NS, f.cal.closest(c, full.from))
			}
			bare.add(c.NS)
		}
	}
	by := int64(east) * quarter
	local := stretchOf{bare.from - by, bare.to - by}
	return int(by / 1e9), bare.to != math.MinInt64 && local.apart(full) < bare.apart(full)
}
