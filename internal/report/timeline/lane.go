package timeline

import (
	"cmp"
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
// then one per source and one per pod. Long lanes are thinned to about most marks; see Thin.
func Lanes(n *model.Node, most int) []Lane {
	all := Collect(Relists, n)
	dated := slices.DeleteFunc(slices.Clone(all), func(m Mark) bool { return m.Kind != Relist || m.Start == 0 })
	undated := slices.DeleteFunc(all, func(m Mark) bool { return m.Kind == Relist })
	out := []Lane{
		{"node Ready", Ready, Collect(Readies, n)},
		{"PLEG health", Health, Collect(Healths, n)},
		{"episodes", Episode, Collect(Episodes, n)},
		{"relists", Relist, Thin(dated, n.Window, most)},
		{"undated relists", Bounded, undated},
		{"CRI failures", Failed, Thin(Collect(FailedCalls, n), n.Window, most)},
		{"runtime requests", Request, Thin(Collect(Requests, n), n.Window, most)},
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
	var out []Lane
	n.History.Lines.Each(func(l model.Line) {
		if l.Bulk {
			return
		}
		i := slices.IndexFunc(out, func(x Lane) bool { return x.Name == l.Source })
		if i < 0 {
			i, out = len(out), append(out, Lane{Name: l.Source, Kind: Line})
		}
		out[i].Marks = append(out[i].Marks, Mark{Kind: Line, ID: l.IDs, Start: l.At, State: string(rune(l.Severity)), Proof: l.Evidence})
	})
	slices.SortFunc(out, func(a, b Lane) int { return cmp.Compare(a.Name, b.Name) })
	return thinned(out, n.Window, most)
}

// Pods returns a lane for the events of each pod: those with problems first, then the busiest.
// Together they have about four times most marks; if that leaves too few per pod, the last pods
// share a lane.
func Pods(n *model.Node, most int) []Lane {
	var out []Lane
	index, trouble := map[string]int{}, map[string]int{}
	for _, m := range Collect(Events, n) {
		if m.Start == 0 {
			continue
		}
		i, known := index[m.Pod]
		if !known {
			i = len(out)
			index[m.Pod] = i
			out = append(out, Lane{m.Pod, Event, nil})
		}
		out[i].Marks = append(out[i].Marks, m)
		if m.Weight() > 1 {
			trouble[m.Pod]++
		}
	}
	slices.SortFunc(out, func(a, b Lane) int {
		return cmp.Or(cmp.Compare(trouble[b.Name], trouble[a.Name]), cmp.Compare(len(b.Marks), len(a.Marks)), cmp.Compare(a.Name, b.Name))
	})
	if room := max(most*4/leastEvents, 1); len(out) > room { // one more lane for all others
		rest := Lane{parse.Plural(len(out)-room, "more pod"), Event, nil}
		for _, l := range out[room:] {
			rest.Marks = append(rest.Marks, l.Marks...)
		}
		byStart(rest.Marks)
		out = append(out[:room], rest)
	}
	return thinned(out, n.Window, max(most*4/max(len(out), 1), leastEvents))
}

// leastEvents is the minimum room for marks per pod.
const leastEvents = 20

func thinned(lanes []Lane, w model.Window, most int) []Lane {
	for i := range lanes {
		lanes[i].Marks = Thin(lanes[i].Marks, w, most)
	}
	return lanes
}

// outranks reports whether m is kept rather than o: the longer relist, or the mark of greater
// weight.
func (m *Mark) outranks(o *Mark) bool {
	if a, b := m.Seconds, o.Seconds; m.Kind == Relist && a != nil && b != nil && *a != *b {
		return *a > *b
	}
	return m.Weight() > o.Weight()
}

// Thin reduces ms to about most marks. Up to half of them are long or bad ones, which are kept
// (except lines and events). Of the rest, one mark of the greatest weight remains for each of
// most/2 equal intervals of the window; its More counts the others.
func Thin(ms []Mark, w model.Window, most int) []Mark {
	if len(ms) <= most {
		return ms
	}
	span := max(w.End-w.Start, 1)
	type place struct {
		bin   int
		state string
	}
	bins := make(map[place]int, most/2) // index in out
	var out []Mark
	kept := 0
	for _, m := range ms {
		if kept < most/2 && m.Kind != Line && m.Kind != Event && m.Weight() > 1 { // half of the room is for these
			out = append(out, m)
			kept++
			continue
		}
		bin := place{bin: int(float64(m.Start-w.Start) / float64(span) * float64(most/2))}
		if m.Kind == Event {
			bin.state = m.State // so that omitted events can be counted by audit status
		}
		i, taken := bins[bin]
		switch {
		case !taken:
			bins[bin] = len(out)
			out = append(out, m)
		case m.outranks(&out[i]):
			m.More = out[i].More + 1
			out[i] = m
		default:
			out[i].More++
		}
	}
	byStart(out)
	return out
}
