package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// An age is sampled before its line is stamped: measured up to 1.14 ms late
// (637 lines, three kubelet versions); under load a little more.
const ageLate = 2 * time.Millisecond

// Lines whose last-seen starts differ by less than this name one relist:
// relists start at least a period of one second apart, and the wall clock may
// be slewed while the age, which is monotonic, grows.
const sameStart = 300 * time.Millisecond

// LastSeen is the lines of one run that name one relist as the last seen active.
type LastSeen struct {
	Run      int
	Lo, Hi   int64 // bounds of the start, from the lines that agree
	Lines    []Age
	relist   int           // index into the ledger
	Loose    bool          // no line states a time finer than a second
	Limit    time.Duration // threshold stated last, 0 if none
	Stepped  time.Duration // by how much the clock was set forward since the group before, which names the same relist; 0: another one
	lastAge  time.Duration
	lastAt   int64
	lastSkip int64
}

// Start is the reconstructed start of the relist.
func (g *LastSeen) Start() host.Instant { return host.Between(g.Lo, g.Hi) }

// First and Last are the times of the first and last of its lines.
func (g *LastSeen) First() int64 { return g.Lines[0].At }
func (g *LastSeen) Last() int64  { return g.Lines[len(g.Lines)-1].At }

// GroupAges groups the dated age lines by the relist that they name.
func GroupAges(s *Log) []*LastSeen {
	told := s.Told()
	lines := slices.DeleteFunc(slices.Clone(s.Ages), func(a Age) bool { return a.At == 0 || a.outside && told[a.Age] })
	host.Arrange(lines, func(a, b Age) int { return cmp.Compare(a.At, b.At) })
	var out []*LastSeen
	open := map[int]*LastSeen{} // by run
	for i, a := range lines {
		g := open[a.Run]
		if g == nil || !g.takes(a) {
			if h := earlier(out, a); h != nil {
				h.take(lines, i)
				continue
			}
			step := g.stepped(a)
			if g = described(out, a); g == nil {
				g = &LastSeen{relist: -1, Loose: true, Stepped: step}
				out = append(out, g)
			}
			g.Run, open[a.Run] = a.Run, g
		}
		g.take(lines, i)
	}
	for _, g := range out {
		host.Arrange(g.Lines, func(a, b Age) int { return cmp.Compare(a.At, b.At) })
	}
	slices.SortStableFunc(out, func(a, b *LastSeen) int { return cmp.Compare(a.Lo, b.Lo) })
	return out
}

// Told is the set of ages that the kubelet's own dated lines state to the
// nanosecond. The same age in a description of the node, in its JSON or in an event
// is the same report again.
func (s *Log) Told() map[time.Duration]bool {
	out := map[time.Duration]bool{}
	for _, a := range s.Ages {
		if a.At != 0 && !a.outside && a.Exact() {
			out[a.Age] = true
		}
	}
	return out
}

// Exact reports whether the age is stated finer than by chance two could agree.
func (a Age) Exact() bool { return a.Age%time.Millisecond != 0 }

// bounds returns the interval in which the relist that the line names started.
// A stamp of granularity r was cut, so the line was written within [at, at+r).
func (a Age) bounds() (lo, hi int64) {
	late := ageLate
	if !a.header {
		late += 20 * time.Millisecond // arrival in the journal, not the writing
	}
	hi = a.At - int64(a.Age)
	if a.res >= 10*time.Millisecond {
		hi += int64(a.res)
		return hi - int64(a.res) - int64(late), hi
	}
	return hi - int64(late), hi
}

// takes reports whether the line names the relist of the group.
func (g *LastSeen) takes(a Age) bool {
	lo, hi := a.bounds()
	tol := int64(sameStart)
	if lo <= g.Hi+tol && hi >= g.Lo-tol {
		return true
	}
	if a.res >= time.Second || g.Loose {
		return false
	}
	// Last-seen never moves back in one process: the wall clock did.
	return hi < g.Lo && a.Age >= g.lastAge
}

// stepped is by how much the clock was set forward before a line, 0 if it was not: the age
// grew by one turn of the backed-off sync loop while the stamps moved much further, so
// that the relist is the same. Ages are monotonic.
func (g *LastSeen) stepped(a Age) time.Duration {
	if g == nil || g.Loose || a.res >= time.Second || !a.Skip || g.lastSkip == 0 {
		return 0
	}
	grown := a.Age - g.lastAge
	if step := time.Duration(a.At-g.lastAt) - grown; grown > 0 && nearBackoff(grown) && step > time.Minute {
		return step
	}
	return 0
}

// nearBackoff reports whether d is a pause of the failing sync loop.
func nearBackoff(d time.Duration) bool {
	for p := BackoffFirst; ; p = min(2*p, BackoffMax) {
		if d >= p && d < p+60*time.Millisecond {
			return true
		}
		if p == BackoffMax {
			return false
		}
	}
}

// take adds the i-th of the lines and narrows the bounds by it when it agrees with them.
func (g *LastSeen) take(lines []Age, i int) {
	a := lines[i]
	lo, hi := a.bounds()
	fine := a.res < 10*time.Millisecond
	switch {
	case len(g.Lines) == 0 || fine && g.Loose:
		g.Lo, g.Hi, g.Loose = lo, hi, !fine
	case fine == !g.Loose && max(lo, g.Lo) <= min(hi, g.Hi):
		g.Lo, g.Hi = max(lo, g.Lo), min(hi, g.Hi)
	}
	if n := len(g.Lines); n == 0 || i >= n && &g.Lines[0] == &lines[i-n] {
		g.Lines = lines[i-n : i+1 : i+1] // most stand together, and need no room of their own
	} else {
		g.Lines = append(g.Lines, a)
	}
	g.lastAge, g.lastAt = a.Age, a.At
	if a.Skip {
		g.lastSkip = a.At
	}
	if a.Limit > 0 {
		g.Limit = a.Limit
	}
}

// described finds the group of coarse lines that were printed outside the kubelet, such
// as a condition row that stands before its log, which name the relist of a line of its own.
func described(groups []*LastSeen, a Age) *LastSeen {
	lo, hi := a.bounds()
	for _, g := range groups {
		if g.Loose && !a.outside && lo <= g.Hi && hi >= g.Lo && !slices.ContainsFunc(g.Lines, func(b Age) bool { return !b.outside }) {
			return g
		}
	}
	return nil
}

// earlier finds the group that a coarse line, such as a condition row printed
// later, belongs to.
func earlier(groups []*LastSeen, a Age) *LastSeen {
	if a.res < time.Second && !a.outside {
		return nil
	}
	lo, hi := a.bounds()
	for i := len(groups) - 1; i >= 0; i-- {
		if g := groups[i]; lo <= g.Hi+int64(sameStart) && hi >= g.Lo-int64(sameStart) {
			return g
		}
	}
	return nil
}
