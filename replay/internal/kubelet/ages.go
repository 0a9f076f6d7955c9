package kubelet

import "time"

// ageLate is how late a line is stamped after its age was sampled: up to 1.14 ms measured (637 lines, three
// kubelet versions), a little more under load.
const ageLate = 2 * time.Millisecond

// SameStart is how far apart the last-seen starts of lines may be that name the same relist. Relists start at
// least a period of one second apart; the wall clock may be slewed while the age, which is monotonic, grows.
const SameStart = 300 * time.Millisecond

// Told returns the ages that the kubelet's own dated lines state. The same age in a description of the
// node, in its JSON or in an event is a repetition of the same report, if it is exact or has no time that says otherwise.
func (s *Log) Told() map[time.Duration]bool {
	out := map[time.Duration]bool{}
	for _, a := range s.Ages {
		if a.At != 0 && !a.Outside {
			out[a.Age] = true
		}
	}
	return out
}

// Exact reports whether the age is stated so precisely that two ages are not equal by chance.
func (a Age) Exact() bool { return a.Age%time.Millisecond != 0 }

// Bounds returns the interval, in Unix ns, in which the relist that the line names started. A timestamp with
// resolution r is truncated, so the line was written within [At, At+r).
func (a Age) Bounds() (lo, hi int64) {
	late := ageLate
	if !a.header {
		late += 20 * time.Millisecond // At is the arrival in the journal, not the time of writing
	}
	at := a.At - int64(a.Age)
	if a.Res < 10*time.Millisecond {
		return at - int64(late), at
	}
	return at - int64(late), at + int64(a.Res)
}
