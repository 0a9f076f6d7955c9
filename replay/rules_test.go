package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// skipLine is a sync-loop iteration that skipped because of PLEG.
func skipLine(stamp string, age time.Duration) string {
	return fmt.Sprintf(`E1120 %s    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, stamp, age)
}

func TestEpisodesFromAges(t *testing.T) {
	const s, h = time.Second, time.Hour
	for _, c := range []struct {
		name  string
		lines []string
		want  []string // breaches
	}{
		{"one late line is an episode", []string{skipLine("10:10:00.000000", 400*s)}, []string{"10:06:20"}},
		{"the start is constant within a stall", []string{skipLine("10:10:00.000000", 190*s), skipLine("10:10:05.000400", 195*s)}, []string{"10:09:50"}},
		{"a newer start that was past the threshold when it became visible: one stretch",
			[]string{skipLine("10:10:00.000000", 400*s), skipLine("10:10:05.000000", 190*s)}, []string{"10:06:20"}},
		{"a newer start seen in time: two stretches",
			[]string{skipLine("10:10:00.000000", 190*s), skipLine("10:14:10.000000", 185*s)}, []string{"10:09:50", "10:14:05"}},
		{"ages of a slewed clock name one relist",
			[]string{skipLine("10:10:00.000000", 200*s), skipLine("11:10:00.200000", 200*s+h), skipLine("12:10:00.400000", 200*s+2*h)}, []string{"10:09:40"}},
		{"a clock set back: last-seen never moves back",
			[]string{skipLine("10:10:00.000000", 200*s), skipLine("10:10:05.000000", 205*s), skipLine("10:10:02.000000", 210*s)}, []string{"10:09:32"}},
		{"never, for a moment after the start",
			[]string{"I1120 10:00:00.000000    4242 kubelet.go:2303] \"Starting kubelet main sync loop\"",
				"E1120 10:00:00.100000    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg has yet to be successful\""}, nil},
		{"never, for minutes",
			[]string{"I1120 10:00:00.000000    4242 kubelet.go:2303] \"Starting kubelet main sync loop\"",
				"E1120 10:00:00.100000    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg has yet to be successful\"",
				"E1120 10:02:00.100000    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=\"PLEG is not healthy: pleg has yet to be successful\""}, []string{"10:00:00"}},
		{"other reasons to skip are no episode",
			[]string{"E1120 10:00:00.100000    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=\"container runtime is down\""}, nil},
	} {
		n := buildOne(t, strings.Join(c.lines, "\n"))
		var got []string
		for _, e := range n.Episodes {
			got = append(got, time.Unix(0, e.Breach).UTC().Round(time.Second).Format("15:04:05"))
			if e.Reports+e.NeverReports == 0 {
				t.Errorf("%s: no reports", c.name)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: breaches %v, want %v", c.name, got, c.want)
		}
		checkSane(t, n)
	}
}

// TestNoRecoveryFromPastedLines checks that missing lines prove no recovery if only a few lines were pasted.
func TestNoRecoveryFromPastedLines(t *testing.T) {
	n := buildOne(t, skipLine("10:10:00.000000", 200*time.Second)+"\n"+
		`I1120 10:10:30.000000    4242 kubelet.go:1] "something"`)
	if len(n.Episodes) != 1 || n.Episodes[0].Recovered.Known() || n.Episodes[0].RecoveredBasis == "" {
		t.Errorf("episodes %+v, want one without a recovery", n.Episodes)
	}
}

func TestPositiveProofsOfRecovery(t *testing.T) {
	skip := skipLine("10:10:00.000000", 200*time.Second)
	for _, c := range []struct{ name, line, want string }{
		{"node ready", `I1120 10:10:30.000000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"`, "10:10:30.000"},
		{"a pod event was consumed", `I1120 10:10:20.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerDied","Data":"ab"}`, "10:10:20.000"},
		{"a pod update was handled", `I1120 10:10:21.000000    4242 kubelet.go:2391] "SyncLoop UPDATE" source="api" pods=["a/b"]`, "10:10:21.000"},
		{"skipped for another reason only", `E1120 10:10:22.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="container runtime is down"`, "10:10:22.000"},
		{"skipped for a reason that was cut", `E1120 10:10:22.000000    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime is down, PL"`, ""},
		{"housekeeping began", `E1120 10:11:00.000000    4242 kubelet.go:2477] "Housekeeping took longer than expected" err="x" expected="1s" actual="40s"`, "10:10:20.000"},
		{"a line of the relist goroutine alone proves nothing", `I1120 10:10:30.000000    4242 generic.go:334] "Generic (PLEG): container finished" podID="a" containerID="b" exitCode=1`, ""},
		{"a failing list is no recovery", `E1120 10:10:30.000000    4242 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="rpc error: code = DeadlineExceeded desc = x"`, ""},
	} {
		n := buildOne(t, skip+"\n"+c.line)
		got := ""
		if r := n.Episodes[0].Recovered; r.Known() {
			got = r.Time().Format("15:04:05.000")
		}
		if got != c.want {
			t.Errorf("%s: recovered %q (%s), want %q", c.name, got, n.Episodes[0].RecoveredBasis, c.want)
		}
	}
}

// failLine is the failed list of a relist, with the failed runtime call.
func failLine(stamp, err string) string {
	return fmt.Sprintf(`E1120 %s    4242 remote_runtime.go:294] "ListPodSandbox with filter from runtime service failed" err="%s" filter="nil"`+"\n"+
		`E1120 %s    4242 generic.go:238] "GenericPLEG: Unable to retrieve pods" err="%s"`, stamp, err, stamp, err)
}

func TestFailedListsDateTheirStart(t *testing.T) {
	deadline := "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
	refused := "rpc error: code = Unavailable desc = connection error: dial unix /run/x.sock: connect: connection refused"
	for _, c := range []struct {
		name, text string
		timeout    time.Duration
		start      string
		slack      time.Duration
	}{
		{"the usual timeout, measured", failLine("10:02:00.003000", deadline) + "\n" + failLine("10:04:01.006000", deadline), 2 * time.Minute, "10:00:00", 50 * time.Millisecond},
		{"nothing tells the timeout", failLine("10:02:00.003000", deadline), 2 * time.Minute, "09:47:00", 15 * time.Minute},
		{"timeout measured from the distance", failLine("10:02:00.003000", deadline) + "\n" + failLine("10:02:31.006000", deadline), 30 * time.Second, "10:01:30", 50 * time.Millisecond},
		{"refused at once", failLine("10:02:00.003000", refused), 2 * time.Minute, "10:02:00", 250 * time.Millisecond},
	} {
		n := buildOne(t, c.text)
		if n.Kubelet.RPCTimeout != c.timeout {
			t.Errorf("%s: timeout %v, want %v", c.name, n.Kubelet.RPCTimeout, c.timeout)
		}
		r := n.Relists[0]
		if !within(r.Start, at2(t, c.start), 10*time.Millisecond) || r.Start.Slack > c.slack || r.Outcome != OutcomeListFailed || r.Listed == nil || *r.Listed {
			t.Errorf("%s: relist %v ±%v %s, want %s", c.name, r.Start.Time(), r.Start.Slack, r.Outcome, c.start)
		}
	}
}

// at2 parses a time on 20 November 2026.
func at2(t *testing.T, s string) int64 {
	v, err := time.Parse(time.RFC3339, "2026-11-20T"+s+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return v.UnixNano()
}

// TestThresholdByOption checks that a line with an age below the threshold set by the option proves no episode.
func TestThresholdByOption(t *testing.T) {
	for limit, want := range map[time.Duration]int{0: 1, time.Minute: 1, 5 * time.Minute: 0} {
		n := Build(bundleOf(skipLine("10:10:00.000000", 200*time.Second)), Options{Given: Given{RelistThreshold: limit}})[0]
		if len(n.Episodes) != want {
			t.Errorf("threshold %v: %d episodes, want %d", limit, len(n.Episodes), want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	for _, c := range []struct {
		line     string
		min, max string
	}{
		{skipLine("10:10:00.000000", 200*time.Second), "v1.21", ""},
		{`I1120 10:10:00.000000    4242 kubelet.go:1826] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s]`, "", "v1.13"},
		{`I1120 10:10:00.000000    4242 kubelet.go:1778] skipping pod synchronization - [container runtime is down PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s]`, "", "v1.13"},
		{`I1120 10:10:00.000000    4242 kubelet.go:1826] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s`, "v1.14", "v1.16"},
		{`E1120 10:10:00.000000    4242 kubelet.go:1765] skipping pod synchronization - [container runtime is down, PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s]`, "v1.17", "v1.20"},
		{`I1120 10:10:00.000000    3384 kubelet.go:1846] skipping pod synchronization - [container runtime status check may not have completed yet PLEG is not healthy: pleg has yet to be successful]`, "v1.13", "v1.13"},
		{`E1120 10:10:00.000000    4242 remote_runtime.go:163] ListPodSandbox with filter "nil" from runtime service failed: rpc error: code = 4 desc = context deadline exceeded`, "", "v1.8"},
		{`E1120 10:10:00.000000    4242 remote_runtime.go:163] ListPodSandbox with filter "nil" from runtime service failed: rpc error: code = Unknown desc = Error response from daemon: rpc error: code = 2 desc = containerd: container not started`, "", "v1.20"},
		{`I1120 10:10:00.000000    4242 kubelet.go:1826] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s.]`, "v1.14", "v1.14"},
		{`I1120 10:10:00.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event=&{ID:1 Type:ContainerDied Data":"ab}`, "v1.21", "v1.27"},
		{`I1120 10:10:00.000000    4242 generic.go:334] "Generic (PLEG): container finished" podID="a" containerID="b" exitCode=1`, "v1.22", ""},
	} {
		k := buildOne(t, c.line).Kubelet
		if k.VersionMin != c.min || k.VersionMax != c.max {
			t.Errorf("%s: %q to %q, want %q to %q", c.line, k.VersionMin, k.VersionMax, c.min, c.max)
		}
	}
}

func TestOptionsOverrule(t *testing.T) {
	n := Build(bundleOf(skipLine("10:10:00.000000", 200*time.Second)), Options{Given: Given{KubeletVersion: "1.28.0", RelistThreshold: time.Minute, RelistPeriod: 2 * time.Second}})[0]
	if n.Kubelet.Version != "v1.28.0" || n.Kubelet.Threshold != time.Minute || n.Kubelet.Period != 2*time.Second {
		t.Errorf("profile %+v", n.Kubelet)
	}
	if e := n.Episodes[0]; e.Breach-e.LastStart.At != int64(time.Minute) {
		t.Errorf("breach %v after the last relist, want 1m", time.Duration(e.Breach-e.LastStart.At))
	}
}

// TestUndatedReports checks that lines whose header was cut off state an age but no time.
func TestUndatedReports(t *testing.T) {
	b := bundleOf(skipLine("10:10:00.000000", 200*time.Second))
	for _, e := range b.Events {
		e.Stamp = parse.Stamp{}
		k := *e.EventKind
		k.Headed = false
		e.EventKind = &k
	}
	n := Build(b, Options{})[0]
	if len(n.Episodes) != 1 {
		t.Fatalf("%d episodes, want 1", len(n.Episodes))
	}
	if e := n.Episodes[0]; e.Breach != 0 || e.LastStart.Known() || e.Recovered.Known() || e.Reports != 1 || e.PeakAge != 200*time.Second {
		t.Errorf("episode %+v, want an age and no time", e)
	}
}

// TestStampsOfWholeSeconds checks that a truncated timestamp dates a relist only to the second.
func TestStampsOfWholeSeconds(t *testing.T) {
	b := bundleOf(strings.Join([]string{relisting("10:00:00.000000"), relisting("10:00:01.000000"), relisting("10:00:02.000000"),
		failLine("10:00:02.000000", "connection refused"), relisting("10:00:04.000000")}, "\n"))
	for _, e := range b.Events {
		e.Res = parse.ResolutionOf(time.Second)
	}
	relists := Build(b, Options{})[0].Relists
	if len(relists) != 4 {
		t.Fatalf("%d relists", len(relists))
	}
	for _, r := range relists {
		if r.Start.Latest()-r.Start.Earliest() < int64(time.Second) || r.End.Known() && r.End.Latest()-r.End.Earliest() < int64(time.Second) {
			t.Errorf("%s ±%v to %s ±%v", clock(r.Start.At), r.Start.Slack, clock(r.End.At), r.End.Slack)
		}
	}
}

// TestEventedByVersion checks that from 1.37 on evented PLEG does not change period and threshold, and that the
// lines mean the same as without it.
func TestEventedByVersion(t *testing.T) {
	for version, want := range map[string]time.Duration{"v1.28.0": 5 * time.Minute, "v1.36.3": 5 * time.Minute, "v1.37.0": time.Second, "v1.99.0": time.Second} {
		n := buildOne(t, `I0302 10:00:00.000000       9 server.go:415] "Kubelet version" kubeletVersion="`+version+`"
I0302 10:00:00.001000       9 server.go:416] feature gates: {map[EventedPLEG:true]}
I0302 10:00:00.100000       9 kubelet.go:2000] "Starting kubelet main sync loop"
`)
		threshold := 10 * time.Minute
		if want == time.Second {
			threshold = 3 * time.Minute
		}
		if k := n.Kubelet; k.PLEG != "evented" || k.Period != want || k.Threshold != threshold || k.EventedSends() != (want > time.Second) {
			t.Errorf("%s: %s, period %v, threshold %v", version, k.PLEG, k.Period, k.Threshold)
		}
	}
}

// TestRecoveryInTheNextProcess checks that the next process proves a recovery only if its own start cannot have
// taken long.
func TestRecoveryInTheNextProcess(t *testing.T) {
	const start = `I1120 10:11:00.000000    5555 kubelet.go:2303] "Starting kubelet main sync loop"`
	const line = `I1120 %s    5555 reconciler.go:1] "something"`
	ready := func(at string) string {
		return `I1120 ` + at + `    5555 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"`
	}
	for name, c := range map[string]struct {
		lines string
		known bool
	}{
		"soon":                            {start + "\n" + ready("10:11:20.000000"), true},
		"late":                            {start + "\n" + ready("10:13:20.000000"), false},
		"soon, and the start was cut off": {fmt.Sprintf(line, "10:10:30.000000") + "\n" + ready("10:10:50.000000"), true},
		"late, and all lines before were cut off": {fmt.Sprintf(line, "10:13:10.000000") + "\n" + ready("10:13:20.000000"), false},
	} {
		n := buildOne(t, skipLine("10:10:00.000000", 200*time.Second)+"\n"+c.lines)
		if e := n.Episodes[0]; e.Recovered.Known() != c.known {
			t.Errorf("%s: recovered %v (%s)", name, e.Recovered.Known(), e.RecoveredBasis)
		}
	}
}
