package assign

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// joinWithinFiles joins the hosts of one file that are one machine under changing
// names: lines without a host, names like localhost, the same kubelet process under two
// names. Hosts whose lines interleave are several nodes in a merged log.
func (s *splitter) joinWithinFiles() {
	for _, f := range s.files() {
		us := s.byFile[f]
		if f.Node != "" {
			us = slices.DeleteFunc(slices.Clone(us), (*unit).about)
			for i := range us {
				join(us[0], us[i])
			}
			continue
		}
		for i, a := range us {
			for _, b := range us[i+1:] {
				if renamed(a, b) {
					join(a, b)
				}
			}
		}
		s.joinHostless(us)
	}
}

// files returns the files that have units, in the order of their first unit.
func (s *splitter) files() []*parse.File {
	var out []*parse.File
	seen := map[*parse.File]bool{}
	for _, u := range s.units {
		if !seen[u.file] {
			seen[u.file] = true
			out = append(out, u.file)
		}
	}
	return out
}

// joinHostless joins the lines without a host to the only host of their file.
func (s *splitter) joinHostless(us []*unit) {
	var bare, root *unit
	several := false
	for _, u := range us {
		if u.host == "" {
			bare = u
		} else {
			several, root = several || root != nil && root != u.root(), u.root()
		}
	}
	if bare != nil && root != nil && !several {
		join(root, bare)
	}
}

// joinByName joins the units of all files that agree on the node's name, whether it
// comes from the bundle layout, the host or the kubelet.
func (s *splitter) joinByName() {
	byName := map[string]*unit{}
	for _, u := range s.units {
		for _, name := range u.claims() {
			name = strings.ToLower(name)
			if o := byName[name]; o != nil {
				join(o, u)
			} else {
				byName[name] = u
			}
		}
	}
	// A short host name and the full name of the same machine, unless it is short for several or their kubelets ran
	// beside each other.
	full := map[string]string{} // "": there are several
	for name := range byName {
		if short, _, cut := strings.Cut(name, "."); cut && byName[short] != nil && !isIP(name) {
			if _, any := full[short]; any {
				name = ""
			}
			full[short] = name
		}
	}
	ran := s.processes(restart)
	for short, name := range full {
		if name == "" {
			continue
		}
		a, b := byName[short].root(), byName[name].root()
		if ran[a] == nil || ran[b] == nil || !ran[a].beside(ran[b]) {
			ran.join(a, b)
		}
	}
}

// joinByProcess joins units without any name to units written by the same kubelet
// process, such as other parts of a rotated log.
func (s *splitter) joinByProcess() {
	byPID := map[int][]*unit{}
	for _, u := range s.units {
		for pid := range u.pids {
			if pid > 1 {
				byPID[pid] = append(byPID[pid], u)
			}
		}
	}
	_, named := s.rootsOf((*unit).named)
	for _, u := range s.units {
		if u.named() {
			continue
		}
		for pid := range u.pids {
			if pid <= 1 {
				continue
			}
			for _, o := range byPID[pid][:min(len(byPID[pid]), 16)] {
				if o != u && (o.file.Input == u.file.Input || len(named[o.file.Input]) < 2) {
					join(o, u)
				}
			}
		}
	}
}

// joinCopies joins units that hold the same lines of a kubelet, a log in two forms, if
// one has no name, or just that of its host and the other none of a host.
func (s *splitter) joinCopies() {
	with := map[*parse.File][]*parse.File{} // files that hold lines of the file
	for _, same := range s.b.Same {
		a, b := same.Of.File, same.From.File
		with[a], with[b] = append(with[a], b), append(with[b], a)
	}
	names, hosts := s.nodeNames(), s.hostNames()
	for _, same := range s.b.Same {
		a, b := s.writer(same.Of.File, same.Of.Origin).unit, s.writer(same.From.File, same.From.Origin).unit
		if !a.named() || !b.named() {
			join(a, b)
			continue
		}
		if len(names[a.root()]) > 0 {
			a, b = b, a
		}
		of := func(f, g *parse.File) bool {
			return !slices.ContainsFunc(with[f], func(x *parse.File) bool { return x != g })
		}
		if len(names[a.root()]) == 0 && len(hosts[b.root()]) == 0 && of(a.file, b.file) && of(b.file, a.file) && s.nearlySame(a, b) {
			join(b, a)
		}
	}
}

// nearlySame reports whether nearly all lines of one unit are in the other, both of the same kubelet by their
// processes. Machines that were cloned share what was written before, and go on each with a process of its own.
func (s *splitter) nearlySame(a, b *unit) bool {
	var lines [2]int
	for _, w := range s.writers {
		if w.unit.file == a.file {
			lines[0] += w.events
		} else if w.unit.file == b.file {
			lines[1] += w.events
		}
	}
	held := s.b.Copies[a.file] + s.b.Copies[b.file]
	if least := min(lines[0]+s.b.Copies[a.file], lines[1]+s.b.Copies[b.file]); held*20 < least*19 {
		return false
	}
	ran := s.processes(restart)
	p, q := ran[a.root()], ran[b.root()]
	return p != nil && q != nil && !p.beside(q)
}

// hostNames returns the hosts in front of the kubelet's lines, by root.
func (s *splitter) hostNames() map[*unit][]string {
	out := map[*unit][]string{}
	for _, u := range s.units {
		if u.kubelet && u.host != "" && !generic(u.host) {
			out[u.root()] = append(out[u.root()], u.host)
		}
	}
	return out
}

// rootsOf returns the roots of the units for which kind is true: all of them, and by
// input.
func (s *splitter) rootsOf(kind func(*unit) bool) (all []*unit, byInput map[int][]*unit) {
	type key struct {
		input int // -1: all
		root  *unit
	}
	of := map[int][]*unit{}
	seen := map[key]bool{}
	for _, u := range s.units {
		if !kind(u) {
			continue
		}
		for _, input := range [...]int{-1, u.file.Input} {
			if k := (key{input, u.root()}); !seen[k] {
				seen[k] = true
				of[input] = append(of[input], k.root)
			}
		}
	}
	return of[-1], of
}

// joinHosts joins the logs of other programs to the node of the kubelet, in an input
// with the log of one kubelet and a layout without node names: there the host name need
// not be the node's name. Units that name a different node than the kubelet stay apart.
func (s *splitter) joinHosts() {
	all, kubelets := s.rootsOf((*unit).ofKubelet)
	has := map[*unit]bool{}
	for _, r := range all {
		has[r] = true
	}
	names, hosts := s.nodeNames(), map[*unit][]string{}
	for _, u := range s.units {
		if u.host != "" && u.own && !generic(u.host) {
			hosts[u.root()] = append(hosts[u.root()], u.host)
		}
	}
	described := map[int]string{} // by input: the only node that units describe, "" if there are several
	for _, u := range s.units {
		if old, any := described[u.file.Input]; u.object != "" && !(any && host.SameHost(old, u.object)) {
			described[u.file.Input] = u.object
			if any {
				described[u.file.Input] = ""
			}
		}
	}
	for _, u := range s.units {
		if k := kubelets[u.file.Input]; len(k) == 1 && u.file.Node == "" && !u.about() && !has[u.root()] && !another(names[k[0]], u.nodes()) && !another(hosts[k[0]], hosts[u.root()]) && !(len(names[k[0]]) == 0 && (u.mentions() || u.object != "" && (described[u.file.Input] == "" || s.contradicts(k[0], u.object)))) {
			join(k[0], u)
		}
	}
}

// nodeNames returns the node names stated by the units of each root.
func (s *splitter) nodeNames() map[*unit][]string {
	out := map[*unit][]string{}
	for _, u := range s.units {
		out[u.root()] = append(out[u.root()], u.nodes()...)
	}
	return out
}

// another reports whether both lists are non-empty and have no host in common.
func another(have, names []string) bool {
	return len(have) > 0 && len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(have, func(k string) bool { return host.SameHost(k, n) })
	})
}

// stranger reports whether name is a node other than those of the kubelets in the input
// of f, by their names or by what they say. It must be called after all units are joined.
func (s *splitter) stranger(name string, f *parse.File) bool {
	if name == "" || f == nil {
		return false
	}
	if s.kubelets == nil {
		_, s.kubelets = s.rootsOf((*unit).ofKubelet)
		s.names = s.nodeNames()
	}
	all := s.kubelets[f.Input]
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *unit) bool {
		return !another(s.names[r], []string{name}) && !(len(s.names[r]) == 0 && s.contradicts(r, name))
	})
}

// joinRest joins units that do not name their node to the only node of their input, or
// of all inputs. A kubelet that ran beside those of that node, or that it contradicts,
// is a node of its own. If there are several nodes, it joins those units with each other, except logs of
// kubelets that ran at the same time: what lies beside these goes to the one in the same
// folder.
func (s *splitter) joinRest() {
	all, _ := s.rootsOf((*unit).named)
	attached := map[*unit]bool{}
	for _, r := range all {
		attached[r] = true
	}
	all, byInput := s.rootsOf((*unit).namesNode)
	only := func(u *unit) *unit {
		if own := byInput[u.file.Input]; len(own) == 1 {
			return own[0]
		} else if len(own) == 0 && len(all) == 1 {
			return all[0]
		}
		return nil
	}
	ran := s.processes(restart)
	type pair struct{ node, kubelet *unit }
	apart := map[pair]bool{}
	var rest, others []*unit
	// A node without a kubelet has none of several that ran beside each other, and none whose lines contradict what
	// is known of it.
	names, have := s.nodeNames(), map[*unit]*processes{}
	for _, u := range s.units {
		r, n := u.root(), only(u)
		if n == nil || ran[n] != nil || ran[r] == nil || u.named() || attached[r] {
			continue
		}
		if have[n] == nil {
			have[n] = &processes{least: restart}
		}
		apart[pair{n, r}] = slices.ContainsFunc(names[n], func(name string) bool { return s.contradicts(r, name) })
		if !apart[pair{n, r}] && have[n].beside(ran[r]) {
			apart[pair{n, nil}] = true
		} else if !apart[pair{n, r}] {
			have[n] = have[n].add(&processes{all: slices.Clone(ran[r].all), least: restart})
		}
	}
	for _, u := range s.units {
		r := u.root()
		if u.named() || attached[r] {
			continue
		}
		n := only(u)
		if ran[r] == nil {
			others = append(others, u)
		} else if n == nil || apart[pair{n, r}] || apart[pair{n, nil}] {
			rest = append(rest, u)
		} else if ran[n] != nil && ran[n].beside(ran[r]) {
			apart[pair{n, r}] = true
			rest = append(rest, u)
		} else {
			ran.join(n, u)
		}
	}
	s.joinKubelets(rest)
	kubelets, ofInput := s.rootsOf((*unit).ofKubelet)
	strays, folders := len(rest) > 0, s.folders()
	var loose *unit
	for _, u := range others {
		near := ofInput[u.file.Input]
		if len(near) == 0 {
			near = kubelets
		}
		n := only(u)
		if strays && len(near) > 1 && !s.several[u.file] {
			n = folders.of(u.file)
		} else if strays && len(near) == 1 && n != nil && !slices.ContainsFunc(kubelets, func(k *unit) bool { return k == n.root() }) {
			n = near[0]
		} else if n == nil && strays {
			n = rest[0]
		}
		if n == nil {
			loose = cmp.Or(loose, u)
			n = loose
		}
		join(n, u)
	}
}

// joinKubelets joins logs of kubelets of which none ran beside another.
func (s *splitter) joinKubelets(rest []*unit) {
	ran := s.processes(0)
	for i, u := range rest {
		for ; ran[u.root()].apart < min(i, 64); ran[u.root()].apart++ {
			if o := rest[ran[u.root()].apart]; !ran[o.root()].beside(ran[u.root()]) {
				ran.join(o, u)
				break
			}
		}
	}
}

// running holds the kubelet processes of each root that has any.
type running map[*unit]*processes

// join joins two units of which no processes are beside each other.
func (m running) join(a, b *unit) {
	if a, b = a.root(), b.root(); a != b {
		join(a, b)
		switch {
		case m[a] == nil:
			m[a] = m[b]
		case m[b] != nil:
			m[a] = m[a].add(m[b])
		}
	}
}

// processes returns the kubelet processes. Lines that another program handed on, such
// as dockerd, carry the ID of that program.
func (s *splitter) processes(least int64) running {
	out := running{}
	for _, w := range s.writers {
		if o, u := w.origin, w.unit; o.Source == parse.SrcKubelet && o.PID != 0 && (o.Ident == "" || path.Base(o.Ident) == "kubelet" || u.pid != 0) {
			r := u.root()
			if out[r] == nil {
				out[r] = &processes{least: least}
			}
			out[r].all = append(out[r].all, process{o.PID, u.file, w.when})
		}
	}
	return out
}
