// Package serial finds where a relist whose length is known fits among others: the
// kubelet runs one at a time, and pauses after each. It is arithmetic on bounds.
package serial

import (
	"math"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Relist is one that is known to have begun within Start, both bounds included, and not
// to have ended before End.
type Relist struct {
	Start host.Span
	End   int64
}

// Measured is one that began within Start, ended within End, of which To is 0 where
// nothing bounds it, and took at least Took.
type Measured struct {
	Start, End host.Span
	Took       int64
}

// Room is what others leave to a measured relist: it is one of those with the indices of
// Same, or where Apart is set another one. In either case it began within Start.
type Room struct {
	Same  []int
	Apart bool
	Start host.Span
}

// Stamp is how far the times of two sources may be apart that name the same moment.
const Stamp = int64(100e6)

// Fit finds the room of m among relists of one process, ordered by start, which are
// at least pause apart. may says of which it can be the same.
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
		end := latest // by when it must be over for the next one to begin
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
