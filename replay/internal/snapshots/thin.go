package snapshots

import (
	"math"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// A database may hold months of snapshots. Between events the counters are linear, so
// reading only some of them loses nothing.
const (
	maxShots   = 5_000 // up to this many snapshots are all read
	thinShots  = 2_500 // of more, about this many evenly spaced ones are read, and the ends of up to maxNotable steps
	maxNotable = 20_000
)

// busyStep is the total relist duration in seconds that makes a step between two
// snapshots notable.
const busyStep = 5.0

// notable picks the samples to read from x, a sum of relist durations in the given unit
// (in seconds): evenly spaced ones, and both ends of each step in which relists took
// long, none ended, the counter fell or snapshots are missing. For other series, with
// unit 0, it picks only the evenly spaced ones. It maps the time of each sample to the
// distance from the previous one in the data. The result is nil if there are few enough
// samples to read all.
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
	var before int64 // step from the sample before last to last
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

// longest returns the wanted series with the most samples. Packed chunks count as 120
// samples each.
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

// pace returns the number of samples of a series and their usual distance in ns, taken
// from the first thousand.
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
