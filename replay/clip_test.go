package replay

import (
	"slices"
	"strings"
	"testing"
)

// TestClipKeepsRuns checks that after a cut relists still name the process that they belong to.
func TestClipKeepsRuns(t *testing.T) {
	process := func(from, relist, to string) string {
		return ticking([]string{`I1120 ` + from + `.000000    4242 kubelet.go:2327] "Starting kubelet main sync loop"`, relisting(relist + ".000000")}, from, to)
	}
	second := process("13:10:00", "13:11:00", "13:14:00")
	n := buildOne(t, process("13:00:00", "13:01:00", "13:04:00")+"\n"+strings.ReplaceAll(second, " 4242 ", " 5151 "))
	if len(n.Runs) != 2 || len(n.Relists) != 2 || n.Relists[1].Run != 1 {
		t.Fatalf("%d runs, relists %+v", len(n.Runs), n.Relists)
	}
	took, _ := n.Lasted(1)
	n.Clip(at(t, "13:08:00"), 0)
	if len(n.Runs) != 1 || len(n.Relists) != 1 || n.Relists[0].Run != 0 {
		t.Fatalf("%d runs and %d relists, the first of run %d", len(n.Runs), len(n.Relists), n.Relists[0].Run)
	}
	if got, _ := n.Lasted(0); got != took {
		t.Errorf("it took %v, before the cut %v", got, took)
	}
}

// TestClipOpens checks that an episode and a relist that end after the window are open at its end, with the reports,
// the age and the records that had been there by then.
func TestClipOpens(t *testing.T) {
	skip := func(at, age string) string {
		return `I1120 ` + at + `.000000    4242 kubelet.go:2440] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active ` + age + ` ago; threshold is 3m0s"`
	}
	log := ticking([]string{relisting("13:00:00.000000"), skip("13:03:10", "3m10s"), skip("13:03:40", "3m40s"), skip("13:04:10", "4m10s"),
		relisting("13:04:31.000000"), relisting("13:04:32.000000"), relisting("13:04:33.000000"),
		`I1120 13:04:34.000000    4242 kubelet.go:2400] "SyncLoop ADD" source="api" pods=["a/b"]`}, "13:00:00", "13:10:00")
	whole := buildOne(t, log)
	if e := whole.Episodes; len(e) != 1 || !e[0].Recovered.Known() || e[0].Reports != 3 {
		t.Fatalf("whole log: %+v", e)
	}
	if n := buildOne(t, log); n.Episodes[0].Recovered.Slack == 0 {
		t.Fatal("the recovery is dated exactly")
	} else if n.Clip(n.Episodes[0].Recovered.At, 0); len(n.Episodes) != 0 {
		t.Error("an episode that may be over before the window is in it")
	}
	for _, c := range []struct {
		until, last string
		reports     int
	}{
		{"13:03:05", "", 0}, // unhealthy, as a later line proves
		{"13:03:20", "13:03:10", 1},
		{"13:04:00", "13:03:40", 2},
		{"13:04:20", "13:04:10", 3},
	} {
		n, until := buildOne(t, log), at(t, c.until)
		n.Clip(0, until)
		if len(n.Episodes) != 1 {
			t.Fatalf("until %s: %d episodes", c.until, len(n.Episodes))
		}
		e, last := n.Episodes[0], int64(0)
		if c.last != "" {
			last = at(t, c.last)
		}
		if e.Recovered.Known() || e.LastReport != last || e.Reports != c.reports || last != 0 && int64(e.PeakAge) != last-at(t, "13:00:00") {
			t.Errorf("until %s: recovered %v, %d reports, the last at %d, peak %v", c.until, e.Recovered, e.Reports, e.LastReport, e.PeakAge)
		}
		if r, ended := n.Relists[0], whole.Relists[0].End.Known(); r.End.Known() || ended && (r.Outcome != OutcomeHung || r.Seen != until) {
			t.Errorf("until %s: the relist has outcome %s, end %v", c.until, r.Outcome, r.End)
		}
		if c.reports > 0 && slices.ContainsFunc(e.Evidence, func(x Evidence) bool { return x.Record.When().At > until }) {
			t.Errorf("until %s: a later line is quoted", c.until)
		}
	}
}

// TestClipCounts checks that failures after the window are not counted.
func TestClipCounts(t *testing.T) {
	skip := func(at, age string) string {
		return `I1120 ` + at + `.000000    4242 kubelet.go:2440] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active ` + age + ` ago; threshold is 3m0s"`
	}
	fail := func(at string) string {
		return `E1120 ` + at + `.000000    4242 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`
	}
	log := ticking([]string{skip("13:03:10", "3m10s"), skip("13:03:40", "3m40s"), skip("13:05:10", "5m10s"), fail("13:03:01"), fail("13:05:02")}, "13:00:00", "13:10:00")
	for _, c := range []struct{ since, until, want string }{
		{"", "", "2 relists failed in the list call"},
		{"", "13:04:00", "1 relist failed in the list call"},
		{"", "13:03:00", "the lines that show it are outside the window"},
		{"13:04:00", "", "1 relist failed in the list call"},
	} {
		n := buildOne(t, log)
		var since, until int64
		if c.since != "" {
			since = at(t, c.since)
		}
		if c.until != "" {
			until = at(t, c.until)
		}
		if n.Clip(since, until); len(n.Episodes) != 1 {
			t.Fatalf("%d episodes", len(n.Episodes))
		} else if e := n.Episodes[0]; e.StuckStep != StepList || e.StepBasis != c.want {
			t.Errorf("from %q to %q: %s, %s; want %s", c.since, c.until, e.StuckStep, e.StepBasis, c.want)
		}
		for _, x := range n.Failures {
			if until != 0 && x.End > until {
				t.Errorf("until %s: a call that failed later", c.until)
			}
		}
	}
}
