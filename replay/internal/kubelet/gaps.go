package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// gapMin is the shortest silence of the kubelet that the report lists. An idle kubelet at verbosity 2 writes at
// least once every few minutes.
const gapMin = 2 * time.Minute

// Gaps lists where the log has gaps: silences of the kubelet, with the marker that explains them if there is
// one, lost lines, and truncated files.
func (n *Log) Gaps() []LogGap {
	var out []LogGap
	var reasons []*parse.Marker
	for _, m := range n.Markers {
		if why := gapReasons[m.Kind]; why != "" && why != "rate-limit" && m.Basis != parse.NoTime {
			reasons = append(reasons, m)
		}
	}
	slices.SortStableFunc(reasons, func(a, b *parse.Marker) int { return cmp.Compare(a.At, b.At) })
	for _, s := range n.silences {
		if s.Next.At-s.Last.At < int64(gapMin) || n.goneBack(s) {
			continue
		}
		g := LogGap{Span: host.Span{From: s.Last.At, To: s.Next.At}, Why: "silence", Evidence: []host.Evidence{{Record: markLine{s.Last}}, {Record: markLine{s.Next}}}}
		for len(reasons) > 0 && reasons[0].At < s.Last.At {
			reasons = reasons[1:]
		}
		if len(reasons) > 0 && reasons[0].At <= s.Next.At {
			g.Why, g.Evidence = gapReasons[reasons[0].Kind], append(g.Evidence, host.Evidence{Record: reasons[0]})
		} else if n.Searched(s.Last.File) || n.Searched(s.Next.File) {
			g.Why = "search"
		}
		out = append(out, g)
	}
	for _, m := range n.Markers {
		if m.Basis != parse.NoTime && (m.Kind == parse.MarkSuppressed || gapReasons[m.Kind] == "truncated") {
			out = append(out, LogGap{Span: host.Span{From: m.At, To: m.At}, Why: gapReasons[m.Kind], Evidence: []host.Evidence{{Record: m}}})
		}
	}
	slices.SortStableFunc(out, func(a, b LogGap) int { return cmp.Compare(a.From, b.From) })
	return out
}

// goneBack reports whether a silence is only what the clock did not show again: the log goes on from the later of its
// two lines to the earlier one, with the clock set back in between.
func (n *Log) goneBack(s parse.Gap) bool {
	return s.Next.Pos.Before(s.Last.Pos) && slices.ContainsFunc(n.Backs, func(b SetBack) bool {
		return b.at.File == s.Last.Pos.File && b.at.File == s.Next.Pos.File && b.From < b.To && s.Next.Pos.Before(b.at) && !s.Last.Pos.Before(b.at)
	})
}

// gapReasons maps markers to the reasons for a gap.
var gapReasons = map[parse.MarkerKind]string{parse.MarkReboot: "reboot", parse.MarkSuppressed: "rate-limit", parse.MarkRotated: "rotation",
	parse.MarkTruncated: "truncated", parse.MarkNull: "truncated", parse.MarkHole: "truncated"}

// seamMin is the minimum time between the last line of a file and the first of the next at which lines may be
// missing.
const seamMin = time.Second

// silences returns the intervals of at least parse.GapMin, or of at least seamMin between two files, in which
// no file has a kubelet line, oldest first.
func silences(n *host.Records) []parse.Gap {
	type stretch struct{ first, last parse.Mark } // an interval in which a file has lines
	var written []stretch
	for _, c := range dated(n) {
		for _, p := range c.Pieces() {
			from := p.First
			for _, g := range append(p.Gaps, parse.Gap{Last: p.Last}) {
				written = append(written, stretch{from, g.Last})
				from = g.Next
			}
		}
	}
	slices.SortStableFunc(written, func(a, b stretch) int { return cmp.Compare(a.first.At, b.first.At) })
	var out []parse.Gap
	var end parse.Mark
	for i, w := range written {
		if d := w.first.At - end.At; i > 0 && (d >= int64(parse.GapMin) || d >= int64(seamMin) && w.first.Pos.File != end.Pos.File) {
			out = append(out, parse.Gap{Last: end, Next: w.first})
		}
		if i == 0 || w.last.At >= end.At {
			end = w.last
		}
	}
	return out
}

// Seam reports whether a moment lies between the last line of one file and the first of the next, where a
// single line may be missing.
func (n *Log) Seam(at int64) bool {
	return slices.ContainsFunc(n.silences, func(g parse.Gap) bool {
		return g.Last.At <= at && at < g.Next.At && g.Last.Pos.File != g.Next.Pos.File
	})
}

// inOrder returns two marks, the earlier one first: files may be sorted newest first.
func inOrder(a, b parse.Mark) (first, last parse.Mark) {
	if a.At > b.At {
		return b, a
	}
	return a, b
}

// LineOf returns a record for a line of which only the mark was kept.
func LineOf(m parse.Mark) parse.Record { return markLine{m} }

// markLine implements parse.Record for a mark.
type markLine struct{ parse.Mark }

func (m markLine) Where() parse.Pos   { return m.Pos }
func (m markLine) When() parse.Stamp  { return m.Stamp }
func (m markLine) From() parse.Source { return parse.SrcKubelet }
func (m markLine) Quote() string      { return m.Text.String() }

// LogGap is an interval in which the log has nothing.
type LogGap struct {
	host.Span
	Why      string // rotation, rate-limit, reboot, truncated, search, silence
	Evidence []host.Evidence
}

// SetBack is a step back of the clock in a kubelet's log. Between From and To it shows each moment twice.
type SetBack struct {
	host.Span           // what the clock showed right after the step, and right before it
	Twice     host.Span // the part of it that lines on both sides of the step name; empty if there is none
	at        parse.Pos // the first line after the step; not valid if the side of a line is not known
}

// setBacks finds where the lines of one process, or of different ones in one file, step back in time.
func setBacks(n *host.Records) (out []SetBack) {
	jumps := map[*parse.File][]parse.Jump{}
	for _, c := range n.Clocks {
		jumps[c.File] = append(jumps[c.File], c.Jumps...)
	}
	for _, v := range dated(n) {
		from := len(out)
		for i, p := range v.Pieces() {
			if i > 0 {
				b := &out[len(out)-1]
				b.From, b.at = p.First.At, p.First.Pos
				b.Twice = host.Span{From: max(b.From, b.Twice.From), To: min(b.To, p.Last.At)}
			}
			out = append(out, SetBack{Span: host.Span{To: p.Last.At}, Twice: host.Span{From: p.First.At}})
		}
		out = out[:len(out)-1]
		unseen := int64(habitLeast) // how long the clock may have gone on up to the step, and from it, without a line
		for _, g := range v.Gaps {
			unseen = max(unseen, min(g.Next.At-g.Last.At, int64(habitMost)))
		}
		for i := from; i < len(out); i++ {
			if b := &out[i]; b.Twice.From <= b.Twice.To {
				b.Twice.From, b.Twice.To = b.Twice.From-unseen, b.Twice.To+unseen
			}
		}
		for _, j := range jumps[v.File] {
			b := SetBack{Span: host.Span{From: j.At.At, To: j.At.At - j.Step}, at: j.At.Pos}
			if b.Twice = b.Span; j.Step < 0 && !slices.ContainsFunc(out, func(a SetBack) bool { return a.From <= b.From && b.To <= a.To }) {
				out = append(out, b)
			}
		}
		for i := from; i < len(out) && v.Reversed; i++ {
			out[i].at = parse.Pos{}
		}
	}
	if len(out) > 100 { // they are not kept apart: all the time that they span counts as told twice
		for _, b := range out {
			out[0].From, out[0].To = min(out[0].From, b.From), max(out[0].To, b.To)
		}
		out = []SetBack{{Span: out[0].Span, Twice: out[0].Span}}
	}
	return out
}

// Stepped returns the largest step back, as a negative duration, with a warning that names its line; 0 if there is
// none.
func (s *Log) Stepped() (most time.Duration, w []parse.Warning) {
	for _, b := range s.Backs {
		if d := time.Duration(b.To - b.From); b.at.File != nil && -d < most {
			most = -d
			w = []parse.Warning{{Pos: b.at, Note: true, Msg: "the time of the lines steps back by " + parse.Short(d) + " before this one (the clock was set, or they are not in the order of their writing): of the time that they show twice, nothing is called healthy"}}
		}
	}
	return most, w
}

// Shown cuts an interval to what the clock by which a record is stamped can have shown: nothing earlier than the
// step back before its line, and nothing later than the one after it.
func (s *Log) Shown(r parse.Record, from, to int64) (int64, int64) {
	for i := range s.Backs {
		if b := &s.Backs[i]; b.at.File == nil || r == nil || r.Where().File != b.at.File {
		} else if r.Where().Before(b.at) {
			to = min(to, b.To)
		} else {
			from = max(from, b.From)
		}
	}
	return from, to
}

// SameClock reports whether no step back of the clock is known to lie between two records.
func (s *Log) SameClock(a, b parse.Record) bool {
	if len(s.Backs) == 0 || a == nil || b == nil {
		return true
	}
	first, second := a.Where(), b.Where()
	return !slices.ContainsFunc(s.Backs, func(x SetBack) bool {
		return x.at.File != nil && first.File == x.at.File && second.File == x.at.File && first.Before(x.at) != second.Before(x.at)
	})
}

// After reports whether the first time that a log shows is from after a step back, and another from before it: what lies
// between them is no time that passed.
func (s *Log) After(first, other int64) bool {
	return slices.ContainsFunc(s.Backs, func(b SetBack) bool { return b.at.File != nil && b.From <= first && other <= b.To })
}

// Quiet returns the longest part of an interval, in ns, in which the log has no line of the kubelet, if that is
// at least parse.GapMin; otherwise 0. A clock that was set forward leaves such a silence, too.
func (s *Log) Quiet(from, to int64) (most int64) {
	i, _ := slices.BinarySearchFunc(s.silences, from, func(g parse.Gap, at int64) int { return cmp.Compare(g.Next.At, at) })
	for ; i < len(s.silences) && s.silences[i].Last.At < to; i++ {
		most = max(most, min(s.silences[i].Next.At, to)-max(s.silences[i].Last.At, from))
	}
	return most
}

// Twice reports whether the clock shows a moment of an interval twice.
func (s *Log) Twice(from, to int64) bool {
	return slices.ContainsFunc(s.Backs, func(b SetBack) bool { return max(b.Twice.From, from) <= min(b.Twice.To, to) })
}
