package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
)

// isPS recognises the header of ps in any of its formats.
func isPS(_, head string) bool {
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

// psColumns are the places of the columns in a row, -1 where there is none.
type psColumns struct{ pid, ppid, stat, wchan, cpu, rss, start, args, lwp, comm, lstart int }

// columns reads the header of a process table.
func columns(head []string) psColumns {
	c := psColumns{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
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
	// Tables of locks and open files have such columns too, but not last.
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
}

// process is a row of a process table.
type process struct {
	pid, ppid, stat, wchan, cpu, rss, start, comm, args string
}

// census counts what a process table shows.
type census struct {
	processes, threads, dstates, zombies, shims, runcs int
	pos                                                parse.Pos
	line                                               string
}

// table reads the rows below the header of a process table.
func (s *scan) table(head []string, tool string) {
	c := columns(head)
	n := census{pos: s.pos(), line: s.line}
	pid := ""
	for s.advance() {
		p, ok := c.row(s.line)
		if !ok {
			continue
		}
		// Threads follow their process: "-" for the pid (ps m), or the same pid
		// in several rows (ps -L).
		thread := p.pid == "-" || p.pid == pid && c.lwp >= 0
		if thread {
			p.pid = pid
		} else {
			pid = p.pid
			n.processes++
		}
		n.threads++
		s.process(p, thread, &n)
	}
	if tool == "ps" {
		s.census(n, c)
	}
}

func (s *scan) census(n census, c psColumns) {
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

// row splits a row; the last column takes the rest of the line.
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

// command is the name of the program in a command line: without directory,
// without the tree that ps f draws, without the brackets of kernel threads.
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

// process states what is worth knowing about one row.
func (s *scan) process(p process, thread bool, n *census) {
	pid := num(p.pid)
	attrs := []parse.Field{
		attr("pid", p.pid), attr("ppid", p.ppid), attr("comm", p.comm), attr("args", clip(p.args)), attr("stat", p.stat),
		attr("wchan", p.wchan), attr("start", p.start),
	}
	switch {
	case strings.HasPrefix(p.stat, "D"):
		n.dstates++
		s.add(KeyDState, p.comm, pid, attrs...)
	case strings.HasPrefix(p.stat, "Z") || strings.HasSuffix(p.args, "<defunct>"):
		n.zombies++
		s.add(KeyZombie, p.comm, pid, attrs...)
		return
	}
	if thread {
		return
	}
	switch roleOf(p) {
	case "shim":
		n.shims++
	case "runc":
		n.runcs++
		s.add(KeyRunc1, p.comm, pid, attrs...)
	case "daemon":
		s.daemon(p, attrs)
	case "cni":
		s.add(KeyCNIProcess, p.comm, pid, attrs...)
	case "gpu":
		s.add(KeyGPUProcess, p.comm, pid, attrs...)
	case "agent":
		s.add(KeyAgent, p.comm, pid, attrs...)
	}
}

// daemon states the kubelet, a runtime or PID 1, and reads the kubelet's flags.
func (s *scan) daemon(p process, attrs []parse.Field) {
	cpu, ok := number(p.cpu)
	if !ok {
		cpu = math.NaN()
	}
	s.add(KeyDaemon, p.comm, cpu, append(attrs, attr("cpu", p.cpu), attr("rss", p.rss))...)
	if p.comm == "kubelet" || p.comm == "hyperkube" || p.comm == "kubenswrapper" {
		s.kubeletFlags(strings.Fields(p.args))
	}
}

// programs tells by the name of a program, or its beginning where a star ends
// it, what it is to us.
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

// roleOf tells what a process is to us, "" for nothing.
func roleOf(p process) string {
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
