package parse

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is one float sample of a series.
type Point struct {
	At   int64 // Unix ns
	V    float64
	Src  *Scrape // the snapshot that holds it, never nil
	Line uint32  // 0 if the file has no lines
}

// HistogramPoint is a native histogram sample.
type HistogramPoint struct {
	At   int64
	H    any // *histogram.FloatHistogram of Prometheus; used by package metrics
	Src  *Scrape
	Line uint32
}

// Chunk is a run of samples of one series in the encoding of a Prometheus TSDB.
// Package metrics unpacks it on demand, so that a database of millions of samples
// takes little memory.
type Chunk struct {
	Min, Max int64 // Unix ns of the first and last sample
	Encoding byte
	Data     []byte
	Src      *Scrape
}

// Series is a metric series across the snapshots of a bundle, oldest first.
type Series struct {
	Name   string
	Labels []Field // sorted by name, without __name__, as written in the file; bounds (le, quantile) of snapshots in a server's notation
	Type   string  // counter, gauge, histogram, summary, unknown
	// Raw is the series as its first file writes it, up to the value; "" if it does
	// not come from text lines.
	Raw string
	// Node and Job identify who exposes the series: the node name and the exporter
	// ("kubelet", "kubelet/cadvisor", "node-exporter", …). Both are "" if the
	// series has the labels of a Prometheus server (TSDB, API, federation); then
	// its labels say so.
	Node, Job  string
	Points     []Point
	Histograms []HistogramPoint
	// Chunks hold further samples, packed and sorted by Min. They do not overlap
	// Points. Only series of large databases have chunks. Unpack iterates over
	// their float samples in time order and decodes them on each call.
	Chunks []Chunk
	Unpack func(*Series) iter.Seq[Point]
}

// Samples iterates over all float samples in time order, including packed ones.
func (s *Series) Samples() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		points := s.Points
		if len(s.Chunks) > 0 && s.Unpack != nil {
			for p := range s.Unpack(s) {
				for len(points) > 0 && points[0].At < p.At {
					if !yield(points[0]) {
						return
					}
					points = points[1:]
				}
				if len(points) > 0 && points[0].At == p.At {
					points = points[1:] // a duplicate
				}
				if !yield(p) {
					return
				}
			}
		}
		for _, p := range points {
			if !yield(p) {
				return
			}
		}
	}
}

// Within returns a copy of the series with only its samples from since to until,
// both inclusive and in Unix ns, 0 for unbounded. It returns nil if there are none.
func (s *Series) Within(since, until int64) *Series {
	in := func(at int64) bool { return (since == 0 || at >= since) && (until == 0 || at <= until) }
	out := *s
	out.Points, out.Histograms, out.Chunks = nil, nil, nil
	for _, c := range s.Chunks {
		switch {
		case in(c.Min) && in(c.Max):
			out.Chunks = append(out.Chunks, c)
		case s.Unpack == nil || since != 0 && c.Max < since || until != 0 && c.Min > until:
		default: // the chunk spans a bound
			part := *s
			part.Chunks = []Chunk{c}
			for p := range s.Unpack(&part) {
				if in(p.At) {
					out.Points = append(out.Points, p)
				}
			}
		}
	}
	for _, p := range s.Points {
		if in(p.At) {
			out.Points = append(out.Points, p)
		}
	}
	slices.SortStableFunc(out.Points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	for _, h := range s.Histograms {
		if in(h.At) {
			out.Histograms = append(out.Histograms, h)
		}
	}
	if len(out.Points)+len(out.Histograms)+len(out.Chunks) == 0 {
		return nil
	}
	return &out
}

// Sampled reports whether the series has float samples, including packed ones.
func (s *Series) Sampled() bool { return len(s.Points)+len(s.Chunks) > 0 }

// Label returns the value of a label, or "".
func (s *Series) Label(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// String returns the series in PromQL notation.
func (s *Series) String() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var b strings.Builder
	b.WriteString(s.Name)
	for i, l := range s.Labels {
		b.WriteByte(",{"[b2i(i == 0)])
		b.WriteString(l.Name)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(l.Value))
	}
	b.WriteByte('}')
	return b.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Sample returns the i-th of Points as a Record.
func (s *Series) Sample(i int) *Sample { return &Sample{Series: s, Point: s.Points[i]} }

// Cite returns a sample of the series as a Record.
func (s *Series) Cite(p Point) *Sample { return &Sample{Series: s, Point: p} }

// Sample is a float sample with its series. It implements Record.
type Sample struct {
	Series *Series
	Point
}

// Where, From and When implement Record.
func (m *Sample) Where() Pos   { return Pos{File: m.Src.File, Line: m.Line} }
func (m *Sample) From() Source { return SrcMetrics }
func (m *Sample) When() Stamp {
	return Stamp{At: m.At, Res: m.Src.Res, Basis: m.Src.Basis}
}

// Quote returns the sample's line as in the file. Samples that do not come from
// text lines are formatted as text.
func (m *Sample) Quote() string {
	if s, ok := m.Src.Odd[m.Line]; ok && m.Line > 0 {
		return s
	}
	raw := m.Series.Raw
	if raw == "" {
		raw = m.Series.String()
	}
	return raw + " " + FormatValue(m.V)
}

// FormatValue formats a sample value as Prometheus client libraries do.
func FormatValue(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Scrape is a snapshot of an exporter and how its time is known. It is a Record: a
// failed scrape is evidence in itself.
type Scrape struct {
	File *File
	Stamp
	Since   int64  // Unix ns of its first sample if it holds several per series; 0: same as At
	Why     string // human-readable basis
	Failed  string // text of the error page served instead of metrics, or ""
	Line    uint32 // first line of the snapshot
	Node    string // node it was taken from, "" if unknown
	Job     string // exporter, as in Series
	Samples int    // all samples that it holds
	Passed  int    // of these, samples of a large snapshot that were only counted, because no caller asked for their metrics
	// Odd holds lines that cannot be rebuilt from series and value, such as ones
	// with timestamps or unusual number formats, by line number.
	Odd map[uint32]string
}

// Where, When and From implement Record.
func (s *Scrape) Where() Pos   { return Pos{File: s.File, Line: s.Line} }
func (s *Scrape) When() Stamp  { return s.Stamp }
func (s *Scrape) From() Source { return SrcMetrics }

// Quote returns the first line of an error page; a successful snapshot has no line
// of its own.
func (s *Scrape) Quote() string { return s.Failed }
