package host

import "github.com/plegforensics/plegforensics/parse"

// Index sorts the lines of a log into groups. There may be millions of lines
// and there are few groups, so whoever takes the index once need not look at
// lines of groups that say nothing to them.
type Index struct {
	Events []*parse.Event // in order of time
	Of     []uint32       // the group of each, index into Groups
	Groups []Group        // by their first line

	Forms []*parse.Event // the first lines of each set of signatures
}

// Group is lines that agree in who wrote them to which file, and in what they
// matched.
type Group struct {
	groupKey
	First int      // index of the first line
	Lines int      // how many there are
	Bases BasisSet // how the times of the lines are known

	Kinds Kinds // what the rebuild sees in it
	set   *setLines
	when  [byClock]Span // the times of its dated lines
}

// What the times of lines are counted by.
const (
	byWall  = iota // a clock that the lines state
	byBoot         // since the boot
	byFile         // times of files, and bounds
	byClock        // how many there are
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

// formsLooked is how many lines of each set of signatures are enough to know the
// form in which the kubelet writes them.
const formsLooked = 4

// setLines counts the lines of one set of signatures, as far as formsLooked.
type setLines struct {
	kinds Kinds
	lines int
}

// newIndex looks at each line once: at several stretches of very many beside
// each other.
func newIndex(events []*parse.Event, beside Parallel) *Index {
	const least, most = 16 << 10, 4 // lines of a stretch, and stretches
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
		x.when[byFile].add(e.At)
	case e.Basis == parse.SinceBoot:
		x.when[byBoot].add(e.At)
	default:
		x.when[byWall].add(e.At)
	}
}

// dated reports whether any line has a time.
func (x *Group) dated() bool { return x.Bases&^(1<<parse.NoTime) != 0 }

// span is that of all dated lines.
func (x *Group) span() (s Span) {
	for _, t := range x.when {
		s.join(t)
	}
	return s
}

// registrar numbers the groups of a index. Those that came up last are found
// without a look-up.
type registrar struct {
	c      *Index
	known  map[groupKey]uint32
	sets   map[string]*setLines // by the ids of the signatures
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

// take looks at the lines from one index to before another.
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

// join adds the index of the lines that follow, and returns what its groups are
// here. Lines are forms here only if they are there.
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
			here.when[clock].join(x.when[clock])
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

// group returns the group of a kind that line i is of.
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

// add makes a group that begins at line i.
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

// Each calls do with the lines of groups that have one of the kinds.
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

// Count is how many lines are of any of the kinds.
func (c *Index) Count(k Kinds) (n int) {
	for i := range c.Groups {
		if c.Groups[i].Kinds&k != 0 {
			n += c.Groups[i].Lines
		}
	}
	return n
}

// Columns returns a reader of fields of the node's events by number. Numbers of
// one reader are equal where their texts are.
func (n *Records) Columns(names ...string) *parse.Columns {
	if n.Interned == nil {
		return parse.NewColumns(parse.NewStringTable(), names...)
	}
	return parse.NewColumns(n.Interned, names...)
}

// Index returns the index of the node's lines, which is taken when somebody
// first asks for it.
func (n *Records) Index() *Index {
	if c := n.index; c == nil || len(c.Events) != len(n.Events) || len(n.Events) > 0 && c.Events[0] != n.Events[0] {
		n.index = newIndex(n.Events, nil)
	}
	return n.index
}

// Parallel runs tasks that share nothing they write, all at once if it likes, and
// returns when all are done. nil: one after the other.
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
