package replay

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParted checks that nothing is claimed over a hole in the log that rests on one process if the process ID may be
// that of another one, as in a container, unless an age reaches back over the hole.
func TestParted(t *testing.T) {
	skip := func(at, what string) string {
		return `I1120 ` + at + `.000000    4242 kubelet.go:2440] "Skipping pod synchronization" err="PLEG is not healthy: ` + what + `"`
	}
	const never, aged = "pleg has yet to be successful", "pleg was last seen active 4m5s ago; threshold is 3m0s"
	listed := []string{relisting("13:04:54.000000"), relisting("13:04:55.000000"), relisting("13:04:56.000000")}
	before, after := ticking(listed, "13:00:00", "13:05:00"), "13:07:00"
	nevers := func(from, to string) string {
		var out []string
		for _, l := range strings.Split(ticking(nil, from, to), "\n") {
			out = append(out, skip(l[6:14], never))
		}
		return ticking(out, from, to)
	}
	for _, c := range []struct {
		name, log string
		state     HealthState
		id, one   bool // claimed over the hole if the process has an ID of its own, and if it has not
	}{
		{"a relist before the hole", before + "\n" + ticking(nil, after, "13:12:00"), Healthy, true, false},
		{"an age reaches back over it", before + "\n" + ticking([]string{skip("13:09:00", aged)}, after, "13:12:00"), Healthy, true, true},
		{"none has succeeded", nevers("13:00:00", "13:05:00") + "\n" + nevers(after, "13:12:00"), NeverRelisted, true, false},
	} {
		for _, own := range []bool{true, false} {
			log, want := c.log, c.id
			if !own {
				log, want = strings.ReplaceAll(log, "    4242 ", "       1 "), c.one
			}
			n := buildOne(t, log)
			from, to := at(t, "13:05:30"), at(t, "13:06:30")
			if got := slices.ContainsFunc(n.Health, func(h HealthSpan) bool { return h.State == c.state && h.From <= from && h.To >= to }); got != want {
				t.Errorf("%s, ID of its own %v: %s over the hole %v, health %+v", c.name, own, c.state, got, n.Health)
			}
		}
	}
}

// TestStartsOfOneID checks that a sync loop which skips because no relist has succeeded, after one that found PLEG well,
// is that of another process, in a log of errors alone and without a process ID that tells them apart.
func TestStartsOfOneID(t *testing.T) {
	var lines []string
	for _, at := range []string{"10:00:00", "10:01:40", "10:04:00"} {
		lines = append(lines, `E1120 `+at+`.100000       1 server.go:1221] "Failed to set rlimit on max file handles" err="operation not permitted"`,
			`E1120 `+at+`.200000       1 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`,
			`E1120 `+at+`.300000       1 kubelet.go:2327] "Skipping pod synchronization" err="container runtime status check may not have completed yet"`)
	}
	n := buildOne(t, strings.Join(lines, "\n"))
	if len(n.Runs) != 3 {
		t.Errorf("%d processes, want 3", len(n.Runs))
	}
	for _, h := range n.Health {
		if h.State == NeverRelisted && h.To-h.From > 1e9 {
			t.Errorf("%+v: want no longer than each start", h)
		}
	}
}

// TestStartsFarApart checks that lines by which no relist has succeeded are of no one process without an ID of its own where
// they are further apart than a skipping loop pauses.
func TestStartsFarApart(t *testing.T) {
	for _, x := range []struct {
		pid   string
		apart time.Duration
		many  int
		want  bool
	}{{"   1", 100 * time.Second, 3, false}, {"   1", 50 * time.Second, 3, false}, {"   1", 250 * time.Second, 3, false}, {"   1", 5 * time.Second, 40, true}, {"4711", 100 * time.Second, 3, true}} {
		var lines []string
		for i := range x.many {
			at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(time.Duration(i) * x.apart)
			lines = append(lines, at.Format("E0102 15:04:05.000000 ")+x.pid+` kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`)
		}
		n := buildOne(t, strings.Join(lines, "\n"))
		long := slices.ContainsFunc(n.Health, func(h HealthSpan) bool { return h.State == NeverRelisted && h.To-h.From > 20e9 })
		if long != x.want || len(n.Episodes) > 0 && !x.want {
			t.Errorf("process %s, %d lines %v apart: %+v, %d episodes, want unhealthy %v", x.pid, x.many, x.apart, n.Health, len(n.Episodes), x.want)
		}
	}
}

// TestNeverOverClock checks that "yet to be successful" lasts no longer where the clock is set between the lines that say
// so: a skipping loop writes on at once, and its lines go back, or the whole log is silent for longer than it pauses.
func TestNeverOverClock(t *testing.T) {
	start := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		lasts, step time.Duration // until the first relist; by how much the clock is set after 20 s
		episode     bool
		least, most time.Duration // of its length
	}{
		{"as it is", 100 * time.Second, 0, true, 90 * time.Second, 101 * time.Second},
		{"forward in a start", 50 * time.Second, 2 * time.Hour, false, 0, 0},
		{"back in a start", 50 * time.Second, -2 * time.Hour, false, 0, 0},
		{"back by less than it lasts", 50 * time.Second, -15 * time.Second, false, 0, 0},
		{"forward while none succeeds", 5 * time.Minute, 2 * time.Hour, true, 280 * time.Second, 301 * time.Second},
		{"back while none succeeds", 5 * time.Minute, -2 * time.Hour, true, 270 * time.Second, 281 * time.Second},
	} {
		lines := []string{`I1120 08:00:00.000000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`}
		for at := time.Duration(0); at < c.lasts+5*time.Minute; at += 5 * time.Second {
			now := start.Add(at + 10*time.Millisecond)
			if at > 20*time.Second {
				now = now.Add(c.step)
			}
			line := now.Format("I0102 15:04:05.000000") + `    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"c","Type":"ContainerStarted","Data":"d"}`
			if at < c.lasts {
				line = now.Format("E0102 15:04:05.000000") + `    4242 kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg has yet to be successful"`
			}
			lines = append(lines, line)
		}
		n := buildOne(t, strings.Join(lines, "\n"))
		var got time.Duration
		for _, e := range n.Episodes {
			got += time.Duration(e.LastReport-e.Breach) - e.Stepped
		}
		if len(n.Episodes) > 0 != c.episode || got < c.least || got > c.most {
			t.Errorf("%s: %d episodes, %v in all, want one: %v, of %v to %v", c.name, len(n.Episodes), got, c.episode, c.least, c.most)
		}
		for _, h := range n.Health {
			if d := time.Duration(h.To - h.From); h.State == NeverRelisted && d > c.lasts && (c.step <= 0 || !c.episode) {
				t.Errorf("%s: never relisted for %v", c.name, d)
			}
		}
	}
}
