package replay

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/health"
)

// seconds is a log at verbosity 5 with a quick relist every second; the Relisting lines for which without
// returns true are left out.
func seconds(n int, without func(i int) bool) []string {
	var out []string
	for i := range n {
		at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * 1010 * time.Millisecond)
		if !without(i) {
			out = append(out, relisting(at.Format("15:04:05.000000")))
		}
		for k := range 3 {
			out = append(out, `I1120 `+at.Add(time.Duration(200+k)*time.Millisecond).Format("15:04:05.000000")+`    4242 reconciler.go:1] "something"`)
		}
	}
	return out
}

// TestMissingBeginsAreNoLongRelists checks that a pause of whole periods is not taken for a long relist: the
// lines of others may be missing.
func TestMissingBeginsAreNoLongRelists(t *testing.T) {
	for name, without := range map[string]func(int) bool{
		"one":   func(i int) bool { return i == 30 },
		"some":  func(i int) bool { return i%5 == 3 },
		"three": func(i int) bool { return i > 29 && i < 33 },
		"half":  func(i int) bool { return i*i%7 < 3 },
	} {
		for _, r := range buildOne(t, strings.Join(seconds(60, without), "\n")).Relists {
			if d, ok := r.Duration(); ok && d > 500*time.Millisecond {
				t.Errorf("%s: a relist of %v", name, d)
			}
		}
	}
	var halves []string
	for _, l := range seconds(600, func(int) bool { return false }) {
		if at, _ := time.Parse("15:04:05.000000", l[6:21]); at.Second()%30 >= 15 {
			halves = append(halves, l)
		}
	}
	for _, r := range buildOne(t, strings.Join(halves, "\n")).Relists {
		if d, ok := r.Duration(); ok && d > 500*time.Millisecond {
			t.Errorf("the second half of each half minute: a relist of %v", d)
		}
	}
	n := buildOne(t, strings.Join(seconds(60, func(int) bool { return false }), "\n"))
	if d, ok := n.Relists[40].Duration(); !ok || d > 100*time.Millisecond {
		t.Errorf("a relist of the whole log takes %v, %v", d, ok)
	}
}

// TestListOfAnother checks a log in which image garbage collection lists all pods, too. If two lists return
// while a relist runs, either may be the relist's. That it listed pods is known once both have returned, but
// not if the relist's own list then fails.
func TestListOfAnother(t *testing.T) {
	lists := func(stamp string) string {
		return `I1120 ` + stamp + `    4242 kuberuntime_manager.go:475] "Retrieved pods from runtime" all=true`
	}
	quick := seconds(20, func(int) bool { return false })
	slow := append(quick, relisting("10:00:20.200000"), lists("10:00:21.000000"))
	relist := func(lines ...string) *Relist {
		n := buildOne(t, ticking(append(slices.Clone(slow), lines...), "10:00:20", "10:00:59"))
		for i := range n.Relists {
			if strings.HasPrefix(clock(n.Relists[i].Start.At), "10:00:20.2") {
				return &n.Relists[i]
			}
		}
		t.Fatalf("%v", n.Relists)
		return nil
	}
	if r := relist(lists("10:00:35.000000"), relisting("10:00:36.010000")); r.ListEnd.Latest()-r.ListEnd.Earliest() < int64(13*time.Second) {
		t.Errorf("its list returned at %s ±%v", clock(r.ListEnd.At), r.ListEnd.Slack)
	}
	if r := relist(failLine("10:00:35.000000", deadlineError), relisting("10:00:36.010000")); r.ListEnd.Known() || r.Listed == nil || *r.Listed {
		t.Errorf("its list failed, and returned at %s", clock(r.ListEnd.At))
	}
}

// TestSilentProcess checks that a process without any recognized line has still replaced the previous one,
// which may have ended right after its last line.
func TestSilentProcess(t *testing.T) {
	first := strings.Join(seconds(30, func(int) bool { return false }), "\n")
	n := buildOne(t, first+"\n"+`I1120 10:02:00.000000    5151 reconciler.go:1] "something"`+"\n"+`I1120 10:02:30.000000    5151 reconciler.go:1] "something"`)
	if len(n.Runs) != 2 || n.Runs[1].PID != 5151 {
		t.Fatalf("%d processes", len(n.Runs))
	}
	for _, h := range n.Health {
		if h.State == health.Healthy && h.To > n.Runs[0].Last {
			t.Errorf("healthy until %s, the last line is of %s", clock(h.To), clock(n.Runs[0].Last))
		}
	}
}

// TestStartWithoutItsFirstTurn checks that a log with the start of the loop but without its first iteration is
// taken for a selection: each process skips that iteration, since no relist has listed yet.
func TestStartWithoutItsFirstTurn(t *testing.T) {
	start := `I1120 10:00:00.500000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`
	turn := `E1120 10:00:00.500100    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`
	event := `I1120 10:00:02.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`
	well := func(lines ...string) (sum time.Duration) {
		for _, h := range buildOne(t, ticking(lines, "10:00:00", "10:09:00")).Health {
			if h.State == health.Healthy {
				sum += time.Duration(h.To - h.From)
			}
		}
		return sum
	}
	with, without := well(start, turn, event), well(start, event)
	if with < 6*time.Minute || without > 3*time.Minute { // for the last two minutes, in which the loop writes nothing, health cannot be determined
		t.Errorf("healthy for %v with the first turn, %v without", with, without)
	}
}
