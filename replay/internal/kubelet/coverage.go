package kubelet

import (
	"cmp"
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// Coverage answers when the kubelet wrote anything at all, including lines without a signature.
type Coverage struct {
	events []*parse.Event
	lines  []int32 // indices of the kubelet's dated events, in time order
	list   []*parse.Coverage
	shifts []shift // where the run changes
	pids   []int   // of the runs
	wrote  map[int]*wrote
}

func newCoverage(n *host.Records, v *host.Survey) *Coverage {
	return &Coverage{events: n.Events, lines: make([]int32, 0, v.Kubelet), list: dated(n)}
}

// dated returns the coverage of the kubelet's lines, as far as they have times.
func dated(n *host.Records) []*parse.Coverage {
	return slices.DeleteFunc(slices.Clone(n.Coverage), func(c *parse.Coverage) bool {
		return c.Origin.Source != parse.SrcKubelet || c.FirstLine.Basis == parse.NoTime || c.LastLine.Basis == parse.NoTime
	})
}

// shift is the line from which on lines belong to run.
type shift struct {
	line int32
	run  int
}

// saw records event i, a dated line of the kubelet, and its run.
func (c *Coverage) saw(i, run int) {
	c.lines = append(c.lines, int32(i))
	if k := len(c.shifts); k == 0 || c.shifts[k-1].run != run {
		c.shifts = append(c.shifts, shift{int32(i), run})
	}
}

// runOf returns the run that an event belongs to, -1 before the first.
func (c *Coverage) runOf(line int32) int {
	i := sort.Search(len(c.shifts), func(i int) bool { return c.shifts[i].line > line })
	if i == 0 {
		return -1
	}
	return c.shifts[i-1].run
}

// runs extends each run to the first and last line of its process, with or without a signature, and returns all
// runs. If several runs share a process ID, as in containers, the coverage only shows when the last of them
// ended. A process without any signature line is appended as the last run if it wrote after all others.
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
			for _, p := range v.Pieces() {
				if shared[r.PID] == 1 {
					r.First = min(r.First, p.First.At, p.Last.At)
				}
				if shared[r.PID] == 1 || i == len(runs)-1 {
					r.Last = max(r.Last, p.First.At, p.Last.At)
				}
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
	c.wrote = c.writers()
	return runs
}

// from returns the index in lines of the first line at or after a moment.
func (c *Coverage) from(at int64) int {
	i, _ := slices.BinarySearchFunc(c.lines, at, func(i int32, at int64) int { return cmp.Compare(c.events[i].At, at) })
	return i
}

// Next returns the earliest known moment at or after at by which the run's process had written a line; 0 if it
// wrote none. Silences shorter than parse.GapMin are not recorded, so the result may be late by that much.
func (c *Coverage) Next(run int, at int64) int64 {
	pid := 0
	if run >= 0 && run < len(c.pids) {
		pid = c.pids[run]
	}
	if c.wrote[pid] == nil {
		return 0
	}
	return c.wrote[pid].next(at)
}

// severer is how many lines in a row show that a log keeps only lines more severe than those before: more than
// one failing call writes at once.
const severer = 10

// NextOf is like Next, but of lines of severity level if that is 'I' and the lines with a signature after from show
// that the log no longer keeps it: then the first that it keeps again counts.
func (c *Coverage) NextOf(level byte, run int, from, at int64) int64 {
	next, worse := c.Next(run, at), 0
	if level != 'I' {
		return next
	}
	for _, i := range c.lines[c.from(from+1):] {
		switch e := c.events[i]; {
		case c.runOf(i) != run:
		case e.Severity == 'I' && worse >= severer:
			return max(next, e.At)
		case e.Severity == 'I' || e.Severity == 0:
			return next
		default:
			worse++
		}
	}
	if worse >= severer {
		return 0
	}
	return next
}

// wrote is when a process wrote.
type wrote struct {
	lines  []int64     // moments of lines, sorted: those with a signature, and the first and last of each stretch
	within []host.Span // stretches in which it wrote without a recorded silence, sorted, none overlap
}

// writers returns when each process wrote, by process ID, and at 0 when any did.
func (c *Coverage) writers() map[int]*wrote {
	all := &wrote{lines: make([]int64, 0, len(c.lines)+2*len(c.list))}
	out := map[int]*wrote{0: all}
	for _, v := range c.list {
		if all.add(v); out[v.Origin.PID] == nil {
			out[v.Origin.PID] = &wrote{}
		}
	}
	several := len(out) > 2 || slices.ContainsFunc(c.list, func(v *parse.Coverage) bool { return v.Origin.PID == 0 })
	for pid := range out {
		if !several { // one process wrote all
			out[pid] = all
		}
	}
	for _, v := range c.list {
		if w := out[v.Origin.PID]; w != all {
			w.add(v)
		}
	}
	for _, i := range c.lines {
		e := c.events[i]
		all.lines = append(all.lines, e.At)
		if w := out[e.Origin.PID]; w != nil && w != all {
			w.lines = append(w.lines, e.At)
		}
	}
	for _, w := range out {
		slices.Sort(w.lines)
		w.within = JoinSpans(w.within)
	}
	return out
}

func (w *wrote) add(v *parse.Coverage) {
	for _, p := range v.Pieces() {
		from := p.First.At
		for _, g := range append(p.Gaps, parse.Gap{Last: p.Last}) {
			w.lines = append(w.lines, from, g.Last.At)
			w.within = append(w.within, host.Span{From: from, To: g.Last.At})
			from = g.Next.At
		}
	}
}

// next returns the moment of the first line at or after at that is known, or by which there was one.
func (w *wrote) next(at int64) int64 {
	i, _ := slices.BinarySearch(w.lines, at)
	if i == len(w.lines) {
		return 0
	}
	k := sort.Search(len(w.within), func(k int) bool { return w.within[k].To >= at })
	if k < len(w.within) && w.within[k].From < at {
		return min(w.lines[i], at+parse.GapMin)
	}
	return w.lines[i]
}

// Lull returns the longest time in an interval, in ns, without a kubelet line that has a signature.
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

// Around returns the times of the last line with a signature before a moment and of the first at or after it, 0
// if there is none.
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
