package kubelet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// A missing line proves something only if the log is shown to be complete: it continues in its own rhythm, it
// has ordinary lines besides those about PLEG, nothing says that lines were lost, and the pauses between the
// lines of a skipping sync loop are those of its backoff.
const (
	// habitLeast and habitMost bound the longest silence that counts as usual for a log. The rarest regular
	// lines of a kubelet come from one-minute tickers; a longer silence could hide a whole episode.
	habitLeast = 10 * time.Second
	habitMost  = 75 * time.Second
	// ordinaryLeast is the minimum number of lines without a signature that a process must have written, and
	// ordinaryShare their minimum share. In whole logs a third or more of the lines is ordinary; in lines
	// selected by a search for PLEG, errors and pods, at most a sixth (53 captures of four kubelet versions).
	ordinaryLeast = 30
	ordinaryShare = 0.25
	// TailMargin is how long before the end of a log silence stops proving health: the node status, computed
	// every 10 s, would report a breach by then.
	TailMargin = 12 * time.Second
)

// Witness says where the kubelet's log is complete.
type Witness struct {
	Holes  []host.Span // silences longer than usual and intervals with lost lines, oldest first, disjoint
	Dating []Mark      // the marks that date relists, and what was folded to get them
	Folded []parse.Warning
	runs   []sight
}

// sight is the evidence of completeness for one run.
type sight struct {
	filtered    bool  // its lines are a selection
	thinned     bool  // lines are missing here and there
	misses      bool  // a line may be missing
	begun       bool  // verbosity 5: each relist begins with its own line
	few         bool  // it has few lines
	errors      bool  // it has errors, or lines without a severity
	pace        int64 // usual pause between the starts of quick relists, in ns
	jitter      int64 // variation of pace
	least, most int64 // shortest and longest pause between the starts of quick relists
	quick       int64 // when several quick relists in a row had been seen, 0 if never
	slow        int64 // shortest usual pause between slow relists, 0 if none
}

// NewWitness looks for evidence that lines are missing.
func NewWitness(s *Log) *Witness {
	w := &Witness{Holes: s.holes(), runs: make([]sight, len(s.Runs))}
	cut := s.Broken || slices.ContainsFunc(s.Markers, func(m *parse.Marker) bool { return m.Kind == parse.MarkExcerpt })
	for i := range w.runs {
		w.runs[i].thinned = cut
	}
	w.pick(s)
	w.levels(s)
	w.thin(s)
	w.lists(s)
	w.combed(s)
	w.unstarted(s)
	w.fold(s.Marks, mostFailed)
	return w
}

// of returns the sight of a run, the zero value if there is none.
func (w *Witness) of(run int) sight {
	if run < 0 || run >= len(w.runs) {
		return sight{}
	}
	return w.runs[run]
}

// Quick returns when several quick relists in a row of the run had been seen, 0 if never.
func (w *Witness) Quick(run int) int64 { return w.of(run).quick }

// Trusts reports whether a missing line of the run can prove anything.
func (w *Witness) Trusts(run int) bool {
	return run >= 0 && run < len(w.runs) && !w.runs[run].filtered && !w.runs[run].thinned
}

// Whole reports whether the interval has no hole.
func (w *Witness) Whole(from, to int64) bool {
	i, _ := slices.BinarySearchFunc(w.Holes, from, func(h host.Span, at int64) int { return cmp.Compare(h.To, at) })
	return i == len(w.Holes) || w.Holes[i].From >= to
}

// Missing returns the longest part of an interval, in ns, that is a hole.
func (w *Witness) Missing(from, to int64) (most int64) {
	i, _ := slices.BinarySearchFunc(w.Holes, from, func(h host.Span, at int64) int { return cmp.Compare(h.To, at) })
	for ; i < len(w.Holes) && w.Holes[i].From < to; i++ {
		most = max(most, min(w.Holes[i].To, to)-max(w.Holes[i].From, from))
	}
	return most
}

// thin finds runs with missing lines of the skipping sync loop. While PLEG is unhealthy, the loop doubles its
// pause after each iteration, up to 5 s, and writes a line at each. A longer pause during one age, without a
// hole in the log, shows that lines were dropped.
func (w *Witness) thin(s *Log) {
	start := map[int64]int64{} // start of the last relist, by the time of the line
	for _, a := range s.Ages {
		if a.Skip && a.At != 0 {
			start[a.At] = a.At - int64(a.Age)
		}
	}
	for _, c := range s.Cuts {
		if _, aged := start[c.At]; !aged {
			start[c.At] = 0 // the age was cut off: consecutive such lines are about the same relist
		}
	}
	if len(start) == 0 {
		return // early return: there may be very many turns
	}
	var last, pause int64
	run := -1
	for _, t := range s.Turns {
		at, r := s.TurnAt(t), s.TurnRun(t)
		seen, ok := start[at]
		before, same := start[last]
		if !ok || r < 0 || r != run || !same || max(seen, before)-min(seen, before) >= int64(SameStart) {
			last, pause, run = at, 0, r
			continue
		}
		most := int64(BackoffMax)
		if pause != 0 {
			most = min(most, 2*pause+pause/2)
		}
		if d := at - last; (d > most+int64(2*BackoffLate) && d < int64(time.Minute) || betweenPauses(d)) && w.Whole(last, at) {
			w.runs[r].thinned = true
		}
		last, pause = at, at-last
	}
}

// betweenPauses reports whether d is no pause of a skipping sync loop: well over one backoff step and below the
// next.
func betweenPauses(d int64) bool {
	for p := int64(BackoffFirst); p < int64(BackoffMax); p *= 2 {
		if next := min(2*p, int64(BackoffMax)); d > p+int64(2*BackoffLate) && d < next-next/20 {
			return true
		}
	}
	return false
}

// lists finds runs with lines missing around list calls. The runtime client logs an error before the relist
// does. At verbosity 5 each relist logs its start, so there must be one between two failed lists; also between
// two that returned, except that image garbage collection lists all pods every five minutes, too.
func (w *Witness) lists(s *Log) {
	runs := make([]struct {
		begun, more int   // begun: relists that began; more: lists that returned beyond the first of each relist
		returned    bool  // the list of the last relist returned
		failed      int64 // when a list failed after the last start
	}, len(s.Runs))
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.Run < 0 {
			continue
		}
		x, n := &w.runs[m.Run], &runs[m.Run]
		switch {
		case m.Kind == host.KindRelisting:
			x.begun, n.failed, n.returned = true, 0, false
			n.begun++
		case m.Kind == host.KindRetrieved && n.begun > 0:
			if n.returned {
				n.more++
			}
			n.returned = true
		case m.Kind == host.KindListFail:
			k, _ := slices.BinarySearchFunc(s.Calls, m.At-int64(LayerGap), func(c Call, t int64) int { return cmp.Compare(c.Line.At, t) })
			x.thinned = x.thinned || k == len(s.Calls) || s.Calls[k].Line.At > m.At || n.failed != 0 && x.begun && w.Whole(n.failed, m.At)
			n.failed = m.At
		}
	}
	for run, n := range runs {
		w.runs[run].thinned = w.runs[run].thinned || n.more > 2 && 4*n.more > n.begun
	}
}

// QuickMost is the maximum distance between the starts of quick relists: a period, a late timer and some
// milliseconds of work.
const QuickMost = 1500 * time.Millisecond

// combed finds runs at verbosity 4 or 5 with lines missing here and there: most of the longer pauses between
// relist starts, or between lists, are whole multiples of the usual pause.
func (w *Witness) combed(s *Log) {
	type pauses struct {
		last  int64
		quick []int64
		long  []int64 // up to combFew usual pauses
		slow  []int64 // habitLeast or longer
		first int64   // when quickLeast quick pauses had been seen
	}
	runs := make([]pauses, len(s.Runs))
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.Run < 0 || m.Kind != host.KindRelisting && (m.Kind != host.KindRetrieved || w.runs[m.Run].begun) {
			continue
		}
		p := &runs[m.Run]
		switch d := m.At - p.last; {
		case p.last == 0 || !w.Whole(p.last, m.At):
		case d <= int64(QuickMost):
			if p.quick = append(p.quick, d); len(p.quick) == quickLeast {
				p.first = m.At
			}
		case d <= combFew*int64(QuickMost):
			p.long = append(p.long, d)
		case d >= int64(habitLeast):
			p.slow = append(p.slow, d)
		}
		p.last = m.At
	}
	for run := range runs {
		p, x := &runs[run], &w.runs[run]
		x.pace, x.jitter = int64(GenericPeriod+10*time.Millisecond), int64(combLate)
		if len(p.quick) > 0 {
			slices.Sort(p.quick)
			x.pace = p.quick[len(p.quick)/2]
			x.jitter = max(int64(combLate), p.quick[len(p.quick)*9/10]-x.pace)
			x.quick, x.least, x.most = p.first, p.quick[0], p.quick[len(p.quick)-1]
		}
		whole := 0
		for _, d := range p.long {
			if w.Comb(run, d) {
				whole++
			}
		}
		if slices.Sort(p.slow); len(p.slow) >= 4 && p.slow[len(p.slow)*2/3] < 2*p.slow[0] {
			x.slow = p.slow[0]
		}
		x.thinned, x.misses = x.thinned || whole >= 3 && whole > len(p.long)/2, whole > 0
	}
}

// Misses reports whether the start of a quick relist may be missing from the run: at least one pause was a
// whole multiple, two or more, of the usual one.
func (w *Witness) Misses(run int) bool { return w.of(run).misses }

// combMost is the largest multiple of the usual pause that Comb tests: any longer pause is near a multiple.
// combFew limits the longer pauses that combed uses.
const (
	combMost = 9
	combFew  = 4
)

// Comb reports whether a pause between the starts of two relists is a multiple of the usual one, so that the
// lines of quick relists may be missing from it.
func (w *Witness) Comb(run int, pause int64) bool {
	x := w.of(run)
	if x.pace == 0 {
		return false
	}
	k := (pause + x.pace/2) / x.pace
	off := pause - k*x.pace
	return k >= 2 && k <= combMost && max(off, -off) <= (k+1)*x.jitter
}

// Sum reports whether a pause between the starts of two relists may consist of several pauses usual for the
// run, quick or slow, so that a line may be missing from it.
func (w *Witness) Sum(run int, pause int64) bool {
	x := w.of(run)
	if pause >= int64(habitLeast) {
		return x.slow != 0 && pause >= 2*x.slow && pause < 4*x.slow
	}
	if x.least == 0 {
		return true
	}
	k := pause / x.least
	return k >= 2 && pause <= k*(x.most+int64(combLate))
}

// combLate is the minimum variation assumed for quick relists and their timers.
const combLate = 25 * time.Millisecond

// quickLeast is how many quick relists show that generic PLEG relists. Evented PLEG, which relists every five
// minutes, forces some at once when its stream breaks.
const quickLeast = 6

// Paced reports whether relists of the run followed each other a period apart, or did so before the given
// moment if it is not 0. A process that does so once continues to.
func (w *Witness) Paced(run int, before int64) bool {
	quick := w.of(run).quick
	return quick != 0 && (before == 0 || quick <= before)
}

// startFlags are flags that every kubelet has, in the order in which it logs all its flags.
var startFlags = []string{"cgroup-driver", "config", "event-qps", "feature-gates", "hostname-override", "max-pods", "root-dir", "runtime-request-timeout", "v"}

// startTexts are parts of lines that a kubelet writes before its sync loop starts and never again.
var startTexts = []string{`"Golang settings"`, "Validated CRI v1", "Filesystem UUIDs: ", "Machine: {", "Creating Container Manager object", "Creating Device Plugin manager",
	"Using root directory", "Adding static pod path", "Adding pod path", "Adding apiserver pod source", "Loaded volume plugin"}

// unstarted finds runs that have some start-up lines and lack others that every process writes (1.11 to 1.37):
// at verbosity 1 the flags (or those after the first one present), the start of the sync loop, and its first
// iteration, which skips because no relist has succeeded yet. The log may begin behind the flags of its first process.
func (w *Witness) unstarted(s *Log) {
	flags, begins := make([][]string, len(s.Runs)), make([]bool, len(s.Runs))
	for _, c := range s.Cover.list {
		if run := s.RunAt(c.FirstLine.At); run >= 0 {
			first, _ := inOrder(c.FirstLine, c.LastLine)
			text := first.Text.String()
			if _, flag, ok := strings.Cut(text, "FLAG: --"); ok {
				name, _, _ := strings.Cut(flag, "=")
				flags[run], begins[run] = append(flags[run], name), true
			}
			begins[run] = begins[run] || slices.ContainsFunc(startTexts, func(s string) bool { return strings.Contains(text, s) })
		}
	}
	for _, e := range s.profile {
		run := s.RunAt(e.At)
		if run < 0 || e.Basis == parse.NoTime {
			continue
		}
		if e.Is(parse.SigFlag) {
			flags[run] = append(flags[run], e.Field("name"))
		}
		begins[run] = begins[run] || e.Is(parse.SigFlag) || e.Is(parse.SigVersion) || e.Is(parse.SigGates) || e.Is(parse.SigRuntime)
	}
	for run := range s.Runs {
		r, x := &s.Runs[run], &w.runs[run]
		if len(flags[run]) > 0 {
			first := slices.Min(flags[run])
			x.thinned = x.thinned || slices.ContainsFunc(startFlags, func(f string) bool { return f > first && !slices.Contains(flags[run], f) })
		} else if run > 0 && begins[run] && r.Loop != 0 {
			x.thinned = x.thinned || slices.ContainsFunc(s.Coverage, func(c *parse.Coverage) bool { return c.Origin.PID == r.PID && c.MaxV > 0 })
		}
		switch {
		case r.Loop == 0:
			x.filtered = x.filtered || begins[run] && r.Last-r.First > int64(time.Minute)
		case r.Last-r.Loop >= int64(time.Minute):
			x.filtered = x.filtered || !slices.ContainsFunc(s.Turns[s.TurnFrom(r.Loop):s.TurnFrom(r.Loop+int64(TurnMax))], func(t Turn) bool {
				return s.TurnRun(t) == run && s.TurnKinds(t)&host.KindSkip != 0
			})
		}
	}
}

// brokenLooks is how many lines, spread over the log, are checked for a common length.
const brokenLooks = 256

// broken reports whether lines were cut off or wrapped at a fixed column: several of the same length end inside
// quotes. What matters may be in the missing parts.
func (s *Log) broken() bool {
	lines, at := s.Cover.lines, map[int]int{}
	for i := 0; i < len(lines); i += 1 + len(lines)/brokenLooks {
		text, _, _ := strings.Cut(s.Events[lines[i]].Text().String(), "\n")
		if text = strings.TrimRight(text, "\r"); (strings.Count(text, `"`)-strings.Count(text, `\"`))%2 == 0 {
			continue
		}
		if at[len(text)]++; at[len(text)] == 3 {
			return true
		}
	}
	return false
}

// Picks reports whether the run's lines are known to be incomplete. It returns false if there are too few lines
// to tell.
func (w *Witness) Picks(run int) bool {
	x := w.of(run)
	return x.thinned || x.filtered && !x.few
}

// Lossy reports whether lines of the run are missing here and there.
func (w *Witness) Lossy(run int) bool { return w.of(run).thinned }

// pick sets for each run whether its lines are a selection. Lines that several files hold are counted in each.
func (w *Witness) pick(s *Log) {
	type count struct{ lines, ordinary, varied int }
	counts := map[int]count{}
	for _, c := range s.Coverage {
		if c.Origin.Source == parse.SrcKubelet {
			for _, pid := range slices.Compact([]int{0, c.Origin.PID}) { // at 0 those of all
				x := counts[pid]
				if x.lines, x.ordinary = x.lines+c.Lines, x.ordinary+c.Lines-c.Kept; len(c.Common) == 0 {
					x.varied++
				}
				counts[pid] = x
			}
		}
	}
	for i := range s.Runs {
		x := counts[s.Runs[i].PID]
		w.runs[i].few = x.lines < 2*ordinaryLeast
		w.runs[i].filtered = x.varied == 0 || x.ordinary < ordinaryLeast || float64(x.ordinary) < ordinaryShare*float64(x.lines)
	}
}

// levels finds runs whose lines were selected by severity, and those in which nothing shows that errors were kept.
func (w *Witness) levels(s *Log) {
	all, bad := make([]int, len(s.Runs)), make([]int, len(s.Runs))
	for _, i := range s.Cover.lines {
		e := s.Events[i]
		if run := s.Cover.runOf(i); run >= 0 && e.Severity != 0 {
			all[run]++
			if e.Severity != 'I' {
				bad[run]++
			}
			w.runs[run].errors = w.runs[run].errors || e.Severity == 'E' || e.Severity == 'F' || e.Is(parse.SigSkip)
		} else if run >= 0 {
			w.runs[run].errors = true // its form has no severity to select by
		}
	}
	for run := range all {
		w.runs[run].filtered = w.runs[run].filtered || all[run] >= ordinaryLeast && all[run] == bad[run]
	}
}

// Errors reports whether a line of the run shows that its log keeps errors, as which kubelets from 1.17 on report
// an old relist.
func (w *Witness) Errors(run int) bool { return w.of(run).errors }

// holes returns the silences of the kubelet's log that are longer than usual, and the surroundings of markers
// of lost lines.
func (n *Log) holes() []host.Span {
	rhythm, dense := n.rhythm(quickLeast), n.rhythm(ordinaryLeast) < habitLeast
	limit := int64(rhythm)
	if !dense { // a log with several lines per second is never silent for long, however often silences recur
		limit = int64(habit(n.silences, rhythm))
	}
	var out []host.Span
	for _, b := range n.Backs {
		if b.Twice.To >= b.Twice.From {
			out = append(out, b.Twice)
		}
	}
	for _, g := range n.silences {
		if d := g.Next.At - g.Last.At; d > limit || dense && g.Last.Pos.File != g.Next.Pos.File {
			out = append(out, host.Span{From: g.Last.At, To: g.Next.At})
		}
	}
	for _, m := range n.Markers {
		if m.Basis == parse.NoTime {
			continue
		}
		switch m.Kind {
		case parse.MarkSuppressed: // written with the next line that passes, up to one 30 s interval later
			out = append(out, host.Span{From: m.At - int64(30*time.Second), To: m.At + int64(time.Second)})
		case parse.MarkTruncated, parse.MarkNull, parse.MarkHole:
			out = append(out, host.Span{From: m.At - int64(time.Second), To: m.At + int64(time.Second)})
		}
	}
	return JoinSpans(out)
}

// JoinSpans sorts spans and joins those that touch, in place.
func JoinSpans(in []host.Span) []host.Span {
	slices.SortFunc(in, func(a, b host.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	out := in[:0]
	for _, x := range in {
		if k := len(out); k > 0 && x.From <= out[k-1].To {
			out[k-1].To = max(out[k-1].To, x.To)
			continue
		}
		out = append(out, x)
	}
	return out
}

// habit returns the longest silence that is usual for a log: one that recurs, to within a fifth of its length,
// like the pauses between the ticks of an idle kubelet. Longer silences, and those without any of similar
// length, are holes. gaps are those of parse.GapMin and longer.
func habit(gaps []parse.Gap, least time.Duration) time.Duration {
	lengths := make([]int64, len(gaps))
	for i, g := range gaps {
		lengths[i] = g.Next.At - g.Last.At
	}
	slices.Sort(lengths)
	k := max(5, len(gaps)/50) - 1
	for i := len(lengths) - 1; i >= k; i-- {
		if lengths[i-k] >= lengths[i]-lengths[i]/5 {
			usual := time.Duration(lengths[i])
			return min(max(usual+usual/5, least), habitMost)
		}
	}
	return least
}

// rhythm returns the longest silence that is not a hole in any kubelet log. At verbosity 4, recognized by least
// or more lists, the kubelet writes several lines per second, and a skipping loop one every five seconds.
func (n *Log) rhythm(least int) time.Duration {
	lists := 0
	for i := range n.Marks {
		if n.Marks[i].Kind&(host.KindRelisting|host.KindRetrieved) != 0 {
			lists++
		}
	}
	if lists >= least {
		return BackoffMax + BackoffLate
	}
	return habitLeast
}

// The sync loop pauses 0.1, 0.2, … 5 s between iterations that it skips (kubelet.go syncLoop, all versions).
const (
	BackoffFirst = 100 * time.Millisecond
	BackoffMax   = 5 * time.Second
	BackoffLate  = 500 * time.Millisecond
	BackoffEarly = 20 * time.Millisecond // by its timestamp an iteration may come this much before its timer
	// TurnMax is how long a healthy iteration waits at most for something to do. Work of the loop therefore
	// proves health one second before, at the earliest.
	TurnMax = time.Second
)
