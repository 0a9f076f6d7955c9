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
		if s.Next.At-s.Last.At < int64(gapMin) {
			continue
		}
		g := LogGap{Span: host.Span{From: s.Last.At, To: s.Next.At}, Why: "silence", Evidence: []host.Evidence{{Record: markLine{s.Last}}, {Record: markLine{s.Next}}}}
		for len(reasons) > 0 && reasons[0].At < s.Last.At {
			reasons = reasons[1:]
		}
		if len(reasons) > 0 && reasons[0].At <= s.Next.At {
			g.Why, g.Evidence = gapReasons[reasons[0].Kind], append(g.Evidence, host.Evidence{Record: reasons[0]})
		}
		out = append(out, g)
	}
	for _, m := range n.Markers {
		if m.Basis != parse.NoTime && (m.Kind == parse.MarkSuppressed || m.Kind == parse.MarkTruncated || m.Kind == parse.MarkNull) {
			out = append(out, LogGap{Span: host.Span{From: m.At, To: m.At}, Why: gapReasons[m.Kind], Evidence: []host.Evidence{{Record: m}}})
		}
	}
	slices.SortStableFunc(out, func(a, b LogGap) int { return cmp.Compare(a.From, b.From) })
	return out
}

// gapReasons maps markers to the reasons for a gap.
var gapReasons = map[parse.MarkerKind]string{parse.MarkReboot: "reboot", parse.MarkSuppressed: "rate-limit", parse.MarkRotated: "rotation",
	parse.MarkTruncated: "truncated", parse.MarkNull: "truncated"}

// seamMin is the minimum time between the last line of a file and the first of the next at which lines may be
// missing.
const seamMin = time.Second

// silences returns the intervals of at least parse.GapMin, or of at least seamMin between two files, in which
// no file has a kubelet line, oldest first.
func silences(n *host.Records) []parse.Gap {
	type stretch struct{ first, last parse.Mark } // an interval in which a file has lines
	var written []stretch
	for _, c := range n.Coverage {
		if c.Origin.Source != parse.SrcKubelet || c.FirstLine.Basis == parse.NoTime || c.LastLine.Basis == parse.NoTime {
			continue
		}
		from, to := inOrder(c.FirstLine, c.LastLine)
		gaps := make([]parse.Gap, len(c.Gaps))
		for i, g := range c.Gaps {
			gaps[i].Last, gaps[i].Next = inOrder(g.Last, g.Next)
		}
		slices.SortStableFunc(gaps, func(a, b parse.Gap) int { return cmp.Compare(a.Last.At, b.Last.At) })
		for _, g := range gaps {
			written = append(written, stretch{from, g.Last})
			from = g.Next
		}
		written = append(written, stretch{from, to})
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
	Why      string // rotation, rate-limit, reboot, truncated, silence
	Evidence []host.Evidence
}

// doubled returns, for the kubelet's files, the intervals that occur twice because the clock was set back.
func doubled(n *host.Records) (out []host.Span) {
	for _, c := range n.Clocks {
		for _, j := range c.Jumps {
			if j.Step < 0 && slices.ContainsFunc(n.Coverage, func(v *parse.Coverage) bool { return v.File == c.File && v.Origin.Source == parse.SrcKubelet }) {
				out = append(out, host.Span{From: j.At.At, To: j.At.At - j.Step})
			}
		}
	}
	return out
}
