package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// DerivedMetric describes a metric that is derived from logs. All have the labels node and
// instance. A series has no sample where the logs do not determine its value: absence means
// unknown, never zero.
type DerivedMetric struct {
	Name   string
	Type   string // gauge, counter
	Labels []string
	Help   string
	build  func(*deriver)
}

// DerivedMetrics lists the derived metrics in the order of "query --list".
func DerivedMetrics() []DerivedMetric { return derivedMetrics }

var derivedMetrics = []DerivedMetric{
	{"plegforensics_relist_age_seconds", "gauge", nil,
		"Seconds since the start of the last relist that listed pods: what the kubelet prints as \"last seen active\". Known within episodes and where relist after relist is known.", (*deriver).age},
	{"plegforensics_relist_running", "gauge", nil,
		"1 while a relist is proven to run or to hang, 0 between two relists that follow each other.", (*deriver).running},
	{"plegforensics_pleg_unhealthy", "gauge", nil,
		"1 while PLEG is proven unhealthy or has not relisted for 15 s since the kubelet started, 0 while it is proven healthy.", (*deriver).unhealthy},
	{"plegforensics_skipped_syncs_total", "counter", nil,
		"Lines \"skipping pod synchronization\" since the log begins, whatever the reason.", (*deriver).skips},
	{"plegforensics_pleg_events_total", "counter", []string{"type"},
		"Pod lifecycle events that the sync loop logged since the log begins.", (*deriver).events},
	{"plegforensics_runtime_errors_total", "counter", []string{"operation_type", "code"},
		"Failed CRI calls since the log begins; operation_type as in the kubelet's own metrics, code by gRPC name.", (*deriver).failures},
	{"plegforensics_discarded_events_total", "counter", nil,
		"Pod lifecycle events dropped because the event channel was full, since the log begins.", (*deriver).discards},
	{"plegforensics_node_ready", "gauge", nil,
		"1 while the node's Ready condition is known to be True, 0 while it is not, from its first change on.", (*deriver).ready},
	{"plegforensics_kubelet_restarts_total", "counter", nil,
		"Starts of the kubelet after the first process of the log.", (*deriver).restarts},
	{"plegforensics_journal_lag_seconds", "gauge", nil,
		"Delay between the kubelet writing a line and the journal taking it in, at the lines where it was long.", (*deriver).lag},
}

// grid is the distance of samples in derived series, a typical scrape interval. It is doubled for
// long windows until a series has at most maxGrid samples.
const (
	grid    = 15_000 // ms
	maxGrid = 200_000
)

// deriver builds the derived series of one node.
type deriver struct {
	s    *Store
	n    *replay.Node
	m    *DerivedMetric
	from int64 // ms
	to   int64
	step int64
}

func (s *Store) addDerived(n *replay.Node) {
	d := deriver{s: s, n: n, from: millis(n.Window.Start), to: millis(n.Window.End) + 1}
	if n.Window.Start == 0 || d.to <= d.from || !n.Have[parse.SrcKubelet] {
		return
	}
	for d.step = grid; (d.to-d.from)/d.step > maxGrid; d.step *= 2 {
	}
	for i := range derivedMetrics {
		d.m = &derivedMetrics[i]
		d.m.build(&d)
	}
}

// piece is a piece [from, to) of a derived series. Its value starts at v and grows by slope per
// second.
type piece struct {
	from, to int64 // ms
	v        float64
	slope    float64
}

func (p piece) at(t int64) float64 { return p.v + p.slope*float64(t-p.from)/1000 }

// series adds one series of pieces, which must be sorted and disjoint.
func (d *deriver) series(pieces []piece, extra ...string) {
	pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.to <= p.from })
	if len(pieces) == 0 {
		return
	}
	b := labels.NewScratchBuilder(4)
	b.Add(nameLabel, d.m.Name)
	b.Add("instance", d.n.Name)
	b.Add("node", d.n.Name)
	for i, name := range d.m.Labels {
		b.Add(name, extra[i])
	}
	b.Sort()
	step := d.stepOf(pieces)
	last := &pieces[len(pieces)-1]
	to := last.to
	last.to++ // known up to the end includes the end, where queries for the last value look
	d.s.add(&Series{Labels: b.Labels(), Kind: Derived, Type: d.m.Type, from: pieces[0].from, to: to,
		iter: func() chunkenc.Iterator { return &pieceIterator{pieces: pieces, step: step} }})
}

// stepOf returns the distance of samples: a second if the value grows, so that it is correct to a
// second at any time.
func (d *deriver) stepOf(pieces []piece) int64 {
	growing := int64(0)
	for _, p := range pieces {
		if p.slope != 0 {
			growing += p.to - p.from
		}
	}
	if growing == 0 {
		return d.step
	}
	step := int64(1000)
	for growing/step > maxGrid {
		step *= 2
	}
	return min(step, d.step)
}

// pieceIterator samples pieces at their starts and ends and on a grid of absolute time. A staleness
// marker follows the last known value.
type pieceIterator struct {
	cursor
	pieces []piece
	step   int64
	begun  bool
}

// Next implements chunkenc.Iterator.
func (p *pieceIterator) Next() chunkenc.ValueType {
	if !p.begun {
		p.begun = true
		return p.enter()
	}
	if p.kind == chunkenc.ValNone {
		return p.kind
	}
	if len(p.pieces) == 0 {
		return p.end()
	}
	head := p.pieces[0]
	if p.t < head.from {
		return p.enter() // after a staleness marker
	}
	if t := p.t - p.t%p.step + p.step; t < head.to {
		return p.set(t, head.at(t))
	}
	if head.slope != 0 && p.t < head.to-1 {
		return p.set(head.to-1, head.at(head.to-1)) // the final value
	}
	p.pieces = p.pieces[1:]
	if len(p.pieces) > 0 && p.pieces[0].from == head.to {
		return p.enter()
	}
	return p.set(head.to, staleNaN)
}

func (p *pieceIterator) enter() chunkenc.ValueType {
	if len(p.pieces) == 0 {
		return p.end()
	}
	head := p.pieces[0]
	return p.set(head.from, head.v)
}

// Seek implements chunkenc.Iterator.
func (p *pieceIterator) Seek(t unixMilli) chunkenc.ValueType {
	if p.begun && (p.kind == chunkenc.ValNone || p.t >= t) {
		return p.kind
	}
	for len(p.pieces) > 1 && p.pieces[1].from <= t && p.pieces[0].to < t {
		p.pieces, p.begun = p.pieces[1:], false
	}
	if len(p.pieces) > 0 {
		// Jump to the last grid point before t.
		if head := p.pieces[0]; t > head.from+p.step && t < head.to {
			p.begun = true
			p.set(t-1-(t-1)%p.step, 0)
		}
	}
	for {
		if k := p.Next(); k == chunkenc.ValNone || p.t >= t {
			return k
		}
	}
}

// counter adds a counter of events at the given times (Unix ns). It is 0 at the start of the
// window.
func (d *deriver) counter(at []int64, extra ...string) {
	slices.Sort(at)
	ps := []piece{{from: d.from, to: d.to}}
	for i := 0; i < len(at); {
		t, v := min(max(millis(at[i]), d.from+1), d.to-1), 0
		for ; i < len(at) && min(max(millis(at[i]), d.from+1), d.to-1) == t; i++ {
			v++
		}
		last := &ps[len(ps)-1]
		next := piece{from: t, to: last.to, v: last.v + float64(v)}
		last.to = t
		ps = append(ps, next)
	}
	d.series(ps, extra...)
}

func (d *deriver) eventTimes(sig string) []int64 {
	var at []int64
	for _, e := range d.n.Events {
		if e.Is(sig) && e.Basis != parse.NoTime {
			at = append(at, e.At)
		}
	}
	return at
}

func (d *deriver) skips()    { d.counter(d.eventTimes(parse.SigSkip)) }
func (d *deriver) discards() { d.counter(d.eventTimes(parse.SigDiscard)) }

func (d *deriver) events() {
	byType := map[string][]int64{}
	for _, e := range d.n.Observed.All() {
		if e.At == 0 {
			continue // undated
		}
		byType[e.Type] = append(byType[e.Type], e.At)
	}
	for _, t := range sortedNames(byType) {
		d.counter(byType[t], t)
	}
}

func (d *deriver) failures() {
	byKind := map[string][]int64{}
	for _, f := range d.n.Failures {
		k := replay.OperationType(f.Call) + "\x00" + f.Code
		byKind[k] = append(byKind[k], f.End)
	}
	for _, k := range sortedNames(byKind) {
		op, code, _ := strings.Cut(k, "\x00")
		d.counter(byKind[k], op, code)
	}
}

func sortedNames(m map[string][]int64) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (d *deriver) restarts() {
	var at []int64
	for i, r := range d.n.Runs {
		if i > 0 {
			at = append(at, cmp.Or(r.Start.At, r.First))
		}
	}
	d.counter(at)
}

func (d *deriver) ready() {
	var ps []piece
	for _, r := range d.n.Ready {
		t := millis(r.At)
		if n := len(ps); n > 0 {
			ps[n-1].to = t
		}
		ps = append(ps, piece{from: t, to: max(d.to, t), v: float64(b2i(r.Ready))})
	}
	d.series(ps)
}

func (d *deriver) lag() {
	var ps []piece
	for _, l := range d.n.Lags {
		t := millis(l.At)
		if n := len(ps); n == 0 || t > ps[n-1].from {
			if n > 0 {
				ps[n-1].to = min(ps[n-1].to, t)
			}
			ps = append(ps, piece{from: t, to: t + d.step, v: l.Lag.Seconds()})
		}
	}
	d.series(ps)
}

// startGrace is how long the first relist of a kubelet may take without counting as failed; see
// rule relist-never-succeeded.
const startGrace = 15_000 // ms

func (d *deriver) unhealthy() {
	var ps []piece
	for _, h := range d.n.Health {
		p := piece{from: millis(h.From), to: millis(h.To)}
		if h.To == 0 {
			p.to = d.to
		}
		switch h.State {
		case replay.NeverRelisted:
			if p.to-p.from <= startGrace {
				continue // the normal start of a kubelet
			}
			p.v = 1
		case replay.Unhealthy:
			p.v = 1
		case replay.Healthy:
		default:
			continue
		}
		ps = append(ps, p)
	}
	d.series(disjoint(ps))
}

// contiguous is the maximum pause after which the next relist counts as following immediately: the
// period and a late timer.
const contiguous = 2_500 // ms

// running is 1 during each relist of known start and end, and 0 until the next one if that follows
// immediately.
func (d *deriver) running() {
	var ps []piece
	for i := range d.n.Relists {
		r := &d.n.Relists[i]
		from, to := millis(r.Start.At), millis(r.End.At)
		if !r.Start.Known() {
			continue
		}
		if !r.End.Known() {
			// Unless a call hung, nothing proves that the relist was running: the kubelet may have
			// been frozen.
			if e := d.episodeOf(r.Start.At); e != nil && r.Outcome == replay.OutcomeHung {
				ps = append(ps, piece{from: from, to: millis(cmp.Or(e.Recovered.At, e.LastReport)), v: 1})
			}
			continue
		}
		ps = append(ps, piece{from: from, to: max(to, from+1), v: 1})
		if next := d.startAfter(i); next > to && next-to <= contiguous {
			ps = append(ps, piece{from: max(to, from+1), to: next})
		}
	}
	d.series(disjoint(ps))
}

// startAfter returns the start of the relist after i in ms, 0 if unknown.
func (d *deriver) startAfter(i int) int64 {
	if i+1 < len(d.n.Relists) && d.n.Relists[i+1].Start.Known() && !d.n.MayGoOn(i) {
		return millis(d.n.Relists[i+1].Start.At)
	}
	return 0
}

func (d *deriver) episodeOf(start int64) *replay.Episode {
	for i := range d.n.Episodes {
		if e := &d.n.Episodes[i]; start >= e.LastStart.At-1e9 && start <= max(e.LastReport, e.Recovered.At) {
			return e
		}
	}
	return nil
}

// age counts from the start of the last relist that listed pods. It is known within episodes and
// between consecutive relists.
func (d *deriver) age() {
	var ps []piece
	for i := range d.n.Episodes {
		ps = append(ps, d.episodeAge(&d.n.Episodes[i])...)
	}
	for i := range d.n.Relists {
		r := &d.n.Relists[i]
		next := d.startAfter(i)
		if r.Listed == nil || !*r.Listed || !r.Start.Known() || !r.End.Known() {
			continue
		}
		from := millis(cmp.Or(r.ListEnd.At, r.Start.At))
		to := max(millis(r.End.At), from+1)
		if next > to && next-to <= contiguous {
			to = next
		}
		ps = append(ps, piece{from: from, to: to, v: float64(from-millis(r.Start.At)) / 1000, slope: 1})
	}
	d.series(disjoint(ps))
}

func (d *deriver) episodeAge(e *replay.Episode) []piece {
	starts := e.LastStarts
	if len(starts) == 0 {
		starts = []replay.Instant{e.LastStart}
	}
	end := millis(cmp.Or(e.Recovered.At, e.LastReport))
	var ps []piece
	for i, s := range starts {
		if !s.Known() {
			continue
		}
		p := piece{from: millis(s.At), to: end, slope: 1}
		if i+1 < len(starts) {
			p.to = millis(starts[i+1].At)
		}
		ps = append(ps, p)
	}
	return ps
}

// disjoint sorts pieces and removes overlaps; the earlier piece wins.
func disjoint(ps []piece) []piece {
	slices.SortStableFunc(ps, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	var out []piece
	for _, p := range ps {
		if n := len(out); n > 0 && out[n-1].to > p.from {
			if out[n-1].to >= p.to {
				continue // already covered
			}
			p.v += p.slope * float64(out[n-1].to-p.from) / 1000
			p.from = out[n-1].to
		}
		out = append(out, p)
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
