package snapshots

import (
	"math"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// A database may hold months of snapshots. What they prove is told by few: where
// nothing happens, counters of far apart ones say the same.
const (
	maxShots   = 5_000 // as many snapshots are read one by one
	thinShots  = 2_500 // of more, evenly spaced ones, and
	maxNotable = 20_000
)

// busyStep is how many seconds of relists between two snapshots make them worth
// a look.
const busyStep = 5.0

// notable picks the samples to read of a sum of relist durations, in this unit: evenly
// spaced ones, and both ends of each step in which relists took long, none
// ended, the counter fell or snapshots are missing; of other series, whose unit is 0, only
// the former. It returns each with the distance from the one before it in the data; nil
// where there are few enough to read all.
func notable(x *parse.Series, unit float64) map[int64]int64 {
	if x == nil {
		return nil
	}
	n, usual := pace(x)
	if n <= maxShots {
		return nil
	}
	out := map[int64]int64{}
	extra, i := 0, 0
	var last parse.Point
	var before int64 // step before last
	for p := range x.Samples() {
		if math.IsNaN(p.V) {
			continue
		}
		step := p.At - last.At
		if i == 0 {
			step = 0
		}
		took := (p.V - last.V) * unit
		if unit > 0 && i > 0 && extra < maxNotable && (took >= busyStep || took <= 0 || step > 5*usual/2) {
			out[last.At], out[p.At] = before, step
			extra++
		}
		if i%(n/thinShots) == 0 || i == n-1 {
			out[p.At] = step
		}
		last, before = p, step
		i++
	}
	return out
}

// longest is the series with most samples, by the span of what it holds packed
// and the number of what it does not.
func longest(series []*parse.Series, want func(*parse.Series) bool) *parse.Series {
	var best *parse.Series
	most := 0
	for _, s := range series {
		if want(s) {
			if n := len(s.Points) + 120*len(s.Chunks); n > most {
				best, most = s, n
			}
		}
	}
	return best
}

// pace is the number of samples of a series and their usual distance, by the
// first thousand.
func pace(s *parse.Series) (n int, usual int64) {
	var ds []int64
	last := int64(0)
	for p := range s.Samples() {
		if math.IsNaN(p.V) {
			continue
		}
		if n > 0 && len(ds) < 1000 {
			ds = append(ds, p.At-last)
		}
		last = p.At
		n++
	}
	if len(ds) == 0 {
		return n, 0
	}
	slices.Sort(ds)
	return n, ds[len(ds)/2]
}
