package timeline

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/parse"
)

// Lane is a row of marks of one kind, sorted by start.
type Lane struct {
	Name  string
	Kind  string
	Marks []Mark
}

// Lanes returns the rows of a node's timeline: readiness, health, episodes, relists, undated
// relists, CRI failures, runtime requests, kubelet processes, gaps in the log and contradictions;
// then one per source and one per pod. Long lanes are thinned to about most marks; see thinner.
func Lanes(n *model.Node, most int) []Lane {
	dated, failed, requests := newThinner(n.Window, most), newThinner(n.Window, most), newThinner(n.Window, most)
	var undated []Mark
	Relists(n, func(m Mark) {
		switch {
		case m.Kind != Relist:
			undated = append(undated, m)
		case m.Start != 0:
			dated.add(m)
		}
	})
	FailedCalls(n, failed.add)
	Requests(n, requests.add)
	out := []Lane{
		{"node Ready", Ready, Collect(Readies, n)},
		{"PLEG health", Health, Collect(Healths, n)},
		{"episodes", Episode, Collect(Episodes, n)},
		{"relists", Relist, dated.marks()},
		{"undated relists", Bounded, undated},
		{"CRI failures", Failed, failed.marks()},
		{"runtime requests", Request, requests.marks()},
		{"kubelet process", Run, Collect(runs, n)},
		{"no log", Gap, Collect(gaps, n)},
		{"contradictions", Conflict, Collect(conflicts, n)},
	}
	for i := range out {
		byStart(out[i].Marks)
	}
	return append(append(out, Sources(n, most)...), Pods(n, most)...)
}

func byStart(ms []Mark) {
	slices.SortStableFunc(ms, func(a, b Mark) int { return cmp.Compare(a.Start, b.Start) })
}

// Sources returns a lane for the known messages of each source, sorted by name.
func Sources(n *model.Node, most int) []Lane {
	sources := map[string]*thinner{}
	n.History.Lines.Each(func(l model.Line) {
		if l.Bulk {
			return
		}
		t := sources[l.Source]
		if t == nil {
			t = newThinner(n.Window, most)
			sources[l.Source] = t
		}
		t.add(Mark{Kind: Line, ID: l.IDs, Start: l.At, State: string(rune(l.Severity)), Proof: l.Evidence})
	})
	var out []Lane
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		out = append(out, Lane{name, Line, sources[name].marks()})
	}
	return out
}

// Pods returns a lane for the events of each pod: those with problems first, then the busiest.
// Together they have about four times most marks; if that leaves too few per pod, the last pods
// share a lane. It reads the events twice, as there may be too many to hold.
func Pods(n *model.Node, most int) []Lane {
	type pod struct {
		name            string
		events, trouble int
	}
	var pods []pod
	index := map[string]int{}
	each := func(do func(i int, m Mark)) {
		Events(n, func(m Mark) {
			if m.Start == 0 {
				return
			}
			i, known := index[m.Pod]
			if !known {
				i = len(pods)
				index[m.Pod], pods = i, append(pods, pod{name: m.Pod})
			}
			do(i, m)
		})
	}
	each(func(i int, m Mark) {
		if pods[i].events++; m.Weight() > 1 {
			pods[i].trouble++
		}
	})
	slices.SortFunc(pods, func(a, b pod) int {
		return cmp.Or(cmp.Compare(b.trouble, a.trouble), cmp.Compare(b.events, a.events), cmp.Compare(a.name, b.name))
	})
	room := max(most*4/leastEvents, 1)
	lanes := min(len(pods), room+1) // one more for all others
	thinners := make([]*thinner, lanes)
	for i := range thinners {
		thinners[i] = newThinner(n.Window, max(most*4/lanes, leastEvents))
	}
	for i, p := range pods {
		index[p.name] = min(i, room)
	}
	each(func(i int, m Mark) { thinners[i].add(m) })
	out := make([]Lane, lanes)
	for i, t := range thinners {
		out[i] = Lane{pods[i].name, Event, t.marks()}
	}
	if more := len(pods) - room; more > 0 {
		out[room].Name = parse.Plural(more, "more pod")
		byStart(out[room].Marks)
	}
	return out
}

// leastEvents is the minimum room for marks per pod.
const leastEvents = 20

// outranks reports whether m is kept rather than o: the longer relist, or the mark of greater
// weight.
func (m *Mark) outranks(o *Mark) bool {
	if a, b := m.Seconds, o.Seconds; m.Kind == Relist && a != nil && b != nil && *a != *b {
		return *a > *b
	}
	return m.Weight() > o.Weight()
}

// thinner reduces the marks added to it to about most, which is all that it holds. Up to half of
// them are long or bad ones, which are kept (except lines and events). Of the rest, one mark of the
// greatest weight remains for each of most/2 equal intervals of the window; its More counts the others.
type thinner struct {
	w    model.Window
	most int
	out  []Mark        // all of them while there are at most that many
	bins map[place]int // index in out; nil until then
	kept int
}

// place is an interval of the window, and the audit status of events, so that omitted ones can be
// counted by it.
type place struct {
	bin   int
	state string
}

func newThinner(w model.Window, most int) *thinner { return &thinner{w: w, most: most} }

func (t *thinner) add(m Mark) {
	if t.bins == nil {
		if t.out = append(t.out, m); len(t.out) > t.most {
			all := t.out
			t.out, t.bins = nil, make(map[place]int, t.most/2)
			for _, m := range all {
				t.put(m)
			}
		}
		return
	}
	t.put(m)
}

func (t *thinner) put(m Mark) {
	if t.kept < t.most/2 && m.Kind != Line && m.Kind != Event && m.Weight() > 1 { // half of the room is for these
		t.out = append(t.out, m)
		t.kept++
		return
	}
	span := max(t.w.End-t.w.Start, 1)
	bin := place{bin: int(float64(m.Start-t.w.Start) / float64(span) * float64(t.most/2))}
	if m.Kind == Event {
		bin.state = m.State
	}
	i, taken := t.bins[bin]
	switch {
	case !taken:
		t.bins[bin] = len(t.out)
		t.out = append(t.out, m)
	case m.outranks(&t.out[i]):
		m.More = t.out[i].More + 1
		t.out[i] = m
	default:
		t.out[i].More++
	}
}

// marks returns what remains, sorted by start if marks were omitted.
func (t *thinner) marks() []Mark {
	if t.bins != nil {
		byStart(t.out)
	}
	return t.out
}
