package bundle

import (
	"slices"
	"sync"

	"github.com/plegforensics/plegforensics/parse"
)

// logCount counts the logs of one input against Limits.Logs: those of an archive, or
// of all files of a directory. Which are read must not show how walkers took turns, so
// those in the files that come first count first. While files are read it knows
// only how many they hold at least; what was read beyond the limit is dropped at
// the end.
type logCount struct {
	most   int
	mu     sync.Mutex
	held   []int // of each file, -1: not known yet
	begun  int   // files from the first whose number is known
	sum    int   // of their logs
	before int   // at the end: of the units that were looked at
}

// countLogs counts the logs of all units of an input together.
func countLogs(units []*unit, most int) {
	c := &logCount{most: most, held: make([]int, len(units))}
	for i, u := range units {
		u.count, u.place, c.held[i] = c, i, -1
	}
}

// full reports whether a log that n others of its unit precede is surely beyond the
// limit.
func (c *logCount) full(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum+n >= c.most
}

// end notes how many logs a unit holds.
func (c *logCount) end(u *unit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[u.place] = u.logs
	for ; c.begun < len(c.held) && c.held[c.begun] >= 0; c.begun++ {
		c.sum += c.held[c.begun]
	}
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
// their input. The last unit of an input tells how many.
func dropLogs(units []*unit) {
	for i, u := range units {
		before := u.count.before
		u.count.before += u.logs
		u.drop(max(0, u.count.most-before))
		if last := i+1 == len(units) || units[i+1].count != u.count; !last {
			continue
		}
		if more := u.count.before - u.count.most; more > 0 {
			pos := parse.Pos{File: &parse.File{Path: u.path, Input: u.input}}
			u.cut(pos, "%d logs are left out, those behind the first %d: more are not read of one input; --max-logs raises the limit", more, u.count.most)
		}
	}
}
