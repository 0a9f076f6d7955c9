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
		switch {
		case ms%1010 == 0 && !hangs:
			add(5, "generic.go:189] GenericPLEG: Relisting")
		case ms%2000 == 40 && (!hangs || hung == 0) && !(hung != 0 && ms > hung*60000 && ms < (hung+4)*60000+2000):
			add(4, "kubelet.go:1975] SyncLoop (housekeeping)")
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
		"whole":                      {0, 2, 8, func(int, string) bool { return true }, false},
		"at verbosity 3":             {0, 2, 8, func(level int, _ string) bool { return level <= 3 }, false},
		"at verbosity 4":             {0, 2, 8, func(level int, _ string) bool { return level <= 4 }, false},
		"at verbosity 3, for 1 min":  {0, 2, 3, func(level int, _ string) bool { return level <= 3 }, false},
		"without lines of relists":   {0, 2, 8, func(_ int, line string) bool { return !strings.Contains(line, "PLEG") }, false},
		"hung":                       {3, 2, 8, func(int, string) bool { return true }, true},
		"hung, lowered in the midst": {3, 4, 6, func(level int, _ string) bool { return level <= 3 }, false},
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
