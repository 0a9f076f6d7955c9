package metrics

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/plegforensics/plegforensics/parse"
)

// Set merges the parts of a bundle into series. The result does not depend on the
// order of parts. A Set is not safe for concurrent use.
type Set struct {
	targets  map[targetKey]*target
	types    map[string]string
	warnings []parse.Warning
	streams  int
	made     int // series made

	// The parts of series are allocated from slabs: the cost of garbage collection
	// grows with the number of objects.
	series slab[parse.Series]
	fields slab[parse.Field]
	points slab[parse.Point]
	keys   strings.Builder
	room   []parse.Field // scratch space for the key being parsed
}

// slab is the unused rest of a larger allocation.
type slab[T any] []T

func (s *slab[T]) cut(n int) []T {
	if len(*s) < n {
		*s = make([]T, max(n, 128))
	}
	out := (*s)[:n:n]
	*s = (*s)[n:]
	return out
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{targets: map[targetKey]*target{}, types: map[string]string{}}
}

// Len returns the number of series made so far.
func (s *Set) Len() int { return s.made }

// targetKey identifies an exporter: series with equal name and labels from two
// exporters are distinct.
type targetKey struct {
	own   bool // the series carry the labels of a Prometheus server, which distinguish targets
	input int
	dir   string
	node  string
	job   string
	// stream is nonzero for a snapshot of a streamed file and distinguishes these
	// until they are complete.
	stream int
}

type target struct {
	targetKey
	byKey   map[string]*parse.Series // by key as written; nil value: not a valid series
	order   []*parse.Series          // in order of arrival; a series written in two ways is there twice
	scrapes []*parse.Scrape
}

// Add adds a part, which must not be used afterwards.
func (s *Set) Add(p *Part) {
	s.warnings = append(s.warnings, p.Warnings...)
	for name, typ := range p.types {
		s.addType(name, typ)
	}
	for _, sn := range p.scrapes {
		s.addSnapshot(p, sn)
	}
	if len(p.bare) > 0 {
		t := s.target(targetKey{own: true})
		for _, k := range p.bare {
			s.seriesOf(t, p, k, false)
		}
	}
}

// addType keeps one type per family regardless of the order of parts: the
// alphabetically first one that is not "unknown".
func (s *Set) addType(family, typ string) {
	if old, ok := s.types[family]; !ok || old == "unknown" || typ != "unknown" && typ < old {
		s.types[family] = typ
	}
}

func (s *Set) addSnapshot(p *Part, sn *snapshot) {
	f := p.File
	key := targetKey{own: true}
	if !sn.own {
		key = targetKey{input: f.Input, dir: path.Dir(f.Path), node: sn.scrape.Node, job: sn.scrape.Job}
	}
	t := s.target(key)
	scrape := &sn.scrape
	t.scrapes = append(t.scrapes, scrape)
	s.rows(t, p, sn)
	for _, r := range p.hists[sn.hfrom:sn.hto] {
		if x := s.seriesOf(t, p, r.key, sn.fromText); x != nil {
			x.Histograms = append(x.Histograms, parse.HistogramPoint{At: at(r.stamp, scrape), H: r.h, Src: scrape, Line: r.line})
		}
	}
}

// rows adds the float samples of a snapshot.
func (s *Set) rows(t *target, p *Part, sn *snapshot) {
	scrape := &sn.scrape
	for _, r := range p.rows[sn.from:sn.to] {
		x := s.ofRow(t, p, r, sn.fromText)
		if x == nil {
			continue
		}
		if x.Points == nil {
			x.Points = s.points.cut(1)[:0] // large files usually hold one snapshot
		}
		x.Points = append(x.Points, parse.Point{At: at(r.stamp, scrape), V: r.value, Src: scrape, Line: r.line})
	}
}

// ofRow returns the series of a sample, making it if necessary. A sample without a
// timestamp in a streamed snapshot gets a new series without a lookup, since it is
// hardly ever repeated; join merges repeats.
func (s *Set) ofRow(t *target, p *Part, r row, text bool) *parse.Series {
	if t.stream > 0 && r.stamp == noStamp {
		return s.newSeries(t, p, s.keep(p.key(r.key)), text)
	}
	return s.seriesOf(t, p, r.key, text)
}

// apart returns a new target for a streamed snapshot, whose exporter and time are
// not known yet.
func (s *Set) apart(f *parse.File) *target {
	s.streams++
	return s.target(targetKey{input: f.Input, dir: path.Dir(f.Path), stream: s.streams})
}

// settleApart completes such a target; t is nil for a snapshot without samples.
func (s *Set) settleApart(t *target, sn *snapshot) {
	if t == nil {
		t = s.apart(sn.scrape.File)
	}
	t.node, t.job = sn.scrape.Node, sn.scrape.Job
	t.scrapes = append(t.scrapes, &sn.scrape)
	for _, x := range t.order {
		for i := range x.Points {
			if x.Points[i].At == noStamp {
				x.Points[i].At = sn.scrape.At
			}
		}
	}
	t.byKey = nil // no more samples follow
}

// at returns the time of a sample: its own timestamp, else that of its snapshot;
// noStamp while the snapshot is not complete.
func at(stamp int64, s *parse.Scrape) int64 {
	if stamp != noStamp || s.Basis == parse.NoTime && s.Samples == 0 {
		return stamp
	}
	return s.At
}

func (s *Set) target(k targetKey) *target {
	t := s.targets[k]
	if t == nil {
		t = &target{targetKey: k, byKey: map[string]*parse.Series{}}
		s.targets[k] = t
	}
	return t
}

// seriesOf returns the series of a key, making it if necessary; nil if the key is
// invalid.
func (s *Set) seriesOf(t *target, p *Part, k span, text bool) *parse.Series {
	key := p.key(k)
	x, ok := t.byKey[string(key)]
	if ok && (x == nil || x.Raw != "" || !text) {
		return x
	}
	raw := s.keep(key)
	if ok {
		x.Raw = raw
	} else if x = s.newSeries(t, p, raw, text); x != nil {
		t.byKey[raw] = x
	}
	return x
}

// newSeries makes the series of a key. It returns nil and adds a warning if the key
// is invalid.
func (s *Set) newSeries(t *target, p *Part, key string, text bool) *parse.Series {
	name, fields, ok := parseKey(key, s.room[:0])
	s.room = fields[:0]
	if !ok {
		if _, told := t.byKey[key]; !told {
			t.byKey[key] = nil
			s.warnings = append(s.warnings, parse.Warning{Pos: parse.Pos{File: p.File}, Msg: "series skipped: " + clip([]byte(key), 80)})
		}
		return nil
	}
	s.made++
	x := &s.series.cut(1)[0]
	x.Name, x.Labels = name, s.fields.cut(len(fields))
	copy(x.Labels, fields)
	if text {
		x.Raw = key
	}
	t.order = append(t.order, x)
	return x
}

// keep returns a permanent copy of a key.
func (s *Set) keep(key []byte) string {
	if s.keys.Cap()-s.keys.Len() < len(key) {
		s.keys = strings.Builder{}
		s.keys.Grow(max(len(key), 8<<10))
	}
	from := s.keys.Len()
	s.keys.Write(key)
	return s.keys.String()[from:]
}

// Finish returns all series, sorted by node, exporter, name and labels, and all
// scrapes in time order. The set must not be used afterwards.
func (s *Set) Finish() parse.Part {
	var out parse.Part
	groups := s.unify()
	for _, g := range groups {
		series, dup := g.join(s.types)
		series, g.scrapes, s.warnings = dropCopies(series, g.scrapes, append(append(s.warnings, dup...), g.failed()...))
		out.Series = append(out.Series, series...)
		out.Scrapes = append(out.Scrapes, g.scrapes...)
	}
	if len(groups) > 1 {
		slices.SortFunc(out.Series, CompareSeries)
	}
	slices.SortStableFunc(out.Scrapes, compareScrapes)
	slices.SortStableFunc(s.warnings, func(a, b parse.Warning) int { return comparePos(a.Pos, b.Pos) })
	out.Warnings = s.warnings
	return out
}

// CompareSeries orders series by node, exporter, name and labels.
func CompareSeries(a, b *parse.Series) int {
	if c := cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Name, b.Name)); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Labels, b.Labels, func(x, y parse.Field) int {
		if c := cmp.Compare(x.Name, y.Name); c != 0 {
			return c
		}
		return cmp.Compare(x.Value, y.Value)
	})
}

func compareScrapes(a, b *parse.Scrape) int {
	return cmp.Or(cmp.Compare(a.At, b.At), comparePos(a.Where(), b.Where()))
}

func comparePos(a, b parse.Pos) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// group is one exporter of one node, after all parts were added.
type group struct {
	node, job string
	own       bool
	members   []*target
	scrapes   []*parse.Scrape
}

// unify groups targets that differ only in what some snapshots do not state: an
// error page states neither node nor exporter, but the snapshots in the same
// directory do.
func (s *Set) unify() []*group {
	targets := make([]*target, 0, len(s.targets))
	for _, t := range s.targets {
		targets = append(targets, t)
	}
	slices.SortFunc(targets, func(a, b *target) int {
		return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.dir, b.dir), cmp.Compare(a.node, b.node), cmp.Compare(a.job, b.job))
	})
	for _, t := range targets {
		if t.node == "" && !t.own && len(t.scrapes) > 0 {
			t.node = t.scrapes[0].File.Node // a layout may learn it late
		}
	}
	complete(targets, func(t *target) *string { return &t.node })
	complete(targets, func(t *target) *string { return &t.job })
	groups := map[targetKey]*group{}
	var out []*group
	for _, t := range targets {
		k := targetKey{own: t.own, node: t.node, job: t.job}
		if t.job == "" && !t.own {
			k.input, k.dir = t.input, t.dir // unknown exporters are distinguished by directory
		}
		g := groups[k]
		if g == nil {
			g = &group{node: t.node, job: t.job, own: t.own}
			groups[k] = g
			out = append(out, g)
		}
		g.members = append(g.members, t)
		g.scrapes = append(g.scrapes, t.scrapes...)
	}
	return out
}

// complete fills an empty attribute from the targets of the same directory, else of
// the same input, if these have exactly one value.
func complete(targets []*target, attr func(*target) *string) {
	type place struct {
		input int
		dir   string
	}
	known := map[place]map[string]bool{}
	note := func(p place, v string) {
		if known[p] == nil {
			known[p] = map[string]bool{}
		}
		known[p][v] = true
	}
	for _, t := range targets {
		if v := *attr(t); v != "" && !t.own {
			note(place{t.input, t.dir}, v)
			note(place{t.input, "\x00"}, v)
		}
	}
	for _, t := range targets {
		for _, p := range []place{{t.input, t.dir}, {t.input, "\x00"}} {
			if *attr(t) == "" && !t.own && len(known[p]) == 1 {
				for v := range known[p] {
					*attr(t) = v
				}
			}
		}
	}
}

// join merges the series of the members of a group. types maps families to types.
func (g *group) join(types map[string]string) ([]*parse.Series, []parse.Warning) {
	for _, sc := range g.scrapes {
		sc.Node, sc.Job = g.node, g.job
	}
	var out []*parse.Series
	for _, t := range g.members {
		for _, x := range t.order {
			x.Type = TypeOf(x.Name, types)
			if !g.own {
				normalizeBound(x)
			}
		}
		out = append(out, t.order...)
	}
	sortSeries(out) // equal series may be merged in any order
	out = mergeSame(out)
	dups, late := map[*parse.Scrape]*oddSamples{}, map[*parse.Scrape]*oddSamples{}
	for _, x := range out {
		x.Node, x.Job = g.node, g.job
		settle(x, dups, late)
	}
	return out, append(warnOdd(dups, "repeat a series at the same time; the first is kept"), warnOdd(late, "are older than the one before them; sorted by time")...)
}

// mergeSame merges equal series of a sorted slice.
func mergeSame(xs []*parse.Series) []*parse.Series {
	out := xs[:min(len(xs), 1)]
	for _, x := range xs[len(out):] {
		if last := out[len(out)-1]; CompareSeries(last, x) == 0 {
			mergeInto(last, x)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// failed returns a warning with the number of failed snapshots of an exporter. Each
// is also kept as a failed scrape, which is evidence.
func (g *group) failed() []parse.Warning {
	var first *parse.Scrape
	n := 0
	for _, sc := range g.scrapes {
		if sc.Failed == "" {
			continue
		}
		if n++; first == nil || compareScrapes(sc, first) < 0 {
			first = sc
		}
	}
	if n == 0 {
		return nil
	}
	return []parse.Warning{{Pos: parse.Pos{File: first.File, Line: max(first.Line, 1)},
		Msg: fmt.Sprintf("%d snapshots failed and hold no metrics, the first here: %s", n, clip([]byte(first.Failed), 120))}}
}

// normalizeBound formats the bound of a bucket or quantile as a server does when it
// scrapes: a float with a decimal point, so that 10, 10.0 and 1e1 are equal.
func normalizeBound(x *parse.Series) {
	label := map[string]string{"histogram": labels.BucketLabel, "summary": "quantile"}[x.Type]
	if label == "" {
		return
	}
	for i, f := range x.Labels {
		if f.Name != label {
			continue
		}
		v, err := strconv.ParseFloat(f.Value, 64)
		if err != nil {
			return
		}
		x.Labels[i].Value = labels.FormatOpenMetricsFloat(v)
		return
	}
}

func mergeInto(old, x *parse.Series) {
	if old.Raw != x.Raw && old.Raw != "" && x.Raw != "" {
		loser := old
		if old.Raw < x.Raw {
			loser = x
		}
		keepSpelling(loser)
	}
	old.Points = append(old.Points, x.Points...)
	old.Histograms = append(old.Histograms, x.Histograms...)
	old.Chunks = append(old.Chunks, x.Chunks...)
	if old.Unpack == nil {
		old.Unpack = x.Unpack
	}
	if old.Raw == "" || x.Raw != "" && x.Raw < old.Raw {
		old.Raw = x.Raw
	}
}

// keepSpelling keeps the lines of a series that is about to be merged into one with
// another spelling.
func keepSpelling(x *parse.Series) {
	for _, p := range x.Points {
		if _, kept := p.Src.Odd[p.Line]; kept || p.Line == 0 || len(p.Src.Odd) >= maxOdd {
			continue
		}
		if p.Src.Odd == nil {
			p.Src.Odd = map[uint32]string{}
		}
		p.Src.Odd[p.Line] = x.Raw + " " + parse.FormatValue(p.V)
	}
}

// oddSamples counts the irregular samples of one scrape and keeps the position of
// the first.
type oddSamples struct {
	n     int
	first string
	line  uint32
}

func noteOdd(odd map[*parse.Scrape]*oddSamples, x *parse.Series, p parse.Point) {
	o := odd[p.Src]
	if o == nil {
		o = &oddSamples{first: x.String(), line: p.Line}
		odd[p.Src] = o
	}
	o.n++
}

// noteLate counts samples that a file lists after later ones of the same series.
func noteLate(x *parse.Series, late map[*parse.Scrape]*oddSamples) {
	for i := 1; i < len(x.Points); i++ {
		if a, b := x.Points[i-1], x.Points[i]; a.Src == b.Src && b.At < a.At {
			noteOdd(late, x, b)
		}
	}
}

// settle sorts the samples of a series and drops all but the first at each time.
func settle(x *parse.Series, dups, late map[*parse.Scrape]*oddSamples) {
	order := func(a, b parse.Point) int {
		return cmp.Or(cmp.Compare(a.At, b.At), comparePoints(a, b))
	}
	if !slices.IsSortedFunc(x.Points, order) {
		noteLate(x, late)
		slices.SortFunc(x.Points, order)
	}
	x.Points = dropRepeats(x, x.Points, dups)
	slices.SortStableFunc(x.Histograms, func(a, b parse.HistogramPoint) int {
		return cmp.Or(cmp.Compare(a.At, b.At), comparePos(a.Src.Where(), b.Src.Where()))
	})
	slices.SortFunc(x.Chunks, func(a, b parse.Chunk) int {
		return cmp.Or(cmp.Compare(a.Min, b.Min), cmp.Compare(a.Max, b.Max))
	})
	x.Points = slices.Clip(x.Points)
}

func comparePoints(a, b parse.Point) int {
	return comparePos(parse.Pos{File: a.Src.File, Line: a.Line}, parse.Pos{File: b.Src.File, Line: b.Line})
}

func dropRepeats(x *parse.Series, ps []parse.Point, dups map[*parse.Scrape]*oddSamples) []parse.Point {
	out := ps[:0]
	for i, p := range ps {
		if i > 0 && len(out) > 0 && out[len(out)-1].At == p.At && p.Src.Basis != parse.NoTime {
			last := out[len(out)-1]
			if last.Src == p.Src || math.Float64bits(last.V) != math.Float64bits(p.V) {
				noteOdd(dups, x, p)
			}
			continue
		}
		out = append(out, p)
	}
	return out
}

func warnOdd(odd map[*parse.Scrape]*oddSamples, what string) []parse.Warning {
	var out []parse.Warning
	for s, o := range odd {
		out = append(out, parse.Warning{Pos: parse.Pos{File: s.File, Line: o.line},
			Msg: fmt.Sprintf("%d samples %s (%s)", o.n, what, clip([]byte(o.first), 120))})
	}
	slices.SortFunc(out, func(a, b parse.Warning) int { return comparePos(a.Pos, b.Pos) })
	return out
}
