package pause

import (
	"math"
	"sort"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/table"
)

// idLeast is the minimum length of an ID that identifies one container.
const idLeast = 12

// overlapMost limits how many times each event is counted on average.
const overlapMost = 32

// Distinct counts the relists needed to explain pod events.
type Distinct struct {
	s      *kubelet.Log
	counts *table.ByString[sentEvents] // events by container in the current interval; nil before the first
	looked int                         // events counted so far, over all intervals
}

// sentEvents counts events of one container.
type sentEvents struct {
	n    uint32
	last uint32 // time of the last one counted, in ms from the start of the interval
}

// DistinctOf returns a counter for the events of a log.
func DistinctOf(s *kubelet.Log) *Distinct { return &Distinct{s: s} }

// Within returns the minimum number of relists that the events delivered in [from, to) need: two events of one
// container need two relists, and come a period apart. Those that come at once had waited for the sync loop:
// relists from before the interval may have sent them, and they count as one. Intervals of one node hardly overlap. If they do a thousandfold, because a
// hostile log mixes as many processes, fewer events are counted; the result is still a valid lower bound.
func (d *Distinct) Within(from, to int64) int {
	t := d.s.Observed
	ev := t.Rows
	i := sort.Search(len(ev), func(i int) bool { return t.At(&ev[i]) >= from })
	if d.counts == nil {
		counts := table.NewByString[sentEvents](d.s.Interned, len(ev))
		counts.Touch()
		d.counts = &counts
	}
	most, first := uint32(0), i
	var id [64]byte
	for ; i < len(ev) && t.At(&ev[i]) < to && d.looked < overlapMost*len(ev)+1; i++ {
		if d.looked++; len(d.s.Interned.AppendText(id[:0], ev[i].Data)) < idLeast {
			continue // truncated: other IDs may begin the same way
		}
		at := uint32(min((t.At(&ev[i])-from)/int64(time.Millisecond), math.MaxUint32))
		if c := d.counts.At(ev[i].Data); c.n == 0 || at-c.last > uint32(kubelet.GenericPeriod.Milliseconds()/2) {
			c.n, c.last = c.n+1, at
			most = max(most, c.n)
		}
	}
	for ; first < i; first++ {
		*d.counts.At(ev[first].Data) = sentEvents{}
	}
	return int(most)
}
