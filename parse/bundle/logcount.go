package bundle

import (
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// logCount counts the logs of one input against Limits.Logs, or its metrics files
// against a fifth of that, over all files of an archive or directory. Which files
// are read must not depend on the timing of walkers, so the limit applies in unit
// order. While units are read, only a lower bound of the count is known: logs read
// beyond the limit are dropped at the end (dropLogs). Metrics are merged as they
// are read, so near the limit a walker waits until the count is known.
type logCount struct {
	most   int
	mu     sync.Mutex
	known  sync.Cond // signaled when held changes
	held   []int     // count of each unit, -1: not known yet
	begun  int       // number of leading units whose count is known
	sum    int       // total of those units
	before int       // used by dropLogs: total of the units processed so far
}

// countLogs sets up the shared counters of logs and metrics files for all units of
// an input.
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

// full reports whether the log after n others of its unit is certainly beyond the
// limit.
func (c *logCount) full(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum+n >= c.most
}

// over reports whether the file after n others of its unit is beyond the limit.
// Once the limit may be half used it waits for the preceding units; these are few,
// since walkers take units in order.
func (c *logCount) over(place, n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.begun < place && c.sum+n < c.most && c.sum+n+place-c.begun >= c.most/2 {
		c.known.Wait()
	}
	return c.sum+n >= c.most
}

// end records the final count of a unit.
func (c *logCount) end(place, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.known.Broadcast()
	c.held[place] = n
	for ; c.begun < len(c.held) && c.held[c.begun] >= 0; c.begun++ {
		c.sum += c.held[c.begun]
	}
}

// end records how many logs and metrics files the unit holds, after it was read.
func (u *unit) end() {
	u.count.end(u.place, u.logs)
	u.metrics.end(u.place, u.snapshots)
}

// drop removes the logs after the first most, and the warnings about them.
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

// dropLogs removes logs beyond the limit of their input, in unit order. At the last
// unit of each input it adds a warning with the number of logs and metrics files
// left out.
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
