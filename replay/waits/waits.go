// Package waits tells which tasks wait in the kernel for which others, from its own
// words, from its list of locks, and from stacks: who is inside of what only one may be
// in holds it. It is a function of records and does no I/O.
package waits

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Wait says what a task waits for, and who holds it.
type Wait struct {
	Waiter Task
	For    string         // a lock, or what else it waits for
	Holder Task           // the zero Task where nothing shows who holds it, or where nobody can
	Likely bool           // that it is the holder: the kernel itself says no more than that
	By     []parse.Record // what shows it
}

// Longest is the longest chain of waits from one that is asked for: each next is that of
// the holder of the one before. In a ring the last holder waits for one of them.
func Longest(all []Wait, from func(*Wait) bool) (chain []*Wait, ring bool) {
	of := make(map[Task]*Wait, len(all))
	for i := range all {
		of[all[i].Waiter] = &all[i]
	}
	for i := range all {
		if !from(&all[i]) {
			continue
		}
		var c []*Wait
		w := &all[i]
		for ; w != nil && len(c) < mostLinks && !slices.Contains(c, w); w = w.next(of) {
			c = append(c, w)
		}
		if len(c) > len(chain) {
			chain, ring = c, w != nil && slices.Contains(c, w)
		}
	}
	return chain, ring
}

// Who waits for whom is read of so many tasks, and followed so far.
const (
	mostTasks = 400
	mostLinks = 16
	mostLines = 64 // of a task: functions, and locks
)

// Alike counts the others that wait for the same lock of the same task. Of what the
// kernel says itself the kind of the lock is all that is known.
func Alike(all []Wait, w *Wait) (n int) {
	for i := range all {
		if o := &all[i]; o != w && !w.Likely && !o.Likely && w.Holder.PID != "" && o.Holder == w.Holder && o.For == w.For {
			n++
		}
	}
	return n
}

// next is the wait of the holder in the same trouble: a pid may be another task's after a
// while.
func (w *Wait) next(of map[Task]*Wait) *Wait {
	next := of[w.Holder]
	if next == nil {
		return nil
	}
	a, b := w.By[0].When(), next.By[0].When()
	if a.Basis > parse.LowerBound && b.Basis > parse.LowerBound && max(a.At-b.At, b.At-a.At) > int64(sameTrouble) {
		return nil
	}
	return next
}

// sameTrouble is more than the kernel takes to report all tasks that hang for one reason.
const sameTrouble = 15 * time.Minute

// Of returns what events of Signatures and facts show of each task, by place. No holder
// is named that is not the only one who can be.
func Of(lines []*parse.Event, fs []*parse.Fact) (out []Wait) {
	slices.SortStableFunc(lines, func(a, b *parse.Event) int {
		return cmp.Or(cmp.Compare(a.File.Path, b.File.Path), cmp.Compare(a.Offset, b.Offset))
	})
	lines = slices.Compact(lines)
	stacks := slices.Concat(stacksOf(lines), stacksOfFiles(fs))
	seen := map[string]bool{}
	add := func(w Wait) {
		if !seen[w.Waiter.PID] && len(out) < mostTasks {
			seen[w.Waiter.PID] = true
			out = append(out, w)
		}
	}
	for _, e := range lines {
		if len(out) == mostTasks {
			break
		}
		if e.Is(sigOwner) {
			add(Wait{Waiter: Task{e.Field("waiter"), e.Field("wpid")}, For: "the " + e.Field("what"), Holder: Task{e.Field("comm"), e.Field("pid")}, Likely: true, By: []parse.Record{e}})
		}
	}
	for _, w := range ofHeld(lines, stacks) {
		add(w)
	}
	var alone []Wait
	for _, s := range stacks {
		l, how, rw, by := s.wants()
		if l == nil {
			if what, by := s.end(); what != "" {
				alone = append(alone, Wait{Waiter: s.Task, For: what, By: []parse.Record{s.by, by}})
			}
			continue
		}
		if h, at := only(stacks, s, l, how, rw); h != nil {
			add(Wait{Waiter: s.Task, For: l.name, Holder: h.Task, By: []parse.Record{s.by, by.by, h.by, at.by}})
			continue
		}
		alone = append(alone, Wait{Waiter: s.Task, For: l.name, By: []parse.Record{s.by, by.by}})
	}
	for _, w := range alone {
		add(w)
	}
	return out
}

// only is the one task that holds a lock while another waits for it, and the frame
// that shows it; nil where none or several would.
func only(stacks []*stack, waiter *stack, l *lock, how mode, rw bool) (one *stack, at *frame) {
	for _, s := range stacks {
		if s.PID == waiter.PID || !l.holds(s.fns, how, rw) || !together(waiter, s) {
			continue
		}
		if w, _, _, _ := s.wants(); w == l {
			continue
		}
		if one != nil && one.PID != s.PID {
			return nil, nil
		}
		if one == nil {
			one, at = s, &s.frames[slices.IndexFunc(s.frames, func(f frame) bool { return l.names(f.fn) })]
		}
	}
	return one, at
}

// holding is what the kernel's list says that a task holds, or asks for.
type holding struct {
	Task
	by    *parse.Event
	locks []*parse.Event // in the order in which they were taken: the last may be asked for
}

// ofHeld reads lists of held locks. A lock that is not the last of a task it has got;
// one that is the last of a task that hangs is what that waits for, if another has it.
func ofHeld(lines []*parse.Event, stacks []*stack) (out []Wait) {
	var all []*holding
	for i, e := range lines {
		switch {
		case e.Is(sigHeld) && len(all) == mostTasks:
			return nil
		case e.Is(sigHeld):
			all = append(all, &holding{Task: Task{e.Field("comm"), e.Field("pid")}, by: e})
		case e.Is(sigHeldLock) && i > 0 && len(all) > 0 && lines[i-1].File == e.File && (lines[i-1].Is(sigHeld) || lines[i-1].Is(sigHeldLock)):
			if h := all[len(all)-1]; len(h.locks) < mostLines {
				h.locks = append(h.locks, e)
			}
		}
	}
	for _, h := range all {
		if len(h.locks) == 0 || !slices.ContainsFunc(stacks, func(s *stack) bool { return s.PID == h.PID && s.asking() && s.by.Where().File == h.by.File }) {
			continue
		}
		want := h.locks[len(h.locks)-1]
		var got *holding
		several := false
		for _, o := range all {
			if o.PID == h.PID || o.by.File != h.by.File || len(o.locks) == 0 {
				continue
			}
			if slices.ContainsFunc(o.locks[:len(o.locks)-1], func(e *parse.Event) bool { return e.Field("addr") == want.Field("addr") }) {
				several, got = several || got != nil && got.PID != o.PID, o
			}
		}
		if got != nil && !several {
			out = append(out, Wait{Waiter: h.Task, Holder: got.Task, For: "the lock " + want.Field("lock"), By: []parse.Record{h.by, want, got.by}})
		}
	}
	return out
}
