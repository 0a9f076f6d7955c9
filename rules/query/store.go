package query

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// Kind is the origin of a series.
type Kind string

// Kinds of series.
const (
	Real     Kind = "real"     // from a file of the input
	Derived  Kind = "derived"  // derived from logs
	Recorded Kind = "recorded" // written by a recording rule
)

// Series is one series of a store.
type Series struct {
	Labels labels.Labels
	Kind   Kind
	Type   string
	Source *parse.Series // if Kind is Real
	from   int64         // first and last sample, inclusive, Unix ms
	to     int64
	rec    []recorded               // if Kind is Recorded
	iter   func() chunkenc.Iterator // nil: iterate over the points of Source
	next   *Series                  // next series with the same hash
}

// Span returns the times of the first and last sample in Unix milliseconds.
func (s *Series) Span() (from, to int64) { return s.from, s.to }

// Samples returns an iterator over the samples.
func (s *Series) Samples() chunkenc.Iterator { return s.samples(nil) }

// samples returns an iterator; it may reuse used.
func (s *Series) samples(used chunkenc.Iterator) chunkenc.Iterator {
	if s.iter != nil {
		return s.iter()
	}
	it, ok := used.(*pointIterator)
	if !ok {
		it = new(pointIterator)
	}
	*it = pointIterator{points: s.Source.Points, hists: s.Source.Histograms}
	return it
}

// view adapts a Series to the engine's interface (storage.Series).
type view struct{ *Series }

func (v view) Labels() labels.Labels                             { return v.Series.Labels }
func (v view) Iterator(used chunkenc.Iterator) chunkenc.Iterator { return v.samples(used) }

// Store holds series for the PromQL engine and implements storage.Queryable. It is not safe for
// concurrent use.
type Store struct {
	all    []*Series
	byName map[string][]*Series
	seen   map[uint64]*Series // by hash of the labels
	from   int64
	to     int64
}

// NewStore returns a store with the series of all nodes and those derived from their logs.
func NewStore(nodes []*replay.Node) *Store {
	s := emptyStore()
	for _, n := range nodes {
		s.AddReal(n.Series, n.Scrapes)
	}
	for _, n := range nodes {
		s.addDerived(n)
	}
	return s
}

func emptyStore() *Store {
	return &Store{byName: map[string][]*Series{}, seen: map[uint64]*Series{}}
}

// All returns the series sorted by labels.
func (s *Store) All() []*Series {
	slices.SortFunc(s.all, func(a, b *Series) int { return labels.Compare(a.Labels, b.Labels) })
	return s.all
}

// Span returns the times of the first and last sample in Unix milliseconds; ok is false if the
// store is empty.
func (s *Store) Span() (from, to int64, ok bool) { return s.from, s.to, len(s.all) > 0 }

// Len returns the number of series.
func (s *Store) Len() int { return len(s.all) }

// Names returns the sorted metric names.
func (s *Store) Names() []string {
	out := make([]string, 0, len(s.byName))
	for n := range s.byName {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Has reports whether a series of the name exists.
func (s *Store) Has(name string) bool { return len(s.byName[name]) > 0 }

// add adds a series and reports whether it did: one with the same labels as an existing one, which
// the engine could not tell apart, is dropped.
func (s *Store) add(x *Series) bool {
	h := x.Labels.Hash()
	if s.find(h, x.Labels) != nil {
		return false
	}
	x.next, s.seen[h] = s.seen[h], x
	if len(s.all) == 0 || x.from < s.from {
		s.from = x.from
	}
	if len(s.all) == 0 || x.to > s.to {
		s.to = x.to
	}
	s.all = append(s.all, x)
	name := x.Labels.Get(nameLabel)
	s.byName[name] = append(s.byName[name], x)
	return true
}

// find returns the series with the given labels and their hash, nil if there is none.
func (s *Store) find(hash uint64, ls labels.Labels) *Series {
	x := s.seen[hash]
	for x != nil && !labels.Equal(x.Labels, ls) {
		x = x.next
	}
	return x
}

// AddReal adds series of files, with the scrapes that they were part of.
func (s *Store) AddReal(series []*parse.Series, scrapes []*parse.Scrape) {
	targets := targetScrapes(scrapes)
	l := newLabeller()
	s.all = slices.Grow(s.all, len(series))
	es := make([]Series, len(series))
	for i, x := range series {
		if len(x.Points)+len(x.Histograms)+len(x.Chunks) == 0 {
			continue
		}
		e := &es[i]
		*e = realSeries(x, l.of(x), targets[targetOf(x)])
		if !s.add(e) {
			e.Labels = withLabel(e.Labels, "source", sourceOf(x))
			s.add(e)
		}
	}
	s.addUp(targets, l)
}

type target struct{ node, job string }

func targetOf(x *parse.Series) target { return target{x.Node, x.Job} }

// targetScrapes groups the dated scrapes of known exporters, sorted by time.
func targetScrapes(scrapes []*parse.Scrape) map[target][]*parse.Scrape {
	out := map[target][]*parse.Scrape{}
	for _, sc := range scrapes {
		if sc.Job != "" && sc.Basis != parse.NoTime {
			t := target{sc.Node, sc.Job}
			out[t] = append(out[t], sc)
		}
	}
	for _, l := range out {
		slices.SortStableFunc(l, func(a, b *parse.Scrape) int { return cmp.Compare(a.At, b.At) })
	}
	return out
}

// realSeries returns the Series for a series of a file.
func realSeries(x *parse.Series, ls labels.Labels, scrapes []*parse.Scrape) Series {
	e := Series{Labels: ls, Kind: Real, Type: x.Type, Source: x}
	e.from, e.to = spanOf(x)
	if len(x.Chunks) > 0 {
		e.iter = func() chunkenc.Iterator { return packedIterator(x) }
		return e
	}
	if stale := staleAt(x, scrapes); len(stale) > 0 {
		e.iter = func() chunkenc.Iterator { return newPointIterator(x, stale) }
	}
	return e
}

func spanOf(x *parse.Series) (from, to int64) {
	first := true
	add := func(a, b int64) {
		if first || a < from {
			from = a
		}
		if first || b > to {
			to = b
		}
		first = false
	}
	if n := len(x.Points); n > 0 {
		add(millis(x.Points[0].At), millis(x.Points[n-1].At))
	}
	if n := len(x.Histograms); n > 0 {
		add(millis(x.Histograms[0].At), millis(x.Histograms[n-1].At))
	}
	for _, c := range x.Chunks {
		add(millis(c.Min), millis(c.Max))
	}
	return from, to
}

// millis converts Unix nanoseconds to milliseconds, the engine's unit, rounding down.
func millis(ns int64) int64 {
	if ns < 0 {
		return -((-ns + 999_999) / 1_000_000)
	}
	return ns / 1_000_000
}

// labeller adds the labels of targets to series.
type labeller struct {
	b       labels.ScratchBuilder
	targets map[target][]parse.Field
}

func newLabeller() *labeller {
	return &labeller{labels.NewScratchBuilder(16), map[target][]parse.Field{}}
}

// of returns the labels of a series with those of its target. Series that come from a server have
// them already.
func (l *labeller) of(x *parse.Series) labels.Labels {
	t := targetOf(x)
	if src := firstScrape(x); src != nil && src.Node == "" && src.Job == "" {
		t = target{}
	}
	extra, ok := l.targets[t]
	if !ok {
		extra = t.labels()
		l.targets[t] = extra
	}
	l.b.Reset()
	l.b.Add(nameLabel, x.Name)
	for _, f := range x.Labels {
		l.b.Add(f.Name, f.Value)
	}
	for _, f := range extra {
		if x.Label(f.Name) == "" && f.Value != "" {
			l.b.Add(f.Name, f.Value)
		}
	}
	l.b.Sort()
	return l.b.Labels()
}

// labels returns the labels that a Prometheus server would attach.
func (t target) labels() []parse.Field {
	var out []parse.Field
	if t.job != "" {
		base, endpoint, sub := strings.Cut(t.job, "/")
		out = append(out, parse.Field{Name: "job", Value: base})
		switch {
		case sub:
			out = append(out, parse.Field{Name: "metrics_path", Value: "/metrics/" + endpoint})
		case base == "kubelet":
			out = append(out, parse.Field{Name: "metrics_path", Value: "/metrics"})
		}
	}
	return append(out, parse.Field{Name: "instance", Value: t.node}, parse.Field{Name: "node", Value: t.node})
}

func firstScrape(x *parse.Series) *parse.Scrape {
	switch {
	case len(x.Points) > 0:
		return x.Points[0].Src
	case len(x.Histograms) > 0:
		return x.Histograms[0].Src
	}
	return x.Chunks[0].Src
}

func sourceOf(x *parse.Series) string {
	if len(x.Points) == 0 || x.Points[0].Src.File == nil {
		return "unknown"
	}
	return path.Dir(x.Points[0].Src.File.Path)
}

func withLabel(ls labels.Labels, name, value string) labels.Labels {
	return labels.NewBuilder(ls).Set(name, value).Labels()
}

// staleAt returns the times in ms of the snapshots that lack the series; of consecutive ones only
// the first.
func staleAt(x *parse.Series, scrapes []*parse.Scrape) []int64 {
	var out []int64
	i, j, present := 0, 0, false
	for _, sc := range scrapes {
		for i < len(x.Points) && x.Points[i].At < sc.At {
			i++
		}
		for j < len(x.Histograms) && x.Histograms[j].At < sc.At {
			j++
		}
		has := i < len(x.Points) && x.Points[i].At == sc.At || j < len(x.Histograms) && x.Histograms[j].At == sc.At
		stamped := i < len(x.Points) && x.Points[i].Src == sc
		if present && !has && !stamped {
			out = append(out, millis(sc.At))
		}
		present = has
	}
	return out
}

// addUp adds one "up" series per exporter: 1 for a snapshot, 0 for an error page in its place.
func (s *Store) addUp(targets map[target][]*parse.Scrape, l *labeller) {
	keys := make([]target, 0, len(targets))
	for t := range targets {
		keys = append(keys, t)
	}
	slices.SortFunc(keys, func(a, b target) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.job, b.job)) })
	for _, t := range keys {
		up := &parse.Series{Name: "up", Node: t.node, Job: t.job, Type: "gauge"}
		for _, sc := range targets[t] {
			v := 1.0
			if sc.Failed != "" {
				v = 0
			}
			up.Points = append(up.Points, parse.Point{At: sc.At, V: v, Src: sc, Line: sc.Line})
		}
		e := realSeries(up, l.of(up), nil)
		s.add(&e)
	}
}

// Querier implements storage.Queryable.
func (s *Store) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{s: s, from: mint, to: maxt}, nil
}

type querier struct {
	s        *Store
	from, to int64
}

// Select implements storage.Querier. Series are always sorted, so that the order of results is
// deterministic.
func (q *querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, ms ...*labels.Matcher) storage.SeriesSet {
	var out []*Series
	for _, x := range q.candidates(ms) {
		if x.to >= q.from && x.from <= q.to && x.matches(ms) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *Series) int { return labels.Compare(a.Labels, b.Labels) })
	return &seriesSet{series: out, i: -1}
}

// candidates returns the series with the metric name of the matchers, all series if they do not
// name one.
func (q *querier) candidates(ms []*labels.Matcher) []*Series {
	for _, m := range ms {
		if m.Name == nameLabel && m.Type == labels.MatchEqual {
			return q.s.byName[m.Value]
		}
	}
	return q.s.all
}

// matches reports whether a series matches. The bounds of buckets and quantiles in snapshots match
// in the spelling of any server version: le="10" matches "10.0".
func (s *Series) matches(ms []*labels.Matcher) bool {
	for _, m := range ms {
		v := s.Labels.Get(m.Name)
		ok := m.Matches(v)
		if (m.Name == labels.BucketLabel || m.Name == "quantile") && s.Kind == Real && (s.Source.Job != "" || s.Source.Node != "") {
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				other := m.Matches(strconv.FormatFloat(f, 'g', -1, 64))
				if m.Type == labels.MatchEqual || m.Type == labels.MatchRegexp {
					ok = ok || other
				} else {
					ok = ok && other
				}
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

func matches(ls labels.Labels, ms []*labels.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// LabelValues implements storage.LabelQuerier.
func (q *querier) LabelValues(_ context.Context, name string, _ *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	set := map[string]bool{}
	for _, x := range q.s.all {
		if v := x.Labels.Get(name); v != "" && matches(x.Labels, ms) {
			set[v] = true
		}
	}
	return sortedKeys(set), nil, nil
}

// LabelNames implements storage.LabelQuerier.
func (q *querier) LabelNames(_ context.Context, _ *storage.LabelHints, ms ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	set := map[string]bool{}
	for _, x := range q.s.all {
		if matches(x.Labels, ms) {
			x.Labels.Range(func(l labels.Label) { set[l.Name] = true })
		}
	}
	return sortedKeys(set), nil, nil
}

func sortedKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Close implements storage.LabelQuerier.
func (q *querier) Close() error { return nil }

type seriesSet struct {
	series []*Series
	i      int
}

func (s *seriesSet) Next() bool                        { s.i++; return s.i < len(s.series) }
func (s *seriesSet) At() storage.Series                { return view{s.series[s.i]} }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }
