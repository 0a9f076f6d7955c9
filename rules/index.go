package rules

import (
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// index is the events of a node by what they say. A node may have millions of
// events of a few kinds, so it asks each kind once.
type index struct {
	bySig    map[string][]*parse.Event
	inOrder  map[string]bool // of lists that were asked about: sorted as sortEvents would
	have     map[parse.Source]bool
	first    map[parse.Source]int // of each source, in the events of the node
	oneClock bool                 // all events can be compared in time
}

// group is the events that match the same signatures.
type group struct {
	set   *parse.SigSet
	n     int
	lists []*[]*parse.Event // of each signature
}

// grouper tells the group of a kind of events. Those of the last few kinds are
// found without a look-up.
type grouper struct {
	groups []group
	of     map[*parse.SigSet]uint32
	recent [4]struct {
		kind *parse.EventKind
		at   uint32
	}
	next int
}

// group returns the number of the group of an event, and whether its kind may be
// one that was not seen before.
func (g *grouper) group(e *parse.Event) (at uint32, other bool) {
	for i := range g.recent {
		if g.recent[i].kind == e.EventKind {
			return g.recent[i].at, false
		}
	}
	at, known := g.of[e.Sigs]
	if !known {
		at = uint32(len(g.groups))
		g.groups = append(g.groups, group{set: e.Sigs})
		g.of[e.Sigs] = at
	}
	g.recent[g.next].kind, g.recent[g.next].at = e.EventKind, at
	g.next = (g.next + 1) % len(g.recent)
	return at, true
}

func newIndex(n *replay.Node) index {
	x := index{bySig: map[string][]*parse.Event{}, inOrder: map[string]bool{}, have: map[parse.Source]bool{},
		first: map[parse.Source]int{}, oneClock: true}
	g := grouper{of: map[*parse.SigSet]uint32{}}
	groups := make([]uint32, len(n.Events)) // of each event
	for i, e := range n.Events {
		at, other := g.group(e)
		groups[i] = at
		g.groups[at].n++
		if src := e.From(); other && !x.have[src] {
			x.have[src], x.first[src] = true, i
		}
		x.oneClock = x.oneClock && comparable(e, n.Events[0])
	}
	for s, ok := range n.Have {
		x.have[s] = x.have[s] || ok
	}
	x.fill(n.Events, groups, g.groups)
	return x
}

// comparable reports whether the clock of an event can be compared with that of
// another: both are of one file, or their year and zone are known.
func comparable(e, other *parse.Event) bool {
	if e.Basis <= parse.FileTime {
		return false
	}
	return e.Basis == parse.Stated || e.File == other.File || e.Basis != parse.YearGuessed && e.Basis != parse.ZoneGuessed
}

// fill lists the events by signature, in lists of the size that they need.
func (x *index) fill(events []*parse.Event, of []uint32, groups []group) {
	sizes := map[string]int{}
	for _, g := range groups {
		for _, s := range g.set.Sigs {
			sizes[s.ID] += g.n
		}
	}
	lists := make(map[string]*[]*parse.Event, len(sizes))
	for id, n := range sizes {
		list := make([]*parse.Event, 0, n)
		lists[id] = &list
	}
	for i := range groups {
		for _, s := range groups[i].set.Sigs {
			groups[i].lists = append(groups[i].lists, lists[s.ID])
		}
	}
	for i, e := range events {
		for _, list := range groups[of[i]].lists {
			*list = append(*list, e)
		}
	}
	for id, list := range lists {
		x.bySig[id] = *list
	}
}

// ordered reports whether the events of a signature are sorted by time and place,
// as they are but for those of one moment in several journals.
func (x *index) ordered(id string) bool {
	yes, known := x.inOrder[id]
	if !known {
		es := x.bySig[id]
		yes = sort.SliceIsSorted(es, func(i, j int) bool { return earlier(es[i], es[j]) })
		x.inOrder[id] = yes
	}
	return yes
}

// earlier orders events by time, then place.
func earlier(a, b *parse.Event) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.Where().Before(b.Where())
}
