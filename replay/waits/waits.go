// Package waits finds which tasks wait in the kernel for which others, from the
// kernel's own messages, from its list of held locks, and from stacks: a task inside a
// section that admits only one holds it. It is a function of records and does no I/O.
package waits

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// Wait says what a task waits for, and which task holds it.
type Wait struct {
	Waiter Task
	For    string         // a lock, or anything else
	Holder Task           // the zero Task if unknown, or if nothing can hold it
	Likely bool           // Holder is only likely: the kernel's own message says no more
	By     []parse.Record // records that show it
}

// Longest returns the longest chain of waits that starts with one for which from
// returns true. Each element is followed by the wait of its holder. If ring is true,
// the last holder waits for a task of the chain.
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

// Limits of what is read and followed.
const (
	mostTasks = 400
	mostLinks = 16
	mostLines = 64 // per task: functions, and locks
)

// Alike returns how many other tasks wait for the same lock of the same holder. Waits
// reported by the kernel itself (Likely) do not count, because only the kind of their
// lock is known.
func Alike(all []Wait, w *Wait) (n int) {
	for i := range all {
		if o := &all[i]; o != w && !w.Likely && !o.Likely && w.Holder.PID != "" && o.Holder == w.Holder && o.For == w.For {
			n++
		}
	}
	return n
}

// next returns the wait of the holder, nil if there is none within sameTrouble: later
// the PID may belong to another task.
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

// sameTrouble exceeds the time that the kernel takes to report all tasks that hang for
// one reason.
const sameTrouble = 15 * time.Minute

// Of returns what log lines with Signatures, and facts, show about each task, in the
// order of their positions, waits without a known holder last. A holder is named only
// if no other task can be it. Of sorts lines.
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

// only returns the one task that holds a lock while another waits for it, and the frame
// that shows it; nil if there is none or several.
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

// holding is what the kernel's list says that a task holds or asks for.
type holding struct {
	Task
	by    *parse.Event
	locks []*parse.Event // in the order they were taken; the last may be only asked for
}

// ofHeld reads lists of held locks. A task has every lock of its list but the last. If
// the task hangs, it waits for the last one, provided that another task has it.
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
