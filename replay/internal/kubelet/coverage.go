package kubelet

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Coverage answers when the kubelet wrote anything at all, lines without a
// signature included.
type Coverage struct {
	events []*parse.Event
	lines  []int32 // dated events of the kubelet, in time order
	list   []*parse.Coverage
	shifts []shift // where another run goes on
	pids   []int   // of the runs
}

func newCoverage(n *host.Records, v *host.Survey) *Coverage {
	c := &Coverage{events: n.Events, lines: make([]int32, 0, v.Kubelet)}
	for _, v := range n.Coverage {
		if v.Origin.Source == parse.SrcKubelet && v.FirstLine.Basis != parse.NoTime && v.LastLine.Basis != parse.NoTime {
			c.list = append(c.list, v)
		}
	}
	return c
}

// shift is where a run goes on after another one, or none.
type shift struct {
	line int32
	run  int
}

// saw notes a dated event of the kubelet by its index, and its run.
func (c *Coverage) saw(i, run int) {
	c.lines = append(c.lines, int32(i))
	if k := len(c.shifts); k == 0 || c.shifts[k-1].run != run {
		c.shifts = append(c.shifts, shift{int32(i), run})
	}
}

// runOf is the run that an event belongs to, -1 before the first.
func (c *Coverage) runOf(line int32) int {
	i := sort.Search(len(c.shifts), func(i int) bool { return c.shifts[i].line > line })
	if i == 0 {
		return -1
	}
	return c.shifts[i-1].run
}

// runs tells which runs there are, and gives each the first and last line of its
// process, whether they have a signature or not. A process id that several runs
// share, as that of containers, tells only when the last of them ended. A process of whose
// lines none has a signature is the last one too, if it wrote after all others.
func (c *Coverage) runs(runs []Run) []Run {
	shared := map[int]int{}
	for i := range runs {
		shared[runs[i].PID]++
	}
	for _, v := range c.list {
		for i := range runs {
			r := &runs[i]
			if v.Origin.PID != r.PID {
				continue
			}
			if shared[r.PID] == 1 {
				r.First = min(r.First, v.FirstLine.At, v.LastLine.At)
			}
			if shared[r.PID] == 1 || i == len(runs)-1 {
				r.Last = max(r.Last, v.FirstLine.At, v.LastLine.At)
			}
		}
	}
	for _, v := range c.list {
		first, last := inOrder(v.FirstLine, v.LastLine)
		if k := len(runs) - 1; k >= 0 && v.Origin.PID != 0 && runs[k].PID != 0 && shared[v.Origin.PID] == 0 && first.At > runs[k].Last {
			runs = append(runs, Run{PID: v.Origin.PID, First: first.At, Last: last.At})
			shared[v.Origin.PID]++
		}
	}
	for i := range runs {
		c.pids = append(c.pids, runs[i].PID)
	}
	return runs
}

// from is the index of the first line at or after a moment.
func (c *Coverage) from(at int64) int {
	i, _ := slices.BinarySearchFunc(c.lines, at, func(i int32, at int64) int { return cmp.Compare(c.events[i].At, at) })
	return i
}

// Next returns a moment at or after at, as early as is known, by which the
// run's process wrote a line; 0 if it wrote none. Silences shorter than
// parse.GapMin are not recorded, so the answer is late by up to that.
func (c *Coverage) Next(run int, at int64) int64 {
	pid := 0
	if run >= 0 && run < len(c.pids) {
		pid = c.pids[run]
	}
	best := int64(0)
	for _, i := range c.lines[c.from(at):] {
		if e := c.events[i]; pid == 0 || e.Origin.PID == pid {
			best = e.At
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

// Lull is the longest time in a stretch in which the kubelet wrote no line with a
// signature.
func (c *Coverage) Lull(from, to int64) int64 {
	last, most := from, int64(0)
	for _, i := range c.lines[c.from(from):] {
		at := c.events[i].At
		if at >= to {
			break
		}
		most, last = max(most, at-last), at
	}
	return max(most, to-last)
}

// Around returns the last line with a signature before a moment and the first after it,
// 0 where there is none.
func (c *Coverage) Around(at int64) (before, after int64) {
	i := c.from(at)
	if i > 0 {
		before = c.events[c.lines[i-1]].At
	}
	if i < len(c.lines) {
		after = c.events[c.lines[i]].At
	}
	return before, after
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
