package facts

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// isPS recognizes ps output by its header, in any format, or by its rows alone.
func isPS(_, head string) bool {
	if strings.HasPrefix(strings.TrimLeft(head, " \t\r\n"), "{") {
		return false
	}
	if headless(head) != nil {
		return true
	}
	for line := range strings.Lines(head) {
		if c := columns(fields(line)); c.pid >= 0 && c.args >= 0 {
			return true
		}
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return false
}

// rowForms describe the rows of "ps aux", "ps -ef", "ps -elf" and of the commands that
// the causes ask for, by the form of each column, with the headers they would have: a
// filtered or pasted list lacks its header. No other output has such numbers, states
// and times in this order; without a time, only rows of blocked tasks are known.
var rowForms = []struct {
	header string
	cells  []func(string) bool
}{
	{"USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND", []func(string) bool{
		isUser, spelled("9"), spelled("9", "9.9"), spelled("9", "9.9"), spelled("9"), spelled("9"), isTerminal, isState, spelled("9:9", "a9", "9"), spelled("9:9"), notEmpty}},
	{"UID PID PPID C STIME TTY TIME CMD", []func(string) bool{
		isUser, spelled("9"), spelled("9"), spelled("9"), spelled("9:9", "a9", "9"), isTerminal, spelled("9:9:9", "9-9:9:9"), notEmpty}},
	{"F S UID PID PPID C PRI NI ADDR SZ WCHAN STIME TTY TIME CMD", []func(string) bool{
		spelled("9"), isState, isUser, spelled("9"), spelled("9"), spelled("9"), spelled("9", "-9"), spelled("9", "-9", "-"), notEmpty, spelled("9"), isChannel, spelled("9:9", "a9", "9"), isTerminal, spelled("9:9:9", "9-9:9:9"), notEmpty}},
	{"PID PPID TID STAT WCHAN STARTED COMMAND", []func(string) bool{
		spelled("9"), spelled("9"), spelled("9"), isState, isChannel, spelled("a"), spelled("a"), spelled("9"), spelled("9:9:9"), spelled("9"), notEmpty}},
	{"PID PPID STAT WCHAN STARTED COMMAND", []func(string) bool{
		spelled("9"), spelled("9"), isState, isChannel, spelled("a"), spelled("a"), spelled("9"), spelled("9:9:9"), spelled("9"), notEmpty}},
	{"PID PPID STAT WCHAN COMMAND", []func(string) bool{spelled("9"), spelled("9"), isBlocked, isFunction, notEmpty}},
	{"PID STAT WCHAN COMMAND", []func(string) bool{spelled("9"), isBlocked, isFunction, notEmpty}},
}

func isUser(w string) bool { return w[0] >= 'a' && w[0] <= 'z' || w[0] == '_' }
func isTerminal(w string) bool {
	return w == "?" || strings.HasPrefix(w, "pts/") || strings.HasPrefix(w, "tty")
}
func isState(w string) bool {
	return strings.IndexByte("DIRSTtWXZ", w[0]) >= 0 && strings.Trim(w[1:], "<NLsl+") == ""
}
func isBlocked(w string) bool  { return w[0] == 'D' && isState(w) }
func isFunction(w string) bool { return w == "-" || isChannel(w) && strings.Contains(w, "_") }
func isChannel(w string) bool {
	return w == "-" || isUser(w) && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789_.") == ""
}
func notEmpty(w string) bool { return w != "" }

// spelled accepts words that equal one of the forms after each run of digits is
// replaced by 9 and each run of letters by a.
func spelled(forms ...string) func(string) bool {
	return func(w string) bool {
		var b []byte
		for i := range len(w) {
			c := w[i]
			switch {
			case c >= '0' && c <= '9':
				c = '9'
			case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
				c = 'a'
			}
			if n := len(b); n == 0 || c != b[n-1] || c != '9' && c != 'a' {
				b = append(b, c)
			}
		}
		return slices.Contains(forms, string(b))
	}
}

// headless returns the header that a list of rows without one would have, nil if
// any line is not such a row. The last line may be truncated.
func headless(head string) []string {
	lines := strings.Split(strings.TrimSpace(head), "\n")
	if len(lines) > 1 && len(head) >= headLen {
		lines = lines[:len(lines)-1]
	}
	for i := range rowForms {
		if !slices.ContainsFunc(lines, func(line string) bool { return !rowOf(i, line) }) {
			return strings.Fields(rowForms[i].header)
		}
	}
	return nil
}

// rowOf reports whether a line is a row of the form with that index.
func rowOf(form int, line string) bool {
	cells := rowForms[form].cells
	for word := range strings.FieldsSeq(line) {
		if len(cells) == 0 || !cells[0](word) {
			break
		}
		cells = cells[1:]
	}
	return len(cells) == 0
}

// tabular reports whether a line is a row of any form.
func tabular(line string) bool {
	for i := range rowForms {
		if rowOf(i, line) {
			return true
		}
	}
	return false
}

// psColumns are the positions of columns in a row, -1 for missing ones.
type psColumns struct{ pid, ppid, stat, wchan, cpu, rss, start, args, lwp, comm, lstart, elapsed int }

// columns parses the header of a process table.
func columns(head []string) psColumns {
	c := psColumns{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
	shift := 0 // lstart is one column of five words
	for i, name := range head {
		i += shift
		switch name {
		case "PID":
			c.pid = i
		case "PPID":
			c.ppid = i
		case "STAT", "S", "STATE":
			c.stat = i
		case "WCHAN":
			c.wchan = i
		case "%CPU", "C":
			c.cpu = i
		case "RSS", "RES":
			c.rss = i
		case "STIME", "START":
			c.start = i
		case "STARTED":
			c.start, c.lstart = i, i
			shift = 4
		case "ELAPSED":
			c.elapsed = i
		case "LWP", "TID", "SPID":
			c.lwp = i
		case "COMM":
			c.comm = i
		case "COMMAND", "CMD", "ARGS":
			c.args = i
		}
	}
	if c.args < 0 {
		c.args = c.comm
	}
	// Tables of locks and open files have such columns too, but not as the last
	// one.
	if len(head) > 0 && c.args != len(head)-1+shift {
		c.args = -1
	}
	return c
}

// ps reads a process table.
func (s *scan) ps() {
	for s.advance() {
		f := fields(s.line)
		if c := columns(f); c.pid >= 0 && c.args >= 0 {
			s.table(f, "ps")
			return
		}
	}
	if header := headless(string(s.data[:min(len(s.data), headLen)])); header != nil {
		s.rewind()
		s.table(header, "rows") // rows may be missing, so they are not counted
	}
}

// process is a row of a process table.
type process struct {
	pid, ppid, stat, wchan, cpu, rss, start, comm, args string

	pos    parse.Pos
	line   string
	thread bool
	role   string        // role, see roleOf
	began  time.Time     // start time; zero if not stated with a date
	age    time.Duration // as stated, or relative to the start of the youngest process; 0: unknown
}

// processCount counts the processes of a table.
type processCount struct {
	processes, threads, dstates, zombies, shims, runcs int
	pos                                                parse.Pos
	line                                               string
}

// table reads the rows below the header of a process table. Rows are counted only
// if tool is "ps".
func (s *scan) table(head []string, tool string) {
	c := columns(head)
	n := processCount{pos: s.pos(), line: s.line}
	pid := ""
	rows := worthTelling{of: map[bool]int{}, daemons: map[string]bool{}}
	for s.advance() {
		p, ok := c.row(s.line)
		if !ok {
			continue
		}
		p.pos, p.line = s.pos(), s.line
		// Threads follow their process: their pid is "-" (ps m) or the same as in
		// the row before (ps -L).
		thread := p.pid == "-" || p.pid == pid && c.lwp >= 0
		if thread {
			p.pid = pid
		} else {
			pid = p.pid
			n.processes++
		}
		n.threads++
		p.thread = thread
		if !thread && isKubelet(p.comm) {
			s.kubeletFlags(strings.Fields(p.args))
		}
		rows.add(&p, &n)
	}
	newest, first := rows.newest, len(s.part.Facts)
	rows.settle()
	for i := range rows.kept {
		s.process(&rows.kept[i])
	}
	if kept := len(rows.kept); kept < rows.all {
		s.part.Warnings = append(s.part.Warnings, parse.Counted(n.pos, rows.all, "row", kept, "the first that tell of a process that is blocked, ended, or of the node's own programs"))
	}
	if tool == "ps" {
		s.processCount(n, c)
	}
	for _, f := range s.part.Facts[first:] {
		if !newest.IsZero() {
			f.Raw = reading(newest, parse.LackZone)
		}
	}
}

func (s *scan) processCount(n processCount, c psColumns) {
	for _, x := range []struct {
		key   string
		n     int
		known bool
	}{
		{KeyProcesses, n.processes, true}, {KeyThreads, n.threads, n.threads > n.processes},
		{KeyDStates, n.dstates, c.stat >= 0}, {KeyZombies, n.zombies, c.stat >= 0},
		{KeyShims, n.shims, true}, {KeyRuncs, n.runcs, true},
	} {
		if x.known {
			f := s.addAt(n.pos, n.line, x.key, strconv.Itoa(x.n), float64(x.n))
			if x.key == KeyProcesses && c.wchan >= 0 {
				f.Attrs = append(f.Attrs, attr("wchan", "true"))
			}
		}
	}
}

// row parses a row; the last column is the rest of the line.
func (c psColumns) row(line string) (process, bool) {
	var p process
	rest := line
	for i := 0; i < c.args; i++ {
		rest = strings.TrimLeft(rest, " \t")
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			return p, false
		}
		word := rest[:end]
		rest = rest[end:]
		switch i {
		case c.pid:
			p.pid = word
		case c.ppid:
			p.ppid = word
		case c.stat:
			p.stat = word
		case c.wchan:
			p.wchan = word
		case c.cpu:
			p.cpu = word
		case c.rss:
			p.rss = word
		case c.comm:
			p.comm = word
		case c.start:
			p.start = word
		case c.elapsed:
			p.age = elapsed(word)
		default:
			if c.lstart >= 0 && i > c.lstart && i < c.lstart+5 {
				p.start += " " + word
			}
		}
	}
	p.args = strings.TrimSpace(rest)
	if p.pid != "-" {
		if _, err := strconv.ParseUint(p.pid, 10, 32); err != nil {
			return p, false
		}
	}
	if p.comm == "" {
		p.comm = command(p.args)
	}
	if p.wchan == "-" {
		p.wchan = ""
	}
	return p, true
}

// command returns the program name of a command line, without directory, the tree
// drawn by ps f, and the brackets of kernel threads.
func command(args string) string {
	args = strings.TrimLeft(args, `\_| `)
	if strings.HasPrefix(args, "[") {
		name, _, _ := strings.Cut(args[1:], "]")
		return name
	}
	name, _, _ := strings.Cut(args, " ")
	name = strings.TrimSuffix(name, ":")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// worthTelling collects the noteworthy rows of a process table.
type worthTelling struct {
	kept    []process
	all     int          // noteworthy rows; more than are kept if there are very many
	of      map[bool]int // rows kept: daemons (true) and others
	daemons map[string]bool
	parents bool      // the table has parent PIDs
	newest  time.Time // start of the youngest process
}

// add counts a row and keeps it if it is noteworthy.
func (w *worthTelling) add(p *process, n *processCount) {
	p.role = roleOf(p)
	p.began, _ = time.Parse("Mon Jan _2 15:04:05 2006", strings.Join(strings.Fields(p.start), " "))
	if p.began.After(w.newest) {
		w.newest = p.began
	}
	w.parents = w.parents || p.ppid != ""
	if p.role == "" && ofCNI(p.args) {
		p.role = mayBeCNI
	}
	switch {
	case p.blocked():
		n.dstates++
	case p.zombie():
		n.zombies++
	}
	own := !p.thread && !p.zombie()
	switch {
	case own && p.role == "shim":
		n.shims++
	case own && p.role == "runc":
		n.runcs++
	}
	daemon := p.role == "daemon"
	if !p.blocked() && !p.zombie() && (!own || p.role == "" || p.role == "shim" && !p.stopped()) {
		return
	}
	if w.all++; w.of[daemon] == parse.Many {
		return
	}
	w.of[daemon]++
	w.kept = append(w.kept, *p)
	if daemon && p.pid != "1" {
		w.daemons[p.pid] = true
	}
}

// settle completes what depends on the whole table. Ages are relative to the start
// of the youngest process, which is about the time of the table. A CNI plugin is a
// program in a CNI directory, or with a known name, that the kubelet or a runtime
// started; if the table has parent PIDs, other programs with such names are not
// plugins.
func (w *worthTelling) settle() {
	for i := range w.kept {
		p := &w.kept[i]
		if !p.began.IsZero() && p.age == 0 {
			p.age = w.newest.Sub(p.began)
		}
		switch plugin := p.role == "cni" || p.role == mayBeCNI; {
		case plugin && (w.daemons[p.ppid] || !w.parents):
			p.role = "cni"
		case plugin:
			p.role = ""
		}
	}
}

// mayBeCNI is the preliminary role of a program in a CNI directory.
const mayBeCNI = "cni?"

func (p *process) blocked() bool { return strings.HasPrefix(p.stat, "D") }
func (p *process) zombie() bool {
	return !p.blocked() && (strings.HasPrefix(p.stat, "Z") || strings.HasSuffix(p.args, "<defunct>"))
}
func (p *process) stopped() bool {
	return strings.HasPrefix(p.stat, "T") || strings.HasPrefix(p.stat, "t")
}

// process adds the facts about one row.
func (s *scan) process(p *process) {
	attrs := []parse.Field{
		attr("pid", p.pid), attr("ppid", p.ppid), attr("comm", p.comm), attr("args", clip(p.args)), attr("stat", p.stat),
		attr("wchan", p.wchan), attr("start", p.start),
	}
	if p.age > 0 {
		attrs = append(attrs, attr("age", p.age.String()))
	}
	add := func(key string) { s.addAt(p.pos, p.line, key, p.comm, num(p.pid), attrs...) }
	switch {
	case p.blocked():
		add(KeyDState)
	case p.zombie():
		add(KeyZombie)
		return
	}
	if p.thread {
		return
	}
	if p.role != "" && p.role != "cni" && p.stopped() {
		attrs := append(slices.Clone(attrs), attr("role", p.role))
		s.addAt(p.pos, p.line, KeyStopped, p.comm, num(p.pid), attrs...)
	}
	switch p.role {
	case "runc":
		add(KeyRunc1)
	case "daemon":
		s.daemon(p, attrs)
	case "cni":
		add(KeyCNIProcess)
	case "gpu":
		add(KeyGPUProcess)
	case "agent":
		add(KeyAgent)
	}
}

// daemon adds the fact about the kubelet, a runtime or PID 1.
func (s *scan) daemon(p *process, attrs []parse.Field) {
	cpu, ok := number(p.cpu)
	if !ok {
		cpu = math.NaN()
	}
	s.addAt(p.pos, p.line, KeyDaemon, p.comm, cpu, append(attrs, attr("cpu", p.cpu), attr("rss", p.rss))...)
}

// programs maps program names to roles. A name that ends in a star is a prefix.
var programs = []struct{ name, role string }{
	{"containerd-shim*", "shim"}, {"conmon*", "shim"}, {"docker-containerd-shim*", "shim"}, {"kata-shim*", "shim"},
	{"runc", "runc"}, {"runc:*", "runc"}, {"crun", "runc"}, {"docker-runc", "runc"}, {"runsc*", "runc"}, {"youki", "runc"}, {"kata-runtime", "runc"},
	{"kubelet", "daemon"}, {"kubenswrapper", "daemon"}, {"hyperkube", "daemon"}, {"containerd", "daemon"}, {"docker-containerd", "daemon"},
	{"kswapd*", "daemon"}, {"dockerd", "daemon"}, {"dockerd-current", "daemon"}, {"crio", "daemon"}, {"cri-dockerd", "daemon"}, {"k3s", "daemon"}, {"rke2", "daemon"},
	{"systemd-journald", "daemon"}, {"systemd-journal", "daemon"}, {"dbus-daemon", "daemon"},
	{"calico", "cni"}, {"calico-ipam", "cni"}, {"flannel", "cni"}, {"aws-cni", "cni"}, {"azure-vnet*", "cni"}, {"multus*", "cni"}, {"bridge", "cni"},
	{"weave-net", "cni"}, {"weave-ipam", "cni"}, {"cilium-cni", "cni"}, {"host-local", "cni"}, {"openshift-sdn", "cni"}, {"ovn-k8s-cni-overlay", "cni"},
	{"portmap", "cni"}, {"bandwidth", "cni"}, {"whereabouts", "cni"}, {"canal", "cni"}, {"kube-router-cni", "cni"}, {"loopback", "cni"},
	{"nvidia-smi", "gpu"}, {"nvidia-container*", "gpu"}, {"nvidia-ctk", "gpu"},
	{"twistlock*", "agent"}, {"defender", "agent"}, {"falcon-sensor*", "agent"}, {"mdatp", "agent"}, {"wdavdaemon*", "agent"}, {"ds_agent", "agent"},
	{"ds_am", "agent"}, {"isecespd", "agent"}, {"isectpd", "agent"}, {"mfetpd", "agent"}, {"sentinelone*", "agent"}, {"s1-*", "agent"}, {"clamonacc", "agent"},
	{"cbagentd", "agent"}, {"sophos*", "agent"}, {"savd", "agent"}, {"esets*", "agent"}, {"kesl", "agent"}, {"fapolicyd", "agent"}, {"auditd", ""},
}

// ofCNI reports whether a command line runs a program or script in a directory of
// CNI plugins.
func ofCNI(args string) bool {
	for i, word := range strings.Fields(args) {
		if strings.HasPrefix(word, "/") && strings.Contains(word, "/cni/") {
			return true
		}
		if i == 1 {
			break
		}
	}
	return false
}

// elapsed parses the age of a process as printed by ps,
// [[days-]hours:]minutes:seconds or seconds; 0 for anything else.
func elapsed(word string) time.Duration {
	days, rest, ok := strings.Cut(word, "-")
	if !ok {
		days, rest = "0", word
	}
	seconds := 0
	for part := range strings.SplitSeq(rest, ":") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 1e9 {
			return 0
		}
		seconds = seconds*60 + n
	}
	d, err := strconv.Atoi(days)
	if err != nil || d < 0 || d > 36500 {
		return 0
	}
	return time.Duration(d)*24*time.Hour + time.Duration(seconds)*time.Second
}

// roleOf returns the role of a process by its name, "" if it has none.
func roleOf(p *process) string {
	if p.pid == "1" {
		return "daemon"
	}
	for _, name := range [2]string{p.comm, command(p.args)} {
		for _, g := range programs {
			if glob, star := strings.CutSuffix(g.name, "*"); star && strings.HasPrefix(name, glob) || name == g.name {
				return g.role
			}
		}
	}
	return ""
}
