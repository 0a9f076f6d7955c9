package bundle

import (
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// logCount counts the logs of one input against Limits.Logs, or its files of metrics
// against a fifth of that: those of an archive, or of all files of a directory. Which are
// read must not show how walkers took turns, so those in the files that come first count
// first. While files are read it knows only how many they hold at least; logs that were
// read beyond the limit are dropped at the end. Metrics are put together as they are
// read, and wait near the limit.
type logCount struct {
	most   int
	mu     sync.Mutex
	known  sync.Cond // held was filled in
	held   []int     // of each file, -1: not known yet
	begun  int       // files from the first whose number is known
	sum    int       // of their logs
	before int       // at the end: of the units that were looked at
}

// countLogs counts the logs of all units of an input together, and the files of metrics.
func countLogs(units []*unit, most int) {
	logs, metrics := newLogCount(units, most), newLogCount(units, max(1, most/5))
	for i, u := range units {
		u.count, u.metrics, u.place = logs, metrics, i
	}
}

func newLogCount(units []*unit, most int) *logCount {
	c := &logCount{most: most, held: make([]int, len(units))}
	c.known.L = &c.mu
	for i := range c.held {
		c.held[i] = -1
	}
	return c
}

// full reports whether a log that n others of its unit precede is surely beyond the
// limit.
func (c *logCount) full(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum+n >= c.most
}

// over reports whether one that n others of its unit precede is beyond the limit. From
// half of it on it waits until the units before were read: walkers take them in order, so
// those are few.
func (c *logCount) over(place, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.begun < place && c.sum+n < c.most && c.sum+n+place-c.begun >= c.most/2 {
		c.known.Wait()
	}
	return c.sum+n >= c.most
}

// end notes how many a unit holds.
func (c *logCount) end(place, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.known.Broadcast()
	c.held[place] = n
	for ; c.begun < len(c.held) && c.held[c.begun] >= 0; c.begun++ {
		c.sum += c.held[c.begun]
	}
}

// end notes how many logs and files of metrics a unit holds that was read.
func (u *unit) end() {
	u.count.end(u.place, u.logs)
	u.metrics.end(u.place, u.snapshots)
}

// drop removes the logs behind the first most, and what was said of them.
func (u *unit) drop(most int) {
	gone := map[*parse.File]bool{}
	u.slots = slices.DeleteFunc(u.slots, func(s *slot) bool {
		if !s.log {
			return false
		}
		if most--; most >= 0 {
			return false
		}
		u.bytes -= s.file.Size
		gone[s.file] = true
		return true
	})
	if len(gone) > 0 {
		u.warnings = slices.DeleteFunc(u.warnings, func(w parse.Warning) bool { return gone[w.File] })
	}
}

// dropLogs takes from the units, in their order, the logs beyond the limit of
// their input. The last unit of an input tells how many, and how many files of metrics
// were not read.
func dropLogs(units []*unit) {
	for i, u := range units {
		before := u.count.before
		u.count.before += u.logs
		u.metrics.before += u.snapshots
		u.drop(max(0, u.count.most-before))
		if last := i+1 == len(units) || units[i+1].count != u.count; !last {
			continue
		}
		pos := parse.Pos{File: &parse.File{Path: u.path, Input: u.input}}
		if more := u.metrics.before - u.metrics.most; more > 0 {
			u.cut(pos, "%d files of metrics are left out, those behind the first %d: more are not read of one input; --max-logs raises the limit to a fifth of its number", more, u.metrics.most)
		}
		if more := u.count.before - u.count.most; more > 0 {
			u.cut(pos, "%d logs are left out, those behind the first %d: more are not read of one input; --max-logs raises the limit", more, u.count.most)
		}
	}
}
