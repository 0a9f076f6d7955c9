package host

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
)

// unknownNode is the name of a node that no record names.
const unknownNode = "unknown"

// unit is the smallest set of records that is assigned as a whole: the lines of one
// host in one file.
type unit struct {
	file     *parse.File
	host     string         // from the log's framing, "" if none
	pid      int            // set for one of several kubelets in the file; 0: all other lines
	names    map[string]int // node names in its lines, with counts
	itself   []string       // those of the names that a kubelet states, in its log or its metrics
	override string         // --hostname-override
	system   string         // the host's own name; weaker evidence, as it may differ from the node's name
	object   string         // the only node described by a file without kubelet lines
	pids     map[int]Span   // kubelet processes, and when each wrote
	all      Span           // time span of all lines
	kubelet  bool           // has kubelet lines
	own      bool           // has lines other than those that others wrote about the node
	up       *unit          // union-find parent
}

func (s *Span) add(at int64) {
	if s.From == 0 || at < s.From {
		s.From = at
	}
	s.To = max(s.To, at)
}

func (s *Span) join(t Span) {
	if t != (Span{}) {
		s.add(t.From)
		s.add(t.To)
	}
}

func (s Span) meets(t Span) bool {
	return s.From != 0 && t.From != 0 && s.From <= t.To && t.From <= s.To
}

func (u *unit) root() *unit {
	for u.up != nil {
		if u.up.up != nil {
			u.up = u.up.up
		}
		u = u.up
	}
	return u
}

func join(a, b *unit) {
	if a, b = a.root(), b.root(); a != b {
		b.up = a
	}
}

// splitter finds which records belong to the same node.
type splitter struct {
	b        *parse.Bundle
	beside   Parallel
	index    *Index
	wrote    []*writer // the writer of each group of index
	units    []*unit
	writers  []*writer
	byKey    map[unitKey]*unit
	byFile   map[*parse.File][]*unit
	byOrigin map[originKey]*writer
	several  map[*parse.File]bool // files in which kubelets ran at the same time, see together
	said     []naming             // lines that name a node, not written by a kubelet
	kubelets map[int][]*unit      // roots of the kubelets of each input; set by stranger
	names    map[*unit][]string   // names of nodes by root; set by stranger
	last     [2]*writer           // cache: most lines come from two writers
}

// naming is a line that names the node it is about.
type naming struct {
	event *parse.Event
	unit  *unit
	node  string
}

// writer is one origin that wrote lines of a unit.
type writer struct {
	unit   *unit
	origin *parse.Origin
	events int
	dated  bool
	when   Span     // span of the dated lines
	node   *Records // set by newAssigner
}

type unitKey struct {
	file *parse.File
	host string
	pid  int
}

type originKey struct {
	file   *parse.File
	origin *parse.Origin
}

// Split assigns every record of the bundle to a node. Work on large logs that can run
// in parallel goes through beside. It returns no more nodes than most (0: no limit), and
// how many it left out.
func Split(b *parse.Bundle, most int, beside Parallel) (_ []*Records, more int) {
	s := &splitter{b: b, beside: beside, byKey: map[unitKey]*unit{}, byFile: map[*parse.File][]*unit{}, byOrigin: map[originKey]*writer{}}
	s.survey()
	s.joinWithinFiles()
	s.joinByName()
	s.joinByProcess()
	s.joinHosts()
	s.joinRest()
	return s.assign(most)
}

func (s *splitter) unit(f *parse.File, host string, pid int) *unit {
	host = strings.ToLower(host)
	k := unitKey{f, host, pid}
	u := s.byKey[k]
	if u == nil {
		u = &unit{file: f, host: host, pid: pid, names: map[string]int{}, pids: map[int]Span{}}
		s.byKey[k] = u
		s.units = append(s.units, u)
		s.byFile[f] = append(s.byFile[f], u)
	}
	return u
}

// writer returns the writer of a line. Origins are interned, and lines of one origin
// come in runs.
func (s *splitter) writer(f *parse.File, o *parse.Origin) *writer {
	for i, w := range s.last {
		if w != nil && w.origin == o && w.unit.file == f {
			s.last[0], s.last[i] = w, s.last[0]
			return w
		}
	}
	k := originKey{f, o}
	w := s.byOrigin[k]
	if w == nil {
		pid := 0
		if o.Source == parse.SrcKubelet && o.Host == "" && s.several[f] {
			pid = o.PID
		}
		w = &writer{unit: s.unit(f, o.Host, pid), origin: o}
		w.unit.own = w.unit.own || o.Ident != parse.IdentAbout
		s.byOrigin[k] = w
		s.writers = append(s.writers, w)
	}
	s.last[0], s.last[1] = w, s.last[0]
	return w
}

func (w *writer) saw(at int64) {
	w.dated = true
	w.when.add(at)
}

// survey creates the units and collects what each says about its node.
func (s *splitter) survey() {
	s.index = newIndex(s.b.Events, s.beside)
	s.several = together(s.index)
	for _, c := range s.b.Coverage {
		w := s.writer(c.File, c.Origin)
		for _, m := range []parse.Mark{c.FirstLine, c.LastLine} {
			if m.Basis != parse.NoTime {
				w.saw(m.At)
			}
		}
	}
	s.lines()
	for _, w := range s.writers {
		if w.dated {
			w.unit.saw(w.origin, w.when)
		}
	}
	for _, f := range s.b.Facts {
		if s.byFile[f.File] == nil {
			s.unit(f.File, "", 0)
		}
		if f.Key == facts.KeyNodeName && f.Value != "" {
			s.byFile[f.File][0].system = f.Value
		}
	}
	for _, f := range s.b.Files {
		if s.byFile[f] == nil && f.Role != parse.RoleUnknown && f.Role != parse.RoleManifest && f.Role != parse.RoleRules {
			s.unit(f, "", 0)
		}
	}
	s.described()
	s.metrics()
}

// onlyNames maps a file to the one name that it states, "" if it states several.
type onlyNames map[*parse.File]string

func (m onlyNames) add(f *parse.File, name string) {
	if old, ok := m[f]; ok && old != name {
		name = ""
	}
	m[f] = name
}

// described takes a unit's node name from a node description or table in the same file,
// if that is about a single node.
func (s *splitter) described() {
	stated := onlyNames{}
	for _, o := range s.b.Objects {
		if o.Kind == facts.ObjectNode && o.Name != "" {
			stated.add(o.File, o.Name)
		}
	}
	for _, f := range s.b.Files {
		if us, name := s.byFile[f], stated[f]; name != "" && len(us) > 0 {
			us[0].system = cmp.Or(us[0].system, name)
			if !slices.ContainsFunc(us, func(u *unit) bool { return u.kubelet }) {
				us[0].object = name
			}
		}
	}
}

// metrics takes the node's name from the kubelet_node_name series of a file, if all of
// them agree. A Prometheus export with many nodes keeps their names per series.
func (s *splitter) metrics() {
	stated := onlyNames{}
	for _, x := range s.b.Series {
		if x.Name != "kubelet_node_name" || x.Label("node") == "" {
			continue
		}
		for _, p := range x.Points {
			if p.Src != nil && p.Src.File != nil {
				stated.add(p.Src.File, x.Label("node"))
			}
		}
	}
	for _, f := range s.b.Files {
		if name := stated[f]; name != "" {
			u := s.unit(f, "", 0)
			u.names[name]++
			u.itself = append(u.itself, name)
		}
	}
}

// together finds the files without host names in which the sync loops of two processes
// overlap by at least a minute: these are kubelets of two nodes. Without an overlap it
// is a restart.
func together(c *Index) map[*parse.File]bool {
	loops := map[*parse.File]map[int]Span{}
	for i := range c.Groups {
		if x := &c.Groups[i]; x.Kinds&(KindTurn|KindGoroutine) != 0 && x.Origin.Host == "" && x.Origin.Source == parse.SrcKubelet && x.Origin.PID > 1 && x.dated() {
			if loops[x.File] == nil {
				loops[x.File] = map[int]Span{}
			}
			l := loops[x.File][x.Origin.PID]
			l.join(x.span())
			loops[x.File][x.Origin.PID] = l
		}
	}
	out := map[*parse.File]bool{}
	for f, pids := range loops {
		spans := slices.SortedFunc(maps.Values(pids), func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		last := int64(0)
		for _, l := range spans {
			out[f] = out[f] || last != 0 && min(last, l.To)-l.From >= restart
			last = max(last, l.To)
		}
	}
	c.oneAfterAnother(out)
	return out
}

// oneAfterAnother clears the files in which two processes report the same container, as
// each kubelet does at its start for all running containers. Such processes ran on one
// node one after the other, and the clock was set back in between.
func (c *Index) oneAfterAnother(several map[*parse.File]bool) {
	const random = 12 // hex digits that are unique to a container
	if !slices.Contains(slices.Collect(maps.Values(several)), true) {
		return
	}
	type held struct {
		file *parse.File
		id   string
	}
	by := map[held]int{}
	c.Each(KindEvent, func(_ int, e *parse.Event, _ Kinds) {
		if id := e.Field("data"); several[e.File] && len(id) >= random {
			if k := (held{e.File, id}); by[k] != 0 && by[k] != e.Origin.PID {
				several[e.File] = false
			} else {
				by[k] = e.Origin.PID
			}
		}
	})
}

// lines collects who wrote lines, when, and what they say about the node.
func (s *splitter) lines() {
	for i := range s.index.Groups {
		x := &s.index.Groups[i]
		w := s.writer(x.File, x.Origin)
		w.events += x.Lines
		if x.dated() {
			w.dated = true
			w.when.join(x.span())
		}
		s.wrote = append(s.wrote, w)
	}
	names := map[string]string{} // a name out of a line would keep the whole line in memory
	s.index.Each(KindNotReady|KindNodeEvent|KindNamed|KindFlag, func(i int, e *parse.Event, k Kinds) {
		u := s.wrote[s.index.Of[i]].unit
		if k&KindFlag == 0 {
			if name := objectName(e.Field("node")); name != "" {
				if names[name] == "" {
					name = strings.Clone(name)
					names[name] = name
				}
				name = names[name]
				u.names[name]++
				if e.Origin.Source != parse.SrcKubelet {
					s.said = append(s.said, naming{e, u, name})
				} else if !slices.Contains(u.itself, name) {
					u.itself = append(u.itself, name)
				}
			}
		} else if e.Field("name") == "hostname-override" {
			u.override = e.Field("value")
		}
	})
}

// objectName unwraps a node name from a JSON log, which writes an object reference:
// {"name":"worker-3"}. It returns "" for what cannot be a name, such as the placeholder
// <node-name> of a guide.
func objectName(s string) string {
	if strings.HasSuffix(s, "...") || strings.HasSuffix(s, "…") {
		return "" // truncated by whatever displayed the line
	}
	if rest, ok := strings.CutPrefix(s, `{"name":"`); ok {
		s, _, _ = strings.Cut(rest, `"`)
	}
	if strings.ContainsAny(s, "<>{}[]$#*") {
		return ""
	}
	return s
}

func (u *unit) saw(o *parse.Origin, when Span) {
	u.all.join(when)
	if o.Source == parse.SrcKubelet {
		u.kubelet = true
		if o.PID != 0 {
			p := u.pids[o.PID]
			p.join(when)
			u.pids[o.PID] = p
		}
	}
}

// about reports whether the unit holds only what others wrote about the node.
func (u *unit) about() bool { return u.host != "" && !u.own }

// joinWithinFiles joins the hosts of one file that are one machine under changing
// names: lines without a host, names like localhost, the same kubelet process under two
// names. Hosts whose lines interleave are several nodes in a merged log.
func (s *splitter) joinWithinFiles() {
	for _, f := range s.files() {
		us := s.byFile[f]
		if f.Node != "" {
			var first *unit
			for _, u := range us {
				if first != nil && !u.about() {
					join(first, u)
				} else if !u.about() {
					first = u
				}
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
	var bare *unit
	roots := map[*unit]bool{}
	for _, u := range us {
		if u.host == "" {
			bare = u
		} else {
			roots[u.root()] = true
		}
	}
	if bare == nil || len(roots) != 1 {
		return
	}
	for r := range roots {
		join(r, bare)
	}
}

// renamed reports whether two hosts of one file are the same machine.
func renamed(a, b *unit) bool {
	if a.host == "" || b.host == "" {
		return false
	}
	if sameHost(a.host, b.host) {
		return true
	}
	if a.about() || b.about() {
		return false
	}
	if a.all.meets(b.all) {
		return false
	}
	if generic(a.host) || generic(b.host) {
		return true
	}
	for pid := range a.pids {
		if _, ok := b.pids[pid]; ok && pid > 1 {
			return true
		}
	}
	return false
}

// generic reports whether a host name is one that a machine has before it learns its
// own.
func generic(host string) bool {
	switch first, _, _ := strings.Cut(host, "."); first {
	case "localhost", "(none)", "bogon", "linux", "debian", "ubuntu", "archiso":
		return true
	}
	return false
}

// sameHost reports whether two host names are equal, ignoring case. A short name equals
// a full name that begins with it and a dot.
func sameHost(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && len(b) > len(a) && b[len(a)] == '.' && strings.EqualFold(a, b[:len(a)])
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
	// A short host name and the full name of the same machine.
	for name, u := range byName {
		for i := strings.IndexByte(name, '.'); i > 0; i = -1 {
			if o := byName[name[:i]]; o != nil && !isIP(name) {
				join(o, u)
			}
		}
	}
}

func isIP(name string) bool {
	return strings.Trim(name, "0123456789.") == ""
}

// claims returns every name by which the unit calls its node. A unit that holds only
// what others wrote about a node claims just that node.
func (u *unit) claims() []string {
	var out []string
	if u.about() {
		return []string{u.host}
	}
	if u.file.Node != "" {
		out = append(out, u.file.Node)
	}
	if u.host != "" && !generic(u.host) {
		out = append(out, u.host)
	}
	if u.override != "" {
		out = append(out, u.override)
	}
	if u.object != "" {
		out = append(out, u.object)
	}
	if name := u.stated(); name != "" {
		out = append(out, name)
	}
	return out
}

// stated returns the most frequent node name in the unit's lines, "" if there is none.
func (u *unit) stated() string {
	best := ""
	for name, n := range u.names {
		if best == "" || n > u.names[best] || n == u.names[best] && name < best {
			best = name
		}
	}
	return best
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

// rootsOf returns the roots of the units for which kind is true: all of them, and by
// input.
func (s *splitter) rootsOf(kind func(*unit) bool) (all []*unit, byInput map[int][]*unit) {
	type key struct {
		input int
		root  *unit
	}
	byInput = map[int][]*unit{}
	seen := map[key]bool{}
	for _, u := range s.units {
		if !kind(u) {
			continue
		}
		r := u.root()
		if k := (key{-1, r}); !seen[k] {
			seen[k] = true
			all = append(all, r)
		}
		if k := (key{u.file.Input, r}); !seen[k] {
			seen[k] = true
			byInput[u.file.Input] = append(byInput[u.file.Input], r)
		}
	}
	return all, byInput
}

func (u *unit) named() bool     { return len(u.claims()) > 0 }
func (u *unit) ofKubelet() bool { return u.kubelet }

// mentions reports whether the unit names nodes only in lines that no kubelet wrote,
// such as those of a node controller or of an alert: these can be about any node.
func (u *unit) mentions() bool {
	return u.about() || !u.kubelet && len(u.names) > 0 && len(u.itself) == 0 && (u.host == "" || generic(u.host)) && u.file.Node == "" && u.object == ""
}

// namesNode reports whether the unit names the node that its file is from.
func (u *unit) namesNode() bool { return u.named() && !u.mentions() }

// joinHosts joins the logs of other programs to the node of the kubelet, in an input
// with the log of one kubelet and a layout without node names: there the host name need
// not be the node's name. Units that name a different node than the kubelet stay apart.
func (s *splitter) joinHosts() {
	all, kubelets := s.rootsOf((*unit).ofKubelet)
	has := map[*unit]bool{}
	for _, r := range all {
		has[r] = true
	}
	names := s.nodeNames()
	for _, u := range s.units {
		if k := kubelets[u.file.Input]; len(k) == 1 && u.file.Node == "" && !u.about() && !has[u.root()] && !another(names[k[0]], u.nodes()) && !(u.mentions() && len(names[k[0]]) == 0) {
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

// nodes returns the names of nodes, not hosts, that the unit states.
func (u *unit) nodes() []string {
	out := slices.Collect(maps.Keys(u.names))
	for _, name := range [...]string{u.override, u.object, u.file.Node} {
		if name != "" {
			out = append(out, name)
		}
	}
	return slices.DeleteFunc(out, generic)
}

// another reports whether both lists are non-empty and have no host in common.
func another(have, names []string) bool {
	return len(have) > 0 && len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool {
		return slices.ContainsFunc(have, func(k string) bool { return sameHost(k, n) })
	})
}

// stranger reports whether name is a node other than those of the kubelets in the input
// of f. It must be called after all units are joined.
func (s *splitter) stranger(name string, f *parse.File) bool {
	if name == "" || f == nil {
		return false
	}
	if s.kubelets == nil {
		_, s.kubelets = s.rootsOf((*unit).ofKubelet)
		s.names = s.nodeNames()
	}
	all := s.kubelets[f.Input]
	return len(all) > 0 && !slices.ContainsFunc(all, func(r *unit) bool { return !another(s.names[r], []string{name}) })
}

// joinRest joins units that do not name their node to the only node of their input, or
// of all inputs. A kubelet that ran beside those of that node is a node of its own. If
// there are several nodes, it joins those units with each other, except logs of
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
	ran := s.processes()
	merge := func(a, b *unit) {
		if a, b = a.root(), b.root(); a != b {
			join(a, b)
			ran[a] = append(ran[a], ran[b]...)
		}
	}
	var rest, others []*unit
	for _, u := range s.units {
		if u.named() || attached[u.root()] {
			continue
		}
		if ran[u.root()] == nil {
			others = append(others, u)
		} else if n := only(u); n != nil && !beside(ran[n.root()], ran[u.root()], restart) {
			merge(n, u)
		} else {
			rest = append(rest, u)
		}
	}
	for i, u := range rest {
		for _, o := range rest[:min(i, 64)] {
			if !beside(ran[o.root()], ran[u.root()], 0) {
				merge(o, u)
				break
			}
		}
	}
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

// folders finds the kubelets' logs that are in the same folder as a file. They are in
// the order of their inputs and paths, so that the logs below a folder, or in an
// archive, are next to each other. Paths can be long: none is looked at folder by folder.
type folders []kubeletLog

type kubeletLog struct {
	input int
	path  string
	node  *unit
	more  int // number of logs of the same node that follow
}

func (s *splitter) folders() folders {
	var m folders
	for _, u := range s.units {
		if u.kubelet {
			m = append(m, kubeletLog{input: u.file.Input, path: u.file.Path, node: u.root()})
		}
	}
	slices.SortStableFunc(m, func(a, b kubeletLog) int { return a.compare(b.input, b.path) })
	for i := len(m) - 2; i >= 0; i-- {
		if m[i].node == m[i+1].node {
			m[i].more = m[i+1].more + 1
		}
	}
	return m
}

func (k kubeletLog) compare(input int, path string) int {
	return cmp.Or(cmp.Compare(k.input, input), strings.Compare(k.path, path))
}

// of returns the only node with logs in the closest folder above f that has kubelets'
// logs in it, nil if there are several.
func (m folders) of(f *parse.File) *unit {
	from, _ := slices.BinarySearchFunc(m, f.Path, func(k kubeletLog, path string) int { return k.compare(f.Input, path) })
	shared, found := 0, false // length of the closest folder's path
	for i := max(from-1, 0); i < min(from+1, len(m)); i++ {
		if m[i].input == f.Input {
			shared, found = max(shared, sharedFolder(m[i].path, f.Path)), true
		}
	}
	if !found {
		return nil
	}
	below := func(k kubeletLog) bool { return k.input == f.Input && strings.HasPrefix(k.path, f.Path[:shared]) }
	first, _ := slices.BinarySearchFunc(m, f.Path[:shared], func(k kubeletLog, path string) int { return k.compare(f.Input, path) })
	if next := first + m[first].more + 1; next < len(m) && below(m[next]) {
		return nil
	}
	return m[first].node
}

// sharedFolder returns the length of the path, with its last separator, of the closest
// folder or archive that holds both files, 0 at the top.
func sharedFolder(a, b string) int {
	end, n := 0, min(len(a), len(b))
	for i := 0; i < n && a[i] == b[i]; i++ {
		if i > 0 && (a[i] == '/' || a[i] == '!') {
			end = i + 1
		}
	}
	return end
}

// process is a kubelet process that wrote lines of a file.
type process struct {
	pid  int
	file *parse.File
	when Span
}

// processes returns the kubelet processes of each root that has any. Lines that another
// program handed on, such as dockerd, carry the ID of that program.
func (s *splitter) processes() map[*unit][]process {
	out := map[*unit][]process{}
	for _, w := range s.writers {
		if o, u := w.origin, w.unit; o.Source == parse.SrcKubelet && o.PID != 0 && (o.Ident == "" || o.Ident == "kubelet" || u.pid != 0) {
			out[u.root()] = append(out[u.root()], process{o.PID, u.file, w.when})
		}
	}
	return out
}

// restart is longer than lines of two processes of one node can overlap.
const restart = int64(60e9)

// beside reports whether two kubelets must be of different nodes: they wrote at the
// same time under different process IDs, for the given time if into different files.
func beside(a, b []process, least int64) bool {
	for _, p := range a {
		for _, q := range b {
			if p.pid == q.pid || !p.when.meets(q.when) {
				continue
			}
			if p.file == q.file || least == 0 || min(p.pid, q.pid) > 1 && min(p.when.To, q.when.To)-max(p.when.From, q.when.From) >= least {
				return true
			}
		}
	}
	return false
}

// assign creates the nodes and gives them their records. Records of nodes beyond most
// go to a node that is thrown away.
func (s *splitter) assign(most int) (_ []*Records, more int) {
	nodes := map[*unit]*Records{}
	var out []*Records
	var roots []*unit
	members := map[*unit][]*unit{}
	for _, u := range s.units {
		r := u.root()
		if members[r] == nil {
			roots = append(roots, r)
		}
		members[r] = append(members[r], u)
	}
	if most > 0 && len(roots) > most {
		more = len(roots) - most
		roots = s.talkative(roots, most)
	}
	rest := new(Records)
	for r := range members {
		nodes[r] = rest
	}
	for _, r := range roots {
		nodes[r] = &Records{Name: nameOf(members[r])}
		out = append(out, nodes[r])
	}
	byObject := s.objectNodes(out)
	if most > 0 && len(out)+len(byObject) > most {
		more += len(out) + len(byObject) - most
		byObject = byObject[:most-len(out)]
	}
	if out = append(out, byObject...); len(out) == 0 {
		return nil, 0
	}
	a := newAssigner(s, nodes, out)
	left := a.strangers(members, most)
	out, more = a.all, more+left
	a.records()
	s.besides(nodes)
	interned := s.b.Interned
	if interned == nil {
		interned = parse.NewStringTable()
	}
	kept := out[:0]
	told := slices.ContainsFunc(s.units, (*unit).about)
	for _, n := range out {
		if told && n.Name == unknownNode && len(out) > 1 && n.silent() {
			continue // the text around lines about other nodes
		}
		if !n.silent() || len(n.Coverage) > 0 || len(out) == 1 {
			n.Interned = interned
			kept = append(kept, n)
		}
	}
	return kept, more
}

// besides sets Records.Beside where one file has several kubelets.
func (s *splitter) besides(nodes map[*unit]*Records) {
	first := map[*parse.File]*parse.Coverage{}
	for _, c := range s.b.Coverage {
		u := s.writer(c.File, c.Origin).unit
		if u.pid == 0 {
			continue
		}
		if first[c.File] == nil {
			first[c.File] = c
		}
		a, n := first[c.File], nodes[u.root()]
		if m := nodes[s.writer(a.File, a.Origin).unit.root()]; m != n {
			n.Beside = [2]*parse.Coverage{c, a}
			if m.Beside[0] == nil {
				m.Beside = [2]*parse.Coverage{a, c}
			}
		}
	}
}

// talkative limits roots to the given number, keeping those whose units have the most
// events, in their original order.
func (s *splitter) talkative(roots []*unit, most int) []*unit {
	lines := map[*unit]int{}
	for _, w := range s.writers {
		lines[w.unit.root()] += w.events
	}
	ranked := slices.Clone(roots)
	slices.SortStableFunc(ranked, func(a, b *unit) int { return cmp.Compare(lines[b], lines[a]) })
	keep := map[*unit]bool{}
	for _, r := range ranked[:most] {
		keep[r] = true
	}
	return slices.DeleteFunc(roots, func(r *unit) bool { return !keep[r] })
}

// objectNodes creates a node for each Node object if the input has no kubelet log, such
// as the output of "kubectl get nodes -o yaml"; otherwise only for those that are not a
// kubelet's node.
func (s *splitter) objectNodes(known []*Records) []*Records {
	logged := slices.ContainsFunc(s.units, func(u *unit) bool { return u.kubelet })
	have := map[string]bool{}
	for _, n := range known {
		have[n.Name] = true
	}
	var out []*Records
	for _, o := range s.b.Objects {
		if o.Kind == facts.ObjectNode && o.Name != "" && !have[o.Name] && (!logged || s.stranger(o.Name, o.File)) {
			have[o.Name] = true
			out = append(out, &Records{Name: o.Name})
		}
	}
	return out
}

// silent reports whether the node has no records but coverage.
func (n *Records) silent() bool {
	return len(n.Events)+len(n.Facts)+len(n.Series)+len(n.Scrapes)+len(n.Objects)+len(n.Containers)+len(n.Listings) == 0
}

// nameOf picks the name of a node, in this order: the name in its lines, the layout,
// the hostname-override flag, the host, the system's name, a generic host name.
func nameOf(units []*unit) string {
	sum := &unit{names: map[string]int{}}
	var layout, override, host, system, weak string
	for _, u := range units {
		for name, n := range u.names {
			sum.names[name] += n
		}
		layout = cmp.Or(layout, u.file.Node)
		override = cmp.Or(override, u.override)
		system = cmp.Or(system, u.system)
		if generic(u.host) {
			weak = cmp.Or(weak, u.host)
		} else {
			host = cmp.Or(host, u.host)
		}
	}
	stated := sum.stated()
	if generic(stated) {
		stated, weak = "", cmp.Or(weak, stated)
	}
	return cmp.Or(stated, layout, override, host, system, weak, unknownNode)
}
