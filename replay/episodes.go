package replay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// startUp is how long a kubelet may take for its first relist before "yet to
// be successful" is more than the transient of every start.
const startUp = 60 * time.Second

// episodes finds the stretches in which PLEG was unhealthy, by start, disjoint.
func episodes(n *Node, s *found, groups []*group, complete *witness) []Episode {
	w := newHealer(n, s, complete)
	var out []Episode
	byRun := map[int][]*group{}
	for _, g := range groups {
		byRun[g.run] = append(byRun[g.run], g)
	}
	for run := -1; run < len(s.runs); run++ {
		out = append(out, w.run(run, byRun[run])...)
	}
	slices.SortStableFunc(out, func(a, b Episode) int { return cmp64(a.Breach, b.Breach) })
	out = append(out, w.unreported(n.Relists, out)...)
	if e, ok := w.undated(); ok {
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Episode) int { return cmp64(a.Breach, b.Breach) })
	for i := range out {
		out[i].ID = i + 1
		if i > 0 {
			trim(&out[i-1], &out[i])
		}
	}
	for i := range out {
		out[i].NotReady = notReady(n.Ready, &out[i])
	}
	return out
}

// trim keeps neighbours disjoint: an episode is over when the next one begins.
func trim(a, b *Episode) {
	if a.Breach == 0 || a.Recovered.Known() && a.Recovered.At <= b.Breach {
		return
	}
	if a.Run != b.Run {
		a.Recovered = Instant{}
		a.RecoveredBasis = "the kubelet process ended while PLEG was unhealthy"
		return
	}
	lo := max(a.LastReport, a.Breach)
	a.Recovered = between(min(lo, b.Breach), b.Breach)
	a.Recovered = Instant{At: b.Breach, Slack: 2 * a.Recovered.Slack}
	a.RecoveredBasis = "a newer relist was last seen active before the next stretch began"
}

// healer finds when PLEG was healthy again.
type healer struct {
	n     *Node
	s     *found
	cover *coverage
	log   *witness // where it is complete

	nevers map[int][]saying // by run
}

func newHealer(n *Node, s *found, complete *witness) *healer {
	w := &healer{n: n, s: s, cover: s.cover, log: complete, nevers: map[int][]saying{}}
	for _, t := range s.nevers {
		w.nevers[t.run] = append(w.nevers[t.run], t)
	}
	return w
}

// run finds the episodes of one run of the kubelet.
func (w *healer) run(run int, mine []*group) []Episode {
	var out []Episode
	for i := 0; i < len(mine); {
		j := i + 1
		for j < len(mine) && w.unbroken(mine[j-1], mine[j]) {
			j++
		}
		var next *group
		if j < len(mine) {
			next = mine[j]
		}
		out = append(out, w.episode(run, mine[i:j], next))
		i = j
	}
	if e, ok := w.never(run); ok {
		out = append([]Episode{e}, out...)
	}
	return out
}

// limit is the threshold in force for a group.
func (w *healer) limit(g *group) time.Duration {
	if g.limit > 0 && !w.n.Kubelet.thresholdSet {
		return g.limit
	}
	return w.n.Kubelet.Threshold
}

// unbroken reports whether PLEG was never healthy between the lines that name
// a and those that name the newer relist b: the list call of b outlasted the
// threshold, or, for all that the log shows, the sync loop went on skipping from
// a to b without missing a turn.
func (w *healer) unbroken(a, b *group) bool {
	if w.outlasted(a, b) {
		return true
	}
	return a.lines[len(a.lines)-1].skip && b.lines[0].skip && b.first()-a.last() <= int64(backoffMax+backoffLate)
}

// outlasted reports whether the list of b returned when b was past the
// threshold already. It returned after the last line that named a, which may
// tell. Else, where the sync loop was blocked all the while, the node tells: it
// was not ready and did not become so, and nothing reported b as soon as it
// passed the threshold, as a loop that had been healthy would have done.
func (w *healer) outlasted(a, b *group) bool {
	past := b.lo + int64(w.limit(b))
	switch {
	case past <= a.last():
		return true
	case b.loose || b.first()-past < int64(2*turnMax) || slices.ContainsFunc(a.lines, func(l ageLine) bool { return l.skip }):
		return false // a loop that skips misses no turn unless PLEG is healthy
	case w.n.Kubelet.Verbosity < 2:
		return false // no line would say that the node is ready again
	}
	ns := w.s.node
	i, _ := slices.BinarySearchFunc(ns, b.first()+int64(layerGap), func(l nodeLine, at int64) int { return cmp64(l.at, at) })
	for i--; i >= 0 && ns[i].at >= a.first()-int64(layerGap); i-- {
		if l := &ns[i]; l.run == a.run && l.status {
			return !l.ready && l.at < b.first()-int64(layerGap)
		}
	}
	return false
}

// episode describes one stretch, over the groups that it spans.
func (w *healer) episode(run int, gs []*group, next *group) Episode {
	last := gs[len(gs)-1]
	e := Episode{Run: run, LastStart: gs[0].start(), Threshold: w.limit(last)}
	e.Breach = e.LastStart.At + int64(w.limit(gs[0]))
	e.FirstReport, e.LastReport = gs[0].first(), last.last()
	for _, g := range gs {
		e.LastStarts = append(e.LastStarts, g.start())
		e.Reports += len(g.lines)
		e.FirstReport = min(e.FirstReport, g.first())
		e.LastReport = max(e.LastReport, g.last())
		for _, a := range g.lines {
			e.PeakAge = max(e.PeakAge, a.age)
		}
	}
	e.Recovered, e.RecoveredBasis = w.recovered(run, last, next, e.LastReport)
	e.StuckStep, e.StepBasis, e.Evidence = w.step(&e, gs)
	e.Evidence = append(reports(gs), e.Evidence...)
	return e
}

// reports quotes the first and last line of each relist of the stretch, and
// the line of the longest age.
func reports(gs []*group) []Evidence {
	var out []Evidence
	seen := map[parse.Record]bool{}
	add := func(a ageLine, note string) {
		if !seen[a.rec] {
			seen[a.rec] = true
			out = append(out, Evidence{Record: a.rec, Note: note})
		}
	}
	for i, g := range gs {
		if i >= 3 && i < len(gs)-1 {
			continue // a flapping node: the first and last say it all
		}
		peak := g.lines[0]
		for _, a := range g.lines {
			if a.age > peak.age {
				peak = a
			}
		}
		add(g.lines[0], "last seen active "+g.lines[0].age.String()+" before this line: the relist of "+clock(g.start().At))
		add(peak, "longest age")
		add(g.lines[len(g.lines)-1], "last report")
	}
	return out
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000 UTC") }

// never finds the stretch in which no relist of the run had succeeded, when it
// is more than the transient of a start.
func (w *healer) never(run int) (Episode, bool) {
	lines := w.nevers[run]
	if len(lines) == 0 {
		return Episode{}, false
	}
	first, last := lines[0].at, lines[len(lines)-1].at
	from := first
	if run >= 0 {
		if r := &w.s.runs[run]; r.loop != 0 {
			from = r.loop
		} else if r.Start.Known() {
			from = r.Start.At
		}
	}
	if last-from <= int64(startUp) {
		return Episode{}, false
	}
	e := Episode{Run: run, Never: true, Breach: from, FirstReport: first, LastReport: last,
		NeverReports: len(lines), Threshold: w.n.Kubelet.Threshold,
		Evidence: []Evidence{{Record: lines[0].ev, Note: "no relist has succeeded yet"}, {Record: lines[len(lines)-1].ev, Note: "still none"}}}
	g := &group{run: run, lo: from, hi: from, lines: []ageLine{{at: last, run: run, rec: lines[len(lines)-1].ev}}}
	e.Recovered, e.RecoveredBasis = w.recovered(run, g, nil, last)
	var ev []Evidence
	e.StuckStep, e.StepBasis, ev = w.step(&e, nil)
	e.Evidence = append(e.Evidence, ev...)
	return e, true
}

// undated makes one episode of the reports that carry no time at all: pasted
// lines whose header was cut, event rows with relative ages.
func (w *healer) undated() (Episode, bool) {
	e := Episode{Run: -1, StuckStep: StepUnknown, StepBasis: "the reports carry no time", Threshold: w.n.Kubelet.Threshold}
	told := w.s.told()
	for _, a := range w.s.ages {
		if a.at != 0 || told[a.age] {
			continue
		}
		told[a.age] = a.exact()
		e.Reports++
		e.PeakAge = max(e.PeakAge, a.age)
		if a.limit > 0 {
			e.Threshold = a.limit
		}
		if len(e.Evidence) < 3 {
			e.Evidence = append(e.Evidence, Evidence{Record: a.rec, Note: "no time: the age is all that it tells"})
		}
	}
	return e, e.Reports > 0
}

// notReady finds the stretch of NotReady that belongs to the episode: one that
// began in it, or lasted into it.
func notReady(changes []ReadyChange, e *Episode) *Span {
	if e.Breach == 0 {
		return nil
	}
	end := e.Recovered.At + int64(10*time.Second) // the node status is computed every ten seconds
	if !e.Recovered.Known() {
		end = math.MaxInt64
	}
	// Changes alternate, so the last one before the breach and the two after
	// it are all that can matter.
	i, _ := slices.BinarySearchFunc(changes, e.Breach+1, func(c ReadyChange, at int64) int { return cmp64(c.At, at) })
	for i = max(i-1, 0); i < len(changes) && changes[i].At <= end; i++ {
		if changes[i].Ready {
			continue
		}
		sp := &Span{From: changes[i].At}
		if i+1 < len(changes) {
			sp.To = changes[i+1].At
		}
		if sp.To == 0 || sp.To > e.Breach {
			return sp
		}
	}
	return nil
}

// times prints a count and a noun.
func times(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
