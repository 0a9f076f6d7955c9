package waits

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// Signatures are the messages of the kernel that stacks and locks are read from.
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

// Task is one of the kernel's, as it names it.
type Task struct{ Comm, PID string }

func (t Task) String() string { return t.Comm + " (" + t.PID + ")" }

// stack is what a task was in, at some moment.
type stack struct {
	Task
	hung   time.Duration // for so long it had not moved
	frames []frame       // known functions, innermost first
	fns    map[string]bool
	by     parse.Record // the line that names the task
}

// frame is a function that the tables know.
type frame struct {
	fn   string
	line uint32 // callers stand in the next one
	by   parse.Record
}

func (s *stack) add(fn string, line uint32, by parse.Record) {
	if len(s.frames) == mostLines {
		return
	}
	fn, _, _ = strings.Cut(fn, ".") // .isra.0, .constprop.1
	s.frames = append(s.frames, frame{fn, line, by})
	if s.fns == nil {
		s.fns = map[string]bool{}
	}
	s.fns[fn] = true
}

// wants is the lock that the stack waits for, and the frame that asks: the innermost
// known functions wait for a lock, and their caller is one that asks for this one.
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

// asking reports whether the stack waits for a lock, whichever.
func (s *stack) asking() bool {
	if len(s.frames) == 0 {
		return false
	}
	_, ok := asksFor(s.frames[0].fn)
	return ok
}

// end is what the stack waits for that is no lock, and the line that shows it.
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

// stacksOf reads the stacks that a log of the kernel prints: of hung tasks, and of all
// that are blocked. A stack without the line that names its task is nobody's.
func stacksOf(lines []*parse.Event) (out []*stack) {
	var s *stack // the last that was named
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

// stacksOfFiles reads what /proc/PID/stack held.
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
		s := &stack{Task: Task{comms[f.Attr("pid")], f.Attr("pid")}, by: f}
		if s.Comm == "" {
			s.Comm = "a task"
		}
		for i, fn := range strings.Fields(f.Attr("frames")) {
			s.add(fn, uint32(i), f)
		}
		out = append(out, s)
	}
	return out
}

var uptime = regexp.MustCompile(`\[ *(\d{1,9})\.(\d{6})\]`)

// moment is when the line of a stack was written, and on which clock: that of the log,
// or the kernel's own since boot.
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

// together reports whether two stacks were true at one moment: each held from when
// its task last moved until it was printed.
func together(a, b *stack) bool {
	if a.by.Where().File != b.by.Where().File {
		_, fact := a.by.(*parse.Fact)
		_, other := b.by.(*parse.Fact)
		return fact && other // of one collection
	}
	at, clock := a.moment()
	bt, other := b.moment()
	return clock == other && at-a.hung <= bt+slack && bt-b.hung <= at+slack
}

// slack is how long the kernel takes to print its stacks, and how coarse a clock may be.
const slack = 2 * time.Second
