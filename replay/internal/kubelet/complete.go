package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// A missing line proves something only where the log is shown to be complete.
// What shows it: the log goes on in its own rhythm, it holds ordinary lines
// beside those about PLEG, nothing says that lines were lost, and the pauses
// between the lines of a skipping sync loop are those of its back-off.
const (
	// habitLeast and habitMost bound the longest silence that is taken for
	// the log's habit. Lines of one-minute tickers are the rarest regular ones
	// of a kubelet; a longer silence could hide a whole episode.
	habitLeast = 10 * time.Second
	habitMost  = 75 * time.Second
	// ordinaryLeast is the least number of lines without any signature that
	// a process must have written, and ordinaryShare their least share. Of whole
	// logs a third and more is ordinary, of lines picked by a search for PLEG,
	// errors and pods at most a sixth (53 captures of four kubelet versions).
	ordinaryLeast = 30
	ordinaryShare = 0.25
	// TailMargin is how long before the end of a log silence stops to prove
	// health: the node status, computed every 10 s, tells of a breach by then.
	TailMargin = 12 * time.Second
)

// Witness tells where the kubelet's log is complete.
type Witness struct {
	Holes    []host.Span // silences beyond the log's habit and stretches with lost lines, oldest first, disjoint
	filtered []bool      // by run: its lines are a selection
	thinned  []bool      // by run: lines are missing here and there
}

// NewWitness looks for what shows that lines are missing.
func NewWitness(s *Log) *Witness {
	w := &Witness{filtered: make([]bool, len(s.Runs)), thinned: make([]bool, len(s.Runs))}
	w.Holes = s.holes()
	filtered(s, w.filtered)
	w.thin(s)
	w.unbegun(s)
	return w
}

// Trusts reports whether a missing line of the run can prove anything.
func (w *Witness) Trusts(run int) bool {
	return run >= 0 && run < len(w.filtered) && !w.filtered[run] && !w.thinned[run]
}

// Whole reports whether the log goes on in its own rhythm all through a stretch.
func (w *Witness) Whole(from, to int64) bool {
	i, _ := slices.BinarySearchFunc(w.Holes, from, func(h host.Span, at int64) int { return cmp.Compare(h.To, at) })
	return i == len(w.Holes) || w.Holes[i].From >= to
}

// thin finds runs of whose skipping sync loop lines are missing. While PLEG stays
// unhealthy the loop pauses twice as long after each turn, five seconds at most, and
// writes a line at each: a longer pause within one age, without a hole in the log,
// shows that lines were dropped.
func (w *Witness) thin(s *Log) {
	start := map[int64]int64{} // of the last relist, by the time of the line
	for _, a := range s.Ages {
		if a.Skip && a.At != 0 {
			start[a.At] = a.At - int64(a.Age)
		}
	}
	if len(start) == 0 {
		return // and there may be very many turns
	}
	var last, pause int64
	run := -1
	for _, t := range s.Turns {
		at, r := s.TurnAt(t), s.TurnRun(t)
		seen, ok := start[at]
		before, same := start[last]
		if !ok || r < 0 || r != run || !same || max(seen, before)-min(seen, before) >= int64(sameStart) {
			last, pause, run = at, 0, r
			continue
		}
		most := int64(BackoffMax)
		if pause != 0 {
			most = min(most, 2*pause+pause/2)
		}
		if d := at - last; d > most+int64(2*BackoffLate) && d < int64(time.Minute) && w.Whole(last, at) {
			w.thinned[r] = true
		}
		last, pause = at, at-last
	}
}

// unbegun finds runs of verbosity 5 in which a list failed twice and no line tells of
// the relist in between that began: each writes one first.
func (w *Witness) unbegun(s *Log) {
	begun, last := map[int]bool{}, map[int]int64{} // of verbosity 5; the failure after the last begin
	for i := range s.Marks {
		m := &s.Marks[i]
		if m.Run < 0 {
			continue
		}
		switch m.Kind {
		case host.KindRelisting:
			begun[m.Run] = true
			delete(last, m.Run)
		case host.KindListFail:
			if t := last[m.Run]; t != 0 && begun[m.Run] && w.Whole(t, m.At) {
				w.thinned[m.Run] = true
			}
			last[m.Run] = m.At
		}
	}
}

// Lossy reports whether lines of the run are missing here and there.
func (w *Witness) Lossy(run int) bool { return run >= 0 && run < len(w.thinned) && w.thinned[run] }

// filtered sets, for each run, whether its lines are a selection. Lines that
// several files hold count in each.
func filtered(s *Log, out []bool) {
	type count struct{ lines, ordinary int }
	counts := map[int]count{}
	for _, c := range s.Coverage {
		if c.Origin.Source == parse.SrcKubelet {
			x, all := counts[c.Origin.PID], counts[0]
			x.lines, x.ordinary = x.lines+c.Lines, x.ordinary+c.Lines-c.Kept
			counts[c.Origin.PID] = x
			if c.Origin.PID != 0 {
				all.lines, all.ordinary = all.lines+c.Lines, all.ordinary+c.Lines-c.Kept
				counts[0] = all
			}
		}
	}
	for i := range s.Runs {
		x := counts[s.Runs[i].PID]
		out[i] = x.ordinary < ordinaryLeast || float64(x.ordinary) < ordinaryShare*float64(x.lines)
	}
}

// holes lists the silences of the kubelet's log that are longer than its habit,
// and the surroundings of markers of lost lines.
func (n *Log) holes() []host.Span {
	limit := int64(habit(n.silences))
	var out []host.Span
	for _, g := range n.silences {
		if g.Next.At-g.Last.At > limit {
			out = append(out, host.Span{From: g.Last.At, To: g.Next.At})
		}
	}
	for _, m := range n.Markers {
		if m.Basis == parse.NoTime {
			continue
		}
		switch m.Kind {
		case parse.MarkSuppressed: // written when the next line passes, up to an interval of 30 s later
			out = append(out, host.Span{From: m.At - int64(30*time.Second), To: m.At + int64(time.Second)})
		case parse.MarkTruncated, parse.MarkNull:
			out = append(out, host.Span{From: m.At - int64(time.Second), To: m.At + int64(time.Second)})
		}
	}
	slices.SortFunc(out, func(a, b host.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return JoinSpans(out)
}

// JoinSpans joins spans that touch; they come sorted by start.
func JoinSpans(in []host.Span) []host.Span {
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

// habit is the longest silence that is usual in a log: one that recurs, to a fifth
// of its length, as the pauses between the ticks of a kubelet with nothing to do.
// Longer ones, and those of which no two are alike, are holes. gaps are those of
// parse.GapMin and longer.
func habit(gaps []parse.Gap) time.Duration {
	lengths := make([]int64, len(gaps))
	for i, g := range gaps {
		lengths[i] = g.Next.At - g.Last.At
	}
	slices.Sort(lengths)
	k := max(5, len(gaps)/50) - 1
	for i := len(lengths) - 1; i >= k; i-- {
		if lengths[i-k] >= lengths[i]-lengths[i]/5 {
			usual := time.Duration(lengths[i])
			return min(max(usual+usual/5, habitLeast), habitMost)
		}
	}
	return habitLeast
}

// The sync loop pauses 0.1, 0.2, … 5 s between turns that it skips
// (kubelet.go syncLoop, all versions).
const (
	BackoffFirst = 100 * time.Millisecond
	BackoffMax   = 5 * time.Second
	BackoffLate  = 500 * time.Millisecond
	// A healthy turn waits at most this long for something to do, so work
	// of the loop proves the health of one second before at the earliest.
	TurnMax = time.Second
)
