package kubelet

import (
	"sort"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// idLeast is the minimum length of an ID that identifies one container.
const idLeast = 12

// overlapMost limits how many times each event is counted on average.
const overlapMost = 32

// Distinct counts the relists needed to explain pod events.
type Distinct struct {
	s      *Log
	counts *host.ByString[uint32] // events by container in the current interval; nil before the first
	looked int                    // events counted so far, over all intervals
}

// DistinctOf returns a counter for the events of a log.
func DistinctOf(s *Log) *Distinct { return &Distinct{s: s} }

// Within returns the minimum number of relists that the events delivered in [from, to) need: two events of one
// container need two relists. Intervals of one node hardly overlap. If they do a thousandfold, because a
// hostile log mixes as many processes, fewer events are counted; the result is still a valid lower bound.
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
			continue // truncated: other IDs may begin the same way
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
