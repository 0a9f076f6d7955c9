package relist

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// TestJoined checks that a relist measured by the metrics is merged with one dated by lines if it began before
// that was over, and not if it may have begun later or took a different time.
func TestJoined(t *testing.T) {
	at := func(s, slack float64) host.Instant {
		return host.Instant{At: 1767323045e9 + int64(s*1e9), Slack: time.Duration(slack * 1e9)}
	}
	dated := Relist{Start: at(10, 0), End: at(262, 2.6), Basis: []string{BasisLastSeen}}
	for name, c := range map[string]struct {
		measured Relist
		want     int
	}{
		"the same":       {Relist{Start: at(12, 2.3), End: at(262.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 1},
		"began before":   {Relist{Start: at(8, 2.3), End: at(258.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 1},
		"a shorter one":  {Relist{Start: at(12, 2.3), End: at(42, 2.4), Took: 30 * time.Second, TookSlack: time.Second, Basis: basisMetrics}, 2},
		"the next one":   {Relist{Start: at(264, 3), End: at(515, 3), Took: 251 * time.Second, TookSlack: time.Second, Basis: basisMetrics}, 2},
		"of another run": {Relist{Run: 1, Start: at(12, 2.3), End: at(262.8, 2.4), Took: 250900 * time.Millisecond, TookSlack: 90 * time.Millisecond, Basis: basisMetrics}, 2},
	} {
		in := []Relist{dated, c.measured}
		if c.measured.Start.At < dated.Start.At {
			in[0], in[1] = in[1], in[0]
		}
		got := joined(in)
		if len(got) != c.want {
			t.Errorf("%s: %d relists, want %d: %+v", name, len(got), c.want, got)
		}
		if c.want == 1 && (got[0].Took != c.measured.Took || got[0].Start != dated.Start || len(got[0].Basis) != 2) {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

// TestRanOn checks that a relist with a known start and no known end is the measured one if no relist but
// earlier ones ended by the last snapshot that shows it running.
func TestRanOn(t *testing.T) {
	const second, base = int64(time.Second), int64(1767323045e9)
	counts := func(n ...int) (out []snapshots.Proof) {
		for i, n := range n {
			out = append(out, snapshots.Proof{Kind: snapshots.ProofCount, From: base + int64(20*i)*second, To: base + int64(20*i+20)*second, Count: n})
		}
		return out
	}
	before := &claim{lo: base - 200*second, hi: base - 200*second, end: host.Instant{At: base + 9*second}}
	for name, c := range map[string]struct {
		proofs []snapshots.Proof
		before []*claim
		from   int64
		want   bool
	}{
		"the one before ended":       {counts(1, 0, 0, 1), []*claim{before}, 10, true},
		"none ended":                 {counts(0, 0, 0, 1), nil, 10, true},
		"it may have ended":          {counts(1, 0, 0, 1), nil, 10, false},
		"another ended":              {counts(1, 1, 0, 1), []*claim{before}, 10, false},
		"counted before":             {counts(1, 0, 0, 1), []*claim{{lo: base - 9, hi: base - 9, end: host.Instant{At: base + second/2}}}, 10, false},
		"a snapshot does not count":  {append(counts(1), counts(1, 0, 0, 1)[2:]...), []*claim{before}, 10, false},
		"no snapshot before":         {counts(1, 0, 0, 1)[1:], []*claim{before}, 10, false},
		"it may have begun later on": {counts(1, 0, 0, 1), []*claim{before}, 61, false},
	} {
		l := &ledger{n: &Known{Proofs: c.proofs}}
		started := &claim{lo: base + 10*second, hi: base + 11*second, listed: &yes, basis: basisMetrics}
		l.claims = append(c.before, started)
		m := &timed{Proof: &snapshots.Proof{Step: base + 60*second}, start: host.Span{From: base + 9*second, To: base + c.from*second}, end: host.Span{From: base + 60*second, To: base + 80*second}}
		if got := l.ranOn(started, m); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if k := l.match(m); c.want && (k < 0 || l.claims[k] != started) {
			t.Errorf("%s: claim %d", name, k)
		}
	}
}

// TestRemaining checks that a long relist known only from the counters began after another one that ended in
// the same step, unless that other one may itself be the long one.
func TestRemaining(t *testing.T) {
	const second, base = int64(time.Second), int64(1767323045e9)
	p := &snapshots.Proof{Kind: snapshots.ProofLong, From: base, To: base + 60*second, Count: 1, SumMin: 27 * time.Second, SumMax: 33 * time.Second}
	for name, c := range map[string]struct {
		lo, hi int64 // start of the other relist
		want   int64 // earliest start of the long relist
	}{
		"it may have begun at any time": {-200, 12, -33},
		"it took longer":                {-60, -25, 14},
	} {
		l := &ledger{n: &Known{Kubelet: kubelet.Profile{Period: time.Second}}}
		l.claims = []*claim{{lo: base + c.lo*second, hi: base + c.hi*second, end: host.Instant{At: base + 13*second}, listed: &no, basis: []string{BasisListError}}}
		if got, ok := l.remaining(p); !ok || got.start.From != base+c.want*second {
			t.Errorf("%s: from %+.1f, want %+d", name, float64(got.start.From-base)/1e9, c.want)
		}
	}
}

// TestStillRunning checks that a relist that the metrics show running matches one dated by lines with a wide
// open end, which then lies after the snapshot, and does not match one that was over.
func TestStillRunning(t *testing.T) {
	const s = int64(time.Second)
	open := timed{Proof: &snapshots.Proof{To: 220 * s}, start: host.Span{From: 7 * s, To: 49 * s}}
	for end, fits := range map[host.Instant]bool{host.Between(7*s, 304*s): true, host.Between(120*s, 130*s): false, {}: true} {
		c := &claim{lo: 7 * s, hi: 7 * s, end: end, basis: basisRelisting}
		if c.fits(&open) != fits {
			t.Errorf("ended at %v: fits %v", end, !fits)
		}
		if c.measure(&open); fits && end.Known() && c.end != host.Between(220*s, 304*s) {
			t.Errorf("ended at %v, and ran at the snapshot: %v", end, c.end)
		}
	}
}

// TestListedIsNotFailed checks that a relist named by the gauge, which therefore listed pods, is not merged
// with one whose list failed within the second that the gauge leaves open.
func TestListedIsNotFailed(t *testing.T) {
	const second = int64(time.Second)
	named := &claim{lo: 44 * second, hi: 45*second - 1, listed: &yes, basis: basisMetrics}
	failed := &claim{lo: 45*second - second/4, hi: 45*second + second/8, listed: &no, basis: basisListError}
	l := &ledger{claims: []*claim{named, failed}}
	if l.merge(); len(l.claims) != 2 {
		t.Errorf("joined into %+v", l.claims[0])
	}
	failed.listed = nil
	if l.merge(); len(l.claims) != 1 {
		t.Error("a claim that says nothing of its list was not joined")
	}
}

// TestBeginInAHole checks that a list that failed after a hole in the log may belong to a relist after the one
// that the metrics show running, if it may have begun in the hole.
func TestBeginInAHole(t *testing.T) {
	const s = int64(time.Second)
	ran := timed{Proof: &snapshots.Proof{To: 400 * s}, start: host.Span{From: 42 * s, To: 43 * s}, end: host.Span{From: 105 * s, To: 400 * s}, took: extent{62 * time.Second, 358 * time.Second}}
	for name, c := range map[string]struct {
		hi    int64 // when the failed one began at the latest
		holes []host.Span
		fits  bool
	}{
		"a hole":             {343 * s, []host.Span{{From: 110 * s, To: 300 * s}}, false},
		"none":               {343 * s, nil, true},
		"it began before it": {43 * s, []host.Span{{From: 110 * s, To: 300 * s}}, true},
	} {
		l := &ledger{w: &kubelet.Witness{Holes: c.holes}}
		if got := l.fits(&claim{lo: 42 * s, hi: c.hi, end: host.Instant{At: 343 * s}, listed: &no, basis: basisListError}, &ran); got != c.fits {
			t.Errorf("%s: fits %v", name, got)
		}
	}
}

// TestOneLongRelist checks that a failed list of known length is the one long relist that the counters show to
// have ended since the process started, although the log has a hole before it.
func TestOneLongRelist(t *testing.T) {
	const s = int64(time.Second)
	ran := timed{Proof: &snapshots.Proof{Whole: true, Count: 1, From: 1 * s, To: 400 * s, SumMin: 118 * time.Second, SumMax: 121 * time.Second},
		start: host.Span{From: 1 * s, To: 280 * s}, end: host.Span{From: 119 * s, To: 400 * s}, took: extent{118 * time.Second, 121 * time.Second}}
	for name, c := range map[string]struct {
		end  int64
		fits bool
	}{
		"it ended before the snapshot": {261 * s, true},
		"it ended after it":            {401 * s, false},
	} {
		l := &ledger{w: &kubelet.Witness{Holes: []host.Span{{From: 125 * s, To: 200 * s}}}}
		if got := l.fits(&claim{lo: c.end - 120*s, hi: c.end - 120*s, end: host.Instant{At: c.end}, listed: &no, basis: basisListError}, &ran); got != c.fits {
			t.Errorf("%s: fits %v", name, got)
		}
	}
}
