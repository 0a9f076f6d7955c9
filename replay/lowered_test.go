package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/health"
)

// levels is a log of twelve minutes of a kubelet at verbosity 5 that relists every second, as lines with their verbosity.
// From the minute hung on, if that is not 0, relists and housekeeping hang for four minutes.
func levels(hung int) (lines []string, of map[string]int) {
	of = map[string]int{}
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for ms := 0; ms < 12*60*1000; ms += 10 {
		at := start.Add(time.Duration(ms) * time.Millisecond).Format("15:04:05.000000")
		add := func(level int, text string) {
			line := "I1120 " + at + "    4242 " + text
			lines, of[line] = append(lines, line), level
		}
		hangs := hung != 0 && ms > hung*60000+500 && ms < (hung+4)*60000
		skips := hangs || hung != 0 && ms > hung*60000 && ms < (hung+4)*60000+2000 // housekeeping waits for a list, too, and then the age is too old
		switch {
		case ms%1010 == 0 && !hangs:
			add(5, "generic.go:189] GenericPLEG: Relisting")
		case ms%2000 == 40 && !skips:
			add(4, "kubelet.go:1975] SyncLoop (housekeeping)")
		case ms%15000 == 50 && !skips:
			add(4, "generic.go:153] GenericPLEG: f737d8e4a78d391ebd27e04b513251a1/0123456789abcdef: running -> exited")
		case ms%15000 == 60 && !skips:
			add(2, `kubelet.go:1933] SyncLoop (PLEG): "a_b(f737d8e4a78d391ebd27e04b513251a1)", event: &pleg.PodLifecycleEvent{ID:"f737d8e4a78d391ebd27e04b513251a1", Type:"ContainerDied", Data:"0123456789abcdef"}`)
		case ms%10000 == 70:
			add(5, "kubelet_node_status.go:382] Updating node status")
		case ms%2000 == 80:
			add(3, `kuberuntime_manager.go:1] "something"`)
		}
	}
	return lines, of
}

// TestLinesOfRelistsLost checks that a healthy node is not called unhealthy where the lines of its relists are missing,
// because the verbosity was lowered for a time or because they were lost, and that a hang is told.
func TestLinesOfRelistsLost(t *testing.T) {
	for name, c := range map[string]struct {
		hung, from, to int // minutes
		kept           func(level int, line string) bool
		unhealthy      bool
	}{
		"whole":                                 {0, 2, 8, func(int, string) bool { return true }, false},
		"at verbosity 3":                        {0, 2, 8, func(level int, _ string) bool { return level <= 3 }, false},
		"at verbosity 4":                        {0, 2, 8, func(level int, _ string) bool { return level <= 4 }, false},
		"at verbosity 3, for 1 min":             {0, 2, 3, func(level int, _ string) bool { return level <= 3 }, false},
		"without lines of relists":              {0, 2, 8, func(_ int, line string) bool { return !strings.Contains(line, "PLEG") }, false},
		"without lines of the relist goroutine": {0, 2, 3, func(_ int, line string) bool { return !strings.Contains(line, "generic.go") }, false},
		"hung":                                  {3, 2, 8, func(int, string) bool { return true }, true},
		"hung, lowered in the midst":            {3, 4, 6, func(level int, _ string) bool { return level <= 3 }, false},
	} {
		lines, of := levels(c.hung)
		lines = slices.DeleteFunc(lines, func(line string) bool {
			at := line[6:14]
			return at >= fmt.Sprintf("10:%02d:00", c.from) && at < fmt.Sprintf("10:%02d:00", c.to) && !c.kept(of[line], line)
		})
		n, unhealthy := buildOne(t, strings.Join(lines, "\n")), false
		for _, h := range n.Health {
			unhealthy = unhealthy || h.State != health.Healthy && h.State != health.Unknown
		}
		for i := range n.Relists {
			d, ok := n.Relists[i].Duration()
			unhealthy = unhealthy || ok && d > 10*time.Second
		}
		if unhealthy != c.unhealthy || len(n.Episodes) > 0 != c.unhealthy {
			t.Errorf("%s: a long relist or PLEG unhealthy: %v, %d episodes; want %v", name, unhealthy, len(n.Episodes), c.unhealthy)
		}
	}
}

// TestHousekeepingRecovers checks that housekeeping that begins after the last report proves recovery, also in a log that
// holds few lines of the process: the sync loop does so only while PLEG is healthy.
func TestHousekeepingRecovers(t *testing.T) {
	var lines []string
	for i := range 4 {
		age := 185*time.Second + time.Duration(i)*5*time.Second
		lines = append(lines, skipLine(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).Add(age).Format("15:04:05.000000"), age))
	}
	lines = append(lines, `I1120 10:03:40.000000    4242 kubelet.go:2506] "SyncLoop (housekeeping) end"`)
	if n := buildOne(t, strings.Join(lines, "\n")); len(n.Episodes) != 1 || n.Episodes[0].Recovered.Known() {
		t.Errorf("episodes %+v, want one: housekeeping that ends may have begun before it", n.Episodes)
	}
	lines = append(lines, `I1120 10:03:42.000000    4242 kubelet.go:2506] "SyncLoop (housekeeping)"`)
	if n := buildOne(t, strings.Join(lines, "\n")); len(n.Episodes) != 1 || clock(n.Episodes[0].Recovered.At) != clock(at2(t, "10:03:42")) {
		t.Errorf("episodes %+v, want one that was over at 10:03:42", n.Episodes)
	}
}

// TestReportsNotKept checks that a loop which reports no more is not told as recovered where the log keeps only lines
// more severe than its reports, and that it is where the log keeps all.
func TestReportsNotKept(t *testing.T) {
	at := func(s int) string {
		return time.Date(2026, 11, 20, 10, 0, s, 0, time.UTC).Format("15:04:05.000000")
	}
	log := func(all bool) string {
		var b strings.Builder
		for s := range 400 {
			switch kept := s < 280 || all; {
			case kept && s >= 200 && s%5 == 0 && s < 330:
				fmt.Fprintf(&b, "I1120 %s    4242 kubelet.go:1826] skipping pod synchronization - PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s\n", at(s), time.Duration(s-10)*time.Second)
			case s%5 == 2 && (s < 330 || !all):
				fmt.Fprintf(&b, "E1120 %s    4242 remote_runtime.go:295] ContainerStatus \"%064x\" from runtime service failed: rpc error: code = DeadlineExceeded desc = context deadline exceeded\n", at(s), s)
			case kept && s%3 == 0:
				fmt.Fprintf(&b, "I1120 %s    4242 setters.go:73] Using node IP: \"10.0.12.%d\"\n", at(s), s%250)
			case kept && s > 335 && s%5 == 1:
				fmt.Fprintf(&b, "I1120 %s    4242 kubelet.go:1952] SyncLoop (SYNC): 1 pods; a_b(c05494dbe510ebd3cdbef056b4d9c332)\n", at(s))
			}
		}
		return b.String()
	}
	for all, want := range map[bool]string{false: "", true: "10:05:3"} {
		n := buildOne(t, log(all))
		if len(n.Episodes) != 1 {
			t.Fatalf("all kept %v: %d episodes", all, len(n.Episodes))
		}
		got := ""
		if e := n.Episodes[0]; e.Recovered.Known() {
			got = time.Unix(0, e.Recovered.At).UTC().Format("15:04:05")
		}
		if got == "" != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("all kept %v: recovered %q, want %q: %s", all, got, want, n.Episodes[0].RecoveredBasis)
		}
	}
}
