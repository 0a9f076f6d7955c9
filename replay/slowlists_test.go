package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/health"
)

const deadlineError = "rpc error: code = DeadlineExceeded desc = context deadline exceeded"

// TestMeasuredTimeout checks that the timeout is measured, since the log shows the flag's default even if the
// configuration overrides it, and that not every distance of whole seconds counts as a measurement.
func TestMeasuredTimeout(t *testing.T) {
	fail := func(stamp string) string { return failLine(stamp, deadlineError) }
	status := `E1120 %s    4242 remote_runtime.go:432] "ContainerStatus from runtime service failed" err="` + deadlineError + `" containerID="ab"`
	for _, c := range []struct {
		name  string
		lines []string
		want  time.Duration
	}{
		{"two in a row, shorter than usual", []string{fail("10:02:00.003000"), fail("10:02:31.006000")}, 30 * time.Second},
		{"three in a row, the second after a slow first call", []string{fail("10:02:00.003000"), fail("10:03:10.006000"), fail("10:03:56.008000")}, 45 * time.Second},
		{"one pair far apart measures nothing", []string{fail("10:02:00.003000"), fail("10:09:01.006000")}, 2 * time.Minute},
		{"a relist in between was the last seen later on",
			[]string{fail("10:02:00.003000"), fail("10:05:02.006000"), skipLine("10:06:10.000000", 189*time.Second)}, 2 * time.Minute},
		{"far longer than the flag: nothing failed before",
			[]string{skipLine("10:04:00.000000", 230*time.Second), fail("10:10:11.030000"), skipLine("10:10:12.000000", 602*time.Second)}, 10 * time.Minute},
		{"as long, but for a call that failed at the usual timeout",
			[]string{skipLine("10:04:00.000000", 230*time.Second), fmt.Sprintf(status, "10:02:30.000000"), fail("10:10:11.030000"), skipLine("10:10:12.000000", 602*time.Second)}, 2 * time.Minute},
	} {
		n := buildOne(t, strings.Join(c.lines, "\n"))
		if n.Kubelet.RPCTimeout != c.want {
			t.Errorf("%s: timeout %v, want %v", c.name, n.Kubelet.RPCTimeout, c.want)
		}
	}
}

// TestEventedFellBack checks that a kubelet configured for evented PLEG that states the generic threshold has
// fallen back, and relists with the generic period.
func TestEventedFellBack(t *testing.T) {
	fail := func(stamp string) string { return failLine(stamp, deadlineError) }
	n := buildOne(t, strings.Join([]string{`I1120 09:00:00.000000    4242 feature_gate.go:387] feature gates: {map[EventedPLEG:true]}`,
		`I1120 09:00:00.100000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.31.4"`,
		fail("10:02:01.003000"), skipLine("10:03:10.000000", 190*time.Second), fail("10:04:02.005000")}, "\n"))
	if k := n.Kubelet; k.PLEG != "evented" || k.Period != time.Second || k.Threshold != 3*time.Minute || k.RPCTimeout != 2*time.Minute {
		t.Errorf("%s, period %v, threshold %v, timeout %v", k.PLEG, k.Period, k.Threshold, k.RPCTimeout)
	}
}

// TestFallbackWithoutItsLine checks a fallback without its log line, as at verbosity 2: the stream then broke
// five times. If nothing shows whether it did, the last relist keeps PLEG healthy for three minutes, and PLEG
// is unhealthy after ten.
func TestFallbackWithoutItsLine(t *testing.T) {
	start := []string{`I1120 10:00:00.000000    4242 feature_gate.go:387] feature gates: {map[EventedPLEG:true]}`,
		`I1120 10:00:00.000000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.31.4"`, `I1120 10:00:00.000000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`,
		`E1120 10:00:00.001000    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`}
	broken := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(`E1120 10:00:59.%d00000    4242 remote_runtime.go:829] "failed to receive streaming container event" err="rpc error: code = Unavailable desc = error reading from server: EOF"`, i))
		}
		return out
	}
	for name, c := range map[string]struct {
		lines     []string
		well, ill string // until when PLEG is healthy and from when unhealthy, by the relist of 10:01:00; the next one begins at 10:13
	}{
		"stream at work":     {slices.Concat(start, broken(1)), "10:11:00", "10:11:00"},
		"broken for good":    {slices.Concat(start, broken(5)), "10:04:00", "10:04:00"},
		"nothing is known":   {start[:1], "10:04:00", "10:11:00"},
		"threshold reported": {append(start[:1:1], strings.Replace(skipLine("10:11:30.000000", 630*time.Second), "3m0s", "10m0s", 1)), "10:11:00", "10:11:00"},
	} {
		n := buildOne(t, ticking(append(c.lines, relisting("10:01:00.000000"), `I1120 10:01:00.010000    4242 kuberuntime_manager.go:475] "Retrieved pods from runtime" all=true`), "10:00:01", "10:13:30"))
		second := func(at int64) string { return clock(at + int64(time.Second)/2)[:8] }
		well, ill := n.asked[0].Limit(&n.Kubelet, n.Relists[0].Start.At)
		if got := second(well) + " " + second(ill); got != c.well+" "+c.ill {
			t.Errorf("%s: healthy until and unhealthy from %s", name, got)
		}
		if !slices.ContainsFunc(n.Claims, func(x Claim) bool { return x.Proof == health.ProofListing && second(x.To) == c.well }) {
			t.Errorf("%s: no health by its list until %s", name, c.well)
		}
	}
}

// TestSlowListsBehindABlockedLoop checks a sync loop blocked in a list call of its own: it reports nothing
// between two slow relists, and the node status shows whether PLEG was healthy.
func TestSlowListsBehindABlockedLoop(t *testing.T) {
	two := `I1120 09:58:00.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`
	notReady := `I1120 10:03:05.000000    4242 setters.go:552] "Node became not ready" node="w" condition={"type":"Ready","status":"False","lastHeartbeatTime":"2026-11-20T10:03:05Z","lastTransitionTime":"2026-11-20T10:03:05Z","reason":"KubeletNotReady","message":"PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"}`
	ready := `I1120 10:03:25.000000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"`
	again := `I1120 10:05:59.999000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeNotReady"`
	for _, c := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"not ready all the while", []string{two, notReady, skipLine("10:06:20.000000", 200*time.Second)}, 1},
		{"ready in between", []string{two, notReady, ready, skipLine("10:06:20.000000", 200*time.Second)}, 2},
		{"became not ready again", []string{two, notReady, again, skipLine("10:06:00.000000", 190*time.Second)}, 2},
		{"reported as soon as it was due: the loop was not blocked", []string{two, notReady, skipLine("10:06:00.100000", 180100*time.Millisecond)}, 2},
		{"below verbosity 2 nothing says that the node is ready", []string{notReady, skipLine("10:06:20.000000", 200*time.Second)}, 2},
		{"a loop that skipped misses no turn", []string{two, notReady, skipLine("10:03:06.000000", 186*time.Second), skipLine("10:06:20.000000", 200*time.Second)}, 2},
		{"ready, and not ready again long before the report", []string{two, notReady, ready, strings.ReplaceAll(again, "10:05:59", "10:03:45"), skipLine("10:06:20.000000", 200*time.Second)}, 2},
		{"not ready twice", []string{two, notReady, strings.ReplaceAll(again, "10:05:59", "10:03:45"), skipLine("10:06:20.000000", 200*time.Second)}, 2},
		{"in an excerpt", []string{two, notReady, skipLine("10:06:20.000000", 200*time.Second)}, 2},
	} {
		log := strings.Join(c.lines, "\n")
		if c.name != "in an excerpt" {
			log = ticking(c.lines, "09:58:00", "10:08:00")
		}
		n := buildOne(t, log)
		if len(n.Episodes) != c.want {
			t.Errorf("%s: %d episodes, want %d", c.name, len(n.Episodes), c.want)
			continue
		}
		if e := n.Episodes[0]; c.want == 1 && e.StuckStep != StepList {
			t.Errorf("%s: stuck in %s, want the list", c.name, e.StuckStep)
		}
	}
}

// TestListsJustUnderTheThreshold checks that a line which a relist writes as soon as its list has returned, before it is
// itself past the threshold, shows no inspection: the next list may take all the time after it.
func TestListsJustUnderTheThreshold(t *testing.T) {
	two := []string{skipLine("10:03:01.000000", 181*time.Second), skipLine("10:05:57.000000", 357*time.Second), // relist of 10:00:00
		skipLine("10:06:02.000000", 182*time.Second), skipLine("10:08:50.000000", 350*time.Second)} // relist of 10:03:00
	for stamp, want := range map[string]Step{"10:05:58.500000": StepUnknown, "10:07:00.000000": StepInspect} {
		finished := `I1120 ` + stamp + `    4242 generic.go:334] "Generic (PLEG): container finished" podID="1" containerID="ab" exitCode=1`
		lines := append(slices.Clone(two), finished)
		slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[6:21], b[6:21]) })
		n := buildOne(t, strings.Join(lines, "\n"))
		if len(n.Episodes) != 1 || n.Episodes[0].StuckStep != want {
			t.Errorf("%s: %+v, want one episode stuck in %s", stamp, n.Episodes, want)
		}
	}
}

// TestQueuedEvents checks that two events of one container prove an undated relist only if they are delivered about a
// period apart: those that come at once had waited for the sync loop, and relists that ran before may have sent them.
func TestQueuedEvents(t *testing.T) {
	event := func(stamp, kind string) string {
		return `I1120 ` + stamp + `    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"Container` + kind + `","Data":"0123456789abcdef"}`
	}
	for died, want := range map[string]int{"10:06:05.000100": 0, "10:06:07.000000": 1} {
		n := buildOne(t, strings.Join([]string{skipLine("10:03:01.000000", 181*time.Second), skipLine("10:06:03.000000", 182*time.Second),
			event("10:06:05.000000", "Started"), event(died, "Died"), skipLine("10:08:50.000000", 190*time.Second)}, "\n"))
		least := 0
		for _, b := range n.Bounded {
			least += b.CountMin
		}
		if least != want {
			t.Errorf("Died at %s: at least %d undated relists, want %d", died, least, want)
		}
	}
}

// ticking adds a line of another goroutine every two seconds, and if the log is at verbosity 5 one at that verbosity every
// ten seconds, as in a complete log, and sorts.
func ticking(lines []string, from, to string) string {
	at, _ := time.Parse(time.TimeOnly, from)
	end, _ := time.Parse(time.TimeOnly, to)
	out, verbose := slices.Clone(lines), strings.Contains(strings.Join(lines, "\n"), "GenericPLEG: Relisting")
	for ; at.Before(end); at = at.Add(2 * time.Second) {
		out = append(out, `I1120 `+at.Format("15:04:05")+`.000500    4242 reconciler.go:1] "something"`)
		if verbose && at.Second()%10 < 2 {
			out = append(out, `I1120 `+at.Format("15:04:05")+`.000600    4242 kubelet_node_status.go:1] "Updating node status"`)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(a[6:21], b[6:21]) })
	return strings.Join(out, "\n")
}

// relisting is the first line of a relist at verbosity 5.
func relisting(stamp string) string {
	return `I1120 ` + stamp + `    4242 generic.go:224] "GenericPLEG: Relisting"`
}

// TestFailureOfARelistBeforeTheLog checks that a log that begins in the middle of a relist still has its
// failure.
func TestFailureOfARelistBeforeTheLog(t *testing.T) {
	n := buildOne(t, failLine("10:02:00.003000", deadlineError)+"\n"+relisting("10:02:01.004000")+"\n"+relisting("10:02:02.010000"))
	if len(n.Relists) != 3 || !within(n.Relists[0].Start, at2(t, "10:00:00"), 10*time.Millisecond) || n.Relists[0].Outcome != OutcomeListFailed {
		t.Errorf("relists %+v, want the first to begin at 10:00:00 and fail", n.Relists)
	}
}

// TestStoppedProcessIsNoLongRelist checks that a stopped process is not taken to be relisting all the while.
func TestStoppedProcessIsNoLongRelist(t *testing.T) {
	chatter := func(at string) string { return `I1120 ` + at + `    4242 x.go:1] "something"` }
	for _, c := range []struct {
		name  string
		lines []string
		known bool
	}{
		{"stopped", []string{relisting("10:00:00.000000"), chatter("10:00:00.500000"), chatter("10:03:00.020000"), relisting("10:03:00.030000")}, false},
		{"stuck", []string{relisting("10:00:00.000000"), chatter("10:00:00.500000"), chatter("10:01:50.000000"), chatter("10:02:40.000000"), relisting("10:03:00.030000")}, true},
	} {
		var quick []string // they show that a relist is due every second
		for s := 52; s < 60; s++ {
			quick = append(quick, relisting(fmt.Sprintf("09:59:%d.000000", s)))
		}
		lines := append(quick, c.lines...)
		n := buildOne(t, strings.Join(lines, "\n"))
		if c.known {
			n = buildOne(t, strings.ReplaceAll(ticking(lines, "10:00:01", "10:03:00"), `reconciler.go:1] "something"`, `kubelet.go:2506] "SyncLoop (housekeeping)"`))
		}
		if r := n.Relists[len(quick)]; r.End.Known() != c.known {
			t.Errorf("%s: end known %v, want %v: %+v", c.name, r.End.Known(), c.known, r)
		}
	}
}

// TestStepOfUnreportedStretch checks an episode that no line reports but that its relists prove.
func TestStepOfUnreportedStretch(t *testing.T) {
	n := buildOne(t, ticking([]string{relisting("10:00:00.000000"), relisting("10:00:01.010000"),
		failLine("10:02:01.012000", deadlineError), relisting("10:02:02.015000"),
		`I1120 10:03:08.990000    4242 kuberuntime_manager.go:436] "Retrieved pods from runtime" all=true`, relisting("10:03:10.000000"), relisting("10:03:11.010000")},
		"10:00:00", "10:03:12"))
	if len(n.Episodes) != 1 || n.Episodes[0].StuckStep != StepList {
		t.Errorf("episodes %+v, want one that is stuck in the list", n.Episodes)
	}
}

// TestKnownTimeout checks that a timeout that is not stated, measured or confirmed is assumed, and dates no
// call. Two failures closer together than a stated timeout refute it.
func TestKnownTimeout(t *testing.T) {
	fail := func(stamp string) string { return failLine(stamp, deadlineError) }
	inspect := `E1120 %s    4242 generic.go:453] "PLEG: Write status" err="` + deadlineError + `" pod="prod/api-2"`
	housekeeping := `E1120 %s    4242 kubelet.go:2477] "Housekeeping took longer than expected" err="housekeeping took too long" expected="1s" actual="%s"`
	unread := `I1120 09:58:00.000000    4242 flags.go:64] FLAG: --runtime-request-timeout="2m0s"`
	stated := `I1120 09:58:00.000000    4242 flags.go:64] FLAG: --config=""` + "\n" + unread
	begins := `I1120 %s    4242 generic.go:224] "GenericPLEG: Relisting"`
	for _, c := range []struct {
		name  string
		lines []string
		known bool
	}{
		{"one failure alone", []string{fail("10:02:00.003000")}, false},
		{"two failing lists a minute apart", []string{fail("10:02:00.003000"), fail("10:03:00.006000")}, false},
		{"the same, where 2m is stated", []string{stated, fail("10:02:00.003000"), fail("10:03:00.006000")}, false},
		{"the same behind the lines of relists, some of which are missing",
			[]string{stated, fmt.Sprintf(begins, "09:58:30.000000"), fail("10:02:00.003000"), fail("10:03:00.006000"), fmt.Sprintf(begins, "10:03:01.010000")}, false},
		{"stated", []string{stated, fail("10:02:00.003000")}, true},
		{"a flag at its default, of a process that may read a file", []string{unread, fail("10:02:00.003000")}, false},
		{"one inspection", []string{fmt.Sprintf(inspect, "10:02:00.003000")}, false},
		{"an inspection that fails twice in a relist", []string{fmt.Sprintf(inspect, "10:02:00.003000"), fmt.Sprintf(inspect, "10:04:00.009000")}, true},
		{"once in each of two relists", []string{fmt.Sprintf(inspect, "10:02:00.003000"), fmt.Sprintf(inspect, "10:04:01.016000")}, true},
		{"at other distances", []string{fmt.Sprintf(inspect, "10:02:00.003000"), fmt.Sprintf(inspect, "10:05:12.700000")}, false},
		{"a timeout after the start of the relist", []string{fmt.Sprintf(inspect, "10:02:00.003000"), skipLine("10:03:01.000000", 181010*time.Millisecond)}, true},
		{"housekeeping that a list held up for as long", []string{fail("10:02:00.003000"), fmt.Sprintf(housekeeping, "10:02:00.009000", "2m0.025s")}, true},
		{"housekeeping that took longer", []string{fail("10:02:00.003000"), fmt.Sprintf(housekeeping, "10:02:00.009000", "2m31s")}, false},
		{"two inspections too close to each other, where 2m is stated", []string{stated, fmt.Sprintf(inspect, "10:02:00.003000"), fmt.Sprintf(inspect, "10:02:30.009000")}, false},
	} {
		n := buildOne(t, strings.Join(c.lines, "\n"))
		if n.Kubelet.TimeoutKnown != c.known {
			t.Errorf("%s: known %v (%s), want %v", c.name, n.Kubelet.TimeoutKnown, n.Kubelet.Basis, c.known)
		}
		for i := range n.Failures {
			if f := &n.Failures[i]; f.Start.Known() && !c.known {
				t.Errorf("%s: a call that failed began at %v", c.name, f.Start)
			}
		}
		for i := 1; i < len(n.Relists); i++ {
			a, b := &n.Relists[i-1], &n.Relists[i]
			if a.End.Known() && b.Start.At-int64(b.Start.Slack) < a.End.At {
				t.Errorf("%s: a relist begins %v ± %v before the one before it ended", c.name, time.Duration(a.End.At-b.Start.At), b.Start.Slack)
			}
		}
	}
}

// TestUnhealthyByRelists checks that relists dated by lines prove PLEG unhealthy even if nothing reports it. A
// single one does not if its threshold may be that of evented PLEG.
func TestUnhealthyByRelists(t *testing.T) {
	fail := func(stamp string) string { return failLine(stamp, deadlineError) }
	stated := func(d string) string {
		return `I1120 09:58:00.000000    4242 flags.go:64] FLAG: --runtime-request-timeout="` + d + `"`
	}
	version := `I1120 09:58:00.000000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.20.4"`
	for _, c := range []struct {
		name  string
		lines []string
		want  time.Duration
	}{
		{"two lists that failed in a row", []string{stated("2m0s"), fail("10:02:00.003000"), fail("10:04:01.005000")}, 61 * time.Second},
		{"a pause between them", []string{stated("2m0s"), fail("10:02:00.003000"), fail("10:04:05.005000")}, 0},
		{"one that waited for five minutes", []string{version, stated("5m0s"), fail("10:06:00.003000")}, 2 * time.Minute},
		{"the same where the evented PLEG may be on", []string{stated("5m0s"), fail("10:06:00.003000")}, 0},
	} {
		n := buildOne(t, strings.Join(c.lines, "\n"))
		got := time.Duration(0)
		for _, h := range n.Health {
			if h.State == Unhealthy {
				got += time.Duration(h.To - h.From)
			}
		}
		if (got - c.want).Abs() > 200*time.Millisecond {
			t.Errorf("%s: unhealthy for %v, want %v; %+v", c.name, got, c.want, n.Health)
		}
	}
}

// TestNewerRelistBoundsTheStretch checks that a later last-seen relist ends the episode of the one before at
// its own breach, but proves no recovery: its list may have taken longer than the threshold. If the loop's
// pauses start over, though, it did not skip in between.
func TestNewerRelistBoundsTheStretch(t *testing.T) {
	lines := skipLine("10:03:05.000000", 185*time.Second) + "\n" + skipLine("10:06:20.000000", 186*time.Second)
	for again, want := range map[string]bool{"": false, "\n" + skipLine("10:06:20.100000", 186100*time.Millisecond): true, "\n" + skipLine("10:06:25.000000", 191*time.Second): false} {
		n := buildOne(t, lines+again)
		if len(n.Episodes) != 2 {
			t.Fatalf("%d episodes", len(n.Episodes))
		}
		breach, r := n.Episodes[1].Breach, n.Episodes[0].Recovered
		if r.Known() != want || n.Over(0) != breach || n.Over(1) != 0 || want && (r.At != breach || r.At-int64(r.Slack) != at2(t, "10:03:05")) {
			t.Errorf("%q: recovered %v: %s", again, r, n.Episodes[0].RecoveredBasis)
		}
		for _, x := range n.Ills() {
			if x.From < breach && x.To != breach {
				t.Errorf("%q: %+v", again, x)
			}
		}
		for _, h := range n.Health {
			if h.State != HealthUnknown && h.From > n.Episodes[0].LastReport && h.To <= breach || h.State == HealthUnknown && h.To > breach && h.From < n.Episodes[1].LastReport {
				t.Errorf("%q: %s from %s to %s", again, h.State, clock(h.From), clock(h.To))
			}
		}
	}
}

// TestEventsProveInspectionWhileTheyGoOn checks that a relist that sends pod events up to the breach is
// inspecting. One that stopped some time before may have ended then, and the list of the next one may have
// taken the rest.
func TestEventsProveInspectionWhileTheyGoOn(t *testing.T) {
	event := func(stamp string) string {
		return `I1120 ` + stamp + `    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="ns/a" event={"ID":"u","Type":"ContainerStarted","Data":"c` + stamp[:8] + `"}`
	}
	for last, want := range map[string]Step{"10:01:40.000000": StepUnknown, "10:02:58.000000": StepInspect} {
		n := buildOne(t, strings.Join([]string{event("10:01:10.000000"), event(last), skipLine("10:03:00.500000", 180500*time.Millisecond),
			skipLine("10:03:00.600000", 180600*time.Millisecond), event("10:03:05.000000")}, "\n"))
		if e := n.Episodes[0]; e.StuckStep != want {
			t.Errorf("events until %s: %s, %s", last, e.StuckStep, e.StepBasis)
		}
		for _, r := range n.Relists {
			if r.End.Known() && want == StepUnknown {
				t.Errorf("a relist from %s to %s", clock(r.Start.At), clock(r.End.At))
			}
		}
	}
}

// TestBeginBehindASilence checks that if the log is silent for longer than the sync loop can be, the list line
// of the long relist may be missing, and that no relist lasts until after another one began.
func TestBeginBehindASilence(t *testing.T) {
	list := `I1120 %s    4242 kuberuntime_manager.go:432] "Retrieved pods from runtime" all=%v`
	var quick []string
	for s := range 20 {
		quick = append(quick, fmt.Sprintf(list, fmt.Sprintf("10:00:%02d.%03d000", s, 5*s), true))
	}
	const last = "10:00:19.095000"
	for name, c := range map[string]struct {
		busy  string // from when on the sync loop works
		extra []string
		slack time.Duration
		ended bool
	}{
		"work goes on":         {"10:00:20", nil, 10 * time.Millisecond, true},
		"silence":              {"10:00:23", nil, 2500 * time.Millisecond, true},
		"another one was seen": {"10:00:23", []string{skipLine("10:03:25.000000", 183*time.Second)}, 10 * time.Millisecond, false},
	} {
		lines := append(slices.Clone(quick), `I1120 10:04:01.100000    4242 generic.go:459] "PLEG: Write status" pod="a/b"`, fmt.Sprintf(list, "10:04:02.105000", true), fmt.Sprintf(list, "10:04:03.110000", true))
		for at, _ := time.Parse(time.TimeOnly, c.busy); at.Minute() < 4; at = at.Add(2 * time.Second) {
			lines = append(lines, fmt.Sprintf(list, at.Format("15:04:05.900000"), false))
		}
		n := buildOne(t, ticking(append(lines, c.extra...), "10:00:00", "10:05:00"))
		i := slices.IndexFunc(n.Relists, func(r Relist) bool {
			return r.ListEnd.Known() && strings.HasPrefix(r.Evidence[0].Record.Quote(), "I1120 "+last)
		})
		if i < 0 || n.Relists[i].End.Known() != c.ended || n.Relists[i].Start.Slack > c.slack || n.Relists[i].Start.Slack < c.slack/2 && c.slack > time.Second {
			t.Errorf("%s: %d: %+v", name, i, n.Relists[max(i-1, 0):])
		}
	}
}
