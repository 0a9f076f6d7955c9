package waits

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// Signatures are the kernel messages from which stacks and locks are read.
var Signatures = []string{sigHung, sigTask, sigTrace, sigFrame, sigOwner, sigHeld, sigHeldLock}

const (
	sigHung     = "k.hung"
	sigTask     = "k.task"
	sigTrace    = "k.trace"
	sigFrame    = "k.frame"
	sigOwner    = "k.owner"
	sigHeld     = "k.held"
	sigHeldLock = "k.heldlock"
)

// Task is a kernel task as the kernel names it.
type Task struct{ Comm, PID string }

func (t Task) String() string { return t.Comm + " (" + t.PID + ")" }

// stack is the stack of a task at some moment.
type stack struct {
	Task
	hung   time.Duration // how long the task had not moved
	frames []frame       // innermost first; from a log only functions that the tables know
	fns    map[string]bool
	by     parse.Record // names the task
}

// frame is one function of a stack, with its line number or index.
type frame struct {
	fn   string
	line uint32 // consecutive for a function and its direct caller
	by   parse.Record
}

func (s *stack) add(fn string, line uint32, by parse.Record) {
	if len(s.frames) == mostLines {
		return
	}
	fn, _, _ = strings.Cut(fn, ".") // strip suffixes such as .isra.0 and .constprop.1
	s.frames = append(s.frames, frame{fn, line, by})
	if s.fns == nil {
		s.fns = map[string]bool{}
	}
	s.fns[fn] = true
}

// wants returns the lock that the stack waits for, and the frame that asks for it: the
// innermost frames wait for a lock, and their caller is a function that asks for this
// one.
func (s *stack) wants() (l *lock, how mode, rw bool, by *frame) {
	i := 0
	for ; i < len(s.frames); i++ {
		if h, ok := asksFor(s.frames[i].fn); !ok {
			break
		} else if how = h; !strings.Contains(s.frames[i].fn, "mutex") {
			rw = true
		}
	}
	if i == 0 || i == len(s.frames) || s.frames[i].line != s.frames[i-1].line+1 {
		return nil, 0, false, nil
	}
	k := slices.IndexFunc(locks, func(l lock) bool { return slices.Contains(l.wants, s.frames[i].fn) })
	if k < 0 {
		return nil, 0, false, nil
	}
	return &locks[k], how, rw, &s.frames[i]
}

// asking reports whether the stack waits for any lock.
func (s *stack) asking() bool {
	if len(s.frames) == 0 {
		return false
	}
	_, ok := asksFor(s.frames[0].fn)
	return ok
}

// end returns what the stack waits for other than a lock, and the record that shows it.
func (s *stack) end() (what string, by parse.Record) {
	if s.asking() {
		return "", nil
	}
	for i := range s.frames {
		if what := ends[s.frames[i].fn]; what != "" {
			return what, s.frames[i].by
		}
	}
	return "", nil
}

// stacksOf reads the stacks in a kernel log: of hung tasks, and of all blocked tasks. A
// stack without the line that names its task is dropped.
func stacksOf(lines []*parse.Event) (out []*stack) {
	var s *stack // the last named stack
	begun := false
	for i, e := range lines {
		if i > 0 && lines[i-1].File != e.File {
			s, begun = nil, false
		}
		switch {
		case e.Is(sigHung), e.Is(sigTask):
			of := Task{e.Field("comm"), e.Field("pid")}
			if s == nil || begun || s.PID != of.PID {
				if len(out) == mostTasks {
					return out
				}
				s, begun = &stack{Task: of, by: e}, false
				out = append(out, s)
			}
			if sec, err := strconv.Atoi(e.Field("sec")); err == nil {
				s.hung = time.Duration(sec) * time.Second
			}
		case e.Is(sigTrace):
			if begun {
				s = nil
			}
			begun = true
		case e.Is(sigFrame) && s != nil && begun && e.Field("stale") == "":
			s.add(e.Field("fn"), e.Line, e)
		}
	}
	return out
}

// stacksOfFiles reads stacks from /proc/PID/stack.
func stacksOfFiles(fs []*parse.Fact) (out []*stack) {
	comms := map[string]string{}
	for _, f := range fs {
		if pid := f.Attr("pid"); pid != "" && f.Attr("comm") != "" {
			comms[pid] = f.Attr("comm")
		}
	}
	for _, f := range fs {
		if f.Key != facts.KeyKernelStack || f.Attr("pid") == "" || len(out) == mostTasks {
			continue
		}
		s := &stack{Task: Task{cmp.Or(comms[f.Attr("pid")], "a task"), f.Attr("pid")}, by: f}
		for i, fn := range strings.Fields(f.Attr("frames")) {
			s.add(fn, uint32(i), f)
		}
		out = append(out, s)
	}
	return out
}

var uptime = regexp.MustCompile(`\[ *(\d{1,9})\.(\d{6})\]`)

// moment returns when the line of a stack was written, and by which clock: "log", or
// "boot" for the kernel's time since boot. The clock is "" if the time is unknown.
func (s *stack) moment() (at time.Duration, clock string) {
	if b := s.by.When().Basis; b > parse.LowerBound {
		return time.Duration(s.by.When().At), "log"
	}
	if m := uptime.FindStringSubmatch(s.by.Quote()); m != nil {
		sec, _ := strconv.Atoi(m[1])
		return time.Duration(sec) * time.Second, "boot"
	}
	return 0, ""
}

// together reports whether two stacks were valid at the same moment. A stack is valid
// from when its task last moved until it was printed.
func together(a, b *stack) bool {
	if a.by.Where().File != b.by.Where().File {
		_, fact := a.by.(*parse.Fact)
		_, other := b.by.(*parse.Fact)
		return fact && other // from one collection
	}
	at, clock := a.moment()
	bt, other := b.moment()
	return clock == other && at-a.hung <= bt+slack && bt-b.hung <= at+slack
}

// slack allows for the time the kernel takes to print its stacks, and for coarse
// clocks.
const slack = 2 * time.Second
