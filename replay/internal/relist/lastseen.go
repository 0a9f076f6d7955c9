package relist

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// LastSeen groups the lines of one run that name the same relist as last seen active.
type LastSeen struct {
	Run     int
	Lo, Hi  int64 // bounds of the start of the relist, from the lines that agree
	Lines   []kubelet.Age
	Loose   bool            // no line states a time finer than 1 s
	Limit   time.Duration   // last threshold stated, 0 if none
	Stepped time.Duration   // by how much the clock was set forward since the previous group, which names the same relist; 0: another relist
	Doubt   bool            // the clock may have been set since the previous group, which then names the same relist
	Back    *[2]kubelet.Age // two skipped iterations between which the clock was set back; lines before the step are left out
	lastAge time.Duration
	skip    struct { // last skipped iteration of the loop
		At  int64
		Age time.Duration
	}
	pause time.Duration // pause before skip, 0 if unknown
}

// Start returns the reconstructed start of the relist.
func (g *LastSeen) Start() host.Instant { return host.Between(g.Lo, g.Hi) }

// First returns the time of the first line, in Unix ns.
func (g *LastSeen) First() int64 { return g.Lines[0].At }

// Last returns the time of the last line, in Unix ns.
func (g *LastSeen) Last() int64 { return g.Lines[len(g.Lines)-1].At }

// groupAges groups the dated age lines by the relist that they name.
func groupAges(s *kubelet.Log) []*LastSeen {
	told := s.Told()
	lines := slices.DeleteFunc(slices.Clone(s.Ages), func(a kubelet.Age) bool { return a.At == 0 || a.Outside && a.Exact() && told[a.Age] })
	host.Arrange(lines, func(a, b kubelet.Age) int { return cmp.Compare(a.At, b.At) })
	var back map[parse.Record]*[2]kubelet.Age
	if len(s.Backs) > 0 {
		lines, back = setBack(lines)
	}
	var out, rows []*LastSeen   // groups that begin with a line printed outside the kubelet
	open := map[int]*LastSeen{} // by run
	began := starts{last: map[int64]int32{}}
	for i, a := range lines {
		g := open[a.Run]
		if g == nil || !g.takes(a) {
			if h := began.earlier(out, a); h != nil {
				h.take(lines, i)
				continue
			}
			step := g.stepped(a, s.Cover)
			doubt := step == 0 && g.set(s, a)
			if g = described(rows, a); g == nil {
				g = &LastSeen{Loose: true, Stepped: step, Doubt: doubt}
				began.add(a, len(out))
				if out = append(out, g); a.Outside {
					rows = append(rows, g)
				}
			}
			g.Run, open[a.Run] = a.Run, g
		}
		g.take(lines, i)
		if b := back[a.Record]; b != nil {
			g.Back = b
		}
	}
	for _, g := range out {
		host.Arrange(g.Lines, func(a, b kubelet.Age) int { return cmp.Compare(a.At, b.At) })
	}
	slices.SortStableFunc(out, func(a, b *LastSeen) int { return cmp.Compare(a.Lo, b.Lo) })
	return out
}

// takes reports whether the line names the relist of g.
func (g *LastSeen) takes(a kubelet.Age) bool {
	lo, hi := a.Bounds()
	tol := int64(kubelet.SameStart)
	if a.Skip && a.Res < time.Second && g.skip.At != 0 && nearBackoff(a.Age-g.skip.Age) {
		tol = 3 * tol // allow for a small clock step: the next relist begins at least a period later
	}
	if lo <= g.Hi+tol && hi >= g.Lo-tol {
		return true
	}
	if a.Res >= time.Second || g.Loose {
		return false
	}
	// The last-seen time never moves back within one process, so the wall clock did.
	return hi < g.Lo && a.Age >= g.lastAge
}

// stepped returns by how much the clock was set forward before line a, or 0 if it was not. Ages are monotonic.
// If the age grew by the next pause of the backed-off sync loop while the timestamps advanced by more, with no
// log line in between, the relist is the same and the clock was stepped.
func (g *LastSeen) stepped(a kubelet.Age, c *kubelet.Coverage) time.Duration {
	if g == nil || g.Loose || a.Res >= time.Second || !a.Skip || g.skip.At == 0 {
		return 0
	}
	grown, due, passed := a.Age-g.skip.Age, kubelet.BackoffMax, time.Duration(a.At-g.skip.At)
	if g.pause != 0 {
		due = min(2*g.pause, kubelet.BackoffMax)
	}
	if step := passed - grown; nearBackoff(grown) && (g.pause == 0 || grown >= due-due/20) && passed > due+kubelet.BackoffLate && c.Lull(g.skip.At, a.At) >= int64(step-kubelet.BackoffLate) {
		return step
	}
	return 0
}

// set reports whether the clock may have been set between the last line of g and line a, so that both name the same
// relist: it was set back, or it was set forward by as much as the log is silent between them. A start a period
// later is that of the next relist: the one before it was quick.
func (g *LastSeen) set(s *kubelet.Log, a kubelet.Age) bool {
	if g == nil {
		return false
	}
	last := g.Lines[len(g.Lines)-1]
	off := start(&a) - start(&last)
	next := off >= int64(kubelet.GenericPeriod) && off <= int64(kubelet.GenericPeriod+TimerLate)
	return !s.SameClock(last.Record, a.Record) || off > 0 && !next && a.Age > last.Age && s.Quiet(last.At, a.At) >= off-int64(kubelet.BackoffLate)
}

// setBack drops the ages of a relist taken by a clock that was set back while they were reported. In file
// order, the next skipped iteration then states the expected age but an earlier time. From that line on, the
// ages follow the corrected clock. back holds both iterations by the record of the second.
func setBack(lines []kubelet.Age) (kept []kubelet.Age, back map[parse.Record]*[2]kubelet.Age) {
	var order []kubelet.Age
	for _, a := range lines {
		if a.Skip && a.Res < time.Second {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b kubelet.Age) int {
		x, y := a.Record.Where(), b.Record.Where()
		return cmp.Or(cmp.Compare(a.Run, b.Run), strings.Compare(x.File.Path, y.File.Path), cmp.Compare(x.Offset, y.Offset), cmp.Compare(x.Line, y.Line))
	})
	back = map[parse.Record]*[2]kubelet.Age{}
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.Run == b.Run && a.Record.Where().File == b.Record.Where().File && a.At-b.At > int64(kubelet.SameStart) && nearBackoff(b.Age-a.Age) {
			back[b.Record] = &[2]kubelet.Age{a, b}
		}
	}
	set := make([]*kubelet.Age, 0, len(back)) // the lines before the clock was set, by start
	for _, x := range back {
		set = append(set, &x[0])
	}
	slices.SortFunc(set, func(a, b *kubelet.Age) int { return cmp.Compare(start(a), start(b)) })
	return slices.DeleteFunc(lines, func(c kubelet.Age) bool {
		at := start(&c)
		i, _ := slices.BinarySearchFunc(set, at-int64(kubelet.SameStart)+1, func(a *kubelet.Age, t int64) int { return cmp.Compare(start(a), t) })
		for _, a := range set[i:] {
			if start(a)-at >= int64(kubelet.SameStart) {
				break
			}
			if c.Run == a.Run && c.Age <= a.Age {
				return true
			}
		}
		return false
	}), back
}

// start returns when the relist that the line names began, by the clock of its timestamp.
func start(a *kubelet.Age) int64 { return a.At - int64(a.Age) }

// nearBackoff reports whether d is a backoff pause of the failing sync loop.
func nearBackoff(d time.Duration) bool {
	for p := kubelet.BackoffFirst; ; p = min(2*p, kubelet.BackoffMax) {
		if d >= p && d < p+60*time.Millisecond {
			return true
		}
		if p == kubelet.BackoffMax {
			return false
		}
	}
}

// take adds lines[i] and narrows the bounds by it if it agrees with them.
func (g *LastSeen) take(lines []kubelet.Age, i int) {
	a := lines[i]
	lo, hi := a.Bounds()
	fine := a.Res < 10*time.Millisecond
	switch {
	case len(g.Lines) == 0 || fine && g.Loose:
		g.Lo, g.Hi, g.Loose = lo, hi, !fine
	case fine == !g.Loose && max(lo, g.Lo) <= min(hi, g.Hi):
		g.Lo, g.Hi = max(lo, g.Lo), min(hi, g.Hi)
	case fine && hi < g.Lo-int64(kubelet.SameStart): // the clock was set back, unseen between two lines
		g.Lo, g.Hi, g.Back = lo, hi, cmp.Or(g.Back, &[2]kubelet.Age{g.Lines[len(g.Lines)-1], a})
	}
	if n := len(g.Lines); n == 0 || i >= n && &g.Lines[0] == &lines[i-n] {
		g.Lines = lines[i-n : i+1 : i+1] // most lines of a group are adjacent and share the backing array of lines
	} else {
		g.Lines = append(g.Lines, a)
	}
	g.lastAge = a.Age
	if a.Skip {
		if g.skip.At != 0 {
			g.pause = a.Age - g.skip.Age
		}
		g.skip.At, g.skip.Age = a.At, a.Age
	}
	if a.Limit > 0 {
		g.Limit = a.Limit
	}
}

// described finds the group of coarse lines printed outside the kubelet (such as a condition row in a file
// before its log) that name the relist of line a.
func described(rows []*LastSeen, a kubelet.Age) *LastSeen {
	if a.Outside {
		return nil
	}
	lo, hi := a.Bounds()
	for _, g := range rows {
		if g.Loose && lo <= g.Hi && hi >= g.Lo && !slices.ContainsFunc(g.Lines, func(b kubelet.Age) bool { return !b.Outside }) {
			return g
		}
	}
	return nil
}

// starts indexes groups by when their relists began.
type starts struct {
	last map[int64]int32 // last entry (1-based index into list) of each stretch of time
	list []struct{ group, before int32 }
}

// startStretch is longer than the uncertainty of most lines, and 1 s longer than the distance by which a line
// can move its group.
const startStretch = int64(2 * time.Second)

// add indexes the group that begins with line a.
func (s *starts) add(a kubelet.Age, group int) {
	lo, hi := a.Bounds()
	for t := lo / startStretch; t <= hi/startStretch; t++ {
		s.list = append(s.list, struct{ group, before int32 }{int32(group), s.last[t]})
		s.last[t] = int32(len(s.list))
	}
}

// earlier finds the last group that a coarse line, such as a condition row printed later, belongs to.
func (s *starts) earlier(groups []*LastSeen, a kubelet.Age) *LastSeen {
	if a.Res < time.Second && !a.Outside {
		return nil
	}
	lo, hi := a.Bounds()
	lo, hi = lo-int64(kubelet.SameStart), hi+int64(kubelet.SameStart)
	found := int32(-1)
	for t := lo/startStretch - 1; t <= hi/startStretch+1; t++ {
		for i := s.last[t]; i > 0 && s.list[i-1].group > found; i = s.list[i-1].before {
			if g := groups[s.list[i-1].group]; lo <= g.Hi && hi >= g.Lo {
				found = s.list[i-1].group
			}
		}
	}
	if found < 0 {
		return nil
	}
	return groups[found]
}
