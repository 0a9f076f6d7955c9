package parse

import (
	"cmp"
	"slices"
	"time"
)

// Told is a change of a container and the kubelet's event about it, Unix ns by the clocks of the two logs.
type Told struct{ Change, Event int64 }

// Quarter is the granularity of zone offsets, in ns.
const Quarter = int64(15 * time.Minute)

// Delay returns by how many quarters of an hour (ns) the kubelet's events seem to follow the changes that they
// report: the zones of the two logs are apart by as much. An event follows within seconds while PLEG is well,
// and never precedes its cause; but all those that waited for one relist are late by any time. So
// several events, of different relists, must follow by the same quarters, and hardly any by less.
func Delay(told []Told) (late int64, ok bool) {
	const early, most, apart = int64(5 * time.Second), int64(10 * time.Second), int64(5 * time.Second)
	const furthest = 26 * int64(time.Hour)
	slices.SortFunc(told, func(a, b Told) int { return cmp.Compare(a.Change, b.Change) })
	type group struct {
		events, times int
		last          Told
	}
	groups := map[int64]*group{}
	for _, p := range told {
		d := p.Event - p.Change + early
		q := d - (d%Quarter+Quarter)%Quarter
		if d-q > early+most || q < -furthest || q > furthest {
			continue
		}
		g := groups[q]
		if g == nil {
			g = &group{times: 1, last: p}
			groups[q] = g
		} else if p.Change-g.last.Change >= apart && p.Event-g.last.Event >= apart {
			g.times++
			g.last = p
		}
		g.events++
	}
	best, second := new(group), 0
	for q, g := range groups {
		if g.events > best.events {
			best, second, late = g, best.events, q
		} else {
			second = max(second, g.events)
		}
	}
	before := 0
	for _, p := range told {
		if p.Event-p.Change < late-early {
			before++
		}
	}
	return late, best.events >= 3 && best.times >= 2 && second*2 < best.events && before*4 < best.events
}
