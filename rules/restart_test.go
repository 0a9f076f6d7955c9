package rules

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestYoungerUnit tests that a unit counts as restarted if it became active during the run
// of a kubelet that had listed pods before. A unit of another runtime, one active before
// the first list, or a time of unknown zone proves nothing.
func TestYoungerUnit(t *testing.T) {
	at := func(sec int) string {
		return time.Unix(0, base+int64(sec)*second).UTC().Format("Mon 2006-01-02 15:04:05 UTC")
	}
	for _, c := range []struct {
		name, unit, since string
		first             int64 // start of the kubelet, s
		want              bool
	}{
		{"restarted", "containerd.service", at(60), -600, true},
		{"as old as the log", "containerd.service", at(-300), -600, false},
		{"with the kubelet, as in a boot", "containerd.service", at(60), 65, false},
		{"another runtime", "docker.service", at(60), -600, false},
		{"no zone", "containerd.service", "Wed 2026-03-04 10:01:00 CET", -600, false},
	} {
		n := node()
		n.Relists = []replay.Relist{{Start: replay.Instant{At: base}, Outcome: replay.OutcomeOK}}
		n.Runs = []replay.Run{{First: base + c.first*second, Last: base + 300*second}}
		n.Facts = []*parse.Fact{{Key: "runtime.name", Value: "containerd"},
			{Key: "systemd.unit", Value: "active", Attrs: []parse.Field{{Name: "unit", Value: c.unit}, {Name: "since", Value: c.since}}}}
		o := evalRestarted(episodeSubject(newView(n), &n.Episodes[0]), nil)
		if (o.state == Found) != c.want {
			t.Errorf("%s: %v", c.name, o.state)
		}
	}
}

// TestRestartInHang tests that a restart of the runtime counts if it began before the calls
// hung, and not if it began while one did, or if lists came back for a minute after it.
func TestRestartInHang(t *testing.T) {
	for _, c := range []struct {
		name              string
		stopping, started int // s after the last good relist
		want              bool
	}{
		{"before the hang", -20, -10, true},
		{"minutes before the hang", -200, -190, false},
		{"with the first call", 3, 20, true},
		{"ends the hang", 200, 203, false},
		{"stops slowly in the hang", 60, 203, false},
	} {
		systemd := func(sec int, op string) *parse.Event {
			return line(sec, parse.SrcSystemd, "sys.runtime", parse.Field{Name: "op", Value: op}, parse.Field{Name: "unit", Value: "containerd.service"})
		}
		n := node(systemd(c.stopping, "Stopping"), systemd(c.started-1, "Stopped"), systemd(c.started, "Started"))
		n.Episodes[0].LastReport = base + 230*second
		n.Failures = []replay.Failure{{Call: "ListPodSandbox", Code: "DeadlineExceeded", Start: replay.Instant{At: base + second}, End: base + 121*second,
			Evidence: []replay.Evidence{{Record: line(121, parse.SrcKubelet, "rpc.failed")}}}}
		o := evalRestarted(episodeSubject(newView(n), &n.Episodes[0]), nil)
		if (o.state == Found) != c.want {
			t.Errorf("%s: %v", c.name, o.state)
		}
	}
}
