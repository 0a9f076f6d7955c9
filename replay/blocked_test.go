package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// blocked is the log of an hour of a kubelet with lines of its sync loop at the thirtieth second of each minute, but for
// the ten minutes in which its housekeeping waits for a list like the relist. Other goroutines go on.
func blocked(work string, more ...string) string {
	failed := `"ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = no such container" containerID="ab"`
	if work == event120 {
		failed = `ContainerStatus "` + strings.Repeat("c", 64) + `" from runtime service failed: rpc error: code = NotFound desc = no such container`
	}
	lines := append([]string{"E1120 10:00:01.000000    4242 remote_runtime.go:295] " + failed}, more...) // the log keeps errors
	for at := time.Date(2026, 11, 20, 10, 0, 0, 500_000, time.UTC); at.Hour() == 10; at = at.Add(2 * time.Second) {
		stamp := at.Format("0102 15:04:05.000000")
		lines = append(lines, "I"+stamp+`    4242 reconciler.go:1] operationExecutor.VerifyControllerAttachedVolume started for volume "a"`,
			"I"+stamp+`    4242 reconciler.go:2] operationExecutor.VerifyControllerAttachedVolume started for volume "b"`)
		if at.Second() == 30 && (at.Minute() < 20 || at.Minute() >= 30) {
			lines = append(lines, "I"+stamp+"    4242 "+strings.ReplaceAll(work, "MINUTE", fmt.Sprintf("%064x", at.Minute())))
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[6:21], b[6:21]) })
	return strings.Join(lines, "\n")
}

const (
	event120 = `kubelet.go:1931] SyncLoop (PLEG): "a_b(0d1c)", event: &pleg.PodLifecycleEvent{ID:"0d1c", Type:"ContainerStarted", Data:"MINUTE"}`
	event128 = `kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="b/a" event={"ID":"0d1c","Type":"ContainerStarted","Data":"MINUTE"}`
)

// wellIn returns for how long the node is claimed healthy in minutes from to to of the hour.
func wellIn(n *Node, from, to int) (sum time.Duration) {
	at := func(m int) int64 {
		return time.Date(2026, 11, 20, 10, m, 0, 0, time.UTC).UnixNano()
	}
	for _, h := range n.Health {
		if h.State == Healthy {
			sum += max(0, time.Duration(min(h.To, at(to))-max(h.From, at(from))))
		}
	}
	return sum
}

// TestBlockedLoop checks that silence proves nothing while nothing shows that the sync loop runs, if a list may take
// longer than the threshold without a line. Kubelets from 1.22 on report slow housekeeping once it is over.
func TestBlockedLoop(t *testing.T) {
	start := func(timeout string) (out []string) {
		for _, f := range []string{`cgroup-driver="systemd"`, `config=""`, `event-qps="5"`, `feature-gates=""`, `hostname-override=""`, `max-pods="110"`, `root-dir="/var/lib/kubelet"`, `runtime-request-timeout="` + timeout + `"`, `v="2"`} {
			out = append(out, `I1120 10:00:00.000000    4242 flags.go:59] FLAG: --`+f)
		}
		return append(out, "I1120 10:00:00.100000    4242 kubelet.go:1820] Starting kubelet main sync loop.",
			"E1120 10:00:00.100100    4242 kubelet.go:1844] skipping pod synchronization - [container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]")
	}
	var housekeeping, killing []string
	for m := 20; m < 30; m++ {
		housekeeping = append(housekeeping, fmt.Sprintf("I1120 10:%d:30.000000    4242 kubelet.go:1941] SyncLoop (housekeeping)", m))
		killing = append(killing, fmt.Sprintf(`I1120 10:%d:30.000000    4242 kubelet_pods.go:1090] Killing unwanted pod "web-0"`, m))
	}
	for name, c := range map[string]struct {
		log  string
		well bool
	}{
		"1.20":                        {blocked(event120), false},
		"1.20, timeout of 15 minutes": {blocked(event120, start("15m0s")...), false},
		"1.20, timeout of 2 minutes":  {blocked(event120, start("2m0s")...), true},
		"1.20, housekeeping":          {blocked(event120, housekeeping...), true},
		"1.20, killing":               {blocked(event120, killing...), true},
		"1.28":                        {blocked(event128), true},
	} {
		n := buildOne(t, c.log)
		if a, b := wellIn(n, 0, 20), wellIn(n, 30, 60); a < 18*time.Minute || b < 26*time.Minute {
			t.Errorf("%s: healthy for %v before and %v after", name, a, b)
		}
		if d := wellIn(n, 20, 30); c.well != (d > 9*time.Minute) || !c.well && d > 0 {
			t.Errorf("%s: healthy for %v of the ten minutes", name, d)
		}
	}
	// A log that ends meanwhile says nothing of it.
	lines := strings.Split(blocked(event120), "\n")
	n := buildOne(t, strings.Join(lines[:slices.IndexFunc(lines, func(l string) bool { return l[6:11] == "10:29" })], "\n"))
	if d := wellIn(n, 20, 30); d > 0 {
		t.Errorf("healthy for %v at the end", d)
	}
}

// TestSilenceOfAnotherSeverity checks that a log of information alone proves no health by its silence where the kubelet
// reports an old relist as an error.
func TestSilenceOfAnotherSeverity(t *testing.T) {
	for _, work := range []string{event120, event128} {
		var kept []string
		for _, l := range strings.Split(blocked(work), "\n") {
			if l[0] == 'I' {
				kept = append(kept, l)
			}
		}
		if d := wellIn(buildOne(t, strings.Join(kept, "\n")), 0, 60); d > 0 {
			t.Errorf("%s: healthy for %v", work[:20], d)
		}
	}
}
