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
	Src  *Scrape // the snapshot it stands in, never nil
	Line uint32  // 0 when the file has no lines
}

// HistogramPoint is one native histogram sample.
type HistogramPoint struct {
	At   int64
	H    any // *histogram.FloatHistogram of Prometheus; package metrics knows it
	Src  *Scrape
	Line uint32
}

// Chunk is a run of samples of one series in the encoding of a Prometheus
// TSDB. Package metrics unpacks it on demand, so that a database of millions
// of samples stays small in memory.
type Chunk struct {
	Min, Max int64 // Unix ns of the first and last sample
	Encoding byte
	Data     []byte
	Src      *Scrape
}

// Series is one metric series over the snapshots of a bundle, oldest first.
type Series struct {
	Name   string
	Labels []Field // sorted by name, without __name__, as the file writes them; bounds (le, quantile) of snapshots as a server does
	Type   string  // counter, gauge, histogram, summary, unknown
	// Raw is the series as its first file writes it, up to the value; ""
	// when it does not come from lines of text.
	Raw string
	// Node and Job say who exposes the series: the node's name and the
	// exporter ("kubelet", "kubelet/cadvisor", "node-exporter", …). Both are
	// "" when the series carries the labels of a Prometheus server (TSDB,
	// API, federation): then its labels say so.
	Node, Job  string
	Points     []Point
	Histograms []HistogramPoint
	// Chunks hold further samples, packed; sorted by Min, they do not
	// overlap Points. Only series of big databases have any. Unpack walks
	// their float samples in time order, each time decoding anew.
	Chunks []Chunk
	Unpack func(*Series) iter.Seq[Point]
}

// Samples walks the float samples in time order, packed ones included.
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
					points = points[1:] // held twice
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

// Within returns the series with only its samples from since to until, Unix ns, 0
// for open; nil where there are none.
func (s *Series) Within(since, until int64) *Series {
	in := func(at int64) bool { return (since == 0 || at >= since) && (until == 0 || at <= until) }
	out := *s
	out.Points, out.Histograms, out.Chunks = nil, nil, nil
	for _, c := range s.Chunks {
		switch {
		case in(c.Min) && in(c.Max):
			out.Chunks = append(out.Chunks, c)
		case s.Unpack == nil || since != 0 && c.Max < since || until != 0 && c.Min > until:
		default: // it lies across an end
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

// Sampled reports whether the series has float samples, packed ones included.
func (s *Series) Sampled() bool { return len(s.Points)+len(s.Chunks) > 0 }

// Label returns the value of a label, "" when the series has none.
func (s *Series) Label(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// String returns the series in the notation of PromQL.
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

// Sample returns the i-th float sample as a record that can be evidence.
func (s *Series) Sample(i int) *Sample { return &Sample{Series: s, Point: s.Points[i]} }

// Cite returns a sample of the series as a record that can be evidence.
func (s *Series) Cite(p Point) *Sample { return &Sample{Series: s, Point: p} }

// Sample is one float sample and its series: a record.
type Sample struct {
	Series *Series
	Point
}

func (m *Sample) Where() Pos   { return Pos{File: m.Src.File, Line: m.Line} }
func (m *Sample) From() Source { return SrcMetrics }
func (m *Sample) When() Stamp {
	return Stamp{At: m.At, Res: m.Src.Res, Basis: m.Src.Basis}
}

// Quote returns the sample's line as the file has it. For samples that do not
// come from lines of text it writes the sample in that form.
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

// FormatValue writes a sample value as Prometheus client libraries do.
func FormatValue(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Scrape is one snapshot of an exporter and how its time is known. It is a
// record: a failed one is evidence by itself.
type Scrape struct {
	File *File
	Stamp
	Since   int64  // Unix ns of its first sample, where it holds many of one series; 0: as At
	Why     string // basis in words
	Failed  string // text when the snapshot is an error page instead of metrics
	Line    uint32 // first line of the snapshot
	Node    string // node that it was taken from, "" unknown
	Job     string // exporter, as in Series
	Samples int    // all that it holds
	Passed  int    // of these, those of a large snapshot that were counted and not kept, as nobody asked for their metrics
	// Odd holds lines that cannot be rebuilt from series and value, by line
	// number: time stamps, unusual number formats.
	Odd map[uint32]string
}

func (s *Scrape) Where() Pos   { return Pos{File: s.File, Line: s.Line} }
func (s *Scrape) When() Stamp  { return s.Stamp }
func (s *Scrape) From() Source { return SrcMetrics }

// Quote returns the first line of an error page; a good snapshot has no line
// of its own.
func (s *Scrape) Quote() string { return s.Failed }
