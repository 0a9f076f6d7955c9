package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestRefutedAge checks that a node condition with an age exceeding the kubelet's run time, or below
// its own threshold, is not a report, and that one that fits, or is from an earlier process, is.
func TestRefutedAge(t *testing.T) {
	const log = `I1120 10:00:00.000000    4242 server.go:484] "Kubelet version" kubeletVersion="v1.28.0"
I1120 10:00:01.000000    4242 kubelet.go:2300] "Starting kubelet main sync loop"
I1120 10:00:02.000000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"
I1120 10:20:00.000000    4242 kubelet.go:2457] "SyncLoop ADD" source="api" pods=["a/b"]`
	for _, c := range []struct {
		heartbeat, age string
		refuted        bool
	}{
		{"10:05:00", "4m30s", false},
		{"10:05:00", "5m1s", false}, // the heartbeat is truncated to a second
		{"10:05:00", "6m", true},
		{"09:59:00", "6m", false},
		{"10:30:00", "31m", false},  // another process may be running by then
		{"10:05:00", "2m59s", true}, // below the threshold that it states
	} {
		b := bundleOf(log)
		heartbeat := b.Events[0].Time().UTC().Format("2006-01-02T") + c.heartbeat + "Z"
		b.Objects = append(b.Objects, &parse.Object{Pos: parse.Pos{File: b.Files[0], Line: 1}, Kind: "NodeCondition", Name: "w",
			Fields: []parse.Field{{Name: "type", Value: "Ready"}, {Name: "status", Value: "False"}, {Name: "reason", Value: "KubeletNotReady"}, {Name: "heartbeat", Value: heartbeat},
				{Name: "message", Value: "PLEG is not healthy: pleg was last seen active " + c.age + " ago; threshold is 3m0s"}}})
		n := Build(b, Options{})[0]
		if got := len(n.Contradictions) > 0; got != c.refuted || c.refuted == (len(n.Episodes) > 0) {
			t.Errorf("%s at %s: refuted %v, %d episodes", c.age, c.heartbeat, got, len(n.Episodes))
		}
	}
}

// TestRefutedCondition checks that a condition that has lasted since before the kubelet reported the opposite, and
// that age in its message, prove nothing of the time after that report, and that both are told, once.
func TestRefutedCondition(t *testing.T) {
	const log = `I1120 10:00:00.000000    4242 server.go:484] "Kubelet version" kubeletVersion="v1.28.0"
I1120 10:20:00.500000    4242 kubelet_node_status.go:669] "Recording event message for node" node="w" event="NodeReady"
I1120 10:40:00.000000    4242 kubelet.go:2457] "SyncLoop ADD" source="api" pods=["a/b"]`
	for _, c := range []struct {
		status, since, heartbeat, age string
		refuted                       bool
		until                         string // the last moment for which the condition is stated
	}{
		{"False", "10:10:00", "10:30:00", "23m", true, "10:10:00"},
		{"False", "10:10:00", "10:30:00", "", true, "10:10:00"},
		{"False", "10:10:00", "10:20:00", "13m", false, "10:20:00"}, // just before
		{"False", "10:20:00", "10:30:00", "", false, "10:30:00"},    // the second in which it changed
		{"False", "10:25:00", "10:30:00", "5m", false, "10:30:00"},
		{"True", "10:10:00", "10:30:00", "", false, "10:30:00"},
	} {
		b := bundleOf(log)
		day := b.Events[0].Time().UTC().Format("2006-01-02T")
		message := "[container runtime is down]"
		if c.age != "" {
			message = "PLEG is not healthy: pleg was last seen active " + c.age + " ago; threshold is 3m0s"
		}
		since, _ := time.Parse(time.RFC3339, day+c.since+"Z")
		b.Objects = append(b.Objects, &parse.Object{Pos: parse.Pos{File: b.Files[0], Line: 9}, Stamp: parse.Stamp{At: since.UnixNano(), Basis: parse.Stated}, Kind: "NodeCondition", Name: "w",
			Fields: []parse.Field{{Name: "type", Value: "Ready"}, {Name: "status", Value: c.status}, {Name: "reason", Value: "KubeletNotReady"}, {Name: "heartbeat", Value: day + c.heartbeat + "Z"},
				{Name: "message", Value: message}}})
		n := Build(b, Options{})[0]
		until, _ := time.Parse(time.RFC3339, day+c.until+"Z")
		if k := slices.IndexFunc(n.Ready, func(r ReadyChange) bool { return r.At == since.UnixNano() }); k < 0 || n.Ready[k].Until != until.UnixNano() && !n.Ready[k].Ready {
			t.Errorf("%+v: changes %+v", c, n.Ready)
		}
		if got := len(n.Contradictions); got > 1 || (got == 1) != c.refuted {
			t.Errorf("%+v: contradictions %+v", c, n.Contradictions)
		}
		if ill := slices.ContainsFunc(n.Health, func(h HealthSpan) bool { return h.State == Unhealthy }); ill != (c.age != "" && !c.refuted) {
			t.Errorf("%+v: health %+v", c, n.Health)
		}
	}
}

// TestDisputedReport checks that a report of an old relist, a line or a condition, proves nothing beside a younger
// relist that the kubelet's own lines show to have listed pods, that both are told, and that no silence of that
// log proves anything. Without such a relist, or if a small step of the clock explains the difference, it counts.
func TestDisputedReport(t *testing.T) {
	skip := func(at time.Duration, what string) string {
		return klogTime(at) + ` kubelet.go:1831] skipping pod synchronization - PLEG is not healthy: ` + what
	}
	for _, c := range []struct {
		name, line, age string        // a line, or the age of a condition, at ten minutes
		from, to        time.Duration // relists run every second but in this interval
		disputed        bool
	}{
		{"age", skip(10*time.Minute, "pleg was last seen active 5m0.123456s ago; threshold is 3m0s"), "", 0, 0, true},
		{"never", skip(10*time.Minute, "pleg has yet to be successful"), "", 0, 0, true},
		{"cut", skip(10*time.Minute, "pleg was last s"), "", 0, 0, true},
		{"condition", "", "5m0.123456s", 0, 0, true},
		{"hang", skip(10*time.Minute, "pleg was last seen active 3m30.1s ago; threshold is 3m0s"), "", 390 * time.Second, 640 * time.Second, false},
		{"hang and condition", "", "3m30s", 390 * time.Second, 640 * time.Second, false},
		{"set back by a minute", skip(10*time.Minute, "pleg was last seen active 4m30.1s ago; threshold is 3m0s"), "", 390 * time.Second, 640 * time.Second, false},
	} {
		var lines []string
		for at := time.Duration(0); at < 12*time.Minute; at += time.Second {
			if c.line != "" && at == 10*time.Minute {
				lines = append(lines, c.line)
			}
			if at%(5*time.Second) == 0 {
				lines = append(lines, klogTime(at+10*time.Millisecond)+` server.go:900] GET /healthz: 200`)
			}
			if at > c.from && at < c.to {
				continue
			}
			lines = append(lines, klogTime(at+100*time.Millisecond)+` generic.go:189] GenericPLEG: Relisting`)
			if at%(10*time.Second) == 0 {
				lines = append(lines, klogTime(at+150*time.Millisecond)+` generic.go:395] PLEG: Write status for a/b`)
			}
		}
		b := bundleOf(strings.Join(lines, "\n"))
		if c.age != "" {
			at := b.Events[0].Time().UTC().Truncate(time.Hour).Add(10 * time.Minute)
			b.Objects = append(b.Objects, &parse.Object{Pos: parse.Pos{File: b.Files[0], Line: 1}, Kind: "NodeCondition", Name: "w",
				Fields: []parse.Field{{Name: "type", Value: "Ready"}, {Name: "status", Value: "False"}, {Name: "reason", Value: "KubeletNotReady"}, {Name: "heartbeat", Value: at.Format(time.RFC3339)},
					{Name: "message", Value: "PLEG is not healthy: pleg was last seen active " + c.age + " ago; threshold is 3m0s"}}})
		}
		n := Build(b, Options{})[0]
		ill := slices.ContainsFunc(n.Health, func(h HealthSpan) bool { return h.State == Unhealthy || h.State == NeverRelisted })
		if got := len(n.Contradictions) == 1; got != c.disputed || ill == c.disputed || c.disputed == (len(n.Episodes) > 0) {
			t.Errorf("%s: disputed %v, unhealthy %v, %d episodes, health %v", c.name, n.Contradictions, ill, len(n.Episodes), n.Health)
		}
		if silent := slices.ContainsFunc(n.Claims, func(x Claim) bool { return x.Proof == ProofSilence }); c.disputed && silent {
			t.Errorf("%s: a log that reports PLEG unhealthy proves health by what it lacks", c.name)
		}
	}
}

// klogTime returns the header of a line of a log that began at 10:00.
func klogTime(at time.Duration) string {
	return fmt.Sprintf("I1120 10:%02d:%09.6f    4242", int(at.Minutes()), (at % time.Minute).Seconds())
}
