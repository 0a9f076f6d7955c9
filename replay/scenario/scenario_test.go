package scenario

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/simulate"
)

func parsed(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse(Default(), text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func profile(t *testing.T, version string) pleg.Profile {
	t.Helper()
	p, err := pleg.New(version)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	s := parsed(t, "pods=66,containers=7,list=5ms,status=40ms,churn=10/s,load=×4,hang=status:prod/api-2:330s,workers=16")
	want := "66 pods of 7 containers, list calls of 5 ms, status calls of 40 ms, 10 container restarts a second, calls 4 times as long from 0s on, " +
		"status of prod/api-2 hangs for 5m30s from 30s on, 16 pods inspected at once, for 10m0s"
	if got := s.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s = parsed(t, "list=3s-9s,changed=5@1m,load=x2@2m,hang=list:5m@1m,start=cold,seed=7,for=1h,timeout=30s"); s.List != (Latency{3 * time.Second, 9 * time.Second}) ||
		s.Changed != (Burst{5, time.Minute}) || s.LoadAt != 2*time.Minute || !s.Hangs[0].List || !s.Cold || s.Seed != 7 {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", "pods", "pods=0", "pods=many", "nosuch=1", "pods=1,pods=2", "list=9s-3s", "list=-5ms", "churn=NaN", "load=0", "changed=31",
		"hang=status:api:5m", "hang=list", "workers=0", "for=0", "start=tepid", "pods=20000,containers=1000", "hang=status:a/b:1m,hang=status:c/d:1m,pods=1", "load=×1e99"} {
		if _, err := Parse(Default(), bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestSerialInspection checks that the relist of 66 pods of 7 containers that change at
// once takes the sum of its calls.
func TestSerialInspection(t *testing.T) {
	s := parsed(t, "pods=66,containers=7,list=5ms,status=40ms,changed=66")
	for version, want := range map[string]time.Duration{
		// Seven live containers, a sandbox, and after the restart seven dead
		// containers.
		"v1.28.0": 10*time.Millisecond + 66*(10*time.Millisecond+15*40*time.Millisecond),
		"v1.36.0": 10*time.Millisecond + 66*15*40*time.Millisecond,
	} {
		out := Run(s, profile(t, version), nil)
		if out.Totals.Longest != want || len(out.Totals.Unhealthy) > 0 {
			t.Errorf("%s: longest %v, want %v", version, out.Totals.Longest, want)
		}
	}
	s.Workers = 16
	if out := Run(s, profile(t, "v1.36.0"), nil); out.Totals.Longest != 10*time.Millisecond+5*15*40*time.Millisecond {
		t.Errorf("16 at once: %v", out.Totals.Longest) // 66 pods in rounds of 16
	}
}

// TestStuckPod checks the relist duration with one and two stuck pods, by version.
func TestStuckPod(t *testing.T) {
	for _, c := range []struct {
		version, hang string
		longest       time.Duration
		unhealthy     bool
	}{
		{"v1.28.0", "hang=status:prod/api-2:20m", 4 * time.Minute, true},
		{"v1.33.0", "hang=status:prod/api-2:20m", 2 * time.Minute, false},
		{"v1.33.0", "hang=status:prod/api-2:20m,hang=status:a/b:20m", 4 * time.Minute, true},
		{"v1.28.0", "hang=status:prod/api-2:90s", 90 * time.Second, false},
		// It fails once; its second inspection in the next relist ends with the hang.
		{"v1.28.0", "hang=status:prod/api-2:330s", 209 * time.Second, true},
	} {
		s := parsed(t, c.hang+",for=15m")
		out := Run(s, profile(t, c.version), nil)
		if d := out.Totals.Longest - c.longest; d < -2*time.Second || d > 2*time.Second || (len(out.Totals.Unhealthy) > 0) != c.unhealthy {
			t.Errorf("%s, %s: longest %v, unhealthy %v", c.version, c.hang, out.Totals.Longest, out.Totals.Unhealthy)
		}
	}
}

// TestHungList checks that PLEG turns unhealthy one threshold after the last relist
// that listed, that attempts follow each other by timeout and period, and that PLEG
// recovers.
func TestHungList(t *testing.T) {
	s := parsed(t, "hang=list:5m@1m,for=12m")
	out := Run(s, profile(t, "v1.28.0"), nil)
	if len(out.Totals.Unhealthy) != 1 || out.Totals.Failed != 2 || out.Totals.Unhealthy[0].To == 0 {
		t.Fatalf("%+v", out.Totals)
	}
	u := out.Totals.Unhealthy[0]
	if from := time.Duration(u.From - Epoch); from < 3*time.Minute+58*time.Second || from > 4*time.Minute {
		t.Errorf("unhealthy from %v", from)
	}
	if to := time.Duration(u.To - Epoch); to < 6*time.Minute || to > 6*time.Minute+2*time.Second {
		t.Errorf("to %v", to)
	}
}

// TestSame checks that the same text gives the same run, and another seed a different
// one.
func TestSame(t *testing.T) {
	text := func(spec string) string {
		var out string
		Run(parsed(t, spec), profile(t, "v1.28.0"), func(r *simulate.Relist) { out += fmt.Sprintln(r.Start, r.End, r.Events) })
		return out
	}
	const spec = "churn=3/s,status=5ms-50ms,for=1m"
	if first, again := text(spec), text(spec); first != again || first == text(spec+",seed=2") {
		t.Error("runs are not told by their text")
	}
}

// TestDiscards checks that events accumulate only while PLEG is unhealthy.
func TestDiscards(t *testing.T) {
	p := profile(t, "v1.28.0")
	if out := Run(parsed(t, "pods=400,containers=7,changed=400,status=1ms"), p, nil); out.Totals.Discarded != 0 || out.Totals.Events < 5000 {
		t.Errorf("healthy: %d discarded of %d", out.Totals.Discarded, out.Totals.Events)
	}
	if out := Run(parsed(t, "pods=1000,containers=7,changed=1000,status=200ms,for=2h"), p, nil); out.Totals.Discarded == 0 {
		t.Error("nothing discarded in a relist of an hour")
	}
}

func TestFind(t *testing.T) {
	p := profile(t, "v1.36.0")
	s := parsed(t, "pods=66,containers=7,list=5ms,status=40ms")
	fs, err := Find(s, p, "threshold")
	if err != nil || len(fs) != 4 {
		t.Fatal(fs, err)
	}
	// A relist of n pods after the restart takes n times 15 calls of 40 ms: 300 pods
	// take 180 s, and the age counts until the next list ends, a second later.
	if *fs[0].Value != 299 || fs[0].Longest <= 179 {
		t.Errorf("changed pods: %+v", fs[0])
	}
	if fs[1].Value == nil || *fs[1].Value != 181 { // 66 pods, 15 calls: 181 ms make 179.2 s
		t.Errorf("status latency: %+v", fs[1])
	}
	if *fs[2].Value < 4700 || *fs[3].Value < 2000 {
		t.Errorf("16 at once: %+v %+v", fs[2], fs[3])
	}
	s = parsed(t, "pods=400,containers=7,changed=400,status=40ms")
	if fs, err := Find(s, p, "workers"); err != nil || *fs[0].Value != 2 {
		t.Errorf("workers: %+v, %v", fs, err)
	}
	if _, err := Find(s, p, "weather"); err == nil {
		t.Error("weather can be asked for")
	}
}

// TestAddedLatency checks that a latency with a sign is added to the previous one, and
// that pods added in several bursts are inspected when they appear.
func TestAddedLatency(t *testing.T) {
	base := Default()
	base.Status = Latency{3 * time.Millisecond, 3 * time.Millisecond}
	s, err := Parse(base, "status=+120ms-260ms,list=+1s")
	if err != nil || s.Status != (Latency{123 * time.Millisecond, 263 * time.Millisecond}) || s.List != (Latency{1005 * time.Millisecond, 1005 * time.Millisecond}) {
		t.Fatal(s, err)
	}
	// Three pods of a container and a sandbox: 2 status calls each, and from 1.36 on no
	// lists.
	s = parsed(t, "pods=1,containers=1,list=1s,status=100ms,new=1@10s,new=3@30s,for=1m")
	var busy []time.Duration
	Run(s, profile(t, "v1.36.0"), func(r *simulate.Relist) {
		if len(r.Inspected) > 0 {
			busy = append(busy, time.Duration(r.End-r.Start))
		}
	})
	if want := []time.Duration{2200 * time.Millisecond, 2600 * time.Millisecond}; !slices.Equal(busy, want) {
		t.Errorf("relists that inspect take %v, want %v", busy, want)
	}
}

// TestCallsTimeOut checks that a call that would reach runtimeRequestTimeout fails with
// it, whether by its own latency or by the load.
func TestCallsTimeOut(t *testing.T) {
	for _, c := range []struct {
		text    string
		longest time.Duration
		failed  int
	}{
		// The first list call of each attempt fails after 2 m, from the second relist
		// on.
		{"list=3m,for=10m", 2 * time.Minute, 5},
		{"list=1m,load=×3,for=10m", 2 * time.Minute, 5},
		{"list=1m,for=4m,timeout=30s", 30 * time.Second, 8},
		// Two lists, and the first status call of the one pod that changed.
		{"status=3m,changed=1,for=3m", 2*time.Minute + 10*time.Millisecond, 0},
		{"status=119s,containers=1,changed=1,for=3m", 2*119*time.Second + 10*time.Millisecond, 0},
	} {
		out := Run(parsed(t, c.text), profile(t, "v1.36.0"), nil)
		if out.Totals.Longest != c.longest || out.Totals.Failed != c.failed {
			t.Errorf("%s: longest %v, %d failed, want %v, %d", c.text, out.Totals.Longest, out.Totals.Failed, c.longest, c.failed)
		}
	}
	// A longer call fails sooner: the search ends where calls time out.
	fs, err := Find(parsed(t, "pods=1,containers=1,changed=1"), profile(t, "v1.36.0"), "status")
	if err != nil || fs[0].Value == nil || fs[0].Most != 119_999 || *fs[0].Value < 59_000 || *fs[0].Value > 90_000 {
		t.Errorf("status: %+v, %v", fs, err)
	}
}
