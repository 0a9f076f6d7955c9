package assign

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

func (s *splitter) unit(f *parse.File, name string, pid int) *unit {
	name = strings.ToLower(name)
	k := unitKey{f, name, pid}
	u := s.byKey[k]
	if u == nil {
		u = &unit{file: f, host: name, pid: pid, names: map[string]int{}, pids: map[int]host.Span{}}
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
		w = &writer{unit: s.unit(f, host.ObjectName(o.Host), pid), origin: o}
		w.unit.own = w.unit.own || o.Ident != parse.IdentAbout
		s.byOrigin[k] = w
		s.writers = append(s.writers, w)
	}
	s.last[0], s.last[1] = w, s.last[0]
	return w
}

func (w *writer) saw(at int64) {
	w.dated = true
	w.when.Add(at)
}

// survey creates the units and collects what each says about its node.
func (s *splitter) survey() {
	s.index = host.NewIndex(s.b.Events, s.beside)
	var ran loops
	s.several, ran = together(s.index)
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
		if l, ok := ran[w.unit.file][w.origin.PID]; ok && w.origin.Source == parse.SrcKubelet && w.origin.Host == "" {
			w.when.Join(l)
		}
		if w.dated {
			w.unit.saw(w.origin, w.when)
		}
	}
	for _, u := range s.units {
		if u.kubelet && len(u.itself) == 0 && len(u.names) > 1 {
			u.several, u.names = true, map[string]int{}
		}
	}
	for _, f := range s.b.Facts {
		if s.byFile[f.File] == nil {
			s.unit(f.File, "", 0)
		}
		if f.Key == facts.KeyNodeName && f.Value != "" {
			s.byFile[f.File][0].system = f.Value
		}
		if f.Key == facts.KeyKubeletFlag && f.Attr("name") == "hostname-override" {
			s.byFile[f.File][0].override = f.Value
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
	stated := s.listed()
	for _, f := range s.b.Files {
		if us, name := s.byFile[f], stated[f]; name != "" && len(us) > 0 {
			us[0].system = cmp.Or(us[0].system, name)
			if !slices.ContainsFunc(us, func(u *unit) bool { return u.kubelet }) {
				us[0].object = name
			}
		}
	}
}

// listed returns the nodes that files describe or list.
func (s *splitter) listed() onlyNames {
	stated := onlyNames{}
	for _, o := range s.b.Objects {
		if o.Kind == facts.ObjectNode && o.Name != "" {
			stated.add(o.File, o.Name)
		}
	}
	return stated
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
// overlap by at least a minute, or that name two nodes: these are kubelets of two nodes.
// Without an overlap it is a restart. A loop that reports an age has run for at least as long.
func together(c *host.Index) (several map[*parse.File]bool, loops loops) {
	loops = map[*parse.File]map[int]host.Span{}
	for i := range c.Groups {
		if x := &c.Groups[i]; x.Kinds&(host.KindTurn|host.KindGoroutine) != 0 && x.Origin.Host == "" && x.Origin.Source == parse.SrcKubelet && x.Origin.PID > 1 && x.Dated() {
			if loops[x.File] == nil {
				loops[x.File] = map[int]host.Span{}
			}
			l := loops[x.File][x.Origin.PID]
			l.Join(x.Span())
			loops[x.File][x.Origin.PID] = l
		}
	}
	if loops.several() {
		c.Each(host.KindAge, func(_ int, e *parse.Event, _ host.Kinds) {
			l, ok := loops[e.File][e.Origin.PID]
			if age, err := time.ParseDuration(e.Field("age")); ok && err == nil && e.Basis != parse.NoTime && age > 0 && int64(age) < e.At {
				l.Add(e.At - int64(age))
				loops[e.File][e.Origin.PID] = l
			}
		})
	}
	several = map[*parse.File]bool{}
	for f, pids := range loops {
		spans := slices.SortedFunc(maps.Values(pids), func(a, b host.Span) int { return cmp.Compare(a.From, b.From) })
		last := int64(0)
		for _, l := range spans {
			several[f] = several[f] || last != 0 && min(last, l.To)-l.From >= restart
			last = max(last, l.To)
		}
	}
	oneAfterAnother(c, several)
	named(c, several)
	return several, loops
}

// named adds the files without host names in which several processes each name one node, of several hosts.
func named(c *host.Index, several map[*parse.File]bool) {
	names := map[*parse.File]map[int]string{} // "": several by one process, as by a controller
	c.Each(host.KindNotReady|host.KindNodeEvent, func(_ int, e *parse.Event, _ host.Kinds) {
		name := host.ObjectName(e.Field("node"))
		if o := e.Origin; name == "" || o.Source != parse.SrcKubelet || o.Host != "" || o.PID <= 1 {
			return
		}
		if names[e.File] == nil {
			names[e.File] = map[int]string{}
		}
		if old, known := names[e.File][e.Origin.PID]; known && !host.SameHost(old, name) {
			name = ""
		}
		names[e.File][e.Origin.PID] = name
	})
	for f, pids := range names {
		first := ""
		for _, pid := range slices.Sorted(maps.Keys(pids)) {
			name := pids[pid]
			several[f] = several[f] || first != "" && name != "" && !host.SameHost(first, name)
			first = cmp.Or(first, name)
		}
	}
}

// loops are, by file and process ID, the spans in which the sync loop of a kubelet is known to have run, in lines without
// a host.
type loops map[*parse.File]map[int]host.Span

func (l loops) several() bool {
	n := 0
	for _, pids := range l {
		n += len(pids)
	}
	return n > 1
}

// oneAfterAnother clears the files in which two processes report the same container, as
// each kubelet does at its start for all running containers. Such processes ran on one
// node one after the other, and the clock was set back in between.
func oneAfterAnother(c *host.Index, several map[*parse.File]bool) {
	const random = 12 // hex digits that are unique to a container
	if !slices.Contains(slices.Collect(maps.Values(several)), true) {
		return
	}
	type held struct {
		file *parse.File
		id   string
	}
	by := map[held]int{}
	c.Each(host.KindEvent, func(_ int, e *parse.Event, _ host.Kinds) {
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
		if x.Dated() {
			w.dated = true
			w.when.Join(x.Span())
		}
		s.wrote = append(s.wrote, w)
	}
	type itself struct {
		unit *unit
		name string
	}
	named := map[itself]bool{}
	names := map[string]string{} // a name out of a line would keep the whole line in memory
	s.index.Each(host.KindNotReady|host.KindNodeEvent|host.KindNamed|host.KindFlag, func(i int, e *parse.Event, k host.Kinds) {
		u := s.wrote[s.index.Of[i]].unit
		if e.File.Container != "" && repeats(e.EventKind) {
			return // it names a node of which the file need not be
		}
		if k&host.KindFlag == 0 {
			if name := host.ObjectName(e.Field("node")); name != "" {
				if names[name] == "" {
					name = strings.Clone(name)
					names[name] = name
				}
				name = names[name]
				u.names[name]++
				if e.Origin.Source != parse.SrcKubelet {
					s.said = append(s.said, naming{e, u, name})
				} else if of := (itself{u, name}); !named[of] {
					named[of] = true
					u.itself = append(u.itself, name)
				}
			}
		} else if e.Field("name") == "hostname-override" {
			u.override = e.Field("value")
		}
	})
}
