package assign

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// process is a kubelet process that wrote lines of a file.
type process struct {
	pid  int
	file *parse.File
	when host.Span
}

// restart is longer than lines of two processes of one node can overlap.
const restart = int64(60e9)

// beside reports whether two kubelets must be of different nodes: they wrote at the
// same time under different process IDs, for the given time if into different files.
func (p process) beside(q process, least int64) bool {
	if p.pid == q.pid || !p.when.Meets(q.when) {
		return false
	}
	return p.file == q.file || least == 0 || min(p.pid, q.pid) > 1 && min(p.when.To, q.when.To)-max(p.when.From, q.when.From) >= least
}

// processes are the kubelet processes of one node. There can be as many as files: those
// beside another are found without looking at each.
type processes struct {
	all   []process
	least int64                   // see process.beside
	spans map[*parse.File]*blocks // by file, and at nil those that can be beside one of another file; nil: not yet made
	mixed bool                    // they are beside each other; valid if known
	known bool
	apart int // number of units, from the first, that they are known to be beside; see joinKubelets
}

// few is the number of processes that are looked at one by one.
const few = 8

// beside reports whether any two processes are beside each other.
func (a *processes) beside(b *processes) bool {
	if a == b {
		return a.mix()
	}
	if len(a.all) < len(b.all) {
		a, b = b, a
	}
	return slices.ContainsFunc(b.all, a.anyBeside)
}

// mix reports whether any of the processes are beside each other.
func (a *processes) mix() bool {
	if !a.known {
		a.known, a.mixed = true, slices.ContainsFunc(a.all, a.anyBeside)
	}
	return a.mixed
}

// anyBeside reports whether any of the processes is beside p.
func (a *processes) anyBeside(p process) bool {
	if len(a.all) <= few {
		return slices.ContainsFunc(a.all, func(q process) bool { return p.beside(q, a.least) })
	}
	if a.spans == nil {
		a.spans = map[*parse.File]*blocks{}
		a.index(a.all)
	}
	if p.when.From == 0 {
		return false
	}
	return a.spans[p.file].meet(p.pid, p.when) || p.long(a.least) && a.spans[nil].meet(p.pid, host.Span{From: p.when.From + a.least, To: p.when.To - a.least})
}

// long reports whether the process can be beside one of another file.
func (p process) long(least int64) bool {
	return least == 0 || p.pid > 1 && p.when.To-p.when.From >= least
}

// add adds the processes of b, which are not beside those of a and are of no use any
// more.
func (a *processes) add(b *processes) *processes {
	if len(a.all) < len(b.all) {
		a, b = b, a
	}
	a.mixed = a.mix() || b.mix()
	a.all = append(a.all, b.all...)
	a.apart = max(a.apart, b.apart)
	if a.spans != nil {
		a.index(b.all)
	}
	return a
}

func (a *processes) index(more []process) {
	byFile := map[*parse.File][]started{}
	for _, p := range more {
		s := started{pid: p.pid, Span: p.when}
		if p.when.From == 0 {
			continue
		}
		if p.long(a.least) {
			byFile[nil] = append(byFile[nil], s)
		}
		if a.least != 0 {
			byFile[p.file] = append(byFile[p.file], s)
		}
	}
	for f, list := range byFile {
		if a.spans[f] == nil {
			a.spans[f] = new(blocks)
		}
		a.spans[f].add(list)
	}
}

// blocks are spans of processes, each block in the order of their starts and longer than
// the next.
type blocks [][]started

type started struct {
	pid int
	host.Span
	last [2]end // the latest ends up to here of two processes with different IDs
}

type end struct {
	pid int // 0: none
	at  int64
}

func (m *blocks) add(list []started) {
	for n := len(*m); n > 0 && len((*m)[n-1]) <= len(list); n = len(*m) {
		list = append((*m)[n-1], list...)
		*m = (*m)[:n-1]
	}
	slices.SortFunc(list, func(a, b started) int { return cmp.Compare(a.From, b.From) })
	var last [2]end
	for i := range list {
		switch p := &list[i]; {
		case p.pid == last[0].pid:
			last[0].at = max(last[0].at, p.To)
		case last[0].pid == 0 || p.To > last[0].at:
			last[0], last[1] = end{p.pid, p.To}, last[0]
		case last[1].pid == 0 || p.To > last[1].at:
			last[1] = end{p.pid, p.To}
		}
		list[i].last = last
	}
	*m = append(*m, list)
}

// meet reports whether a process with another ID wrote at a moment of the span.
func (m *blocks) meet(pid int, when host.Span) bool {
	if m == nil {
		return false
	}
	for _, list := range *m {
		n, _ := slices.BinarySearchFunc(list, when.To+1, func(s started, to int64) int { return cmp.Compare(s.From, to) })
		if n == 0 {
			continue
		}
		last := list[n-1].last
		if last[0].pid == pid {
			last[0] = last[1]
		}
		if last[0].pid != 0 && last[0].at >= when.From {
			return true
		}
	}
	return false
}
