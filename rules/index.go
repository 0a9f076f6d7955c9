package rules

import (
	"iter"
	"slices"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// index finds the events of a node by signature. A node may have millions of events of a
// few kinds (replay.Group), so the index tests each kind once and lists the events of a
// signature on first use. It is not safe for concurrent use.
type index struct {
	lines    *replay.Index
	listed   map[string][]*parse.Event // by signature, filled on demand
	holders  map[string]*holder        // by signature, filled on demand
	there    map[string]bool           // signatures that at least one event has
	have     map[parse.Source]bool
	first    map[parse.Source]int // index of the first event of each source
	oneClock bool                 // all events can be ordered in time
	dated    bool                 // no time of the kubelet's log is a guess
}

func newIndex(n *replay.Node) index {
	x := index{lines: n.Index(), listed: map[string][]*parse.Event{}, holders: map[string]*holder{}, there: map[string]bool{}, have: map[parse.Source]bool{},
		first: map[parse.Source]int{}, oneClock: true, dated: true}
	for i := range x.lines.Groups {
		c := &x.lines.Groups[i]
		if src := c.Origin.Source; !x.have[src] {
			x.have[src], x.first[src] = true, c.First
		}
		if i == 0 || c.Sigs != x.lines.Groups[i-1].Sigs {
			for _, g := range c.Sigs.Sigs {
				x.there[g.ID] = true
			}
		}
		x.oneClock = x.oneClock && alike(c, n.Events[0])
		x.dated = x.dated && (c.Origin.Source != parse.SrcKubelet || !slices.ContainsFunc([]parse.Basis{parse.NoTime, parse.FileTime, parse.YearGuessed, parse.ZoneGuessed}, c.Bases.Has))
	}
	for s, ok := range n.Have {
		x.have[s] = x.have[s] || ok
	}
	return x
}

// comparable reports whether the clocks of a group of events can be compared with that of
// another event: all are from one file, or their year and zone are known.
func alike(c *replay.Group, other *parse.Event) bool {
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

// sig returns the events of a signature in time order.
func (x *index) sig(id string) []*parse.Event {
	if _, known := x.listed[id]; !known && x.there[id] {
		x.listTogether([]string{id})
	}
	return x.listed[id]
}

// listTogether lists the events of several signatures in one pass over all events.
func (x *index) listTogether(ids []string) {
	var lists [][]*parse.Event
	var listed []string                   // signature of each list
	var of [][]int                        // indices of the lists that each group goes to
	left, first := 0, len(x.lines.Events) // number of events left to find; index to start at
	for _, id := range ids {
		if _, known := x.listed[id]; known || !x.there[id] {
			continue
		}
		if of == nil {
			of = make([][]int, len(x.lines.Groups))
		}
		h := x.holder(id)
		x.listed[id] = make([]*parse.Event, 0, h.lines)
		for group, has := range h.of {
			if has {
				of[group] = append(of[group], len(lists))
			}
		}
		lists, listed = append(lists, x.listed[id]), append(listed, id)
		left, first = left+h.lines, min(first, h.first)
	}
	for i := first; left > 0; i++ {
		for _, k := range of[x.lines.Of[i]] {
			lists[k] = append(lists[k], x.lines.Events[i])
			left--
		}
	}
	for k, id := range listed {
		x.listed[id] = lists[k]
	}
}

// holder says where the events of a signature are.
type holder struct {
	sig   *parse.Sig // nil if no event has it
	of    []bool     // which groups have the signature; nil if none does
	first int        // index of the first event
	lines int        // number of events
}

// noHolder is the holder of signatures that no event has.
var noHolder holder

func (x *index) holder(id string) *holder {
	h := x.holders[id]
	switch {
	case h != nil:
		return h
	case !x.there[id]:
		return &noHolder
	}
	h = &holder{}
	for i := range x.lines.Groups {
		c := &x.lines.Groups[i]
		if !c.Sigs.Has(id) {
			continue
		}
		if h.of == nil {
			h.of, h.first, h.sig = make([]bool, len(x.lines.Groups)), c.First, named(c.Sigs, id)
		}
		h.of[i], h.lines = true, h.lines+c.Lines
	}
	x.holders[id] = h
	return h
}

// named returns the signature with the given ID; the set must contain it.
func named(set *parse.SigSet, id string) *parse.Sig {
	return set.Sigs[slices.IndexFunc(set.Sigs, func(g *parse.Sig) bool { return g.ID == id })]
}

// bulk reports whether a signature is so frequent (more than 1 in 8 events) that scanning
// all events beats listing its own.
func (x *index) bulk(id string) bool { return x.holder(id).lines > len(x.lines.Events)/8 }

// among iterates in time order over the events of a signature with index in [from, to).
func (x *index) among(id string, from, to int) iter.Seq[*parse.Event] {
	h := x.holder(id)
	return func(yield func(*parse.Event) bool) {
		if h.of == nil {
			return
		}
		for i := max(from, h.first); i < to; i++ {
			if h.of[x.lines.Of[i]] && !yield(x.lines.Events[i]) {
				return
			}
		}
	}
}

// ends returns the first and the last event of a signature, and how many there are. The
// events are nil if there are none.
func (x *index) ends(id string) (first, last *parse.Event, n int) {
	h := x.holder(id)
	if h.lines == 0 {
		return nil, nil, 0
	}
	i := len(x.lines.Events) - 1
	for !h.of[x.lines.Of[i]] {
		i--
	}
	return x.lines.Events[h.first], x.lines.Events[i], h.lines
}

// earlier reports whether a is before b, by time and then by position.
func earlier(a, b *parse.Event) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.Where().Before(b.Where())
}
