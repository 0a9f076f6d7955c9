package replay

import (
	"slices"

	"github.com/plegforensics/plegforensics/parse"
)

// coverage answers when the kubelet wrote anything at all, lines without a
// signature included.
type coverage struct {
	lines []int64 // dated events of the kubelet, in time order, with their run
	runs  []int32 // process ids
	list  []*parse.Coverage
	pids  []int       // of the runs
	count map[int]int // lines by process id, 0: of all
}

func newCoverage(n *Node) *coverage {
	c := &coverage{count: map[int]int{}}
	told := func(e *parse.Event) bool { return e.Origin.Source == parse.SrcKubelet && e.Basis != parse.NoTime }
	lines := 0
	for _, r := range n.Runs {
		c.pids = append(c.pids, r.PID)
	}
	for _, e := range n.Events {
		if told(e) {
			lines++
		}
	}
	c.lines, c.runs = make([]int64, 0, lines), make([]int32, 0, lines)
	for _, e := range n.Events {
		if told(e) {
			c.lines = append(c.lines, e.At)
			c.runs = append(c.runs, int32(e.Origin.PID))
		}
	}
	for _, v := range n.Coverage {
		if v.Origin.Source == parse.SrcKubelet {
			c.count[v.Origin.PID] += v.Lines
			if v.Origin.PID != 0 {
				c.count[0] += v.Lines
			}
		}
		if v.Origin.Source == parse.SrcKubelet && v.FirstLine.Basis != parse.NoTime && v.LastLine.Basis != parse.NoTime {
			c.list = append(c.list, v)
		}
	}
	return c
}

// pasted reports whether the run left so few lines that they may be a selection,
// as in an issue; then a line that is missing proves nothing.
func (c *coverage) pasted(run int) bool {
	pid := 0
	if run >= 0 && run < len(c.pids) {
		pid = c.pids[run]
	}
	return c.count[pid] < 30
}

// next returns a moment at or after at, as early as is known, by which the
// run's process wrote a line; 0 if it wrote none. Silences shorter than
// parse.GapMin are not recorded, so the answer is late by up to that.
func (c *coverage) next(run int, at int64) int64 {
	pid := 0
	if run >= 0 && run < len(c.pids) {
		pid = c.pids[run]
	}
	best := int64(0)
	i, _ := slices.BinarySearch(c.lines, at)
	for ; i < len(c.lines); i++ {
		if pid == 0 || int(c.runs[i]) == pid {
			best = c.lines[i]
			break
		}
	}
	for _, v := range c.list {
		if pid != 0 && v.Origin.PID != pid {
			continue
		}
		if t := nextLine(v, at); t != 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return best
}

// nextLine returns when the origin wrote its next line at or after the moment.
func nextLine(v *parse.Coverage, at int64) int64 {
	first, last := min(v.FirstLine.At, v.LastLine.At), max(v.FirstLine.At, v.LastLine.At)
	if at > last {
		return 0
	}
	if at <= first {
		return first
	}
	for _, g := range v.Gaps {
		if lo, hi := min(g.Last.At, g.Next.At), max(g.Last.At, g.Next.At); lo < at && at <= hi {
			return hi
		}
	}
	return min(at+parse.GapMin, last)
}
