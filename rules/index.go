package rules

import (
	"slices"
	"sort"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// index is the events of a node by what they say. A node may have millions of
// events of a few kinds, so it asks each kind once, and lists those that somebody
// asks for.
type index struct {
	census   *replay.Census
	listed   map[string][]*parse.Event // of signatures that were asked about
	inOrder  map[string]bool           // of such lists: sorted as sortEvents would
	have     map[parse.Source]bool
	first    map[parse.Source]int // of each source, in the events of the node
	oneClock bool                 // all events can be compared in time
}

func newIndex(n *replay.Node) index {
	x := index{census: n.Census(), listed: map[string][]*parse.Event{}, inOrder: map[string]bool{}, have: map[parse.Source]bool{},
		first: map[parse.Source]int{}, oneClock: true}
	for i := range x.census.Classes {
		c := &x.census.Classes[i]
		if src := c.Origin.Source; !x.have[src] {
			x.have[src], x.first[src] = true, c.First
		}
		x.oneClock = x.oneClock && comparable(c, n.Events[0])
	}
	for s, ok := range n.Have {
		x.have[s] = x.have[s] || ok
	}
	return x
}

// comparable reports whether the clocks of a class of events can be compared with
// that of an event: all are of one file, or their year and zone are known.
func comparable(c *replay.Class, other *parse.Event) bool {
	for b := parse.NoTime; b <= parse.Stated; b++ {
		if !c.Bases.Has(b) {
			continue
		}
		if b <= parse.FileTime || c.File != other.File && (b == parse.YearGuessed || b == parse.ZoneGuessed) {
			return false
		}
	}
	return true
}

// sig returns the events of a signature, in order of time.
func (x *index) sig(id string) []*parse.Event {
	list, known := x.listed[id]
	if !known {
		list = x.list(id)
		x.listed[id] = list
	}
	return list
}

func (x *index) list(id string) []*parse.Event {
	var of []bool // the classes that have the signature
	from, n := 0, 0
	for i := range x.census.Classes {
		c := &x.census.Classes[i]
		if !c.Sigs.Has(id) {
			continue
		}
		if of == nil {
			of, from = make([]bool, len(x.census.Classes)), c.First
		}
		of[i], n = true, n+c.Lines
	}
	list := make([]*parse.Event, 0, n)
	for i := from; len(list) < n; i++ {
		if of[x.census.Of[i]] {
			list = append(list, x.census.Events[i])
		}
	}
	return slices.Clip(list)
}

// ordered reports whether the events of a signature are sorted by time and place,
// as they are but for those of one moment in several journals.
func (x *index) ordered(id string) bool {
	yes, known := x.inOrder[id]
	if !known {
		es := x.sig(id)
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
