package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/health"
)

// incident is a log of a process from its start on, without reports from 10:06:26 to its end.
func incident(end string) []string {
	lines := []string{
		`I1120 09:50:00.000000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.28.0"`,
		`I1120 09:50:00.500000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`,
		`E1120 09:50:00.500100    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`,
		`I1120 09:50:02.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`,
	}
	for i := range 40 {
		at := 190*time.Second + time.Duration(i)*5*time.Second
		lines = append(lines, skipLine(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).Add(at).Format("15:04:05.000000"), at))
	}
	return strings.Split(ticking(lines, "09:50:00", end), "\n")
}

// TestSilenceOfSlowLists checks a log that ends while the housekeeping after an incident may make slow lists, each
// within its timeout: PLEG was healthy for a moment only, and the silence of the sync loop proves nothing.
func TestSilenceOfSlowLists(t *testing.T) {
	for end, want := range map[string]bool{"10:13:00": false, "10:20:00": true} {
		n, well := buildOne(t, strings.Join(incident(end), "\n")), false
		for _, h := range n.Health {
			well = well || h.State == health.Healthy && h.From > n.Episodes[0].LastReport
		}
		if well != want {
			t.Errorf("a log up to %s: healthy after the last report %v, want %v", end, well, want)
		}
	}
}

// TestReportsHeldTwice checks that a report that a log holds twice is one turn of the sync loop, whose next one is not
// due sooner.
func TestReportsHeldTwice(t *testing.T) {
	lines := incident("10:20:00")
	var twice []string
	for _, line := range lines {
		twice = append(twice, line)
		if strings.Contains(line, "last seen active") {
			twice = append(twice, line)
		}
	}
	once, both := buildOne(t, strings.Join(lines, "\n")).Episodes[0], buildOne(t, strings.Join(twice, "\n")).Episodes[0]
	if !once.Recovered.Known() || !both.Recovered.Known() || both.Recovered.At < once.Recovered.At {
		t.Errorf("recovered %v (%s), with each report twice %v (%s)", once.Recovered.Time(), once.RecoveredBasis, both.Recovered.Time(), both.RecoveredBasis)
	}
}

// TestSilenceBetweenHousekeepings checks a log at verbosity 4 in which housekeeping begins every 2 s, but not for two
// minutes in which a search left out what the sync loop wrote: silence proves nothing there.
func TestSilenceBetweenHousekeepings(t *testing.T) {
	keeping := []string{`I1120 09:50:00.000000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.28.0"`,
		`I1120 09:50:00.500000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`,
		`E1120 09:50:00.500100    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`}
	start := time.Date(2026, 11, 20, 9, 50, 2, 0, time.UTC)
	for at := start; at.Before(start.Add(20 * time.Minute)); at = at.Add(2 * time.Second) {
		if d := at.Sub(start); d < 8*time.Minute || d > 10*time.Minute {
			keeping = append(keeping, at.Format("I0102 15:04:05.000000")+`    4242 kubelet.go:2450] "SyncLoop (housekeeping)"`)
		}
	}
	for name, c := range map[string]struct {
		lines []string
		well  bool
	}{
		"paused":                    {keeping, false},
		"few lines of housekeeping": {keeping[:keptFew], true},
	} {
		n, well := buildOne(t, ticking(c.lines, "09:50:00", "10:20:00")), false
		from, to := start.Add(8*time.Minute).UnixNano(), start.Add(10*time.Minute).UnixNano()
		for _, h := range n.Health {
			well = well || h.State == health.Healthy && h.From <= from && h.To >= to
		}
		if well != c.well {
			t.Errorf("%s: healthy in the pause %v, want %v: %v", name, well, c.well, n.Health)
		}
	}
}

// keptFew is a number of lines too small to show that a log has one at each start of housekeeping.
const keptFew = 12

// TestOneReportLost checks that the recovery from an incident, and the end of its relist, lie after its last report also
// if that line is lost.
func TestOneReportLost(t *testing.T) {
	lines := incident("10:20:00")
	last := -1
	for i, line := range lines {
		if strings.Contains(line, "last seen active") {
			last = i
		}
	}
	lost := at2(t, lines[last][6:14])
	lines[last] = `E1120 10:06:26.000000    4242 remote_runtime.go:295] ContainerStatus "3dac9ad76398c73e8478a50c13e279efc13e60d8ca66d73e98937368b8d2a407" from runtime service failed: rpc error: code = DeadlineExceeded desc = context deadline exceeded`
	n := buildOne(t, strings.Join(lines, "\n"))
	e := &n.Episodes[0]
	if !e.Recovered.Known() || e.Recovered.At <= lost {
		t.Errorf("recovered %v (%s), want a moment after the lost report at %s", e.Recovered.Time(), e.RecoveredBasis, time.Unix(0, lost).UTC())
	}
	for i := range n.Relists {
		if r := &n.Relists[i]; r.Start.At == e.LastStart.At && r.End.Known() && r.End.Latest() <= lost {
			t.Errorf("the relist ended by %v", r.End)
		}
	}
}
