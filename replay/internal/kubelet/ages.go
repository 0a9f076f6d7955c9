package kubelet

import "time"

// An age is sampled before its line is stamped: measured up to 1.14 ms late
// (637 lines, three kubelet versions); under load a little more.
const ageLate = 2 * time.Millisecond

// SameStart is by how much less the last-seen starts of lines differ that name one relist:
// relists start at least a period of one second apart, and the wall clock may
// be slewed while the age, which is monotonic, grows.
const SameStart = 300 * time.Millisecond

// Told is the set of ages that the kubelet's own dated lines state to the
// nanosecond. The same age in a description of the node, in its JSON or in an event
// is the same report again.
func (s *Log) Told() map[time.Duration]bool {
	out := map[time.Duration]bool{}
	for _, a := range s.Ages {
		if a.At != 0 && !a.Outside && a.Exact() {
			out[a.Age] = true
		}
	}
	return out
}

// Exact reports whether the age is stated finer than by chance two could agree.
func (a Age) Exact() bool { return a.Age%time.Millisecond != 0 }

// Bounds returns the interval in which the relist that the line names started.
// A stamp of granularity r was cut, so the line was written within [at, at+r).
func (a Age) Bounds() (lo, hi int64) {
	late := ageLate
	if !a.header {
		late += 20 * time.Millisecond // arrival in the journal, not the writing
	}
	hi = a.At - int64(a.Age)
	if a.Res >= 10*time.Millisecond {
		hi += int64(a.Res)
		return hi - int64(a.Res) - int64(late), hi
	}
	return hi - int64(late), hi
}
