package replay

import "github.com/plegforensics/plegforensics/parse"

// Census sorts the lines of a log into classes. There may be millions of lines
// and there are few classes, so whoever takes the census once need not look at
// lines of classes that say nothing to them.
type Census struct {
	Events  []*parse.Event // in order of time
	Of      []uint32       // the class of each, index into Classes
	Classes []Class        // by their first line

	forms []*parse.Event // the first lines of each set of signatures
}

// Class is lines that agree in who wrote them to which file, and in what they
// matched.
type Class struct {
	classKey
	First int      // index of the first line
	Lines int      // how many there are
	Bases BasisSet // how the times of the lines are known

	kinds  kinds // what the rebuild sees in it
	set    *setLines
	stated span // by a clock on the wall: the times of its dated lines
	boot   span // since the boot
	vague  span // of files, and bounds
}

type classKey struct {
	File   *parse.File
	Origin *parse.Origin
	Sigs   *parse.SigSet
}

// BasisSet is a set of parse.Basis.
type BasisSet uint16

// Has reports whether the set holds b.
func (s BasisSet) Has(b parse.Basis) bool { return s&(1<<b) != 0 }

// setLines counts the lines of one set of signatures, as far as formsLooked.
type setLines struct {
	kinds kinds
	lines int
}

// takeCensus looks at each line once.
func takeCensus(events []*parse.Event) *Census {
	c := &Census{Events: events, Of: make([]uint32, len(events))}
	r := registrar{c: c, known: map[classKey]uint32{}, sets: map[string]*setLines{}}
	for i, e := range events {
		at, ok := r.recently(e.EventKind)
		if !ok {
			at = r.class(e.EventKind, i)
		}
		c.Of[i] = at
		x := &c.Classes[at]
		if x.Lines++; x.Lines <= formsLooked && x.set.lines < formsLooked {
			x.set.lines++
			c.forms = append(c.forms, e)
		}
		x.date(e)
	}
	return c
}

func (x *Class) date(e *parse.Event) {
	x.Bases |= 1 << e.Basis
	switch {
	case e.Basis == parse.NoTime:
	case e.Basis <= parse.LowerBound:
		x.vague.add(e.At)
	case e.Basis == parse.SinceBoot:
		x.boot.add(e.At)
	default:
		x.stated.add(e.At)
	}
}

// dated reports whether any line has a time.
func (x *Class) dated() bool { return x.Bases&^(1<<parse.NoTime) != 0 }

// when is the span of all dated lines.
func (x *Class) when() span {
	var s span
	for _, t := range [...]span{x.vague, x.boot, x.stated} {
		if t != (span{}) {
			s.join(t)
		}
	}
	return s
}

// registrar numbers the classes of a census. Those that came up last are found
// without a look-up.
type registrar struct {
	c      *Census
	known  map[classKey]uint32
	sets   map[string]*setLines // by the ids of the signatures
	recent [8]recentKind
	next   int
}

type recentKind struct {
	kind *parse.EventKind
	at   uint32
}

func (r *registrar) recently(k *parse.EventKind) (at uint32, ok bool) {
	for i := range r.recent {
		if r.recent[i].kind == k {
			return r.recent[i].at, true
		}
	}
	return 0, false
}

// class returns the class of a kind that line i is of.
func (r *registrar) class(k *parse.EventKind, i int) uint32 {
	key := classKey{k.File, k.Origin, k.Sigs}
	at, known := r.known[key]
	if !known {
		at = uint32(len(r.c.Classes))
		r.c.Classes = append(r.c.Classes, r.newClass(key, i))
		r.known[key] = at
	}
	r.recent[r.next] = recentKind{k, at}
	r.next = (r.next + 1) % len(r.recent)
	return at
}

func (r *registrar) newClass(k classKey, i int) Class {
	ids := ""
	for _, s := range k.Sigs.Sigs {
		ids += s.ID + " "
	}
	set := r.sets[ids]
	if set == nil {
		set = &setLines{kinds: kindsOf(k.Sigs)}
		r.sets[ids] = set
	}
	return Class{classKey: k, First: i, kinds: set.kinds, set: set}
}

// each calls do with the lines of classes that have one of the kinds.
func (c *Census) each(k kinds, do func(i int, e *parse.Event, k kinds)) {
	any := false
	for i := range c.Classes {
		any = any || c.Classes[i].kinds&k != 0
	}
	if !any {
		return
	}
	for i, at := range c.Of {
		if have := c.Classes[at].kinds; have&k != 0 {
			do(i, c.Events[i], have)
		}
	}
}

// Columns returns a reader of fields of the node's events by number. Numbers of
// one reader are equal where their texts are.
func (n *Node) Columns(names ...string) *parse.Columns {
	if n.symbols == nil {
		return parse.NewColumns(parse.NewSymbols(), names...)
	}
	return parse.NewColumns(n.symbols, names...)
}

// Census returns the census of the node's lines, which is taken when somebody
// first asks for it.
func (n *Node) Census() *Census {
	if c := n.census; c == nil || len(c.Events) != len(n.Events) || len(n.Events) > 0 && c.Events[0] != n.Events[0] {
		n.census = takeCensus(n.Events)
	}
	return n.census
}
