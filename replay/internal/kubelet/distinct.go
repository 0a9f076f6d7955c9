package kubelet

import (
	"sort"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// idLeast is the least length of an id that names one container.
const idLeast = 12

// overlapMost is how many times each event may be counted.
const overlapMost = 32

// Distinct counts the relists that pod events need.
type Distinct struct {
	s      *Log
	counts *host.ByString[uint32] // of events by container, in the stretch at hand; nil before the first
	looked int                    // events that were counted, all stretches together
}

// DistinctOf counts the events of a log.
func DistinctOf(s *Log) *Distinct { return &Distinct{s: s} }

// Within is the least number of relists that the events delivered in
// (from, to) need: two events of one container need two relists. Stretches of one node
// hardly overlap; where they do a thousandfold, because a hostile log mixes as many
// processes, fewer events are looked at, which leaves a number that is still needed.
func (d *Distinct) Within(from, to int64) int {
	t := d.s.Observed
	ev := t.Rows
	i := sort.Search(len(ev), func(i int) bool { return t.At(&ev[i]) >= from })
	if d.counts == nil {
		counts := host.NewByString[uint32](d.s.Interned, len(ev))
		counts.Touch()
		d.counts = &counts
	}
	most, first := uint32(0), i
	var id [64]byte
	for ; i < len(ev) && t.At(&ev[i]) < to && d.looked < overlapMost*len(ev)+1; i++ {
		if d.looked++; len(d.s.Interned.AppendText(id[:0], ev[i].Data)) < idLeast {
			continue // cut, and as another one begins
		}
		n := d.counts.At(ev[i].Data)
		*n++
		most = max(most, *n)
	}
	for ; first < i; first++ {
		*d.counts.At(ev[first].Data) = 0
	}
	return int(most)
}
