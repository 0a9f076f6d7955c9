package facts

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// isGoroutines recognizes a goroutine dump: from SIGQUIT or SIGUSR1, from
// /debug/pprof/goroutine?debug=2, or inside a daemon's log.
func isGoroutines(_, head string) bool {
	i := strings.Index(head, "goroutine ")
	return i >= 0 && (i == 0 || head[i-1] == '\n' || head[i-1] == ' ' || head[i-1] == '"') && strings.Contains(head, "]:")
}

// maxFrames is how many functions of a stack are kept.
const maxFrames = 40

// goroutine is one goroutine of a dump.
type goroutine struct {
	id, state string
	minutes   int
	frames    []string
	calls     []call
	lock      string // address of the lock that it waits for, "" if none
	found     bool   // the frame that requested the lock was seen
	pos       parse.Pos
	line      string
}

// goroutines reads a dump. It adds the number of goroutines, a crash if there is
// one, groups of goroutines that wait alike, and the locks waited for.
func (s *scan) goroutines() {
	var all []*goroutine
	var g *goroutine
	total := 0
	var crash goroutine // panic or fatal error before the dump; only pos and line are set
	for s.advance() {
		line := strings.TrimSpace(s.line)
		if total == 0 && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
			crash = goroutine{pos: s.pos(), line: line}
			continue
		}
		if id, state, minutes, ok := goroutineHead(line); ok {
			total++
			g = &goroutine{id: id, state: state, minutes: minutes, pos: s.pos(), line: s.line}
			all = append(all, g)
			continue
		}
		if g == nil {
			continue
		}
		if line == "" {
			g = nil
			continue
		}
		if f, ok := frame(line); ok && len(g.frames) < maxFrames {
			g.frames = append(g.frames, f)
			g.call(line, f)
		}
	}
	if total == 0 {
		return
	}
	var frames []string
	for _, g := range all {
		frames = append(frames, g.frames...)
	}
	program := cmp.Or(programOfFrames(frames), programOf(s.file.Path))
	s.addAt(all[0].pos, all[0].line, KeyGoroutines, strconv.Itoa(total), float64(total), attr("program", program))
	if crash.line != "" && strings.HasPrefix(all[0].state, "running") {
		s.addAt(crash.pos, crash.line, KeyCrash, crash.line, 0, attr("program", programOfFrames(all[0].frames)), attr("frames", strings.Join(all[0].frames, " ")))
	}
	s.groups(all, program)
	s.waits(all, program)
}

// call records the arguments of a function line, and the lock if the line names it.
func (g *goroutine) call(line, name string) {
	c, ok := callOf(line, name)
	if !ok || strings.HasPrefix(line, "created by ") {
		return
	}
	g.calls = append(g.calls, c)
	switch {
	case !strings.HasPrefix(g.state, "semacquire") && !strings.HasPrefix(g.state, "sync.") || len(c.args) == 0 || g.found:
	case slices.Contains(noLocks, name):
		g.found, g.lock = true, ""
		// Up to Go 1.24 the state of all these is "semacquire".
		if g.state == "semacquire" && name == "sync.(*WaitGroup).Wait" {
			g.state = "sync.WaitGroup.Wait"
		}
	case slices.Contains(lockCalls, name):
		g.lock = "0x" + strconv.FormatUint(c.args[0], 16)
	case !strings.HasPrefix(name, "sync.") && !strings.HasPrefix(name, "internal/sync."):
		// The lock is a part of the receiver of the function that requests it. If
		// the compiler inlined the lock's methods, its address is unknown and the
		// receiver stands for it.
		if g.found = true; g.lock == "" {
			g.lock = "0x" + strconv.FormatUint(c.args[0], 16)
		}
	}
}

// noLocks are waits that are not for a lock.
var noLocks = []string{"sync.(*WaitGroup).Wait", "sync.(*Cond).Wait", "sync.runtime_notifyListWait"}

// goroutineHead parses "goroutine 12 [chan send, 34 minutes, locked to thread]:".
func goroutineHead(line string) (id, state string, minutes int, ok bool) {
	i := strings.Index(line, "goroutine ")
	if i < 0 || !strings.HasSuffix(line, "]:") && !strings.Contains(line, "]:") {
		return
	}
	rest := line[i+len("goroutine "):]
	id, rest, ok = strings.Cut(rest, " ")
	if !ok || !isNumber(id) {
		return "", "", 0, false
	}
	_, rest, ok = strings.Cut(rest, "[")
	if !ok {
		return "", "", 0, false
	}
	inner, _, ok := strings.Cut(rest, "]:")
	if !ok {
		return "", "", 0, false
	}
	parts := strings.Split(inner, ", ")
	for _, p := range parts[1:] {
		if m, isMin := strings.CutSuffix(p, " minutes"); isMin {
			minutes, _ = strconv.Atoi(m)
		}
	}
	return id, parts[0], minutes, true
}

// frame returns the function of a line such as "pkg/path.(*T).Method(0xc000, …)".
// ok is false for source positions and elision marks.
func frame(line string) (string, bool) {
	line = unlinked(strings.TrimPrefix(line, "created by "))
	if i := strings.Index(line, " in goroutine "); i > 0 {
		line = line[:i]
	}
	if strings.HasPrefix(line, "/") || strings.HasPrefix(line, "...") || strings.Contains(line, ".go:") {
		return "", false
	}
	if i := strings.LastIndexByte(line, '('); i > 0 && strings.HasSuffix(line, ")") && !strings.HasPrefix(line[i:], "(*") {
		line = line[:i]
	}
	if !strings.ContainsAny(line, "./") || strings.ContainsAny(line, " \t") {
		return "", false
	}
	return strings.Clone(line), true
}

// unlinked returns the text of a line that a forum turned into a link, without its
// truncated arguments: "[pkg/path.(*T).Method(0xc000](http://pkg/path…), 0x2)".
func unlinked(line string) string {
	text, ok := strings.CutPrefix(line, "[")
	if !ok {
		return line
	}
	text, _, ok = strings.Cut(text, "](http")
	if !ok {
		return line
	}
	if i := strings.LastIndexByte(text, '('); i > 0 && !strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return text
}

// blockedAt returns the innermost function outside the Go runtime, sync and
// low-level system packages.
func blockedAt(frames []string) string {
	for _, f := range frames {
		if !strings.HasPrefix(f, "runtime.") && !strings.HasPrefix(f, "sync.") && !strings.HasPrefix(f, "internal/") &&
			!strings.HasPrefix(f, "syscall.") && !strings.HasPrefix(f, "golang.org/x/sys/") && !strings.HasPrefix(f, "os.") && !strings.HasPrefix(f, "net.") {
			return f
		}
	}
	return ""
}

// groups adds one fact for each set of goroutines with the same state and
// functions, longest wait first.
func (s *scan) groups(all []*goroutine, program string) {
	type set struct {
		first *goroutine
		n     int
		ids   []string
	}
	byKey := map[string]*set{}
	var order []*set
	for _, g := range all {
		key := g.state + "\x00" + strings.Join(g.frames, "\x00")
		t := byKey[key]
		if t == nil {
			t = &set{first: g}
			byKey[key] = t
			order = append(order, t)
		}
		t.n++
		if len(t.ids) < 10 {
			t.ids = append(t.ids, g.id)
		}
		if g.minutes > t.first.minutes {
			t.first = g
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].first.minutes > order[j].first.minutes })
	for _, t := range order {
		g := t.first
		s.addAt(g.pos, g.line, KeyGoroutine, g.state, float64(g.minutes)*60,
			attr("program", program), attr("state", g.state), attr("count", strconv.Itoa(t.n)), attr("ids", strings.Join(t.ids, " ")),
			attr("blocked", blockedAt(g.frames)), attr("frames", strings.Join(g.frames, " ")))
	}
}

// programOf returns the program of a dump by the name of its file, "" if unknown.
func programOf(path string) string {
	name := strings.ToLower(path[strings.LastIndexAny(path, "/!")+1:])
	for _, p := range []string{"kubelet", "containerd", "crio", "dockerd", "docker"} {
		if strings.Contains(name, p) {
			if p == "docker" {
				return "dockerd"
			}
			return p
		}
	}
	return ""
}

// dumped lists packages that occur only in the program itself. Programs come first
// that vendor or call the packages of later ones.
var dumped = []struct {
	name     string
	packages []string
}{
	{"cri-dockerd", []string{"github.com/Mirantis/cri-dockerd/"}},
	{"kubelet", []string{"k8s.io/kubernetes/"}},
	{"dockerd", []string{"github.com/docker/docker/daemon", "github.com/docker/docker/vendor/", "github.com/docker/docker/libcontainerd", "github.com/moby/moby"}},
	{"docker-containerd", []string{"github.com/docker/containerd/"}},
	{"crio", []string{"github.com/cri-o/cri-o", "github.com/kubernetes-sigs/cri-o", "github.com/kubernetes-incubator/cri-o"}},
	{"containerd-shim", []string{"containerd/runtime/v2/shim.serve", "containerd/runtime/v2/shim.run", "containerd/runtime/v2/runc/task.(*service)", "containerd/runtime/v1/shim.(*Service)", "containerd/linux/shim.(*Service)"}},
	{"containerd", []string{"github.com/containerd/containerd/"}},
}

// programOfFrames returns the program of a dump by its functions, "" if unknown.
// Functions of containerd's client library are ignored, since any client has them.
func programOfFrames(frames []string) string {
	for _, p := range dumped {
		for _, f := range frames {
			if !strings.Contains(f, "containerd/v2/client.") && !strings.Contains(f, "containerd/api/") && hasFrame([]string{f}, p.packages) {
				return p.name
			}
		}
	}
	return ""
}

// isKernelStack recognizes /proc/PID/stack ("[<0>] io_schedule+0x46/0x80"), or the
// stacks of several tasks, each below a line that names the task.
func isKernelStack(_, head string) bool {
	line := firstLine(head)
	if stackOf(line) != "" {
		_, head, _ = strings.Cut(head, "\n")
		line = firstLine(head)
	}
	return strings.HasPrefix(line, "[<") && strings.Contains(line, ">] ")
}

// stackOf returns the PID in a line above a stack: "PID: 4711", "# cat
// /proc/4711/stack", "==> /proc/4711/stack <=="; "" for other lines.
func stackOf(line string) string {
	if pid, ok := strings.CutPrefix(strings.ToLower(line), "pid:"); ok && isNumber(strings.TrimSpace(pid)) {
		return strings.TrimSpace(pid)
	}
	if _, path, ok := strings.Cut(line, "/proc/"); ok && strings.Contains(path, "/stack") {
		return pidIn(strings.TrimSuffix(path, " <=="))
	}
	return ""
}

// kernelStack reads kernel stacks. The PID is in the file's path or above the
// stack.
func (s *scan) kernelStack() {
	var frames []string
	pos, line := parse.Pos{}, ""
	pid := pidIn(s.file.Path)
	flush := func() {
		if len(frames) > 0 {
			s.addAt(pos, line, KeyKernelStack, frames[0], num(pid), attr("pid", pid), attr("frames", strings.Join(frames, " ")))
		}
		frames = nil
	}
	for s.advance() {
		_, f, ok := strings.Cut(s.line, ">] ")
		if !ok {
			flush()
			if of := stackOf(s.line); of != "" {
				pid = strings.Clone(of)
			}
			continue
		}
		if len(frames) == 0 {
			pos, line = s.pos(), s.line
		}
		f, _, _ = strings.Cut(strings.TrimSpace(f), "+0x")
		if len(frames) < maxFrames && f != "" && !strings.HasPrefix(f, "0xffffffff") {
			frames = append(frames, strings.Clone(f))
		}
	}
	flush()
}

// pidIn returns the last element of a path that is a number, "" if there is none.
func pidIn(path string) string {
	pid := ""
	for _, e := range strings.Split(path, "/") {
		if _, err := strconv.ParseUint(e, 10, 32); err == nil {
			pid = e
		}
	}
	return pid
}
