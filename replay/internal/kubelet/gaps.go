package kubelet

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// gapMin is the shortest silence of the kubelet that the report lists; an idle
// kubelet at verbosity 2 writes at least once in some minutes.
const gapMin = 2 * time.Minute

// Gaps lists where the log says nothing: silences of the kubelet with the
// marker that explains them, lost lines, cut files.
func Gaps(n *host.Records) []LogGap {
	var out []LogGap
	var reasons []*parse.Marker
	for _, m := range n.Markers {
		if why := gapWhy(m.Kind); why != "" && why != "rate-limit" && m.Basis != parse.NoTime {
			reasons = append(reasons, m)
		}
	}
	slices.SortStableFunc(reasons, func(a, b *parse.Marker) int { return cmp.Compare(a.At, b.At) })
	for _, s := range silences(n) {
		g := LogGap{Span: host.Span{From: s.Last.At, To: s.Next.At}, Why: "silence", Evidence: []host.Evidence{{Record: s.last}, {Record: s.next}}}
		for len(reasons) > 0 && reasons[0].At < s.Last.At {
			reasons = reasons[1:]
		}
		if len(reasons) > 0 && reasons[0].At <= s.Next.At {
			g.Why, g.Evidence = gapWhy(reasons[0].Kind), append(g.Evidence, host.Evidence{Record: reasons[0]})
		}
		out = append(out, g)
	}
	for _, m := range n.Markers {
		if m.Basis != parse.NoTime && (m.Kind == parse.MarkSuppressed || m.Kind == parse.MarkTruncated || m.Kind == parse.MarkNull) {
			out = append(out, LogGap{Span: host.Span{From: m.At, To: m.At}, Why: gapWhy(m.Kind), Evidence: []host.Evidence{{Record: m}}})
		}
	}
	slices.SortStableFunc(out, func(a, b LogGap) int { return cmp.Compare(a.From, b.From) })
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
func silences(n *host.Records) []silence {
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
		slices.SortStableFunc(gs, func(a, b parse.Gap) int { return cmp.Compare(a.Last.At, b.Last.At) })
		for _, g := range gs {
			if g.Next.At-g.Last.At >= int64(gapMin) {
				cover = append(cover, piece{from.At, g.Last.At, markLine{from}, markLine{g.Last}})
				from = g.Next
			}
		}
		cover = append(cover, piece{from.At, last.At, markLine{from}, markLine{last}})
	}
	slices.SortStableFunc(cover, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
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

func (m markLine) Where() parse.Pos { return m.Pos }

func (m markLine) When() parse.Stamp { return m.Stamp }

func (m markLine) From() parse.Source { return parse.SrcKubelet }

func (m markLine) Quote() string { return m.Text.String() }

// LogGap is a stretch in which the log says nothing.
type LogGap struct {
	host.Span
	Why      string // rotation, rate-limit, reboot, truncated, silence
	Evidence []host.Evidence
}
