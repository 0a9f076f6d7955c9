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

// LastSeen is the lines of one run that name one relist as the last seen active.
type LastSeen struct {
	Run     int
	Lo, Hi  int64 // bounds of the start, from the lines that agree
	Lines   []kubelet.Age
	Loose   bool            // no line states a time finer than a second
	Limit   time.Duration   // threshold stated last, 0 if none
	Stepped time.Duration   // by how much the clock was set forward since the group before, which names the same relist; 0: another one
	Back    *[2]kubelet.Age // two turns of a loop that skips, between which the clock was set back; what was told before is left out
	lastAge time.Duration
	skip    kubelet.Age   // the last turn of the loop that skipped
	pause   time.Duration // before it, 0 unknown
}

// Start is the reconstructed start of the relist.
func (g *LastSeen) Start() host.Instant { return host.Between(g.Lo, g.Hi) }

// First and Last are the times of the first and last of its lines.
func (g *LastSeen) First() int64 { return g.Lines[0].At }
func (g *LastSeen) Last() int64  { return g.Lines[len(g.Lines)-1].At }

// groupAges groups the dated age lines by the relist that they name.
func groupAges(s *kubelet.Log) []*LastSeen {
	told := s.Told()
	lines := slices.DeleteFunc(slices.Clone(s.Ages), func(a kubelet.Age) bool { return a.At == 0 || a.Outside && told[a.Age] })
	host.Arrange(lines, func(a, b kubelet.Age) int { return cmp.Compare(a.At, b.At) })
	var back map[parse.Record]*[2]kubelet.Age
	if len(s.Doubled) > 0 {
		lines, back = setBack(lines)
	}
	var out, rows []*LastSeen   // rows begin with a line that was printed outside the kubelet
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
			if g = described(rows, a); g == nil {
				g = &LastSeen{Loose: true, Stepped: step}
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

// takes reports whether the line names the relist of the group.
func (g *LastSeen) takes(a kubelet.Age) bool {
	lo, hi := a.Bounds()
	tol := int64(kubelet.SameStart)
	if a.Skip && a.Res < time.Second && g.skip.At != 0 && nearBackoff(a.Age-g.skip.Age) {
		tol = 3 * tol // a small step of the clock: the next relist begins a period later at least
	}
	if lo <= g.Hi+tol && hi >= g.Lo-tol {
		return true
	}
	if a.Res >= time.Second || g.Loose {
		return false
	}
	// Last-seen never moves back in one process: the wall clock did.
	return hi < g.Lo && a.Age >= g.lastAge
}

// stepped is by how much the clock was set forward before a line, 0 if it was not: the age
// grew by the next pause of the backed-off sync loop while the stamps moved on by more,
// over a time of which no line is, so that the relist is the same. Ages are monotonic.
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

// setBack leaves out the ages of a relist by a clock that was set back while it was
// reported: in the order of the file the next turn of the loop that skips states the age
// that is due, and an earlier time. From there on they are told by the clock that holds;
// the two turns are returned by the second one.
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
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; a.Run == b.Run && a.Record.Where().File == b.Record.Where().File && a.At-b.At > int64(kubelet.SameStart) && nearBackoff(b.Age-a.Age) {
			if back == nil {
				back = map[parse.Record]*[2]kubelet.Age{}
			}
			back[b.Record] = &[2]kubelet.Age{a, b}
		}
	}
	if back == nil {
		return lines, nil
	}
	return slices.DeleteFunc(lines, func(c kubelet.Age) bool {
		for _, x := range back {
			if a := &x[0]; c.Run == a.Run && c.Age <= a.Age && max(start(&c)-start(a), start(a)-start(&c)) < int64(kubelet.SameStart) {
				return true
			}
		}
		return false
	}), back
}

// start is when the relist began that the line names, by the clock of its stamp.
func start(a *kubelet.Age) int64 { return a.At - int64(a.Age) }

// nearBackoff reports whether d is a pause of the failing sync loop.
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

// take adds the i-th of the lines and narrows the bounds by it when it agrees with them.
func (g *LastSeen) take(lines []kubelet.Age, i int) {
	a := lines[i]
	lo, hi := a.Bounds()
	fine := a.Res < 10*time.Millisecond
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
	g.lastAge = a.Age
	if a.Skip {
		if g.skip.At != 0 {
			g.pause = a.Age - g.skip.Age
		}
		g.skip = a
	}
	if a.Limit > 0 {
		g.Limit = a.Limit
	}
}

// described finds the group of coarse lines that were printed outside the kubelet, such
// as a condition row that stands before its log, which name the relist of a line of its own.
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

// starts finds groups by the time in which their relists began.
type starts struct {
	last map[int64]int32 // by stretch of time, the last entry of it, counted from 1
	list []struct{ group, before int32 }
}

// startStretch is longer than the interval of most lines, and a second longer than that
// by which a line moves its group.
const startStretch = int64(2 * time.Second)

// add notes the group that begins with a line.
func (s *starts) add(a kubelet.Age, group int) {
	lo, hi := a.Bounds()
	for t := lo / startStretch; t <= hi/startStretch; t++ {
		s.list = append(s.list, struct{ group, before int32 }{int32(group), s.last[t]})
		s.last[t] = int32(len(s.list))
	}
}

// earlier finds the last group that a coarse line, such as a condition row printed
// later, belongs to.
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
