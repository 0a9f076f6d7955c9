package relist

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/pause"
)

// Step is the part of a relist that is stuck.
type Step string

// Steps.
const (
	StepList    Step = "list"
	StepInspect Step = "inspect"
	StepDeliver Step = "deliver"
	StepUnknown Step = "unknown"
)

// Episode is one continuous interval in which PLEG was unhealthy.
type Episode struct {
	ID             int
	Run            int
	LastStart      host.Instant   // start of the last relist that listed pods before the breach; unknown if none ever did
	LastStarts     []host.Instant // all last-seen starts in the interval, oldest first: it may span several relists
	Breach         int64          // LastStart + threshold
	FirstReport    int64          // first and last line that states an age (or "never")
	LastReport     int64
	Recovered      host.Instant // earliest proof of health again; unknown when none in the input
	RecoveredBasis string
	Threshold      time.Duration
	PeakAge        time.Duration
	Peak           host.Evidence // the line that states PeakAge
	Stepped        time.Duration // by how much the clock was set forward during the episode
	Reports        int           // lines that state an age above the threshold
	NeverReports   int           // "yet to be successful" lines, which state no age
	Never          bool          // no relist has succeeded since the process started
	StuckStep      Step
	StepBasis      string
	Counted        []int64 // when the relists or calls failed that StepBasis counts
	OnDemand       bool    // the relist that waited for its deadline was an on-demand one of a single pod, not one of the node
	NotReady       *host.Span
	Whole          bool // the log is shown to be complete: what it lacks did not happen
	Partial        bool // the log of the process is a selection or lost lines, so that a missing line proves nothing
	Evidence       []host.Evidence
}

// episodes returns the disjoint intervals in which PLEG was unhealthy, sorted by start.
func episodes(n *Known, a *Account, groups []*LastSeen) []Episode {
	w, complete := newEpisodeBuilder(n), n.Witness
	var out []Episode
	byRun := map[int][]*LastSeen{}
	for _, g := range groups {
		byRun[g.Run] = append(byRun[g.Run], g)
	}
	for run := -1; run < len(w.s.Runs); run++ {
		out = append(out, w.run(run, byRun[run])...)
	}
	slices.SortStableFunc(out, func(a, b Episode) int { return cmp.Compare(a.Breach, b.Breach) })
	out = append(out, w.unreported(a.Relists, out)...)
	if e, ok := w.undated(); ok {
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Episode) int { return cmp.Compare(a.Breach, b.Breach) })
	if out = w.few(out, parse.Many); w.left > 0 {
		a.Warnings = append(a.Warnings, parse.Counted(out[0].Evidence[0].Where(), w.left+len(out), "episode", len(out), "the first, the last and those of the greatest ages"))
	}
	for i := range out {
		out[i].ID = i + 1
		if i > 0 {
			trim(&out[i-1], &out[i])
		}
	}
	for i := range out {
		out[i].NotReady, out[i].Partial = notReady(a.Ready, &out[i], Over(out, i)), complete.Picks(out[i].Run)
		out[i].Whole = complete.Trusts(out[i].Run)
	}
	return out
}

// trim keeps neighboring episodes disjoint: a ends when b begins. The proof of recovery of a may be dated after
// the breach of b but before b's first report; a is then cut at b's breach. That a newer relist had listed pods
// by then proves no recovery: its list call may have taken longer than the threshold.
func trim(a, b *Episode) {
	switch {
	case a.Breach == 0 || a.Recovered.Known() && a.Recovered.At <= b.Breach:
	case a.Run != b.Run:
		a.Recovered, a.RecoveredBasis = host.Instant{}, "the kubelet process ended while PLEG was unhealthy"
	case a.Recovered.Known() && a.Recovered.At <= max(b.Breach, b.FirstReport):
		lo := min(a.Recovered.At-int64(a.Recovered.Slack), b.Breach)
		a.Recovered = host.Instant{At: b.Breach, Slack: time.Duration(b.Breach - lo)}
	default:
		a.Recovered, a.RecoveredBasis = host.Instant{}, "no proof of health between the last report and the next stretch"
	}
}

// Over returns when episode i was over: PLEG had recovered, or it was unhealthy because of another relist. It
// returns 0 if neither is known.
func Over(all []Episode, i int) int64 {
	if at := all[i].Recovered.At; at != 0 || all[i].Breach == 0 || i+1 == len(all) {
		return at
	}
	return all[i+1].Breach
}

// episodeBuilder builds episodes and finds when PLEG was healthy again.
type episodeBuilder struct {
	n     *Known
	s     *kubelet.Log
	cover *kubelet.Coverage
	log   *kubelet.Witness // where the log is complete

	nevers map[int][]kubelet.Saying // "yet to be successful" lines by run
	left   int                      // number of episodes left out
}

func newEpisodeBuilder(n *Known) *episodeBuilder {
	s := n.Log
	w := &episodeBuilder{n: n, s: s, cover: s.Cover, log: n.Witness, nevers: map[int][]kubelet.Saying{}}
	for _, t := range s.Nevers {
		w.nevers[t.Run] = append(w.nevers[t.Run], t)
	}
	return w
}

// run returns the episodes of one kubelet process.
func (w *episodeBuilder) run(run int, mine []*LastSeen) []Episode {
	var out []Episode
	for i := 0; i < len(mine); {
		j := i + 1
		for j < len(mine) && w.unbroken(mine[j-1], mine[j]) && !(w.n.Kubelet.ThresholdSet && mine[j].Lines[0].Age < w.n.Kubelet.Threshold) { // an age below the threshold of the option
			j++
		}
		if e := w.episode(run, mine[i:j]); e.Breach <= e.LastReport || !w.n.Kubelet.ThresholdSet { // otherwise no line exceeds the threshold set by the option
			out = w.few(append(out, e), 2*parse.Many)
		}
		i = j
	}
	if e, ok := w.never(run); ok {
		out = append([]Episode{e}, out...)
	}
	return out
}

// few reduces all to parse.Many episodes if there are more than most.
func (w *episodeBuilder) few(all []Episode, most int) []Episode {
	if len(all) <= most {
		return all
	}
	w.left += len(all) - parse.Many
	return parse.Weightiest(all, parse.Many, func(e *Episode) int64 { return int64(e.PeakAge) })
}

// limit returns the threshold in force for a group.
func (w *episodeBuilder) limit(g *LastSeen) time.Duration {
	if g.Limit > 0 && !w.n.Kubelet.ThresholdSet {
		return g.Limit
	}
	return w.n.Kubelet.Threshold
}

// unbroken reports whether PLEG was never healthy between the lines that name a and those that name the newer
// relist b. Either the list call of b outlasted the threshold, or, as far as the log shows, the sync loop
// skipped every iteration from a to b.
func (w *episodeBuilder) unbroken(a, b *LastSeen) bool {
	if b.Stepped != 0 || w.outlasted(a, b) {
		return true
	}
	return a.Lines[len(a.Lines)-1].Skip && b.Lines[0].Skip && b.First()-a.Last() <= int64(kubelet.BackoffMax+kubelet.BackoffLate)
}

// outlasted reports whether the list call of b returned only after b was past the threshold. It returned after
// the last line that named a, which may already prove it. Otherwise, if the sync loop was blocked all the
// while, the node status in a complete log proves it: the node became not ready once, with no sign that it was
// ready in between, and nothing reported b as soon as it passed the threshold, as a healthy loop would have
// done.
func (w *episodeBuilder) outlasted(a, b *LastSeen) bool {
	past := b.Lo + int64(w.limit(b))
	switch {
	case past <= a.Last():
		return true
	case b.Loose || b.First()-past < int64(2*kubelet.TurnMax) || slices.ContainsFunc(a.Lines, func(l kubelet.Age) bool { return l.Skip }):
		return false // a skipping loop misses an iteration only if PLEG is healthy
	case w.n.Kubelet.Verbosity < 2 || !w.log.Trusts(a.Run) || !w.log.Whole(a.Last(), b.First()):
		return false // the line that reports the node ready again may be missing
	}
	ns, became := w.s.ReadyLines, int64(0)
	i, _ := slices.BinarySearchFunc(ns, a.First()-int64(kubelet.LayerGap), func(l kubelet.ReadyLine, at int64) int { return cmp.Compare(l.At, at) })
	for ; i < len(ns) && ns[i].At <= b.First()+int64(kubelet.LayerGap); i++ {
		l := &ns[i]
		switch {
		case l.Run != a.Run || !l.Status:
		case l.Ready || became != 0 && l.At-became > int64(kubelet.LayerGap):
			return false // the node was ready in between
		case became == 0:
			became = l.At
		}
	}
	return became != 0 && became < b.First()-int64(kubelet.LayerGap)
}

// episode describes one interval, over the groups that it spans.
func (w *episodeBuilder) episode(run int, gs []*LastSeen) Episode {
	last := gs[len(gs)-1]
	e := Episode{Run: run, LastStart: gs[0].Start(), Threshold: w.limit(last)}
	e.Breach = e.LastStart.At + int64(w.limit(gs[0]))
	e.FirstReport, e.LastReport = gs[0].First(), last.Last()
	if _, ill := w.n.Limit(run, e.LastStart.At); ill > e.Breach && w.n.Kubelet.EventedSends() {
		e.Breach = min(ill, e.FirstReport) // the evented PLEG, whose threshold is longer, may have relisted until then
	}
	for _, g := range gs {
		e.LastStarts = append(e.LastStarts, g.Start())
		e.Reports, e.Stepped = e.Reports+len(g.Lines), e.Stepped+g.Stepped
		e.FirstReport = min(e.FirstReport, g.First())
		e.LastReport = max(e.LastReport, g.Last())
		for _, a := range g.Lines {
			if a.Age > e.PeakAge {
				e.PeakAge, e.Peak = a.Age, host.Evidence{Record: a.Record, Note: "last seen active " + parse.Least(a.Age) + " before this line, the longest age stated"}
			}
		}
	}
	if e.Recovered, e.RecoveredBasis = w.recovered(run, last, e.LastReport); e.Recovered.Known() {
		e.Recovered.Slack += e.Stepped // the time skipped by the clock step did not pass
	}
	e.Evidence = reports(gs, e.Peak)
	w.step(&e, gs)
	return e
}

// reports quotes the first and last line of each relist of the episode, and the line with the longest age.
func reports(gs []*LastSeen, peak host.Evidence) []host.Evidence {
	var out []host.Evidence
	seen := map[parse.Record]bool{}
	add := func(r parse.Record, note string) {
		if !seen[r] {
			seen[r] = true
			out = append(out, host.Evidence{Record: r, Note: note})
		}
	}
	for i, g := range gs {
		if i >= 3 && i < len(gs)-1 {
			continue // a flapping node: the first and last ones suffice
		}
		first := g.Lines[0]
		if g.Back != nil {
			first = g.Back[1] // by the clock of which the relist is dated
		}
		add(first.Record, "last seen active "+parse.Least(first.Age)+" before this line: the relist of "+clock(g.Start().At))
		if last := g.Lines[len(g.Lines)-1].Record; last != peak.Record {
			add(last, "last report")
		}
	}
	if peak.Record != nil {
		add(peak.Record, peak.Note)
	}
	return out
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000 UTC") }

// never returns the episode in which no relist of the run had succeeded, if it lasted longer than a start may.
func (w *episodeBuilder) never(run int) (Episode, bool) {
	from, breaks := int64(0), []int64(nil)
	if run >= 0 {
		from = cmp.Or(w.s.Runs[run].Loop, w.s.Runs[run].Start.At)
	} else {
		breaks = slices.Sorted(slices.Values(append(w.s.Breaks(), w.n.Parted...)))
	}
	x, ok := pause.LongestNever(w.s, w.nevers[run], from, breaks)
	if !ok || !x.Long() {
		return Episode{}, false
	}
	first, last := x.Ends()
	e := Episode{Run: run, Never: true, Breach: x.From, FirstReport: first.At, LastReport: last.At, Stepped: x.Doubt,
		NeverReports: len(x.Lines), Threshold: w.n.Kubelet.Threshold,
		Evidence: []host.Evidence{{Record: first.Line, Note: "no relist has succeeded yet"}, {Record: last.Line, Note: "still no relist has succeeded"}}}
	g := &LastSeen{Run: run, Lo: x.From, Hi: x.From, Lines: []kubelet.Age{{At: last.At, Run: run, Res: last.Line.When().Res.Duration(), Record: last.Line}}}
	if e.Recovered, e.RecoveredBasis = w.recovered(run, g, last.At); e.Recovered.Known() {
		e.Recovered.Slack += e.Stepped
	}
	w.step(&e, nil)
	return e, true
}

// undated makes one episode of the reports without a time: pasted lines whose header was cut off, event rows
// with relative ages.
func (w *episodeBuilder) undated() (Episode, bool) {
	e := Episode{Run: -1, StuckStep: StepUnknown, StepBasis: "the reports carry no time", Threshold: w.n.Kubelet.Threshold}
	told := w.s.Told()
	for _, a := range w.s.Ages {
		if a.At != 0 || told[a.Age] {
			continue
		}
		told[a.Age] = a.Exact()
		e.Reports++
		if a.Age > e.PeakAge {
			e.PeakAge, e.Peak = a.Age, host.Evidence{Record: a.Record, Note: "the longest age stated"}
		}
		if a.Limit > 0 {
			e.Threshold = a.Limit
		}
		if len(e.Evidence) < 3 {
			e.Evidence = append(e.Evidence, host.Evidence{Record: a.Record, Note: "no time: the age is all that it tells"})
		}
	}
	return e, e.Reports > 0
}

// notReady returns the NotReady interval that belongs to the episode: one that began in it or lasted into it.
// over is when the episode ended; 0 if unknown.
func notReady(changes []kubelet.ReadyChange, e *Episode, over int64) *host.Span {
	if e.Breach == 0 {
		return nil
	}
	end := over + int64(10*time.Second) // the node status is computed every 10 s
	if over == 0 {
		end = math.MaxInt64
	}
	// Changes alternate, so only the last one before the breach and the two after it can matter.
	i, _ := slices.BinarySearchFunc(changes, e.Breach+1, func(c kubelet.ReadyChange, at int64) int { return cmp.Compare(c.At, at) })
	for i = max(i-1, 0); i < len(changes) && changes[i].At <= end; i++ {
		if changes[i].Ready {
			continue
		}
		sp := &host.Span{From: changes[i].At}
		if i+1 < len(changes) {
			sp.To = changes[i+1].At
		}
		if sp.To == 0 || sp.To > e.Breach {
			return sp
		}
	}
	return nil
}
