package snapshots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// CallStep is the growth of one runtime operation's counters between two consecutive
// snapshots of the metrics.
type CallStep struct {
	Operation string // label operation_type of the metrics
	// From is the time of the earlier snapshot, Unix ns. In the first step (Whole is
	// set) it is the start of the process, 0 if unknown, and the counters began at
	// zero.
	From, To int64
	Whole    bool
	// Calls ended in the step, Errors of them with an error; Sum is their total
	// duration. The kubelet counts a call when it ends, so a call that hangs is not
	// included.
	Calls, Errors int
	Sum           time.Duration
	// Long counts the calls longer than Edge, the lowest bucket bound of 10 s or more
	// (or the last finite one). They took at least LongMean on average.
	Long           int
	Edge, LongMean time.Duration
	Evidence       []host.Evidence

	source  string
	buckets []bucket // growth in the step, cumulative over buckets
}

// callMetrics holds the names of one generation of the operation metrics, and the unit
// of their durations in seconds.
type callMetrics struct {
	duration, calls, errors string
	unit                    float64
}

// callGenerations lists the generations, newest first. Kubelets 1.14 to 1.17 expose
// both; they count the same calls.
var callGenerations = []callMetrics{
	{"kubelet_runtime_operations_duration_seconds", "kubelet_runtime_operations_total", "kubelet_runtime_operations_errors_total", 1},
	{"kubelet_runtime_operations_latency_microseconds", "kubelet_runtime_operations", "kubelet_runtime_operations_errors", 1e-6},
}

// callGeneration returns the newest generation found in the series, nil if there is
// none.
func callGeneration(series []*parse.Series) *callMetrics {
	for i := range callGenerations {
		g := &callGenerations[i]
		if slices.ContainsFunc(series, func(s *parse.Series) bool { return s.Sampled() && (s.Name == g.duration+"_count" || s.Name == g.calls) }) {
			return g
		}
	}
	return nil
}

// callShot holds the counters of one operation in one snapshot.
type callShot struct {
	calls, count, sum, errors float64 // NaN if unknown
	buckets                   []bucket
	rec, errRec               *parse.Sample
}

// callSource is one exporter's view of the operations: snapshots of a kubelet, or the
// copy of its metrics in a Prometheus server.
type callSource struct {
	name  string
	times []int64
	keep  map[int64]int64 // times to read, nil: all
	ops   map[string]map[int64]*callShot
}

// CallSteps returns the growth of the runtime call metrics of one node, ordered by
// operation, source and time.
func CallSteps(series []*parse.Series) []CallStep {
	gen := callGeneration(series)
	if gen == nil {
		return nil
	}
	sources := callSources(series, gen)
	starts := processStartsAt(series, sources)
	var out []CallStep
	for _, src := range sources {
		for op, shots := range src.ops {
			out = append(out, src.steps(op, shots, starts)...)
		}
	}
	slices.SortStableFunc(out, func(a, b CallStep) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.source, b.source), cmp.Compare(a.To, b.To))
	})
	return out
}

func callSources(series []*parse.Series, gen *callMetrics) []*callSource {
	byName := map[string]*callSource{}
	var order []*callSource
	for _, s := range series {
		op := s.Label("operation_type")
		role := gen.role(s.Name)
		if op == "" || role == "" {
			continue
		}
		name := sourceName(s)
		src := byName[name]
		if src == nil {
			src = &callSource{name: name, ops: map[string]map[int64]*callShot{}}
			src.keep = notable(longest(series, func(x *parse.Series) bool { return gen.role(x.Name) == role && sourceName(x) == name }), 0)
			byName[name] = src
			order = append(order, src)
		}
		src.add(s, op, role, gen.unit)
	}
	for _, src := range order {
		slices.Sort(src.times)
		src.times = slices.Compact(src.times)
		for _, shots := range src.ops {
			for _, t := range shots {
				t.finish()
			}
		}
	}
	return order
}

func sourceName(s *parse.Series) string {
	return s.Job + "\x00" + s.Label("job") + "\x00" + s.Label("instance")
}

// role returns what a series of this generation counts, "" for other series.
func (g *callMetrics) role(name string) string {
	switch name {
	case g.calls:
		return "calls"
	case g.errors:
		return "errors"
	case g.duration + "_count":
		return "count"
	case g.duration + "_sum":
		return "sum"
	case g.duration + "_bucket":
		return "bucket"
	}
	return ""
}

func (src *callSource) add(s *parse.Series, op, role string, unit float64) {
	shots := src.ops[op]
	if shots == nil {
		shots = map[int64]*callShot{}
		src.ops[op] = shots
	}
	le, err := strconv.ParseFloat(s.Label("le"), 64)
	if role == "bucket" && (err != nil || math.IsNaN(le)) {
		return
	}
	for p := range s.Samples() {
		if _, kept := src.keep[p.At]; src.keep != nil && !kept || p.Src.Basis == parse.NoTime || !(p.V >= 0 && p.V < 1e15) {
			continue // undated, a stale marker, or not a counter value
		}
		t := shots[p.At]
		if t == nil {
			nan := math.NaN()
			t = &callShot{calls: nan, count: nan, sum: nan, errors: nan}
			shots[p.At] = t
			src.times = append(src.times, p.At)
		}
		switch role {
		case "calls":
			t.calls = p.V
			if t.rec == nil {
				t.rec = s.Cite(p)
			}
		case "errors":
			t.errors, t.errRec = p.V, s.Cite(p)
		case "count":
			t.count = p.V
		case "sum":
			t.sum, t.rec = p.V*unit, s.Cite(p)
		case "bucket":
			t.buckets = append(t.buckets, bucket{le, p.V})
		}
	}
}

func (t *callShot) finish() {
	slices.SortFunc(t.buckets, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	if math.IsNaN(t.count) {
		t.count = t.calls
	}
	if math.IsNaN(t.errors) {
		t.errors = 0 // the counter appears with the first error
	}
}

// processStartsAt returns the start of the kubelet process in Unix seconds, by snapshot
// time.
func processStartsAt(series []*parse.Series, sources []*callSource) map[int64]float64 {
	out, read := map[int64]float64{}, map[int64]bool{}
	for _, src := range sources {
		for _, at := range src.times {
			read[at] = true
		}
	}
	for _, s := range series {
		if s.Name != "process_start_time_seconds" || !ofKubelet(s) {
			continue
		}
		for p := range s.Samples() {
			if read[p.At] {
				out[p.At] = p.V
			}
		}
	}
	return out
}

// steps compares consecutive snapshots of one operation. An operation that first
// appears after the first snapshot began at zero.
func (src *callSource) steps(op string, shots map[int64]*callShot, starts map[int64]float64) []CallStep {
	var out []CallStep
	var before int64
	var last *callShot
	zero := &callShot{}
	for i, at := range src.times {
		t := shots[at]
		if t == nil || math.IsNaN(t.count) {
			if last == nil {
				before = at
			}
			continue
		}
		a := last
		fresh := i > 0 && starts[at]-starts[before] > 1.5
		if a == nil || fresh || t.count < a.count || t.sum < a.sum-1e-9 || t.errors < a.errors {
			a = zero
		}
		s := callStep(op, a, t)
		s.From, s.To, s.source = before, at, src.name
		if before == 0 {
			s.Whole = true
			if v := starts[at]; v > 0 && v < 1e10 {
				s.From = int64(v * 1e9)
			}
		}
		out = append(out, s)
		last, before = t, at
	}
	return out
}

// callStep returns the growth from a to b.
func callStep(op string, a, b *callShot) CallStep {
	s := CallStep{Operation: op, Calls: int(b.count - a.count), Errors: int(b.errors - a.errors), buckets: grown(a, b)}
	if d := b.sum - a.sum; d > 0 && d < 1e9 {
		s.Sum = seconds(d)
	}
	s.long()
	if b.rec != nil {
		s.Evidence = append(s.Evidence, host.Evidence{Record: b.rec, Note: op + ": " + parse.Plural(s.Calls, "call") + ", " + parse.Short(s.Sum) + " together"})
	}
	if b.errRec != nil && s.Errors > 0 {
		s.Evidence = append(s.Evidence, host.Evidence{Record: b.errRec, Note: fmt.Sprintf("%s: %d of %d calls failed", op, s.Errors, s.Calls)})
	}
	return s
}

// grown returns the growth of a cumulative histogram, nil if buckets are missing in one of the snapshots.
func grown(a, b *callShot) []bucket {
	if len(a.buckets) == 0 && a.count > 0 || len(a.buckets) > 0 && !sameBounds(a.buckets, b.buckets) {
		return nil
	}
	out := slices.Clone(b.buckets)
	for i := range a.buckets {
		out[i].n -= a.buckets[i].n
	}
	return out
}

// callEdge is the duration in seconds beyond which a call counts as long. It is the
// last finite bound of the kubelet's relist histograms.
const callEdge = 10.0

// long counts the calls beyond Edge and sets a lower bound of their mean: each of the
// others took at most the upper bound of its bucket.
func (s *CallStep) long() {
	n := len(s.buckets)
	if n < 2 || !math.IsInf(s.buckets[n-1].le, 1) {
		return
	}
	most, below := 0.0, 0.0
	for _, b := range s.buckets[:n-1] {
		most += max(b.n-below, 0) * b.le
		below, s.Edge = b.n, seconds(b.le)
		if b.le >= callEdge {
			break
		}
	}
	if s.Long = int(max(s.buckets[n-1].n-below, 0)); s.Long > 0 {
		s.LongMean = max(s.Edge, (s.Sum-seconds(most))/time.Duration(s.Long))
	}
}
