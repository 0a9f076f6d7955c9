package snapshots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/host"
)

// LongRelist is the duration from which a relist is long, so that its time gets
// attributed to calls. It is the last finite bucket of the relist histograms; beyond it
// the metrics no longer tell durations apart.
const LongRelist = 10 * time.Second

// ProofKind is the kind of a Proof.
type ProofKind string

// Kinds of proof.
const (
	// ProofStart: at the kubelet's last health check before From, and at the last one
	// before To, the latest relist with successful list calls was the one that began at
	// Start.
	ProofStart ProofKind = "start"
	// ProofCount: between From and To, Count relists ended; Sum is their total
	// duration.
	ProofCount ProofKind = "count"
	// ProofSince: Count relists ended between the start of the process, From, and its
	// first snapshot, To.
	ProofSince ProofKind = "since"
	// ProofLong: of the relists that ended between From and To, Count took longer than
	// 10 s, in total between SumMin and SumMax.
	ProofLong ProofKind = "long"
	// ProofRunning: a relist was running at To; if From is set, the same relist was
	// already running at From.
	ProofRunning ProofKind = "running"
	// ProofRestart: the kubelet process was replaced between From and To;
	// Start is the start of the new one if its metrics state it.
	ProofRestart ProofKind = "restart"
	// ProofGap: no snapshot succeeded between From and To, although they were regular
	// before. Count relists ended in the gap, Sum is their total duration.
	ProofGap ProofKind = "gap"
	// ProofFrozen: between From and To two relists began Sum apart although no relist
	// took that long: the kubelet process was not running.
	ProofFrozen ProofKind = "frozen"
	// ProofRelist: one relist of at least SumMin, and at most SumMax if that is set,
	// began at Start and ended at End. End is unknown if the relist is still running at
	// To.
	ProofRelist ProofKind = "relist"
	// ProofAge: between From and To some relist began at least SumMin, and at most
	// SumMax, after the start of the last relist that had listed pods. Count relists
	// began more than 10 s after it.
	ProofAge ProofKind = "age"
	// ProofPaced: Count relists began between From and To, each at most SumMax after
	// the start of the last relist that had listed pods, and Sum after it in total. No
	// relist that ended took longer than SumMin.
	ProofPaced ProofKind = "paced"
)

// Proof is one statement about relists that the metrics prove.
type Proof struct {
	Kind           ProofKind
	From, To       int64 // Unix ns
	Start, End     host.Instant
	Listed         *bool // ProofRelist: whether it listed pods, nil if unknown
	Count          int   // -1 unknown
	Whole          bool  // counted since the start of the process
	Sum            time.Duration
	SumMin, SumMax time.Duration
	Evidence       []host.Evidence

	Step int64 // ProofRelist: time of the last snapshot before its end
	Pods bool  // ProofRelist: on-demand relists of single pods in the meantime are counted
}

// lastSeenSlack is half the granularity of kubelet_pleg_last_seen_seconds, which the
// kubelet truncates to whole seconds: the true start lies within that second.
const lastSeenSlack = 500 * time.Millisecond

// processSlack is the granularity of process_start_time_seconds: clock ticks added to a
// boot time in whole seconds.
const processSlack = time.Second

// OfKubelet returns the series that this package reads.
func OfKubelet(series []*parse.Series) []*parse.Series {
	return slices.DeleteFunc(slices.Clone(series), func(s *parse.Series) bool {
		return !strings.HasPrefix(s.Name, "kubelet_") && s.Name != "process_start_time_seconds"
	})
}

// ofKubelet reports whether a series of a name that other exporters use too is the kubelet's.
func ofKubelet(s *parse.Series) bool { return s.Job == "kubelet" || s.Label("job") == "kubelet" }

// Proofs returns what the kubelet's relist metrics prove, in time order. series and
// scrapes are those of one node. Semantics follow pkg/kubelet/pleg of 1.14 to 1.36: a
// relist is counted when it ends, failed ones included; the interval is observed at
// each start, relative to the last successful start.
func Proofs(series []*parse.Series, scrapes []*parse.Scrape) []Proof {
	shots, all := shotsOf(series, relistMetrics)
	out := proveStarts(all)
	for i, t := range shots {
		if i > 0 && !restarted(shots[i-1], t) {
			continue
		}
		for _, prove := range []provingStep{proveLong, proveAge, proveCount} {
			if p, ok := prove(t.zero(), t); ok {
				if p.Whole = true; i > 0 {
					p.From = max(p.From, shots[i-1].at)
				}
				out = append(out, p)
			}
		}
	}
	for i := 1; i < len(shots); i++ {
		out = append(out, proveStep(shots[i-1], shots[i])...)
	}
	out = append(out, proveRunning(shots)...)
	out = append(out, proveGaps(shots, scrapes)...)
	slices.SortStableFunc(out, func(a, b Proof) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From))
	})
	return out
}

// shot is what one snapshot says about relists. Unknown numbers are NaN.
type shot struct {
	at     int64
	count  float64 // relists ended
	sum    float64 // their total duration in seconds
	icount float64 // intervals observed: relists begun after the first successful one
	// isum is the sum of these intervals in seconds.
	isum      float64
	podSum    float64 // seconds of on-demand relists of single pods, which the same loop makes from 1.36 on
	lastSeen  float64
	start     float64 // of the process, Unix seconds
	buckets   []bucket
	ibuckets  []bucket
	rec       map[string]*parse.Sample
	step      int64 // ns since the previous sample of the data, even if that was left out
	undatable bool
}

type bucket struct{ le, n float64 }

// relistMetrics lists the generations of the relist metrics, newest first, with their
// unit in seconds.
var relistMetrics = []relistMetric{
	{"kubelet_pleg_relist_duration_seconds", "kubelet_pleg_relist_interval_seconds", 1},
	{"kubelet_pleg_relist_latency_microseconds", "kubelet_pleg_relist_interval_microseconds", 1e-6},
}

type relistMetric struct {
	duration, interval string
	unit               float64
}

// shotsOf groups the samples by snapshot. It returns the snapshots that count relists
// (see whole), and all of them. If both generations of names exist (1.14 to 1.17), only
// the newer one is read: they count the same relists.
func shotsOf(series []*parse.Series, gens []relistMetric) (counted, all []*shot) {
	gen := gens[0]
	for _, g := range slices.Backward(gens) {
		if slices.ContainsFunc(series, func(s *parse.Series) bool { return s.Name == g.duration+"_count" }) {
			gen = g
		}
	}
	b := shotBuilder{byTime: map[int64]*shot{}, keep: notable(longest(series, func(s *parse.Series) bool { return s.Name == gen.duration+"_sum" }), gen.unit)}
	for _, s := range series {
		switch s.Name {
		case gen.duration + "_count":
			b.each(s, "count", func(t *shot, v float64) { t.count = v })
		case gen.duration + "_sum":
			b.each(s, "sum", func(t *shot, v float64) { t.sum = v * gen.unit })
		case gen.interval + "_count":
			b.each(s, "icount", func(t *shot, v float64) { t.icount = v })
		case gen.interval + "_sum":
			b.each(s, "isum", func(t *shot, v float64) { t.isum = v * gen.unit })
		case "kubelet_pleg_last_seen_seconds":
			b.each(s, "seen", func(t *shot, v float64) { t.lastSeen = v })
		}
	}
	// All snapshots that a bucket may belong to exist only now.
	for _, s := range series {
		switch s.Name {
		case podRelistMetrics[0].duration + "_sum":
			for p := range s.Samples() {
				if t := b.byTime[p.At]; t != nil {
					t.podSum = p.V
				}
			}
		case gen.duration + "_bucket":
			b.bucket(s, func(t *shot) *[]bucket { return &t.buckets })
		case gen.interval + "_bucket":
			b.bucket(s, func(t *shot) *[]bucket { return &t.ibuckets })
		}
	}
	b.processStarts(series)
	all = b.shots()
	return whole(all), all
}

type shotBuilder struct {
	byTime map[int64]*shot
	keep   map[int64]int64 // times to read, with the step before each; nil: all
}

func (b *shotBuilder) each(s *parse.Series, role string, set func(*shot, float64)) {
	for p := range s.Samples() {
		step, kept := b.keep[p.At]
		if b.keep != nil && !kept || math.IsNaN(p.V) {
			continue // a stale marker: no snapshot
		}
		t := b.byTime[p.At]
		if t == nil {
			nan := math.NaN()
			t = &shot{at: p.At, count: nan, sum: nan, icount: nan, isum: nan, podSum: nan, lastSeen: nan, start: nan,
				rec: map[string]*parse.Sample{}, step: step, undatable: p.Src.Basis == parse.NoTime}
			b.byTime[p.At] = t
		}
		set(t, p.V)
		t.rec[role] = s.Cite(p)
	}
}

func (b *shotBuilder) bucket(s *parse.Series, of func(*shot) *[]bucket) {
	le, err := strconv.ParseFloat(s.Label("le"), 64)
	if err != nil {
		return
	}
	for p := range s.Samples() {
		if t := b.byTime[p.At]; t != nil && !math.IsNaN(p.V) {
			have := of(t)
			if i := slices.IndexFunc(*have, func(x bucket) bool { return x.le == le }); i >= 0 {
				(*have)[i].n = p.V // of another series, as are the count and the sum
			} else {
				*have = append(*have, bucket{le, p.V})
			}
		}
	}
}

// processStarts adds the start of the kubelet process. Other exporters use the same
// metric name, so only samples at the times of known snapshots count.
func (b *shotBuilder) processStarts(series []*parse.Series) {
	for _, s := range series {
		if s.Name != "process_start_time_seconds" || !ofKubelet(s) {
			continue
		}
		for p := range s.Samples() {
			if t := b.byTime[p.At]; t != nil && !math.IsNaN(p.V) {
				t.start = p.V
				t.rec["start"] = s.Cite(p)
			}
		}
	}
}

func (b *shotBuilder) shots() []*shot {
	var out []*shot
	for _, t := range b.byTime {
		if t.undatable {
			continue
		}
		slices.SortFunc(t.buckets, func(x, y bucket) int { return cmp.Compare(x.le, y.le) })
		slices.SortFunc(t.ibuckets, func(x, y bucket) int { return cmp.Compare(x.le, y.le) })
		out = append(out, t)
	}
	slices.SortFunc(out, func(x, y *shot) int { return cmp.Compare(x.at, y.at) })
	for i := 1; i < len(out); i++ {
		if out[i].step == 0 {
			out[i].step = out[i].at - out[i-1].at
		}
	}
	return out
}

// whole returns the snapshots in which no part of a histogram is missing that others
// have, such as the sum or a bucket in the result of a range query: the parts are of one
// moment, or a step between two snapshots means nothing. If few of them have intervals
// too, these are of other moments, and are left out.
func whole(all []*shot) []*shot {
	var have, ihave parts
	for _, t := range all {
		have, ihave = have.or(t.parts()), ihave.or(t.iparts())
	}
	var out, both []*shot
	for _, t := range all {
		if t.parts() == have && (!(t.count >= 0) || !endless(t.buckets) || t.buckets[len(t.buckets)-1].n == t.count) {
			if out = append(out, t); t.iparts() == ihave {
				both = append(both, t)
			}
		}
	}
	if 2*len(both) >= len(out) {
		return both
	}
	for i := range out {
		t := *out[i]
		t.icount, t.isum, t.ibuckets = math.NaN(), math.NaN(), nil
		out[i] = &t
	}
	return out
}

// parts tells which parts of a histogram a snapshot has.
type parts struct {
	count, sum bool
	buckets    int
}

func (p parts) or(q parts) parts {
	return parts{p.count || q.count, p.sum || q.sum, max(p.buckets, q.buckets)}
}

func (t *shot) parts() parts { return parts{t.count >= 0, t.sum >= 0, len(t.buckets)} }

func (t *shot) iparts() parts { return parts{t.icount >= 0, t.isum >= 0, len(t.ibuckets)} }

// endless reports whether the last bucket counts all observations.
func endless(bs []bucket) bool { return len(bs) > 1 && math.IsInf(bs[len(bs)-1].le, 1) }

// cite returns the samples of the given roles as evidence; the first one gets the note.
func (t *shot) cite(note string, roles ...string) []host.Evidence {
	var out []host.Evidence
	for _, r := range roles {
		if m := t.rec[r]; m != nil {
			out = append(out, host.Evidence{Record: m, Note: note})
			note = ""
		}
	}
	return out
}

// proveStarts returns a proof for each new value of the last-seen gauge.
func proveStarts(shots []*shot) []Proof {
	var out []Proof
	last := math.NaN()
	for i, t := range shots {
		if !(t.lastSeen > 0) {
			continue
		}
		if k := len(out) - 1; t.lastSeen == last {
			if k >= 0 && out[k].Start.At == int64(last)*1e9+int64(lastSeenSlack) {
				out[k].To = t.at
			}
			continue
		}
		last = t.lastSeen
		if i > 0 && t.icount == shots[i-1].icount && int64(t.lastSeen-1)*1e9 > shots[i-1].at {
			continue // no relist began since the last snapshot: evented PLEG moves the gauge too
		}
		at := int64(t.lastSeen)*1e9 + int64(lastSeenSlack)
		out = append(out, Proof{Kind: ProofStart, From: t.at, To: t.at, Count: -1,
			Start:    host.Instant{At: at, Slack: lastSeenSlack},
			Evidence: t.cite("start of the last relist that listed pods, cut to whole seconds", "seen")})
	}
	return out
}

// restarted reports whether the process was replaced between two snapshots: no count of one process falls.
func restarted(a, b *shot) bool {
	return b.start-a.start > sameStart || b.count < a.count || b.icount < a.icount || b.sum < a.sum-1e-9 || fell(a.buckets, b.buckets) || fell(a.ibuckets, b.ibuckets)
}

// fell reports whether a bucket of one histogram, which are in order, holds less in b than in a.
func fell(a, b []bucket) bool {
	return slices.EqualFunc(a, b, func(x, y bucket) bool { return x.le == y.le }) &&
		!slices.EqualFunc(a, b, func(x, y bucket) bool { return x.n <= y.n })
}

// provingStep returns what two snapshots of one process prove, if anything. b follows
// a; if b is the first snapshot, a is the state when the process began, see zero.
type provingStep func(a, b *shot) (Proof, bool)

// proveStep compares two consecutive snapshots.
func proveStep(a, b *shot) []Proof {
	if restarted(a, b) {
		p := Proof{Kind: ProofRestart, From: a.at, To: b.at, Count: -1,
			Evidence: append(a.cite("", "start", "count"), b.cite("of a new process", "start", "count")...)}
		if b.start > 0 {
			p.Start = host.Instant{At: int64(b.start * 1e9), Slack: processSlack}
		}
		return []Proof{p}
	}
	n, sum := b.count-a.count, b.sum-a.sum
	if math.IsNaN(n) || math.IsNaN(sum) {
		return nil
	}
	out := []Proof{{Kind: ProofCount, From: a.at, To: b.at, Count: int(n), Sum: seconds(sum),
		Evidence: append(a.cite("", "count", "sum"), b.cite(parse.Plural(int(n), "relist")+" more, "+parse.Short(seconds(sum))+" in all", "count", "sum")...)}}
	for _, prove := range []provingStep{proveLong, proveAge, provePace, proveFrozen} {
		if p, ok := prove(a, b); ok {
			out = append(out, p)
		}
	}
	return out
}

// proveLong bounds the duration of the relists beyond the last finite bucket: the
// buckets bound what the other relists took.
func proveLong(a, b *shot) (Proof, bool) {
	sum := b.sum - a.sum
	n, least, most := tail(a.buckets, b.buckets)
	if n == 0 || math.IsNaN(sum) {
		return Proof{}, false
	}
	p := Proof{Kind: ProofLong, From: a.at, To: b.at, Count: int(n), Sum: seconds(sum),
		SumMin: max(seconds(sum-most), time.Duration(n)*10*time.Second), SumMax: seconds(sum - least)}
	p.SumMax = max(p.SumMax, p.SumMin)
	p.Evidence = append(a.cite("", "sum"), b.cite(parse.Plural(int(n), "relist")+" over 10s ended here, at most "+parse.Most(p.SumMax)+" together", "sum", "count")...)
	return p, true
}

// proveCount counts the relists that ended before the first snapshot of a process, if
// its metrics state when it started.
func proveCount(zero, t *shot) (Proof, bool) {
	p := Proof{Kind: ProofSince, From: zero.at, To: t.at, Evidence: t.cite("", "start", "count")}
	if p.From == 0 || math.IsNaN(t.count) {
		return p, false
	}
	p.Count = int(t.count)
	return p, true
}

// zero returns the counters of the process when it began. Its time is 0 if the metrics
// do not state the start.
func (t *shot) zero() *shot {
	zero := &shot{buckets: slices.Clone(t.buckets), ibuckets: slices.Clone(t.ibuckets)}
	for _, bs := range [...][]bucket{zero.buckets, zero.ibuckets} {
		for i := range bs {
			bs[i].n = 0
		}
	}
	if t.start > 0 && t.start < 1e10 && int64(t.start*1e9) < t.at {
		zero.at = int64(t.start * 1e9)
	}
	return zero
}

// sameBounds reports whether two histograms have the same buckets.
func sameBounds(a, b []bucket) bool {
	return slices.EqualFunc(a, b, func(x, y bucket) bool { return x.le == y.le })
}

// tail compares two histograms. It returns how many observations fell beyond the last
// finite bucket, and bounds of the sum of all others.
func tail(a, b []bucket) (n, least, most float64) {
	if !sameBounds(a, b) || !endless(b) {
		return 0, 0, 0
	}
	below, edge := 0.0, 0.0
	for i := range b[:len(b)-1] {
		d := b[i].n - a[i].n
		least += (d - below) * edge
		most += (d - below) * b[i].le
		below, edge = d, b[i].le
	}
	return max(b[len(b)-1].n-a[len(a)-1].n-below, 0), least, most
}

// podSeconds returns the duration of the on-demand relists of single pods that ended
// between two snapshots. No relist of the node begins during these. It returns false if
// nothing counts them.
func podSeconds(a, b *shot) (float64, bool) {
	switch {
	case math.IsNaN(b.podSum):
		return 0, false
	case math.IsNaN(a.podSum) || a.podSum > b.podSum:
		return b.podSum, true
	}
	return b.podSum - a.podSum, true
}

// proveFrozen finds a pause between relist starts that no relist filled: the interval
// histogram grew beyond its last bucket, the durations did not. A stopped process
// answers no scrape, so the pause must fit between the two snapshots (else the interval
// may be due to a long relist that ended before them). Other relists must have run in
// the same step, because under evented PLEG relists are minutes apart by design.
func proveFrozen(a, b *shot) (Proof, bool) {
	n, _, most := tail(a.ibuckets, b.ibuckets)
	long, _, _ := tail(a.buckets, b.buckets)
	onDemand, _ := podSeconds(a, b)
	pause := b.isum - a.isum - most - onDemand
	apart := float64(b.at-a.at) / 1e9
	if n != 1 || long > 0 || !(b.icount-a.icount >= 3) || !(pause >= 30 && pause >= 2*(b.sum-a.sum)) || pause > apart+5 {
		return Proof{}, false
	}
	return Proof{Kind: ProofFrozen, From: a.at, To: b.at, Count: 1, Sum: seconds(pause),
		Evidence: append(a.cite("", "isum"), b.cite("starts of two relists lie at least "+parse.Least(seconds(pause))+" apart, yet no relist took long", "isum", "sum")...)}, true
}

// proveRunning compares relists begun with relists ended, per process. While idle, the
// latter is ahead by one (the first relist has no interval) plus the failures before
// the first success; one less means that a relist is running.
func proveRunning(shots []*shot) []Proof {
	var out []Proof
	for i := 0; i < len(shots); {
		j := i + 1
		for j < len(shots) && !restarted(shots[j-1], shots[j]) {
			j++
		}
		out = append(out, runningOf(shots[i:j])...)
		out = append(out, proveRelists(shots[i:j])...)
		i = j
	}
	return out
}

// runningOf checks the snapshots of one process.
func runningOf(shots []*shot) []Proof {
	idle := idleAhead(shots)
	var out []Proof
	for i, t := range shots {
		if !t.running(idle) {
			continue
		}
		p := Proof{Kind: ProofRunning, To: t.at, Count: 1,
			Evidence: t.cite("as many relists begun as ended: one was running", "count", "icount")}
		for k := i - 1; k >= 0 && shots[k].count == t.count && shots[k].icount == t.icount; k-- {
			p.From = shots[k].at
		}
		out = append(out, p)
	}
	return out
}

// proveGaps finds gaps between good snapshots that were regular before. /metrics itself
// calls the runtime, so it hangs while the runtime does: the gap is evidence, and the
// relists that ended during it say how long they took.
func proveGaps(shots []*shot, scrapes []*parse.Scrape) []Proof {
	step := medianStep(shots)
	if step == 0 {
		return nil
	}
	var out []Proof
	for i := 1; i < len(shots); i++ {
		a, b := shots[i-1], shots[i]
		var failed []host.Evidence
		for _, s := range scrapes {
			if s.Failed != "" && s.At > a.at && s.At < b.at && (s.Job == "" || s.Job == "kubelet") && len(failed) < 5 {
				failed = append(failed, host.Evidence{Record: s, Note: "error page instead of metrics"})
			}
		}
		if min(b.step, b.at-a.at) <= 5*step/2 && len(failed) == 0 {
			continue
		}
		p := Proof{Kind: ProofGap, From: a.at, To: b.at, Count: -1}
		note := fmt.Sprintf("no snapshot for %s, usually every %s", round(b.at-a.at), round(step))
		if !restarted(a, b) && b.count >= a.count && b.sum >= a.sum {
			p.Count, p.Sum = int(b.count-a.count), seconds(b.sum-a.sum)
			note += "; across the gap " + parse.Plural(p.Count, "relist") + " took " + parse.Short(p.Sum)
		}
		p.Evidence = append(a.cite("", "sum", "count"), b.cite(note, "sum", "count")...)
		p.Evidence = append(p.Evidence, failed...)
		if len(p.Evidence) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// medianStep returns the usual distance between snapshots in ns, 0 if there are too few
// to tell.
func medianStep(shots []*shot) int64 {
	if len(shots) < 4 {
		return 0
	}
	var ds []int64
	for i := 1; i < len(shots); i++ {
		ds = append(ds, shots[i].step)
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func round(ns int64) time.Duration { return time.Duration(ns).Round(time.Second) }
