// Package serial finds where a relist of known duration fits among others, given that the kubelet runs one at a
// time and pauses after each. It is pure arithmetic on bounds; all times and durations are in ns.
package serial

import (
	"math"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Relist is a relist that began within Start (bounds included) and did not end before End.
type Relist struct {
	Start host.Span
	End   int64
}

// Measured is a relist that began within Start, ended within End (End.To is 0 if unbounded) and took at least
// Took.
type Measured struct {
	Start, End host.Span
	Took       int64
}

// Room is where a measured relist fits among others: it is one of those with the indices in Same or, if Apart
// is set, another relist. In either case it began within Start.
type Room struct {
	Same  []int
	Apart bool
	Start host.Span
}

// Stamp is how far apart two sources may date the same moment.
const Stamp = int64(100e6)

// Fit finds the room of m among the relists of one process, sorted by start and at least pause apart. may
// reports whether m can be the relist with index i.
func Fit(m Measured, all []Relist, pause int64, may func(i int) bool) Room {
	var out Room
	latest := int64(math.MaxInt64)
	if m.End.To != 0 {
		latest = m.End.To
	}
	add := func(from, to int64) bool {
		if from > to+Stamp {
			return false
		}
		if to = max(from, to); out.Start.To == 0 {
			out.Start = host.Span{From: from, To: to}
		}
		out.Start = host.Span{From: min(out.Start.From, from), To: max(out.Start.To, to)}
		return true
	}
	for i := -1; i < len(all); i++ {
		end := latest // by when m must be over for the next one to begin
		if i+1 < len(all) {
			end = min(end, all[i+1].Start.To-pause)
		}
		from, to := m.Start.From, min(m.Start.To, end-m.Took)
		if i >= 0 {
			if x := all[i].Start; x.From <= m.Start.To+Stamp && x.To >= m.Start.From-Stamp && may(i) && add(max(from, x.From), min(to, x.To)) {
				out.Same = append(out.Same, i)
			}
			from = max(from, all[i].End+pause)
		}
		if add(from, to) {
			out.Apart = true
		}
	}
	return out
}
