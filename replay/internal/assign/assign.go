package assign

import (
	"slices"
	"strings"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// assigner hands the records of a bundle to the nodes of a splitter.
type assigner struct {
	s     *splitter
	nodes map[*unit]*host.Records
	all   []*host.Records
	named map[string]*host.Records // by full and by short name, in lower case
	files map[*parse.File][]*host.Records
	only  map[int]*host.Records // by input: the node that all its units belong to; nil if they belong to several
	// moved holds the lines that are about a node other than that of the lines around
	// them.
	moved map[*parse.Event]*host.Records
}

func newAssigner(s *splitter, nodes map[*unit]*host.Records, all []*host.Records) *assigner {
	a := &assigner{s, nodes, all, map[string]*host.Records{}, map[*parse.File][]*host.Records{}, map[int]*host.Records{}, map[*parse.Event]*host.Records{}}
	for _, w := range s.writers {
		w.node = nodes[w.unit.root()]
	}
	for _, u := range s.units {
		n := nodes[u.root()]
		if one, ok := a.only[u.file.Input]; ok && one != n {
			n = nil
		}
		a.only[u.file.Input] = n
	}
	for _, n := range all {
		a.named[strings.ToLower(n.Name)] = n
	}
	full := map[string]int{}
	for _, n := range all {
		if short, _, cut := strings.Cut(strings.ToLower(n.Name), "."); cut && a.named[short] == nil && !isIP(n.Name) {
			full[short]++
		}
	}
	for _, n := range all {
		if short, _, _ := strings.Cut(strings.ToLower(n.Name), "."); full[short] == 1 && !isIP(n.Name) {
			a.named[short] = n
		}
	}
	return a
}

// strangers reassigns lines from writers other than a kubelet, such as the node
// controller, that name a different node than the lines around them: they move to the
// node that they name. It creates that node if needed. Once there are most nodes (0: no
// limit) it drops such lines instead, and returns how many nodes it left out.
func (a *assigner) strangers(members map[*unit][]*unit, most int) (more int) {
	itself := map[*unit][]string{} // names of the nodes of roots
	dropped := new(host.Records)
	for _, x := range a.s.said {
		r := x.unit.root()
		n := a.nodes[r]
		own, known := itself[r]
		if !known {
			kubelet, several := false, false
			for _, u := range members[r] {
				own, kubelet, several = append(own, u.itself...), kubelet || u.kubelet, several || u.several
			}
			if !kubelet || several && len(own) == 0 {
				own = []string{n.Name}
			}
			itself[r] = own
		}
		if len(own) == 0 || !another(own, []string{x.node}) {
			continue
		}
		to := a.byName(x.node)
		if to == nil && most > 0 && len(a.all) >= most {
			to, more = dropped, more+1
		} else if to == nil {
			to = &host.Records{Name: x.node}
			a.all = append(a.all, to)
		}
		a.named[strings.ToLower(x.node)] = to
		a.moved[x.event] = to
	}
	return more
}

func (a *assigner) ofLine(f *parse.File, o *parse.Origin) *host.Records {
	return a.s.writer(f, o).node
}

// ofFile returns the nodes that a record without an origin belongs to: those whose
// lines the file holds, else the only node of its input, else the only node of all
// inputs.
func (a *assigner) ofFile(f *parse.File) []*host.Records {
	out, known := a.files[f]
	if known {
		return out
	}
	for _, u := range a.s.byFile[f] {
		if n := a.nodes[u.root()]; !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if out == nil && f != nil {
		if one := a.only[f.Input]; one != nil {
			out = []*host.Records{one}
		} else if len(a.all) == 1 {
			out = a.all
		}
	}
	a.files[f] = out
	return out
}

func (a *assigner) byName(name string) *host.Records {
	name = strings.ToLower(name)
	if n := a.named[name]; n != nil || name == "" || isIP(name) {
		return n
	}
	short, _, _ := strings.Cut(name, ".")
	if n := a.named[short]; n != nil && host.SameHost(n.Name, name) {
		return n
	}
	return nil
}

func (a *assigner) records() {
	b := a.s.b
	a.events()
	for _, c := range b.Coverage {
		n := a.ofLine(c.File, c.Origin)
		n.Coverage = append(n.Coverage, c)
	}
	give(a, b.Markers, func(m *parse.Marker) *parse.File { return m.File }, func(n *host.Records) *[]*parse.Marker { return &n.Markers })
	give(a, b.Facts, func(f *parse.Fact) *parse.File { return f.File }, func(n *host.Records) *[]*parse.Fact { return &n.Facts })
	give(a, b.Clocks, func(c parse.FileClock) *parse.File { return c.File }, func(n *host.Records) *[]parse.FileClock { return &n.Clocks })
	give(a, b.Containers, func(c *parse.Container) *parse.File { return c.File }, func(n *host.Records) *[]*parse.Container { return &n.Containers })
	give(a, b.Listings, func(l parse.Listing) *parse.File { return l.File }, func(n *host.Records) *[]parse.Listing { return &n.Listings })
	for _, sc := range b.Scrapes {
		for _, n := range a.about(sc.Node, sc.File) {
			n.Scrapes = append(n.Scrapes, sc)
		}
	}
	for _, se := range b.Series {
		for _, n := range a.about(seriesNode(se), seriesFile(se)) {
			n.Series = append(n.Series, se)
		}
	}
	for _, o := range b.Objects {
		name, _ := objectNode(o)
		if name != "" && a.byName(name) == nil && a.s.elsewhere(name, o.File) {
			continue
		}
		for _, n := range a.about(name, o.File) {
			n.Objects = append(n.Objects, o)
		}
	}
}

// give appends each record to the nodes of its file.
func give[T any](a *assigner, all []T, file func(T) *parse.File, of func(*host.Records) *[]T) {
	for _, x := range all {
		for _, n := range a.ofFile(file(x)) {
			*of(n) = append(*of(n), x)
		}
	}
}

// severalLogs reports whether the lines come from more than one file.
func (s *splitter) severalLogs() bool {
	files := map[*parse.File]bool{}
	for _, w := range s.writers {
		if w.events > 0 {
			files[w.unit.file] = true
		}
	}
	return len(files) > 1
}

// events assigns log lines to nodes. In most inputs all lines belong to one node.
func (a *assigner) events() {
	events, of := a.s.b.Events, a.s.index.Of
	if a.s.severalLogs() {
		if events = parse.Unique(events); len(events) < len(of) {
			of = nil // copies were dropped
		}
	}
	if kept := a.unquoted(events); len(kept) < len(events) {
		events, of = kept, nil
	}
	room := map[*host.Records]int{}
	for _, w := range a.s.writers {
		room[w.node] += w.events
	}
	if len(room) == 1 && len(a.moved) == 0 {
		n := a.s.writers[0].node
		if n.Events = slices.Clip(events); of != nil {
			n.UseIndex(a.s.index)
		}
		return
	}
	for n, lines := range room {
		n.Events = make([]*parse.Event, 0, lines)
	}
	for i, e := range events {
		n := a.moved[e]
		switch {
		case n != nil:
		case of != nil:
			n = a.s.wrote[of[i]].node
		default:
			n = a.ofLine(e.File, e.Origin)
		}
		n.Events = append(n.Events, e)
	}
}

// about returns the node with the given name, or else the nodes of the file.
func (a *assigner) about(name string, f *parse.File) []*host.Records {
	if n := a.byName(name); n != nil {
		return []*host.Records{n}
	}
	return a.ofFile(f)
}

func seriesFile(s *parse.Series) *parse.File {
	switch {
	case len(s.Points) > 0 && s.Points[0].Src != nil:
		return s.Points[0].Src.File
	case len(s.Histograms) > 0 && s.Histograms[0].Src != nil:
		return s.Histograms[0].Src.File
	case len(s.Chunks) > 0 && s.Chunks[0].Src != nil:
		return s.Chunks[0].Src.File
	}
	return nil
}

// objectNode returns the name of the node that a Kubernetes object refers to, "" if
// unknown, and whether the object describes the state of that node.
func objectNode(o *parse.Object) (name string, itself bool) {
	switch {
	case o.Kind == facts.ObjectNode || o.Kind == facts.ObjectCondition:
		return o.Name, true
	case o.Kind == facts.ObjectEvent && o.Field("involved_kind") == "Node":
		return o.Field("involved_name"), true
	case o.Kind == facts.ObjectEvent:
		return o.Field("host"), false
	}
	return o.Field("node"), false
}
