package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKubeletsTogether checks that two kubelets that wrote into one file at the same time, in blocks or line by
// line, each get their own history and a note that the file holds both, and that a process that follows another
// one is a restart.
func TestKubeletsTogether(t *testing.T) {
	ill := strings.Split(strings.TrimSpace(stall(0)), "\n")
	var well []string
	for _, l := range ill {
		if !strings.Contains(l, "PLEG is not") {
			well = append(well, strings.Replace(l, " 4242 ", " 5353 ", 1))
		}
	}
	well = append([]string{"E" + well[0][1:21] + `    5353 remote_runtime.go:432] "ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = no such container" containerID="ab"`}, well...)
	mixed := slices.Concat(ill, well)
	slices.SortStableFunc(mixed, func(a, b string) int { return cmp.Compare(a[6:21], b[6:21]) })
	for name, lines := range map[string][]string{"one after the other": slices.Concat(well, ill), "line by line": mixed} {
		nodes := Build(bundleOf(strings.Join(lines, "\n")+"\n"), Options{})
		if len(nodes) != 2 {
			t.Fatalf("%s: %d nodes", name, len(nodes))
		}
		for _, n := range nodes {
			blind, _ := n.UnknownTime()
			if len(n.Runs) != 1 || len(n.Contradictions) != 1 || blind > 3*time.Minute {
				t.Errorf("%s: %d processes, %v unknown, %v", name, len(n.Runs), blind, n.Contradictions)
			}
			if told := len(n.Episodes) + len(n.Relists); n.Runs[0].PID == 5353 && told > 0 || n.Runs[0].PID == 4242 && told != 2 {
				t.Errorf("%s, %d: %d episodes, %d relists", name, n.Runs[0].PID, len(n.Episodes), len(n.Relists))
			}
		}
	}
	k := slices.IndexFunc(well, func(l string) bool { return l[6:14] > "10:07:00" })
	n := buildOne(t, strings.Join(slices.Concat(well[:k], ill[k:]), "\n")+"\n")
	if len(n.Runs) != 2 || len(n.Contradictions) != 0 {
		t.Errorf("a restart: %d processes, %v", len(n.Runs), n.Contradictions)
	}
}

// TestClockSetBackBeforeARestart checks that a process that reports the containers of another one, at times at
// which that one was still writing, follows it on a clock that was set back: it is the same node, and nothing
// is healthy within the time that occurs twice.
func TestClockSetBackBeforeARestart(t *testing.T) {
	var lines []string
	add := func(pid, from, to int) {
		const id = "3f6a8c9b0d1e2f3a4b5c6d7e8f901234"
		lines = append(lines, fmt.Sprintf(`E1120 10:%02d:00.000000    %d remote_runtime.go:432] "ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = no such container" containerID="ab"`, from, pid)) // the log keeps errors
		for m := from; m < to; m++ {
			lines = append(lines, fmt.Sprintf(`I1120 10:%02d:00.000000    %d kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"%s"}`, m, pid, id))
			for s := 2; s < 60; s += 2 {
				lines = append(lines, fmt.Sprintf(`I1120 10:%02d:%02d.000000    %d reconciler.go:1] "something"`, m, s, pid))
			}
		}
	}
	add(4242, 0, 12)
	add(5353, 7, 22)
	n := buildOne(t, strings.Join(lines, "\n")+"\n")
	well := time.Duration(0)
	for _, h := range n.Health {
		if h.State == Healthy && h.To > at2(t, "10:07:00") && h.From < at2(t, "10:11:58") {
			t.Errorf("%v in the time that both name", h)
		} else if h.State == Healthy {
			well += time.Duration(h.To - h.From)
		}
	}
	if len(n.Runs) != 2 || len(n.Contradictions) != 0 || well < 10*time.Minute {
		t.Errorf("%d processes, healthy for %v, %v", len(n.Runs), well, n.Contradictions)
	}
}

// TestAgesTogether checks that the reports of two kubelets, one after the other in time but of ages that reach back over
// each other, are those of two nodes, and that those of a process and of its successor are of one.
func TestAgesTogether(t *testing.T) {
	reports := func(pid, from string, age time.Duration) (out []string) {
		at, _ := time.Parse(time.TimeOnly, from)
		for i := range 5 {
			d := time.Duration(i) * 5 * time.Second
			out = append(out, strings.Replace(skipLine(at.Add(d).Format("15:04:05.000000"), age+d), "4242", pid, 1))
		}
		return out
	}
	first := reports("4242", "10:05:00", 200*time.Second)
	for age, want := range map[time.Duration]int{210 * time.Second: 2, 185 * time.Second: 1} {
		from := "10:05:50"
		if want == 1 {
			from = "10:09:00" // its last relist began after the last report of the other
		}
		if nodes := Build(bundleOf(strings.Join(append(first, reports("5353", from, age)...), "\n")), Options{}); len(nodes) != want {
			t.Errorf("an age of %v at %s: %d nodes, want %d", age, from, len(nodes), want)
		}
	}
}
