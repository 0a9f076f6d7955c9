package host

import "github.com/plegforensics/plegforensics/parse"

// Index sorts the lines of a log into groups. There may be millions of lines but there
// are few groups, so later passes skip the lines of groups that do not concern them.
type Index struct {
	Events []*parse.Event // in time order
	Of     []uint32       // for each event, its index in Groups
	Groups []Group        // in the order of their first lines

	Forms []*parse.Event // samples: up to formsLooked lines of each set of signatures
}

// Group is the set of lines that share a file, an origin and the set of matched
// signatures.
type Group struct {
	groupKey
	First int // index of the first line
	Lines int
	Bases BasisSet // how the times of its lines are known

	Kinds Kinds // message kinds of its signatures
	set   *setLines
	when  [byClock]Span // time spans of its dated lines, by clock
}

// Clocks by which the time spans of a group are kept apart.
const (
	byWall  = iota // a wall clock stated in the line
	byBoot         // time since boot
	byFile         // file times and bounds
	byClock        // number of clocks
)

type groupKey struct {
	File   *parse.File
	Origin *parse.Origin
	Sigs   *parse.SigSet
}

// BasisSet is a set of parse.Basis.
type BasisSet uint16

// Has reports whether the set holds b.
func (s BasisSet) Has(b parse.Basis) bool { return s&(1<<b) != 0 }

// formsLooked is how many lines of each set of signatures suffice to tell the format in
// which the kubelet writes them.
const formsLooked = 4

// setLines counts the sample lines taken of one set of signatures, up to formsLooked.
type setLines struct {
	kinds Kinds
	lines int
}

// NewIndex builds the index in one pass over the lines. Large logs are split into up to
// four parts that are indexed in parallel.
func NewIndex(events []*parse.Event, beside Parallel) *Index {
	const least, most = 16 << 10, 4 // minimum lines per part; maximum parts
	c := &Index{Events: events, Of: make([]uint32, len(events))}
	k := min(len(events)/least, most)
	if k < 2 {
		newRegistrar(c).take(0, len(events))
		return c
	}
	parts, takes := make([]*registrar, k), make([]func(), k)
	for i := range parts {
		parts[i] = newRegistrar(&Index{Events: events, Of: c.Of})
		takes[i] = func() { parts[i].take(i*len(events)/k, (i+1)*len(events)/k) }
	}
	beside.Run(takes...)
	r, renames := newRegistrar(c), make([]func(), k)
	for i, part := range parts {
		as, of := r.join(part.c), c.Of[i*len(events)/k:(i+1)*len(events)/k]
		renames[i] = func() {
			for i, at := range of {
				of[i] = as[at]
			}
		}
	}
	beside.Run(renames...)
	return c
}

func (x *Group) date(e *parse.Event) {
	x.Bases |= 1 << e.Basis
	switch {
	case e.Basis == parse.NoTime:
	case e.Basis <= parse.LowerBound:
		x.when[byFile].Add(e.At)
	case e.Basis == parse.SinceBoot:
		x.when[byBoot].Add(e.At)
	default:
		x.when[byWall].Add(e.At)
	}
}

// Dated reports whether any line has a time.
func (x *Group) Dated() bool { return x.Bases&^(1<<parse.NoTime) != 0 }

// Span returns the span of all dated lines, whatever their clock.
func (x *Group) Span() (s Span) {
	for _, t := range x.when {
		s.Join(t)
	}
	return s
}

// registrar assigns lines to the groups of an index. The kinds seen last are found
// without a map lookup.
type registrar struct {
	c      *Index
	known  map[groupKey]uint32
	sets   map[string]*setLines // by the IDs of the signatures
	recent [8]recentKind
	next   int
}

type recentKind struct {
	kind *parse.EventKind
	at   uint32
}

func newRegistrar(c *Index) *registrar {
	return &registrar{c: c, known: map[groupKey]uint32{}, sets: map[string]*setLines{}}
}

// take indexes the lines from..to-1.
func (r *registrar) take(from, to int) {
	c := r.c
	for i, e := range c.Events[from:to] {
		at, ok := r.recently(e.EventKind)
		if !ok {
			at = r.group(e.EventKind, from+i)
		}
		c.Of[from+i] = at
		x := &c.Groups[at]
		if x.Lines++; x.Lines <= formsLooked && x.set.lines < formsLooked {
			x.set.lines++
			c.Forms = append(c.Forms, e)
		}
		x.date(e)
	}
}

// join merges the index of the lines that follow, and maps its group numbers to those
// here. Sample lines are merged up to formsLooked per set.
func (r *registrar) join(later *Index) (as []uint32) {
	for i := range later.Groups {
		x := &later.Groups[i]
		at, known := r.known[x.groupKey]
		if !known {
			at = r.add(x.groupKey, x.First)
		}
		here := &r.c.Groups[at]
		here.Lines += x.Lines
		here.Bases |= x.Bases
		for clock := range here.when {
			here.when[clock].Join(x.when[clock])
		}
		as = append(as, at)
	}
	for _, e := range later.Forms {
		if set := r.c.Groups[r.known[groupKey{e.File, e.Origin, e.Sigs}]].set; set.lines < formsLooked {
			set.lines++
			r.c.Forms = append(r.c.Forms, e)
		}
	}
	return as
}

func (r *registrar) recently(k *parse.EventKind) (at uint32, ok bool) {
	for i := range r.recent {
		if r.recent[i].kind == k {
			return r.recent[i].at, true
		}
	}
	return 0, false
}

// group returns the group of line i, which is of kind k, and remembers k.
func (r *registrar) group(k *parse.EventKind, i int) uint32 {
	key := groupKey{k.File, k.Origin, k.Sigs}
	at, known := r.known[key]
	if !known {
		at = r.add(key, i)
	}
	r.recent[r.next] = recentKind{k, at}
	r.next = (r.next + 1) % len(r.recent)
	return at
}

// add creates a group whose first line is i.
func (r *registrar) add(key groupKey, i int) uint32 {
	ids := ""
	for _, s := range key.Sigs.Sigs {
		ids += s.ID + " "
	}
	set := r.sets[ids]
	if set == nil {
		set = &setLines{kinds: kindsOf(key.Sigs)}
		r.sets[ids] = set
	}
	at := uint32(len(r.c.Groups))
	r.c.Groups = append(r.c.Groups, Group{groupKey: key, First: i, Kinds: set.kinds, set: set})
	r.known[key] = at
	return at
}

// Each calls do for every line whose group has any of the kinds k. It passes all kinds
// of the group.
func (c *Index) Each(k Kinds, do func(i int, e *parse.Event, k Kinds)) {
	if c.Count(k) == 0 {
		return
	}
	for i, at := range c.Of {
		if have := c.Groups[at].Kinds; have&k != 0 {
			do(i, c.Events[i], have)
		}
	}
}

// Count returns the number of lines that have any of the kinds.
func (c *Index) Count(k Kinds) (n int) {
	for i := range c.Groups {
		if c.Groups[i].Kinds&k != 0 {
			n += c.Groups[i].Lines
		}
	}
	return n
}

// Columns returns a reader of the named fields of the node's events as interned
// strings. IDs from one reader are equal if and only if their texts are.
func (n *Records) Columns(names ...string) *parse.Columns {
	if n.Interned == nil {
		return parse.NewColumns(parse.NewStringTable(), names...)
	}
	return parse.NewColumns(n.Interned, names...)
}

// Index returns the index of the node's lines. It is built on first use, and again if
// the lines have changed.
func (n *Records) Index() *Index {
	if c := n.index; c == nil || len(c.Events) != len(n.Events) || len(n.Events) > 0 && c.Events[0] != n.Events[0] {
		n.index = NewIndex(n.Events, nil)
	}
	return n.index
}

// UseIndex gives the node an index that exists already, of exactly its lines.
func (n *Records) UseIndex(x *Index) { n.index = x }

// Parallel runs tasks that share no written data, possibly in parallel, and returns
// when all are done. A nil Parallel runs them one after the other.
type Parallel func(tasks ...func())

// Run runs the tasks and returns when all are done.
func (p Parallel) Run(tasks ...func()) {
	if p != nil {
		p(tasks...)
		return
	}
	for _, t := range tasks {
		t()
	}
}
