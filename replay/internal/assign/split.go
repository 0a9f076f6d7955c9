package assign

import (
	"cmp"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// splitter finds which records belong to the same node.
type splitter struct {
	b        *parse.Bundle
	beside   host.Parallel
	index    *host.Index
	wrote    []*writer // the writer of each group of index
	units    []*unit
	writers  []*writer
	byKey    map[unitKey]*unit
	byFile   map[*parse.File][]*unit
	byOrigin map[originKey]*writer
	several  map[*parse.File]bool  // files in which kubelets ran at the same time, see together
	said     []naming              // lines that name a node, not written by a kubelet
	kubelets map[int][]*unit       // roots of the kubelets of each input; set by stranger
	names    map[*unit][]string    // names of nodes by root; set by stranger
	alone    map[int]string        // by input: the only node that Kubernetes objects are about, see aboutNodes
	objects  map[string]*statement // what objects say about nodes, by name in lower case; set by stated
	nameless []*unit               // kubelets that name no node; set by stated
	told     map[*unit]*statement  // what they say; set by stated
	last     [2]*writer            // cache: most lines come from two writers
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
	when   host.Span     // span of the dated lines
	node   *host.Records // set by newAssigner
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
func Split(b *parse.Bundle, most int, beside host.Parallel) (_ []*host.Records, more int) {
	s := &splitter{b: b, beside: beside, byKey: map[unitKey]*unit{}, byFile: map[*parse.File][]*unit{}, byOrigin: map[originKey]*writer{}}
	s.survey()
	s.joinWithinFiles()
	s.joinByName()
	s.joinByProcess()
	s.joinCopies()
	s.joinHosts()
	s.joinRest()
	return s.assign(most)
}

// assign creates the nodes and gives them their records. Records of nodes beyond most
// go to a node that is thrown away.
func (s *splitter) assign(most int) (_ []*host.Records, more int) {
	nodes := map[*unit]*host.Records{}
	var out []*host.Records
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
	rest := new(host.Records)
	for r := range members {
		nodes[r] = rest
	}
	for _, r := range roots {
		nodes[r] = &host.Records{Name: nameOf(members[r])}
		out = append(out, nodes[r])
	}
	s.aboutNodes()
	byObject := s.objectNodes(out)
	byObject = append(byObject, s.seriesNodes(append(slices.Clip(out), byObject...))...)
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
		if (told || len(byObject) > 0) && n.Name == unknownNode && len(out) > 1 && silent(n) && !slices.ContainsFunc(n.Scrapes, func(c *parse.Scrape) bool { return c.Failed != "" }) {
			continue // what is around the lines and series of other nodes
		}
		if n.Name == unknownNode && len(out) > 1 && silent(n) && len(n.Scrapes) == 0 && !slices.ContainsFunc(n.Coverage, ofProgram) {
			continue // text between the logs of nodes
		}
		if !silent(n) || len(n.Coverage)+len(n.Scrapes) > 0 || len(out) == 1 {
			n.Interned = interned
			kept = append(kept, n)
		}
	}
	return kept, more
}

// besides sets Records.Beside where one file has several kubelets.
func (s *splitter) besides(nodes map[*unit]*host.Records) {
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

// objectNodes creates a node for each that Kubernetes objects name and that no known node is: each if the input has
// no kubelet log, such as the output of "kubectl get nodes -o yaml" or that of "kubectl get events -o yaml" on
// several nodes; otherwise only those whose own objects cannot be of a kubelet's node. A condition alone makes none.
func (s *splitter) objectNodes(known []*host.Records) []*host.Records {
	logged := slices.ContainsFunc(s.units, func(u *unit) bool { return u.kubelet })
	have := map[string]bool{}
	for _, n := range known {
		have[n.Name] = true
	}
	talks := map[*parse.File]bool{}
	for _, w := range s.wrote {
		if w.dated || w.origin.Source != parse.SrcUnknown { // a row of a table or of a description is nobody's line
			talks[w.unit.file] = true
		}
	}
	listed := s.listed()
	var out []*host.Records
	for _, o := range s.b.Objects {
		name, itself := objectNode(o)
		switch {
		case name == "" || have[name] || o.Kind == facts.ObjectCondition || talks[o.File] && listed[o.File] == "":
		case o.Kind == facts.ObjectNode && !logged, itself && s.elsewhere(name, o.File), o.Kind == facts.ObjectEvent && !logged && s.alone[o.File.Input] == "":
			have[name] = true
			out = append(out, &host.Records{Name: name})
		}
	}
	return out
}

// elsewhere reports whether an object about the node name is not about that of the kubelets in the input of f: these
// have other names, or none, and the objects of the input are about several nodes.
func (s *splitter) elsewhere(name string, f *parse.File) bool {
	return s.stranger(name, f) || !host.SameHost(name, s.alone[f.Input])
}

// aboutNodes sets alone: by input, the one node that describes itself in objects or, if none does, the only one that
// objects name; "" if there are several.
func (s *splitter) aboutNodes() {
	s.alone = map[int]string{}
	own := map[int]bool{}
	for _, o := range s.b.Objects {
		name, itself := objectNode(o)
		if name == "" || own[o.File.Input] && !itself {
			continue
		}
		old, any := s.alone[o.File.Input]
		switch {
		case !any || itself && !own[o.File.Input]:
			s.alone[o.File.Input] = name
		case !host.SameHost(old, name):
			s.alone[o.File.Input] = ""
		}
		own[o.File.Input] = own[o.File.Input] || itself
	}
}

// ofProgram reports whether lines are a program's, not text that somebody wrote: they have
// a time, or a writer.
func ofProgram(c *parse.Coverage) bool {
	return c.Origin.Source != parse.SrcUnknown || c.FirstLine.Raw.Set || c.LastLine.Raw.Set
}

// silent reports whether a node has no records but coverage and snapshots, whose samples may be another's.
func silent(n *host.Records) bool {
	return len(n.Events)+len(n.Facts)+len(n.Series)+len(n.Objects)+len(n.Containers)+len(n.Listings) == 0
}
