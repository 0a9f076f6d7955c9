package snapshots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// Operations sums up the runtime calls by operation, longest total first: from the
// growth of the metrics if there are any, and from the failed calls of the log. A
// failure that ended between the snapshots is already in their counters.
func Operations(series []*parse.Series, calls []CallStep, failures []kubelet.Failure) []Operation {
	byName := map[string]*Operation{}
	get := func(name string) *Operation {
		o := byName[name]
		if o == nil {
			o = &Operation{Name: name, Calls: -1, P50: -1, P99: -1, Total: -1, ShareOfRelist: -1}
			byName[name] = o
		}
		return o
	}
	covered := fromMetrics(series, calls, get)
	unstated(series, byName)
	fromFailures(failures, covered, get)
	shareRelists(series, byName)
	out := make([]Operation, 0, len(byName))
	for _, o := range byName {
		out = append(out, *o)
	}
	slices.SortFunc(out, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// fromFailures adds the failed calls of the log that the counters do not cover.
func fromFailures(fs []kubelet.Failure, covered map[string]host.Span, get func(string) *Operation) {
	inside, types := map[string]int{}, map[string]string{}
	for i := range fs {
		f := &fs[i]
		if f.Call == "" {
			continue
		}
		name, known := types[f.Call]
		if !known {
			name = OperationType(f.Call)
			types[f.Call] = name
		}
		o := get(name)
		if len(o.Evidence) < 3 {
			o.Evidence = append(o.Evidence, f.Evidence[0])
		}
		if c, ok := covered[name]; ok && f.End > c.From && f.End <= c.To {
			inside[name]++
			continue
		}
		o.Errors++
		o.ErrorsUnknown = false
		if o.Calls >= 0 {
			o.Calls++
		}
		if f.Start.Known() {
			o.Total = max(o.Total, 0)
			o.Total += time.Duration(f.End - f.Start.At)
		}
	}
	// Failures missing from the kubelet's counters: there are never fewer errors than
	// log lines about one.
	for name, n := range inside {
		if o := get(name); o.metricErrors < n {
			o.Errors += n - o.metricErrors
			o.Calls = max(o.Calls, o.Errors)
		}
	}
}

// unstated marks what the metrics leave open about the operations they count: durations
// if an excerpt has no sums, and the number of failures. The kubelet has no error
// counter for an operation that never failed, so its absence means zero only in a
// complete snapshot, recognized by the start time of the process.
func unstated(series []*parse.Series, byName map[string]*Operation) {
	gen := callGeneration(series)
	if gen == nil {
		return
	}
	summed, errors := map[string]bool{}, false
	for _, s := range series {
		switch s.Name {
		case gen.duration + "_sum":
			summed[s.Label("operation_type")] = true
		case gen.errors, "process_start_time_seconds":
			errors = true
		}
	}
	for name, o := range byName {
		if o.Total == 0 && !summed[name] {
			o.Total = -1
		}
		o.ErrorsUnknown = !errors && o.Errors == 0
	}
}

// OperationType converts the name of a CRI call to the operation_type of the kubelet's
// metrics: PodSandboxStatus becomes podsandbox_status.
func OperationType(call string) string {
	call = strings.ReplaceAll(call, "PodSandbox", "Podsandbox")
	var b strings.Builder
	for i, r := range call {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// fromMetrics adds the growth over the snapshots, or the values since the start of the
// process if there is one snapshot only, and returns the interval covered, by
// operation. Several sources count the same calls, so it uses the one with the most
// calls.
func fromMetrics(series []*parse.Series, steps []CallStep, get func(string) *Operation) map[string]host.Span {
	covered := map[string]host.Span{}
	for i := 0; i < len(steps); {
		j := i + 1
		for j < len(steps) && steps[j].Operation == steps[i].Operation && steps[j].source == steps[i].source {
			j++
		}
		run := steps[i:j]
		if len(run) > 1 && run[0].Whole {
			run = run[1:]
		}
		o := get(run[0].Operation)
		if sum := sumCalls(run); sum.Calls > o.Calls {
			sum.Name, sum.ShareOfRelist = o.Name, o.ShareOfRelist
			*o = sum
			covered[o.Name] = host.Span{From: run[0].From, To: run[len(run)-1].To}
		}
		i = j
	}
	summaryQuantiles(series, get)
	return covered
}

// sumCalls adds up the steps of one operation.
func sumCalls(run []CallStep) Operation {
	o := Operation{P50: -1, P99: -1}
	var bs []bucket
	for i := range run {
		s := &run[i]
		o.Calls += s.Calls
		o.Errors += s.Errors
		o.Total += s.Sum
		bs = addBuckets(bs, s.buckets)
		if i == len(run)-1 || s.Errors > 0 && len(o.Evidence) < 2 {
			o.Evidence = append(o.Evidence, s.Evidence...)
		}
	}
	o.metricErrors = o.Errors
	if len(bs) == 0 || o.Calls == 0 {
		return o
	}
	var lo, hi time.Duration
	o.P50, _, _ = quantile(bs, 0.5, o.Total)
	o.P99, lo, hi = quantile(bs, 0.99, o.Total)
	switch n := len(o.Evidence); {
	case n == 0 || lo < 0:
	case hi < 0:
		o.Evidence[n-1].Note += fmt.Sprintf("; by its buckets the 99th percentile is over %v", lo)
	default:
		o.Evidence[n-1].Note += fmt.Sprintf("; by its buckets the 99th percentile lies between %s and %s", parse.Short(lo), parse.Short(hi))
	}
	return o
}

func addBuckets(sum, bs []bucket) []bucket {
	if len(sum) == 0 {
		return slices.Clone(bs)
	}
	if len(sum) != len(bs) {
		return sum
	}
	for i := range bs {
		sum[i].n += bs[i].n
	}
	return sum
}

// summaryQuantiles reads the quantiles of the summaries of kubelets before 1.14. They
// are those of the last snapshot and cover the ten minutes before it.
func summaryQuantiles(series []*parse.Series, get func(string) *Operation) {
	gen := callGeneration(series)
	if gen != &callGenerations[1] {
		return
	}
	for _, s := range series {
		op := s.Label("operation_type")
		if op == "" || !s.Sampled() || s.Name != gen.duration {
			continue
		}
		v := math.NaN()
		for p := range s.Samples() {
			v = p.V * gen.unit
		}
		if !(v >= 0 && v < 1e6) {
			continue
		}
		switch s.Label("quantile") {
		case "0.5":
			get(op).P50 = seconds(v)
		case "0.99":
			get(op).P99 = seconds(v)
		}
	}
}

// shareRelists estimates the share of the relist time spent in each call that a relist
// makes. Other parts of the kubelet make these calls too, so each share is an upper
// bound: a relist lists once, and inspects as often as pods changed.
func shareRelists(series []*parse.Series, byName map[string]*Operation) {
	shots, _ := shotsOf(series, relistMetrics)
	count, sum := relistGrowth(shots)
	if sum <= 0 {
		return
	}
	for _, name := range [...]string{"list_podsandbox", "list_containers", "podsandbox_status", "container_status"} {
		o := byName[name]
		if o == nil || o.Calls <= 0 || o.Total < 0 {
			continue
		}
		total := o.Total.Seconds()
		if strings.HasPrefix(name, "list_") {
			total *= min(1, count/float64(o.Calls))
		}
		o.ShareOfRelist = min(1, total/sum)
	}
}

// relistGrowth returns how many relists ended over the snapshots, and their total
// seconds. A single snapshot counts from the start of the process.
func relistGrowth(shots []*shot) (count, sum float64) {
	if len(shots) == 1 {
		return shots[0].count, shots[0].sum
	}
	for i := 1; i < len(shots); i++ {
		a, b := shots[i-1], shots[i]
		if math.IsNaN(b.count) || math.IsNaN(b.sum) {
			continue
		}
		if restarted(a, b) {
			count, sum = count+b.count, sum+b.sum
		} else if !math.IsNaN(a.count) && !math.IsNaN(a.sum) {
			count, sum = count+b.count-a.count, sum+b.sum-a.sum
		}
	}
	return count, sum
}

// quantile estimates a quantile of a histogram and returns the bounds of its bucket (hi
// is -1 if the bucket is open). It interpolates within the bucket as Prometheus does.
// In the topmost non-empty bucket the sum of all observations says more, so there the
// estimate is the mean of that bucket. All results are -1 without observations; the
// estimate alone is -1 if nothing narrows an open bucket.
func quantile(bs []bucket, q float64, sum time.Duration) (est, lo, hi time.Duration) {
	all := 0.0
	if len(bs) > 0 {
		all = bs[len(bs)-1].n
	}
	if all <= 0 {
		return -1, -1, -1
	}
	edge, below, others := 0.0, 0.0, 0.0
	for _, b := range bs {
		in := b.n - below
		if b.n < q*all || in <= 0 {
			others += max(in, 0) * (edge + b.le) / 2
			edge, below = b.le, b.n
			continue
		}
		if b.n >= all && sum > 0 {
			return topmost(edge, b.le, (sum.Seconds()-others)/in)
		}
		if math.IsInf(b.le, 1) {
			return -1, seconds(edge), -1
		}
		return seconds(edge + (b.le-edge)*(q*all-below)/in), seconds(edge), seconds(b.le)
	}
	return -1, -1, -1
}

// topmost clamps the mean of the topmost bucket to its bounds.
func topmost(lo, hi, mean float64) (est, low, high time.Duration) {
	if math.IsInf(hi, 1) {
		return seconds(max(mean, lo)), seconds(lo), -1
	}
	return seconds(min(max(mean, lo), hi)), seconds(lo), seconds(hi)
}

// Operation summarizes the calls of one CRI operation.
type Operation struct {
	Name          string        // operation_type of the metrics: podsandbox_status, …
	Calls, Errors int           // Calls is -1 if unknown
	P50, P99      time.Duration // -1 unknown
	Total         time.Duration // -1 unknown
	ErrorsUnknown bool          // nothing says whether any call failed
	ShareOfRelist float64       // upper bound of the share of relist time, 0..1; -1 unknown
	Evidence      []host.Evidence

	metricErrors int // the part of Errors that the metrics count
}
