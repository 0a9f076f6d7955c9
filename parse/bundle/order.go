package bundle

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// sortByTime sorts all records of the bundle by time, then position. Records
// without a time come first. ordered says that the events are already sorted.
func sortByTime(b *parse.Bundle, ordered bool) {
	if !ordered {
		sortEvents(b.Events)
	}
	orderJournals(b)
	sortRecords(b.Markers, func(m *parse.Marker) (parse.Pos, int64) { return m.Pos, m.At })
	sortRecords(b.Facts, func(f *parse.Fact) (parse.Pos, int64) { return f.Pos, f.At })
	sortRecords(b.Containers, func(c *parse.Container) (parse.Pos, int64) { return c.Pos, c.At })
	sortRecords(b.Objects, func(o *parse.Object) (parse.Pos, int64) { return o.Pos, o.At })
	sortRecords(b.Scrapes, func(s *parse.Scrape) (parse.Pos, int64) { return parse.Pos{File: s.File, Line: s.Line}, s.At })
	sortRecords(b.Coverage, func(c *parse.Coverage) (parse.Pos, int64) { return c.FirstLine.Pos, c.FirstLine.At })
	slices.SortStableFunc(b.Warnings, byInputFirst)
}

// foldRepeats keeps one copy of records that occur several times in one file. A
// backward step of time into a copy is not a clock change, nor is a single backward
// step that is followed by copies: that is a rotated log which begins in the next
// one, concatenated newest first.
func foldRepeats(b *parse.Bundle) {
	kept, of := parse.Repeats(b.Events)
	b.Events = kept
	stepped := map[*parse.File]bool{} // still stepped without the jumps of copies
	for i := range b.Clocks {
		c := &b.Clocks[i]
		r := of[c.File]
		if r == nil {
			continue
		}
		before := len(c.Jumps)
		once := before == 1
		c.Jumps = slices.DeleteFunc(c.Jumps, func(j parse.Jump) bool {
			return j.Step < 0 && (r.Holds(j.At.Pos) || once && r.Behind(j.At.Pos))
		})
		c.Stepped -= before - len(c.Jumps)
		stepped[c.File] = c.Stepped > 0
		b.Warnings = append(b.Warnings, parse.Warning{Pos: r.First, Note: true,
			Msg: parse.Plural(r.Lines, "record") + " of this log stand in it again, the first in this line: they count once"})
	}
	for _, c := range b.Coverage {
		if of[c.File] != nil && !stepped[c.File] {
			c.SortPieces()
		}
	}
}

// dropRepeats keeps one copy of records that several files hold and counts the
// others by file.
func dropRepeats(b *parse.Bundle) {
	if len(b.Clocks) < 2 {
		return // all lines are of one file
	}
	kept := parse.Unique(b.Events)
	if len(kept) == len(b.Events) {
		return
	}
	b.Copies = map[*parse.File]int{}
	held := map[*parse.File]int{} // events kept, by file
	next := 0
	same := map[parse.SameLines]int{}
	tried := map[parse.Writer]int{}
	for _, e := range b.Events {
		if next < len(kept) && kept[next] == e {
			held[e.File]++
			next++
			continue
		}
		b.Copies[e.File]++
		by := parse.Writer{File: e.File, Origin: e.Origin}
		if tried[by]++; tried[by] > mostTried {
			continue
		}
		if of := copyOf(e, kept, next); of != nil {
			s := parse.SameLines{From: by, Of: parse.Writer{File: of.File, Origin: of.Origin}}
			if same[s]++; same[s] == fewCopies {
				b.Same = append(b.Same, s)
			}
		}
	}
	oneProcess(b.Same)
	wasted := 0
	for f, n := range b.Copies {
		if held[f] > 0 {
			wasted += n
		}
	}
	if b.Events = kept; wasted > len(kept)/8 {
		resettle(kept)
	}
}

// oneProcess gives a process that two forms of a log number differently the one number,
// so that it is no restart where one form ends and the other goes on. In a container
// several kubelets may have one number: it stays.
func oneProcess(same []parse.SameLines) {
	pids := map[*parse.Origin]int{}
	for _, s := range same {
		if pid, known := pids[s.From.Origin]; known && pid != s.Of.Origin.PID {
			pids[s.From.Origin] = 0
		} else {
			pids[s.From.Origin] = s.Of.Origin.PID
		}
	}
	for from, pid := range pids {
		if from.PID != 0 && pid != 0 {
			from.PID = pid
		}
	}
}

// fewCopies is how many lines two logs must share to be of one kubelet: one or two may
// agree to the microsecond by chance.
const fewCopies = 3

// mostTried is how many copies of a writer are compared with what they are copies of.
const mostTried = 8 * fewCopies

// copyOf returns the event that was kept for e, near index next, if e is a line of a
// kubelet that states its time to the microsecond and its place in the source.
func copyOf(e *parse.Event, kept []*parse.Event, next int) *parse.Event {
	exact := func(e *parse.Event) bool {
		return e.Headed && e.Caller != "" && e.Basis != parse.NoTime && e.Res.Duration() <= time.Microsecond && e.Origin.Source == parse.SrcKubelet
	}
	if !exact(e) {
		return nil
	}
	const most = int64(time.Microsecond) // see parse.SameMessage
	for next > 0 && kept[next-1].At >= e.At-most {
		next--
	}
	for ; next < len(kept) && kept[next].At <= e.At+most; next++ {
		if k := kept[next]; k.File != e.File && exact(k) && (k.At == e.At || k.JSON != e.JSON) && parse.SameMessage(k, e) {
			return k
		}
	}
	return nil
}

// resettle copies the events to new memory: events are allocated in blocks, and one
// that is kept would keep its whole block alive.
func resettle(events []*parse.Event) {
	const block = 64
	var free []parse.Event
	for i, e := range events {
		if len(free) == 0 {
			free = make([]parse.Event, min(block, len(events)-i))
		}
		free[0] = *e
		events[i], free = &free[0], free[1:]
	}
}

// byTime is the order of sortRecords for events. There may be millions, nearly all
// with distinct times, so the position is compared only if needed.
func byTime(x, y *parse.Event) int {
	if x.At != y.At {
		return cmp.Compare(x.At, y.At)
	}
	return comparePos(x.Where(), y.Where())
}

func sortRecords[T any](s []T, key func(T) (parse.Pos, int64)) {
	order := func(x, y T) int {
		xp, xt := key(x)
		yp, yt := key(y)
		if xt != yt {
			return cmp.Compare(xt, yt)
		}
		return comparePos(xp, yp)
	}
	if !slices.IsSortedFunc(s, order) {
		slices.SortStableFunc(s, order)
	}
}

// comparePos orders positions by path, then offset, then line.
func comparePos(x, y parse.Pos) int {
	switch {
	case x.Before(y):
		return -1
	case y.Before(x):
		return 1
	}
	return 0
}

func byInputFirst(x, y parse.Warning) int {
	return cmp.Or(comparePos(x.Pos, y.Pos), strings.Compare(x.Msg, y.Msg))
}
