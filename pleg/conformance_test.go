package pleg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The scenarios below are those of the kubelet's own unit tests (G, W, R, WL, E)
// and further ones run against its code (D), with the ids of the reference.

// sighting parses a pod in shorthand: "1234: c1 exited, c2 running; sandbox s1
// running". States are those of RawState.
func sighting(t *testing.T, s string) *Pod {
	t.Helper()
	uid, rest, _ := strings.Cut(s, ":")
	p := &Pod{UID: uid}
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ';' }) {
		f := strings.Fields(part)
		sandbox := f[0] == "sandbox"
		if sandbox {
			f = f[1:]
		}
		st, ok := RawState(f[1])
		if !ok {
			t.Fatalf("bad state in %q", part)
		}
		if it := (Item{ID: f[0], State: st}); sandbox {
			p.Sandboxes = append(p.Sandboxes, it)
		} else {
			p.Containers = append(p.Containers, it)
		}
	}
	return p
}

// rig drives a Machine with whole listings.
type rig struct {
	*Machine
	t     *testing.T
	known map[string]bool
	now   int64
	ips   map[string][]string
	last  Result
}

func newRig(t *testing.T, version string) *rig {
	t.Helper()
	p, err := New(version)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Machine: NewMachine(p), t: t, known: make(map[string]bool), ips: make(map[string][]string)}
}

// list runs a relist that lists the given pods; the inspection of a pod followed by
// "!" fails.
func (r *rig) list(pods ...string) string {
	r.t.Helper()
	r.now += 1e9
	failing := make(map[string]bool)
	l := Listing{Start: r.now}
	now := make(map[string]bool)
	for _, s := range pods {
		s, bad := strings.CutSuffix(s, "!")
		p := sighting(r.t, s)
		failing[p.UID] = bad
		now[p.UID] = true
		l.Changed = append(l.Changed, p)
	}
	for uid := range r.known {
		if !now[uid] {
			l.Gone = append(l.Gone, uid)
		}
	}
	r.known = now
	l.Inspect = func(uid string) Inspection {
		in := Inspection{IPs: r.ips[uid]}
		if failing[uid] {
			in.Err = "inspection failed"
		}
		return in
	}
	r.last = r.Relist(l)
	return sent(r.last.Events)
}

// fail runs a relist whose list calls fail.
func (r *rig) fail() string {
	r.now += 1e9
	r.last = r.Relist(Listing{Start: r.now, Err: "unavailable"})
	return sent(r.last.Events)
}

// sent formats the delivered events: "1234 Died c1, …".
func sent(events []Event) string {
	var out []string
	for _, e := range events {
		if e.Delivered {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Pod, strings.TrimPrefix(string(e.Type), "Container"), e.Data)))
		}
	}
	return strings.Join(out, ", ")
}

func (r *rig) want(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("1.%d %s:\n got %q\nwant %q", r.Minor, what, got, want)
	}
}

// versions has a release of each family and at each boundary.
var versions = []string{"v1.11.0", "v1.13.5", "v1.14.6", "v1.17.17", "v1.18.0", "v1.31.14", "v1.32.0", "v1.35.6", "v1.36.3", "v1.37.0"}

func each(t *testing.T, do func(t *testing.T, r *rig)) {
	for _, v := range versions {
		t.Run(v, func(t *testing.T) { do(t, newRig(t, v)) })
	}
}

func TestG1G2G3(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := []string{"1234: c1 exited, c2 running, c3 unknown", "4567: c1 exited"}
		r.want("G1", r.list(first...), "1234 Died c1, 1234 Started c2, 4567 Died c1")
		r.want("G2", r.list(first...), "")
		r.want("G3", r.list("1234: c2 exited, c3 running", "4567: c4 running"),
			"1234 Removed c1, 1234 Died c2, 1234 Started c3, 4567 Removed c1, 4567 Started c4")
	})
}

func TestG4ChannelOverflow(t *testing.T) {
	r := newRig(t, "v1.14.0")
	r.Capacity = 4
	r.list("1234: c1 exited, c2 running, c3 unknown", "4567: c1 exited")
	r.Drain()
	r.list("1234: c2 exited, c3 running", "4567: c4 running")
	if r.last.Sent != 4 || r.last.Discarded != 1 || r.Queued() != 4 {
		t.Errorf("sent %d, discarded %d, queued %d; want 4, 1, 4", r.last.Sent, r.last.Discarded, r.Queued())
	}
	old := newRig(t, "v1.13.5")
	old.Capacity = 1
	old.list("1234: c1 exited, c2 running")
	if old.last.Discarded != 0 || old.last.Waited != 1 || old.last.Sent != 2 {
		t.Errorf("1.13: %+v; want 2 sent, of which 1 blocked the relist", old.last)
	}
}

func TestG5G8Removal(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.list("p: c1 running, c2 running, c3 exited")
		r.want("G5", r.list("p: c1 running"), "p Died c2, p Removed c2, p Removed c3")
	})
	each(t, func(t *testing.T, r *rig) {
		for range 3 {
			r.list("p: c2 running")
		}
		r.want("G8", r.list(), "p Died c2, p Removed c2")
		if r.Cache.Get("p") != nil || r.Records() != 0 {
			t.Error("G8: the pod is still cached or recorded")
		}
	})
}

func TestG9G10FailedInspection(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.want("G9", r.list("a: c1 running", "b: c2 running!"), "a Started c1")
		if s := r.Cache.Get("b"); s == nil || s.Err == "" || s.Containers != 0 {
			t.Errorf("G9: cache of the failed pod: %+v", s)
		}
		r.want("G10", r.list("a: c1 running", "b: c2 running"), "b Started c2")
		if s := r.Cache.Get("b"); s.Err != "" || s.Containers != 1 {
			t.Errorf("G10: cache not mended: %+v", s)
		}
		if slices.Contains(r.last.Inspected, "a") {
			t.Error("G10: the healthy pod was inspected again")
		}
	})
}

func TestG12G14G15Health(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		text := map[bool]string{true: "pleg has yet to be successful", false: "pleg was last seen active 2562047h47m16.854775807s ago; threshold is 3m0s"}
		r.want("G12", r.HealthText(1), text[r.Minor >= 13])
		r.list("p: c running")
		minute := r.now + int64(time.Minute)
		if _, ok := r.Healthy(minute); !ok {
			t.Error("G14: unhealthy a minute after a relist")
		}
		if _, ok := r.Healthy(r.now + int64(r.Threshold)); !ok {
			t.Error("unhealthy at the threshold itself")
		}
		r.want("G15", r.HealthText(minute+int64(r.Threshold)), "pleg was last seen active 4m0s ago; threshold is 3m0s")
	})
}

func TestG17aSandboxes(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := []string{"1234: sandbox c1 exited; sandbox c2 running; sandbox c3 unknown", "4567: sandbox c1 exited"}
		r.want("G17a", r.list(first...), "1234 Died c1, 1234 Started c2, 4567 Died c1")
		r.want("G17a again", r.list(first...), "")
	})
}

func TestG18D23KeptIP(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.ips["p"] = []string{"192.168.1.5"}
		r.want("G18", r.list("p: c running"), "p Started c")
		r.ips["p"] = nil
		r.want("G18", r.list("p: c exited"), "p Died c")
		r.want("G18", fmt.Sprint(r.Cache.Get("p").IPs), "[192.168.1.5]")
	})
	each(t, func(t *testing.T, r *rig) {
		r.ips["p"] = []string{"10.0.0.1", "fd00::1"}
		r.list("p: c running; sandbox s running")
		r.ips["p"] = nil
		r.list("p: c exited; sandbox s running")
		r.want("ready sandbox", fmt.Sprint(r.Cache.Get("p").IPs), "[]")
	})
	each(t, func(t *testing.T, r *rig) {
		r.ips["p"] = []string{"10.0.0.1"}
		r.list("p: c running; sandbox s running")
		r.ips["p"] = nil
		r.list("p: c exited; sandbox s notready")
		r.want("D23", fmt.Sprint(r.Cache.Get("p").IPs), "[10.0.0.1]")
		r.list("p: c exited, d running")
		r.want("rkt clause", fmt.Sprint(r.Cache.Get("p").IPs), map[bool]string{true: "[]", false: "[10.0.0.1]"}[r.Minor <= 17])
	})
}

func TestWatchConditions(t *testing.T) {
	for _, v := range []string{"v1.32.0", "v1.35.6"} {
		yes, no := func(*Status) bool { return true }, func(*Status) bool { return false }
		r := newRig(t, v)
		r.list("p: c running")
		r.want("W1", r.list("p: c running"), "")

		evaluated := 0
		r.SetWatch("p", "true", yes)
		r.SetWatch("p", "false", func(*Status) bool { evaluated++; return false })
		r.SetWatch("p", "self", func(*Status) bool { r.SetWatch("p", "self", no); return true })
		r.want("W2", r.list("p: c running"), "p ConditionMet")
		r.want("W2 left", fmt.Sprint(r.Watches("p")), "map[false:0 self:1]")
		if evaluated != 1 {
			t.Errorf("W2: evaluated %d times", evaluated)
		}

		called := func(*Status) bool { t.Error("a dropped condition was evaluated"); return true }
		r.SetWatch("nobody", "k", called)
		r.list("p: c running")
		r.want("W5", fmt.Sprint(r.Watches("nobody")), "map[]")

		r = newRig(t, v)
		r.list("p: c running")
		r.SetWatch("p", "k", called)
		r.want("W6", r.list(), "p Died c, p Removed c")
		r.want("W6", fmt.Sprint(r.Watches("p")), "map[]")

		r = newRig(t, v)
		r.list("p: c running!")
		evaluated = 0
		r.SetWatch("p", "k", func(*Status) bool { evaluated++; return false })
		r.list("p: c running")
		r.want("W7", fmt.Sprint(evaluated, r.Watches("p")), "1 map[k:0]")
	}
	r := newRig(t, "v1.36.0")
	r.SetWatch("p", "k", func(*Status) bool { return true })
	r.want("no conditions in 1.36", r.list("p: c running"), "p Started c")
}

func TestReinspectionRequests(t *testing.T) {
	start := func() *rig {
		r := newRig(t, "v1.36.3")
		r.list("p: c running")
		return r
	}
	r := start()
	r.RequestReinspect("p")
	r.want("R1", r.list("p: c running"), "p PodSync")
	r.want("R1 flag", fmt.Sprint(r.last.Reinspect), "[]")
	r = start()
	r.RequestReinspect("p")
	r.want("R2", r.list("p: c running!"), "")
	r.want("R2 flag", fmt.Sprint(r.last.Reinspect, r.Cache.Get("p").Err != ""), "[p] true")
	r.RequestReinspect("p")
	r.want("R5", r.list("p: c running!"), "")
	r.want("R5 flag", fmt.Sprint(r.last.Reinspect), "[p]")
	r.want("R6", r.list("p: c running"), "p PodSync")
	r = start()
	r.want("R4", r.list("p: c running"), "")
	r.want("R4", fmt.Sprint(r.last.Inspected), "[]")
	old := newRig(t, "v1.35.0")
	old.list("p: c running")
	old.RequestReinspect("p")
	old.want("not before 1.36", old.list("p: c running"), "")
}

func TestOnDemandRelists(t *testing.T) {
	r := newRig(t, "v1.36.3")
	r.list("p: c running", "q: d running")
	seen, fresh := r.LastSeen, r.Cache.Fresh
	res, ran := r.RelistPod("p", r.now+1, r.now+2, sighting(t, "p: c exited"), Inspection{})
	r.want("WL1", fmt.Sprintf("%v %s %v", ran, sent(res.Events), res.Inspected), "true p Died c [p]")
	if r.LastSeen != seen || r.Cache.Fresh != fresh {
		t.Error("WL1: the relist of one pod moved the global time")
	}
	if got := r.Cache.Get("p").Modified; got != r.now+2 {
		t.Errorf("WL1: the pod's waiter stays blocked: %d", got)
	}
	_, ran = r.RelistPod("p", seen-1, r.now+3, sighting(t, "p: c running"), Inspection{})
	r.want("WL2", fmt.Sprint(ran), "false")
	old := newRig(t, "v1.35.6")
	old.list("p: c running")
	if _, ran := old.RelistPod("p", old.now+1, old.now+1, nil, Inspection{}); ran {
		t.Error("1.35 relists on demand")
	}
}

func TestEvented(t *testing.T) {
	p, err := New("v1.28.0")
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEvented(p)
	if err != nil {
		t.Fatal(err)
	}
	if e.Generic.Period != 300*time.Second || e.Generic.Threshold != 10*time.Minute {
		t.Errorf("generic under evented: %v, %v", e.Generic.Period, e.Generic.Threshold)
	}
	e.Generic.Capacity = 100
	e.Generic.queue = 5
	if s := e.HealthText(); s != "" {
		t.Errorf("E1a: %q", s)
	}
	e.Generic.queue = 100
	if s := e.HealthText(); s != "EventedPLEG: pleg event channel capacity is full with 100 events" {
		t.Errorf("full channel: %q", s)
	}
	e.Generic.Drain()
	for i := range 5 {
		uid := fmt.Sprintf("p%d", i)
		got := e.Receive(StreamEvent{At: int64(i + 1), Type: StreamStarted, UID: uid, Container: "s", Pod: sighting(t, uid+": sandbox s running")})
		if sent(got) != uid+" Started s" {
			t.Errorf("STARTED: %q", sent(got))
		}
	}
	if e.Generic.Gauges.Pods != 5 {
		t.Errorf("E2a: gauge %d, want 5", e.Generic.Gauges.Pods)
	}
	e.Receive(StreamEvent{At: 10, Type: StreamCreated, UID: "p0", Container: "s", Pod: sighting(t, "p0: sandbox s notready"), IPs: []string{"10.0.0.1"}})
	if got := fmt.Sprint(e.Generic.Cache.Get("p0").IPs); got != "[10.0.0.1]" {
		t.Errorf("E3a: %s", got)
	}
	e.Receive(StreamEvent{At: 11, Type: StreamCreated, UID: "p1", Container: "s", Pod: sighting(t, "p1: sandbox s notready")})
	if got := fmt.Sprint(e.Generic.Cache.Get("p1").IPs); got != "[]" {
		t.Errorf("E3c: %s", got)
	}
	got := e.Receive(StreamEvent{At: 12, Type: StreamDeleted, UID: "p1", Container: "s", Pod: sighting(t, "p1:")})
	if sent(got) != "p1 Died s, p1 Removed s" {
		t.Errorf("DELETED: %q", sent(got))
	}
	if e.Receive(StreamEvent{At: 1, Type: StreamStarted, UID: "p0", Container: "s", Pod: sighting(t, "p0: sandbox s running")}) != nil || e.Generic.Refused != 1 {
		t.Error("an outdated status was taken")
	}
	if e.Receive(StreamEvent{At: 20, Type: StreamStarted, UID: "p0"}) != nil || e.Ignored != 1 {
		t.Error("a message without a sandbox status was taken")
	}
	for range 5 {
		if e.FellBack || !e.StreamError() {
			t.Fatal("gave up too early")
		}
	}
	if !e.FellBack || e.Generic.Period != time.Second || e.Generic.Threshold != 3*time.Minute || e.StreamError() {
		t.Error("no fallback after five stream errors")
	}
	if old, err := New("v1.25.0"); err == nil {
		if _, err := NewEvented(old); err == nil {
			t.Error("1.25 has an evented PLEG")
		}
	}
}

func TestDerived(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.want("D10", r.list("p:")+r.list(), "")
		if held, old, cur := r.Record("p"); !held || old || cur {
			t.Errorf("D10: record %v %v %v", held, old, cur)
		}
	})
	each(t, func(t *testing.T, r *rig) {
		r.want("D11", r.list("p: c running"), "p Started c")
		seen := r.LastSeen
		r.want("D11 list error", r.fail(), "")
		if r.LastSeen != seen || r.Cache.Fresh != seen {
			t.Error("D11: a failed list moved the time")
		}
		r.want("D11 after", r.list("p: c exited"), "p Died c")
	})
	each(t, func(t *testing.T, r *rig) {
		r.list("p: c running")
		r.want("D14 failing", r.list("p: c exited!"), "")
		r.want("D14 back", r.list("p: c running"), map[bool]string{true: "p PodSync"}[r.Family == "C"])
	})
	each(t, func(t *testing.T, r *rig) {
		r.want("D19", r.list("a: r running, e exited, n created; sandbox s running"), "a Started r, a Died e, a Started s")
	})
	each(t, func(t *testing.T, r *rig) {
		r.list("p: c running!")
		r.list("p: c running!")
		n := map[bool]int{true: 2, false: 1}[r.Minor <= 31]
		if len(r.last.Inspected) != n {
			t.Errorf("a failed pod is inspected %d times in the next relist, want %d", len(r.last.Inspected), n)
		}
	})
}

func TestGauges(t *testing.T) {
	r := newRig(t, "v1.28.0")
	r.list("a: c running, d exited; sandbox s ready", "b: e created; sandbox t notready")
	r.want("gauges", fmt.Sprint(r.Gauges), "{2 1 [0 1 1 1]}")
	r.list("a: c exited, d exited; sandbox s notready")
	r.want("gauges", fmt.Sprint(r.Gauges), "{1 0 [0 0 0 2]}")
}

func TestExitCodes(t *testing.T) {
	code := 137
	r := newRig(t, "v1.28.0")
	r.list("p: c running; sandbox s running")
	res := r.Relist(Listing{Start: 5e9, Changed: []*Pod{{UID: "p", Containers: []Item{{ID: "c", State: RawExited, ExitCode: &code}},
		Sandboxes: []Item{{ID: "s", State: RawExited, ExitCode: &code}}}}})
	if len(res.Events) != 2 || res.Events[0].ExitCode == nil || *res.Events[0].ExitCode != 137 || res.Events[1].ExitCode != nil {
		t.Errorf("exit codes: %+v", res.Events)
	}
}
