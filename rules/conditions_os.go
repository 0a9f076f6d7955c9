package rules

import (
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// mostAges is how many ages tell by whose clock they were taken. Where all are rounded,
// mostRounded of them are looked at: there may be a million.
const (
	mostAges    = 64
	mostRounded = 4096
)

// evalCoarseClock finds ages that all count in steps of 100 ns, the tick of the
// clock of Windows. On Linux one age in a hundred is such a multiple by chance.
func evalCoarseClock(s *subject, _ map[string]string) outcome {
	var es []*parse.Event
	ticks := false // an age that is no multiple of a microsecond, to which others round
	all := s.sig("pleg.age")
	for _, e := range all[:min(len(all), mostRounded)] {
		_, frac, ok := strings.Cut(e.Field("age"), ".")
		frac = strings.TrimSuffix(frac, "s")
		switch {
		case !ok || len(frac) < 5: // rounded by whoever wrote it
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
	if !ticks {
		return cannotLook()
	}
	o := found(events("", es[:min(len(es), 3)]...)...)
	if len(es) == 1 {
		o.factor = 0.35
	}
	o.source = "clock"
	return o
}
