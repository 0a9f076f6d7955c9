package rules

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// mostAges is how many ages are enough to tell the resolution of the clock. mostRounded
// limits how many lines are read if most ages are rounded; there may be a million.
const (
	mostAges    = 64
	mostRounded = 4096
)

// evalCoarseClock finds ages that all count in steps of 100 ns, the resolution of the
// Windows clock. On Linux one age in a hundred is such a multiple by chance, so
// one alone tells nothing.
func evalCoarseClock(s *subject, _ map[string]string) outcome {
	var es []*parse.Event
	ticks := false // an age is not a multiple of 1 µs, so ages are not rounded to that
	all := s.sig("pleg.age")
	for _, e := range all[:min(len(all), mostRounded)] {
		_, frac, ok := strings.Cut(e.Field("age"), ".")
		frac = strings.TrimSuffix(frac, "s")
		switch {
		case !ok || len(frac) < 5: // rounded when it was written
		case len(frac) > 7:
			return notThere()
		default:
			es = append(es, e)
			ticks = ticks || len(frac) == 7
		}
		if len(es) == mostAges {
			break
		}
	}
	if !ticks || len(es) < 2 {
		return cannotLook()
	}
	o := found(events("", es[:min(len(es), 3)]...)...)
	o.source = "clock"
	return o
}
