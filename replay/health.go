package replay

import (
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// readiness lists the changes of the node's Ready condition, each once though
// several lines tell of it.
func readiness(s *found) []ReadyChange {
	var out []ReadyChange
	for _, l := range s.node {
		if k := len(out); k > 0 && out[k-1].Ready == l.ready {
			if out[k-1].Reason == "" || len(l.reason) > 0 && out[k-1].Reason == "NodeNotReady" {
				out[k-1].Reason = l.reason
			}
			continue
		}
		out = append(out, ReadyChange{At: l.at, Ready: l.ready, Reason: l.reason, Evidence: Evidence{Record: l.rec()}})
	}
	return out
}

func (l *nodeLine) rec() parse.Record {
	if l.ev != nil {
		return l.ev
	}
	return l.obj
}

// health lays the episodes, the time without any relist and the outages of the
// runtime out as one sequence of spans over the window. A kubelet that logs and
// reports nothing is healthy: it reports unhealthiness at every verbosity.
func health(n *Node, s *found) []HealthSpan {
	if len(s.runs) == 0 || n.Window.Start == 0 {
		return nil
	}
	h := &painter{}
	for i := range s.runs {
		r := &s.runs[i]
		from := r.First
		if from == 0 {
			continue
		}
		h.paint(from, max(r.Last, from), Healthy)
	}
	for _, t := range s.nevers {
		if t.run >= 0 {
			h.never(s.runs[t.run].First, t.at, t.run)
		}
	}
	h.outages(s)
	for i := range n.Episodes {
		h.episode(n, &n.Episodes[i])
	}
	return h.spans(n.Window)
}

// painter keeps disjoint spans; later paint covers earlier.
type painter struct {
	layers []HealthSpan
	nevers map[int]int // layer by run
}

// never paints from the start of a run to a line that says that no relist has
// succeeded yet; the last such line of the run counts.
func (p *painter) never(from, to int64, run int) {
	if i, ok := p.nevers[run]; ok {
		p.layers[i].To = max(p.layers[i].To, to)
		return
	}
	if to <= from {
		return
	}
	if p.nevers == nil {
		p.nevers = map[int]int{}
	}
	p.nevers[run] = len(p.layers)
	p.paint(from, to, NeverRelisted)
}

func (p *painter) paint(from, to int64, st HealthState) {
	if to > from {
		p.layers = append(p.layers, HealthSpan{Span{From: from, To: to}, st})
	}
}

func (p *painter) episode(n *Node, e *Episode) {
	if e.Breach == 0 {
		return
	}
	to := e.Recovered.At
	if to == 0 {
		to = max(e.LastReport, e.Breach)
		if e.Run >= 0 && e.Run+1 < len(n.Runs) {
			to = max(to, n.Runs[e.Run].Last)
		}
	}
	st := Unhealthy
	if e.Never {
		st = NeverRelisted
	}
	p.paint(e.Breach, to, st)
}

// outages paints stretches in which the kubelet called the runtime down; the
// loop says so every five seconds at most.
func (p *painter) outages(s *found) {
	for i := 0; i < len(s.down); {
		j := i
		for j+1 < len(s.down) && s.down[j+1].at-s.down[j].at <= int64(2*backoffMax) {
			j++
		}
		p.paint(s.down[i].at, s.down[j].at+1, RuntimeDown)
		i = j + 1
	}
}

// spans flattens the layers in one sweep; what no layer covers is unknown.
func (p *painter) spans(w Window) []HealthSpan {
	type edge struct {
		at    int64
		layer int
		open  bool
	}
	var edges []edge
	for i, l := range p.layers {
		edges = append(edges, edge{l.From, i, true}, edge{l.To, i, false})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp64(a.at, b.at) })
	var out []HealthSpan
	add := func(from, to int64, st HealthState) {
		if k := len(out); k > 0 && out[k-1].State == st && out[k-1].To == from {
			out[k-1].To = to
		} else if to > from {
			out = append(out, HealthSpan{Span{From: from, To: to}, st})
		}
	}
	top := &stack{}
	at := w.Start
	for _, e := range edges {
		if e.at > at {
			st := HealthUnknown
			if k := top.top(); k >= 0 {
				st = p.layers[k].State
			}
			add(at, e.at, st)
			at = e.at
		}
		top.set(e.layer, e.open)
	}
	if w.End > at {
		add(at, w.End, HealthUnknown)
	}
	return out
}

// stack tells the highest open layer; closing is lazy, so that a sweep over n
// layers costs O(n log n).
type stack struct {
	heap []int
	open map[int]bool
}

func (s *stack) set(layer int, open bool) {
	if s.open == nil {
		s.open = map[int]bool{}
	}
	if !open {
		delete(s.open, layer)
		return
	}
	s.open[layer] = true
	i, _ := slices.BinarySearch(s.heap, layer)
	s.heap = slices.Insert(s.heap, i, layer)
}

func (s *stack) top() int {
	for len(s.heap) > 0 {
		k := s.heap[len(s.heap)-1]
		if s.open[k] {
			return k
		}
		s.heap = s.heap[:len(s.heap)-1]
	}
	return -1
}

// gapMin is the shortest silence of the kubelet that the report lists; an idle
// kubelet at verbosity 2 writes at least once in some minutes.
const gapMin = 2 * time.Minute

// gaps lists where the log says nothing: silences of the kubelet with the
// marker that explains them, lost lines, cut files.
func gaps(n *Node) []LogGap {
	var out []LogGap
	var reasons []*parse.Marker
	for _, m := range n.Markers {
		if why := gapWhy(m.Kind); why != "" && why != "rate-limit" && m.Basis != parse.NoTime {
			reasons = append(reasons, m)
		}
	}
	slices.SortStableFunc(reasons, func(a, b *parse.Marker) int { return cmp64(a.At, b.At) })
	for _, s := range silences(n) {
		g := LogGap{Span: Span{From: s.Last.At, To: s.Next.At}, Why: "silence", Evidence: []Evidence{{Record: s.last}, {Record: s.next}}}
		for len(reasons) > 0 && reasons[0].At < s.Last.At {
			reasons = reasons[1:]
		}
		if len(reasons) > 0 && reasons[0].At <= s.Next.At {
			g.Why, g.Evidence = gapWhy(reasons[0].Kind), append(g.Evidence, Evidence{Record: reasons[0]})
		}
		out = append(out, g)
	}
	for _, m := range n.Markers {
		if m.Basis != parse.NoTime && (m.Kind == parse.MarkSuppressed || m.Kind == parse.MarkTruncated || m.Kind == parse.MarkNull) {
			out = append(out, LogGap{Span: Span{From: m.At, To: m.At}, Why: gapWhy(m.Kind), Evidence: []Evidence{{Record: m}}})
		}
	}
	slices.SortStableFunc(out, func(a, b LogGap) int { return cmp64(a.From, b.From) })
	return out
}

func gapWhy(k parse.MarkerKind) string {
	switch k {
	case parse.MarkReboot:
		return "reboot"
	case parse.MarkSuppressed:
		return "rate-limit"
	case parse.MarkRotated:
		return "rotation"
	case parse.MarkTruncated, parse.MarkNull:
		return "truncated"
	}
	return ""
}

// silence is a stretch in which no file holds a line of the kubelet.
type silence struct {
	parse.Gap
	last, next markLine
}

// silences intersects the silences of all files that hold kubelet lines.
func silences(n *Node) []silence {
	type piece struct {
		from, to int64
		a, b     markLine
	}
	var cover []piece // stretches in which somebody wrote, from the gaps between
	for _, c := range n.Coverage {
		if c.Origin.Source != parse.SrcKubelet || c.FirstLine.Basis == parse.NoTime || c.LastLine.Basis == parse.NoTime {
			continue
		}
		first, last := c.FirstLine, c.LastLine
		if first.At > last.At {
			first, last = last, first
		}
		from := first
		gs := slices.Clone(c.Gaps)
		for i := range gs {
			if gs[i].Last.At > gs[i].Next.At {
				gs[i].Last, gs[i].Next = gs[i].Next, gs[i].Last
			}
		}
		slices.SortStableFunc(gs, func(a, b parse.Gap) int { return cmp64(a.Last.At, b.Last.At) })
		for _, g := range gs {
			if g.Next.At-g.Last.At >= int64(gapMin) {
				cover = append(cover, piece{from.At, g.Last.At, markLine{from}, markLine{g.Last}})
				from = g.Next
			}
		}
		cover = append(cover, piece{from.At, last.At, markLine{from}, markLine{last}})
	}
	slices.SortStableFunc(cover, func(a, b piece) int { return cmp64(a.from, b.from) })
	var out []silence
	for i := 1; i < len(cover); i++ {
		if cover[i].to < cover[i-1].to { // nested: keep the later end in front
			cover[i].to, cover[i].b = cover[i-1].to, cover[i-1].b
		}
		if cover[i].from-cover[i-1].to >= int64(gapMin) {
			out = append(out, silence{parse.Gap{Last: cover[i-1].b.Mark, Next: cover[i].a.Mark}, cover[i-1].b, cover[i].a})
		}
	}
	return out
}

// markLine makes a mark a record.
type markLine struct{ parse.Mark }

func (m markLine) Where() parse.Pos   { return m.Pos }
func (m markLine) When() parse.Stamp  { return m.Stamp }
func (m markLine) From() parse.Source { return parse.SrcKubelet }
func (m markLine) Quote() string      { return m.Text.String() }
