package replay

import (
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

// group is the lines of one run that name one relist as the last seen active.
type group struct {
	run      int
	lo, hi   int64 // bounds of the start, from the lines that agree
	lines    []ageLine
	relist   int           // index into the ledger
	loose    bool          // no line states a time finer than a second
	limit    time.Duration // threshold stated last, 0 if none
	lastAge  time.Duration
	lastAt   int64
	lastSkip int64
}

// start is the reconstructed start of the relist.
func (g *group) start() Instant { return between(g.lo, g.hi) }

func (g *group) first() int64 { return g.lines[0].at }
func (g *group) last() int64  { return g.lines[len(g.lines)-1].at }

// lastSeen groups the dated age lines by the relist that they name.
func lastSeen(s *found) []*group {
	lines := make([]ageLine, 0, len(s.ages))
	told := s.told()
	for _, a := range s.ages {
		if a.at != 0 && !(a.outside && told[a.age]) {
			lines = append(lines, a)
		}
	}
	host.Arrange(lines, func(a, b ageLine) int { return cmp64(a.at, b.at) })
	var out []*group
	open := map[int]*group{} // by run
	for _, a := range lines {
		g := open[a.run]
		if g == nil || !g.takes(a) {
			if h := earlier(out, a); h != nil {
				h.take(a)
				continue
			}
			g = &group{run: a.run, relist: -1, loose: true}
			open[a.run] = g
			out = append(out, g)
		}
		g.take(a)
	}
	for _, g := range out {
		host.Arrange(g.lines, func(a, b ageLine) int { return cmp64(a.at, b.at) })
	}
	slices.SortStableFunc(out, func(a, b *group) int { return cmp64(a.lo, b.lo) })
	return out
}

// told is the set of ages that the kubelet's own dated lines state to the
// nanosecond. The same age in a description of the node, in its JSON or in an event
// is the same report again.
func (s *found) told() map[time.Duration]bool {
	out := map[time.Duration]bool{}
	for _, a := range s.ages {
		if a.at != 0 && !a.outside && a.exact() {
			out[a.age] = true
		}
	}
	return out
}

// exact reports whether the age is stated finer than by chance two could agree.
func (a ageLine) exact() bool { return a.age%time.Millisecond != 0 }

func cmp64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// bounds returns the interval in which the relist that the line names started.
// A stamp of granularity r was cut, so the line was written within [at, at+r).
func (a ageLine) bounds() (lo, hi int64) {
	late := ageLate
	if !a.header {
		late += 20 * time.Millisecond // arrival in the journal, not the writing
	}
	hi = a.at - int64(a.age)
	if a.res >= 10*time.Millisecond {
		hi += int64(a.res)
		return hi - int64(a.res) - int64(late), hi
	}
	return hi - int64(late), hi
}

// takes reports whether the line names the relist of the group.
func (g *group) takes(a ageLine) bool {
	lo, hi := a.bounds()
	tol := int64(sameStart)
	if lo <= g.hi+tol && hi >= g.lo-tol {
		return true
	}
	if a.res >= time.Second || g.loose {
		return false
	}
	// Last-seen never moves back in one process: the wall clock did.
	if hi < g.lo {
		return a.age >= g.lastAge
	}
	// The age grew by one turn of the backed-off sync loop while the wall
	// clock moved further: the clock was stepped, the relist is the same.
	grown := a.age - g.lastAge
	return a.skip && g.lastSkip != 0 && grown > 0 && nearBackoff(grown) && a.at-g.lastAt > int64(grown)+int64(time.Minute)
}

// nearBackoff reports whether d is a pause of the failing sync loop.
func nearBackoff(d time.Duration) bool {
	for p := backoffFirst; ; p = min(2*p, backoffMax) {
		if d >= p && d < p+60*time.Millisecond {
			return true
		}
		if p == backoffMax {
			return false
		}
	}
}

// take adds the line and narrows the bounds by it when it agrees with them.
func (g *group) take(a ageLine) {
	lo, hi := a.bounds()
	fine := a.res < 10*time.Millisecond
	switch {
	case len(g.lines) == 0 || fine && g.loose:
		g.lo, g.hi, g.loose = lo, hi, !fine
	case fine == !g.loose && max(lo, g.lo) <= min(hi, g.hi):
		g.lo, g.hi = max(lo, g.lo), min(hi, g.hi)
	}
	g.lines = append(g.lines, a)
	g.lastAge, g.lastAt = a.age, a.at
	if a.skip {
		g.lastSkip = a.at
	}
	if a.limit > 0 {
		g.limit = a.limit
	}
}

// earlier finds the group that a coarse line, such as a condition row printed
// later, belongs to.
func earlier(groups []*group, a ageLine) *group {
	if a.res < time.Second && !a.outside {
		return nil
	}
	lo, hi := a.bounds()
	for i := len(groups) - 1; i >= 0; i-- {
		if g := groups[i]; lo <= g.hi+int64(sameStart) && hi >= g.lo-int64(sameStart) {
			return g
		}
	}
	return nil
}
