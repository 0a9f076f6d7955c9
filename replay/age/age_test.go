package age

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

func sec(s float64) int64 { return int64(s * 1e9) }

func when(s float64) replay.Instant { return replay.Instant{At: sec(s)} }

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// boundsAt returns the bounds at a moment in seconds; high is -1 if there is none.
func boundsAt(t *testing.T, n *replay.Node, s float64) (low, high float64) {
	t.Helper()
	for _, x := range Of(n) {
		if x.From <= sec(s) && sec(s) < x.To {
			k := float64(sec(s)-x.From) / float64(x.To-x.From)
			low = x.Low0.Seconds() + k*(x.Low1-x.Low0).Seconds()
			if high = -1; x.High0 != Unknown {
				high = x.High0.Seconds() + k*(x.High1-x.High0).Seconds()
			}
			return low, high
		}
	}
	return -1, -1
}

// TestOf checks what each kind of evidence says about the age, and what it does not.
func TestOf(t *testing.T) {
	hung := replay.Relist{Run: -1, Start: when(1000), ListEnd: when(1000.5), End: when(1240), Listed: yes()}
	failed := replay.Relist{Run: -1, Start: when(1241), End: when(1361), Listed: no()}
	for _, c := range []struct {
		name      string
		node      replay.Node
		at        float64
		low, high float64
	}{
		{"before the list of a relist returns, the one before counts, which began earlier", replay.Node{Relists: []replay.Relist{hung}}, 1000.4, 0.4, -1},
		{"while it inspects, its own age", replay.Node{Relists: []replay.Relist{hung}}, 1100, 100, 100},
		{"after its end another may have listed", replay.Node{Relists: []replay.Relist{hung}}, 1250, 0, 250},
		{"a relist of which the list failed leaves the age alone", replay.Node{Relists: []replay.Relist{hung, failed}}, 1300, 300, 300},
		{"and so does the pause between the two", replay.Node{Relists: []replay.Relist{hung, failed}}, 1240.5, 240.5, 240.5},
		{"healthy is below the threshold", replay.Node{Kubelet: replay.Kubelet{Threshold: 180 * time.Second},
			Health: []replay.HealthSpan{{Span: replay.Span{From: sec(900), To: sec(2000)}, State: replay.Healthy}}}, 1000, 0, 180},
		{"unhealthy is above it", replay.Node{Kubelet: replay.Kubelet{Threshold: 180 * time.Second},
			Health: []replay.HealthSpan{{Span: replay.Span{From: sec(900), To: sec(2000)}, State: replay.Unhealthy}}}, 1000, 180, -1},
		{"unknown says nothing", replay.Node{Kubelet: replay.Kubelet{Threshold: 180 * time.Second},
			Health: []replay.HealthSpan{{Span: replay.Span{From: sec(900), To: sec(2000)}, State: replay.HealthUnknown}}}, 1000, 0, -1},
		{"a report states it", replay.Node{Episodes: []replay.Episode{{Run: -1, LastStarts: []replay.Instant{when(950)}, FirstReport: sec(1130), LastReport: sec(1300)}}}, 1200, 250, 250},
		{"and nothing after the last one but an upper bound", replay.Node{Episodes: []replay.Episode{{Run: -1, LastStarts: []replay.Instant{when(950)}, FirstReport: sec(1130), LastReport: sec(1300)}}}, 1400, 0, 450},
		{"relists alone prove an episode, which states no age", replay.Node{Episodes: []replay.Episode{{Run: -1, LastStart: when(950)}}}, 900, 0, -1},
		{"twenty starts within 20 s leave no room", replay.Node{Kubelet: replay.Kubelet{Period: time.Second},
			Proofs: []replay.MetricProof{{Kind: snapshots.ProofPaced, From: sec(1000), To: sec(1021), Count: 20, Sum: 20 * time.Second, SumMin: 100 * time.Millisecond, SumMax: 1500 * time.Millisecond}}}, 1010, 0, 1.6},
		{"a snapshot whose name gives whole seconds may be younger than it says", replay.Node{Kubelet: replay.Kubelet{Period: time.Second},
			Proofs: []replay.MetricProof{{Kind: snapshots.ProofStart, From: sec(1000), To: sec(1000), Start: when(999.9)}}}, 1000.5, 0, -1},
		{"by the end of that second the start that it states had been", replay.Node{Kubelet: replay.Kubelet{Period: time.Second},
			Proofs: []replay.MetricProof{{Kind: snapshots.ProofStart, From: sec(1000), To: sec(1000), Start: when(1000.4)}}}, 1001.5, 0, 1.1},
		{"a new process has no age before its first relist", replay.Node{Relists: []replay.Relist{hung},
			Runs: []replay.Run{{First: sec(900), Last: sec(1100)}, {First: sec(1110), Last: sec(2000)}}}, 1105, -1, -1},
	} {
		c.node.Window = replay.Window{Start: sec(800), End: sec(2000)}
		for i := range c.node.Relists {
			if len(c.node.Runs) > 0 {
				c.node.Relists[i].Run = 0
			}
		}
		low, high := boundsAt(t, &c.node, c.at)
		if near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }; !near(low, c.low) || !near(high, c.high) {
			t.Errorf("%s: %.3f to %.3f, want %.3f to %.3f", c.name, low, high, c.low, c.high)
		}
	}
}

// TestSpans checks that spans are ordered, do not overlap, and that the bounds do not
// cross.
func TestSpans(t *testing.T) {
	n := replay.Node{Kubelet: replay.Kubelet{Threshold: 180 * time.Second}, Window: replay.Window{Start: sec(0), End: sec(5000)}}
	for i := range 200 {
		start := float64(10 + 20*i)
		n.Relists = append(n.Relists, replay.Relist{Run: -1, Start: replay.Instant{At: sec(start), Slack: time.Second}, End: when(start + float64(i%17)), Listed: [](*bool){yes(), no(), nil}[i%3]})
		n.Health = append(n.Health, replay.HealthSpan{Span: replay.Span{From: sec(start), To: sec(start + 15)}, State: replay.Healthy})
	}
	last := int64(0)
	for _, s := range Of(&n) {
		if s.From < last || s.To <= s.From {
			t.Fatalf("%+v after %d", s, last)
		}
		last = s.To
		if s.High0 != Unknown && (s.Low0 > s.High0 || s.Low1 > s.High1) {
			t.Errorf("bounds cross: %+v", s)
		}
	}
	if last == 0 {
		t.Fatal("no spans")
	}
}

// TestPeaks checks that a relist that continues after the last report makes the age
// greater than any line states, and that nothing after the recovery counts.
func TestPeaks(t *testing.T) {
	n := &replay.Node{Window: replay.Window{Start: sec(900), End: sec(3000)}, Kubelet: replay.Kubelet{Threshold: 180 * time.Second},
		Relists: []replay.Relist{{Run: -1, Start: when(1000), ListEnd: when(1001), End: when(1241), Listed: yes()}, {Run: -1, Start: when(2000), ListEnd: when(2001), End: when(2500), Listed: yes()}},
		Episodes: []replay.Episode{
			{Run: -1, LastStart: when(1000), LastStarts: []replay.Instant{when(1000)}, Breach: sec(1180), FirstReport: sec(1182), LastReport: sec(1236), PeakAge: 236 * time.Second, Recovered: when(1242)},
			{Run: -1, Never: true, FirstReport: sec(2600), LastReport: sec(2700)}}}
	if got := Peaks(n, func() []Span { return Of(n) }); len(got) != 2 || got[0] != 241*time.Second || got[1] != 0 {
		t.Errorf("%v", got)
	}
}

// TestMany checks that many bounds that hold at the same time, as a log with stamps out of order gives, take no
// longer than to look at each of them a few times.
func TestMany(t *testing.T) {
	const reports = 100_000
	n := replay.Node{Window: replay.Window{Start: sec(0), End: sec(3 * reports)}}
	for i := range reports {
		n.Episodes = append(n.Episodes, replay.Episode{Run: -1, LastStarts: []replay.Instant{when(float64(2 + i))}, FirstReport: sec(float64(3 + i)), LastReport: sec(float64(2*reports + i))})
	}
	start := time.Now()
	low, high := boundsAt(t, &n, reports+50)
	if low != reports+48 || high != 49 {
		t.Errorf("%v to %v", low, high)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestTightest checks the bounds at each moment against those of all that hold.
func TestTightest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b bounds
		for _, list := range []*[]bound{&b.low, &b.high, &b.none} {
			for range rnd.IntN(30) {
				c := bound{from: 1000 + rnd.Int64N(1000)}
				c.to, c.since = c.from+rnd.Int64N(300), c.from-rnd.Int64N(300)
				if rnd.IntN(2) == 0 {
					c.flat = time.Duration(1 + rnd.Int64N(300))
				}
				*list = append(*list, c)
			}
			if list == &b.none {
				*list = (*list)[:min(len(*list), 2)]
			}
		}
		spans := b.merge(1000, 2000)
		for at := int64(1000); at < 2000; at++ {
			var want []time.Duration
			for i, list := range [][]bound{b.low, b.high, b.none} {
				want = append(want, []time.Duration{0, Unknown, Unknown}[i])
				for _, c := range list {
					if v := c.at(at); c.from <= at && at < c.to && (want[i] == Unknown || (i == 0) == (v > want[i])) {
						want[i] = v
					}
				}
			}
			k := slices.IndexFunc(spans, func(s Span) bool { return s.From <= at && at < s.To })
			if k < 0 != (want[2] != Unknown) {
				t.Fatalf("at %d: span %d, no age %v", at, k, want[2])
			}
			if k < 0 {
				continue
			}
			s := spans[k]
			on := func(a, b time.Duration) time.Duration {
				return a + (b-a)*time.Duration(at-s.From)/time.Duration(s.To-s.From)
			}
			if low := on(s.Low0, s.Low1); low != want[0] {
				t.Fatalf("at %d: at least %d, want %d", at, low, want[0])
			}
			if high := on(s.High0, s.High1); (s.High0 == Unknown) != (want[1] == Unknown) || s.High0 != Unknown && high != want[1] {
				t.Fatalf("at %d: at most %d, want %d", at, high, want[1])
			}
		}
	}
}
