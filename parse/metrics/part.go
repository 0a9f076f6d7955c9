package metrics

import (
	"bytes"
	"fmt"
	"math"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/plegforensics/plegforensics/parse"
)

// Limits on hostile input. Hitting one gives a warning, except for maxOdd and
// maxScrapes.
const (
	maxLabelText  = 64 << 10 // bytes of a series as written
	maxWarnings   = 20       // damaged lines reported one by one per file
	maxOdd        = 100_000  // verbatim lines kept per file
	maxBad        = 500_000  // damaged lines per file before the rest is skipped
	maxScrapes    = 100_000  // snapshots per file
	maxPerFile    = 20_000_000
	maxFailedText = 1024
)

// noStamp marks a sample without a timestamp of its own.
const noStamp = math.MinInt64

// maxMillis bounds Unix milliseconds so that nanoseconds do not overflow.
const maxMillis = math.MaxInt64 / 1_000_000

// Part is the decoded content of one file, with one row per sample. It is consumed
// by Set.Add.
type Part struct {
	File     *parse.File
	Format   string // the name of its Format
	Warnings []parse.Warning
	cut      []parse.Warning // that the page is cut short

	scrapes []*snapshot
	text    []byte // keys of the samples, concatenated
	last    span   // the last key
	rows    []row
	hists   []histRow
	bare    []span            // series known to exist, without samples
	types   map[string]string // type by family, from TYPE lines
	oddKept int
	bad     badLines
	want    Want
	left    int    // samples left out because of Want.Most
	name    []byte // metric last passed to want.Asked …
	asked   bool   // … and whether it is wanted
}

// row is one float sample; key is its series as written.
type row struct {
	key   span
	value float64
	stamp int64 // ns, noStamp if the sample has none
	line  uint32
}

type histRow struct {
	key   span
	h     *histogram.FloatHistogram
	stamp int64
	line  uint32
}

type span struct{ off, n uint32 }

// snapshot is one scrape within a file: rows[from:to] and hists[hfrom:hto].
type snapshot struct {
	scrape     parse.Scrape
	from, to   int
	hfrom, hto int
	clue       clues
	firstKey   string
	family     string
	families   map[string]struct{}
	exporters  exporterSet
	own        bool                // series carry the labels added by a Prometheus server
	fromText   bool                // rows come from lines of text that can be quoted
	ended      bool                // "# EOF" or the start of the next snapshot was read
	flushed    int                 // samples already added to a Set
	sampled    map[string]struct{} // unwanted metrics of which one sample was kept
}

// Empty reports whether the part holds neither samples nor a failed scrape.
func (p *Part) Empty() bool { return len(p.rows)+len(p.hists)+len(p.scrapes) == 0 }

// Samples returns the number of samples held.
func (p *Part) Samples() int { return len(p.rows) + len(p.hists) }

func newPart(f *parse.File, w Want) *Part {
	return &Part{File: f, want: w, types: map[string]string{}}
}

// open returns the current snapshot, starting one if necessary.
func (p *Part) open(line uint32) *snapshot {
	if n := len(p.scrapes); n > 0 && !p.scrapes[n-1].ended {
		return p.scrapes[n-1]
	}
	return p.begin(line)
}

// begin starts a new snapshot.
func (p *Part) begin(line uint32) *snapshot {
	if len(p.scrapes) >= maxScrapes {
		return p.scrapes[len(p.scrapes)-1]
	}
	s := &snapshot{
		scrape: parse.Scrape{File: p.File, Line: line},
		from:   len(p.rows), to: len(p.rows), hfrom: len(p.hists), hto: len(p.hists),
		families: map[string]struct{}{},
	}
	p.scrapes = append(p.scrapes, s)
	return s
}

// current returns the current snapshot, nil before the first.
func (p *Part) current() *snapshot {
	if len(p.scrapes) == 0 {
		return nil
	}
	return p.scrapes[len(p.scrapes)-1]
}

func (s *snapshot) samples() int { return s.flushed + s.to - s.from + s.hto - s.hfrom }

// Want selects the samples of a text file that are kept. The zero value keeps all.
type Want struct {
	// Most is the maximum number of samples kept per snapshot; twice as many if
	// they are of metrics that the program itself uses, which is more than any
	// kubelet has. 0: no limit.
	Most int
	// Asked reports whether the caller wants a metric beyond those that the program
	// itself uses; nil: all are wanted. Once a snapshot has plenty samples, only
	// one sample of each unwanted metric is kept and the rest is counted.
	Asked func(name string) bool
	// Known reports whether a line, counted from 1, is known to be something else than
	// a sample, as in a text pasted together by hand; nil: none is.
	Known func(line uint32) bool
}

// plenty is more samples than a snapshot of a kubelet has.
const plenty = 20_000

// fits reports whether to keep a sample. If not, it is counted.
func (p *Part) fits(s *snapshot, key []byte) bool {
	n, most := s.samples(), p.want.Most
	switch {
	case n >= plenty && p.want.Asked != nil && !p.asks(s, key):
		s.scrape.Passed++
		return false
	case most <= 0 || n < most || n < 2*most && matters(nameOf(key)):
		return true
	}
	p.left++
	return false
}

// asks reports whether the metric of a sample is wanted, or the sample is the first
// of its metric after plenty others.
func (p *Part) asks(s *snapshot, key []byte) bool {
	name := nameOf(key)
	if !bytes.Equal(name, p.name) {
		p.name, p.asked = append(p.name[:0], name...), matters(name) || p.want.Asked(string(name))
	}
	if p.asked {
		return true
	}
	if _, seen := s.sampled[string(name)]; seen || p.want.Most > 0 && s.samples() >= p.want.Most {
		return false
	}
	if s.sampled == nil {
		s.sampled = map[string]struct{}{}
	}
	s.sampled[string(name)] = struct{}{}
	return true
}

// matters reports whether the program itself uses a metric.
func matters(name []byte) bool {
	for _, prefix := range lookedAt {
		if bytes.HasPrefix(name, prefix) {
			return true
		}
	}
	return string(name) == "up"
}

// nameOf returns the metric name of a series as written, "" if the name is quoted.
func nameOf(key []byte) []byte {
	if i := bytes.IndexByte(key, '{'); i >= 0 {
		return key[:i]
	}
	return key
}

var lookedAt = [][]byte{[]byte("kubelet_"), []byte("process_"), []byte("go_"), []byte("node_"), []byte("kube_node_"),
	[]byte("kubernetes_"), []byte("container_runtime_"), []byte("containerd_"), []byte("crio_"), []byte("engine_daemon_"), []byte("ALERTS")}

// addKey stores a key, or finds it if it is the same as the last one, as in the samples of one
// series.
func (p *Part) addKey(key []byte) span {
	if k := p.last; k.n > 0 && bytes.Equal(p.text[k.off:k.off+k.n], key) {
		return k
	}
	p.last = span{uint32(len(p.text)), uint32(len(key))}
	p.text = append(p.text, key...)
	return p.last
}

func (p *Part) key(s span) []byte { return p.text[s.off : s.off+s.n] }

// room reports whether another sample fits the limits; if not, it adds a warning.
func (p *Part) room(key []byte, line uint32) bool {
	switch {
	case len(key) > maxLabelText:
		p.warnLine(line, fmt.Sprintf("skipped: series of %d bytes (limit %d)", len(key), maxLabelText))
		return false
	case len(p.rows)+len(p.hists) >= maxPerFile, len(p.text)+len(key) > math.MaxUint32:
		p.warnLine(line, "skipped: too many samples in one file")
		return false
	}
	return true
}

func (p *Part) add(s *snapshot, key []byte, v float64, stamp int64, line uint32) {
	p.rows = append(p.rows, row{key: p.addKey(key), value: v, stamp: stamp, line: line})
	s.to = len(p.rows)
}

func (p *Part) addHistogram(s *snapshot, key []byte, h *histogram.FloatHistogram, stamp int64, line uint32) {
	p.hists = append(p.hists, histRow{key: p.addKey(key), h: h, stamp: stamp, line: line})
	s.hto = len(p.hists)
}

func (p *Part) keepOdd(s *snapshot, line uint32, text []byte) {
	if p.oddKept >= maxOdd {
		return
	}
	p.oddKept++
	if s.scrape.Odd == nil {
		s.scrape.Odd = map[uint32]string{}
	}
	s.scrape.Odd[line] = string(text)
}

// badLines counts damaged lines, so that a ruined file gives few warnings that
// still say how much was lost.
type badLines struct{ named, more, first, last int }

// warnLine reports a damaged or skipped line.
func (p *Part) warnLine(line uint32, msg string) {
	if p.want.Known != nil && p.want.Known(line) {
		return
	}
	if p.bad.named < maxWarnings {
		p.bad.named++
		p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: p.File, Line: line}, Msg: msg})
		return
	}
	if p.bad.more == 0 {
		p.bad.first = int(line)
	}
	p.bad.more++
	p.bad.last = int(line)
}

// warnCut reports that the page ends at a line before its end.
func (p *Part) warnCut(line uint32, msg string) {
	p.cut = append(p.cut, parse.Warning{Pos: parse.Pos{File: p.File, Line: line}, Msg: "data is cut short: the page ends " + msg})
}

// warnAt reports a problem at a byte offset.
func (p *Part) warnAt(off int64, msg string) {
	p.Warnings = append(p.Warnings, parse.Warning{Pos: parse.Pos{File: p.File, Offset: off}, Msg: msg})
}

// closeWarnings adds a summary of the lines that were not reported one by one.
func (p *Part) closeWarnings() {
	p.Warnings = append(p.Warnings, p.cut...)
	if p.bad.more == 0 {
		return
	}
	p.Warnings = append(p.Warnings, parse.Warning{
		Pos: parse.Pos{File: p.File, Line: uint32(p.bad.first)},
		Msg: fmt.Sprintf("skipped %d more damaged lines up to line %d", p.bad.more, p.bad.last)})
}
