package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// stall is a log of 15 minutes with a relist that hangs for six minutes from 10:05, on a clock that is set
// forward by step after four of them.
func stall(step time.Duration) string { return stallSet(step, 9*time.Minute) }

// stallSet is stall with the clock set at another time since 10:00.
func stallSet(step, when time.Duration) string {
	type line struct {
		at   time.Duration
		text string
	}
	var all []line
	add := func(at time.Duration, format string, args ...any) {
		stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at)
		if at > when {
			stamp = stamp.Add(step)
		}
		all = append(all, line{at, stamp.Format("I0102 15:04:05.000000") + "    4242 " + fmt.Sprintf(format, args...)})
	}
	for at := time.Duration(0); at < 15*time.Minute; at += 2 * time.Second {
		add(at, `reconciler.go:1] "something"`)
	}
	event := `kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerDied","Data":"ab"}`
	add(2*time.Second, "%s", event)
	pause := 100 * time.Millisecond
	for at := 8*time.Minute + 500*time.Millisecond; at < 11*time.Minute; at += pause + time.Millisecond {
		add(at, `kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active %s ago; threshold is 3m0s"`, at-5*time.Minute-12345)
		if at > 8*time.Minute+600*time.Millisecond {
			pause = min(2*pause, 5*time.Second)
		}
	}
	add(11*time.Minute+3*time.Second, "%s", event)
	slices.SortStableFunc(all, func(a, b line) int { return int(a.at - b.at) })
	var out strings.Builder
	for _, l := range all {
		out.WriteString(l.text + "\n")
	}
	return out.String()
}

// TestClockSetInAStall checks that a relist whose age grows by one pause of the sync loop while the timestamps
// advance by up to hours is still one relist: ages are monotonic, so the clock was set.
func TestClockSetInAStall(t *testing.T) {
	for _, step := range []time.Duration{0, 500 * time.Millisecond, 2 * time.Second, 10 * time.Second, 50 * time.Second, 30 * time.Minute, 3 * time.Hour} {
		n := buildOne(t, stall(step))
		if len(n.Relists) != 1 || len(n.Episodes) != 1 {
			t.Fatalf("%v: %d relists, %d episodes: %+v", step, len(n.Relists), len(n.Episodes), n.Relists)
		}
		if d, known := n.Relists[0].Duration(); known {
			t.Errorf("%v: the relist took %v", step, d)
		}
		e := &n.Episodes[0]
		least := time.Duration(e.Recovered.At-e.Breach) - e.Recovered.Slack
		if !e.Recovered.Known() || least < 2*time.Minute || least > 4*time.Minute || least+2*e.Recovered.Slack < 3*time.Minute {
			t.Errorf("%v: at least %v unhealthy, stepped by %v", step, least, e.Stepped)
		}
		if n.UnhealthyTime().Round(time.Minute) != 3*time.Minute {
			t.Errorf("%v: unhealthy for %v", step, n.UnhealthyTime())
		}
		if d := n.ProvenUnhealthy(); d > 3*time.Minute+time.Second {
			t.Errorf("%v: proven unhealthy for %v", step, d)
		}
		if step > 0 && step < time.Second { // a step shorter than a period cannot look like another relist
			continue
		}
		if told := len(n.Contradictions) > 0; told != (step != 0) || (n.Window.Step-step).Abs() > time.Second || e.Stepped != n.Window.Step {
			t.Errorf("%v: step told %v, of the window %v", step, told, n.Window.Step)
		}
		if h := n.Health[len(n.Health)-2]; h.State != Healthy {
			t.Errorf("%v: %v after the recovery", step, h)
		}
	}
}

// TestClockSetBackInAStall checks a clock set back during a stall: the next iteration states the expected age
// and an earlier time. The relist and the unhealthy time then follow the new clock, and nothing is healthy
// within the time that lines on both sides name.
func TestClockSetBackInAStall(t *testing.T) {
	for _, step := range []time.Duration{-10 * time.Second, -30 * time.Second, -2 * time.Minute, -5 * time.Minute, -30 * time.Minute} {
		b := bundleOf(stall(step))
		after := at2(t, "10:09:01.817") + int64(step)
		back := parse.Jump{At: parse.Mark{Stamp: parse.Stamp{At: after, Basis: parse.Stated}}, Step: int64(step + 5*time.Second)}
		b.Clocks = append(b.Clocks, parse.FileClock{File: b.Files[0], Jumps: []parse.Jump{back}})
		n := Build(b, Options{})[0]
		if len(n.Relists) != 1 || len(n.Episodes) != 1 || len(n.Contradictions) != 1 {
			t.Fatalf("%v: %d relists, %d episodes, %d contradictions", step, len(n.Relists), len(n.Episodes), len(n.Contradictions))
		}
		e := &n.Episodes[0]
		if took := time.Duration(e.Recovered.At - e.Breach); !e.Recovered.Known() || took < 3*time.Minute || took-e.Recovered.Slack > 3*time.Minute+4*time.Second {
			t.Errorf("%v: unhealthy for %v less %v", step, took, e.Recovered.Slack)
		}
		for _, h := range n.Health {
			first, last := at2(t, "10:00:00.000"), at2(t, "10:15:00.000")+int64(step) // before and after the step
			if h.State == Healthy && h.To > max(after, first) && h.From < min(after-back.Step, last) && max(after, first) < min(after-back.Step, last) {
				t.Errorf("%v: %v within the time told twice", step, h)
			}
		}
	}
}

// TestClockSetAnywhere checks that no claim is false by a clock that is set before, within and after a stall: nothing
// is healthy at a time at which PLEG was unhealthy by either clock, and no relist takes a time that it did not.
func TestClockSetAnywhere(t *testing.T) {
	start := at2(t, "10:00:00.000")
	for _, step := range []time.Duration{-10 * time.Second, -90 * time.Second, -4 * time.Minute, -time.Hour, 30 * time.Second, 4 * time.Minute, time.Hour} {
		for _, when := range []time.Duration{time.Minute, 6 * time.Minute, 8*time.Minute + 10*time.Second, 9 * time.Minute, 10*time.Minute + 50*time.Second, 11*time.Minute + 30*time.Second, 14 * time.Minute} {
			n := buildOne(t, stallSet(step, when))
			wall := func(at time.Duration) int64 {
				if at > when {
					at += step
				}
				return start + int64(at)
			}
			for at := 8*time.Minute + time.Second; at < 11*time.Minute-time.Second; at += time.Second {
				for _, h := range n.Health {
					if h.State == Healthy && h.From <= wall(at) && wall(at) < h.To {
						t.Errorf("%v after %v: %v at %v, when PLEG was not", step, when, h, clock(wall(at)))
						at = 11 * time.Minute
					}
				}
			}
			for i := range n.Relists {
				r := &n.Relists[i]
				if d, known := r.Duration(); known && (d-6*time.Minute).Abs() > r.Slack()+2*time.Second {
					t.Errorf("%v after %v: a relist of %v", step, when, d)
				}
			}
			if len(n.Episodes) == 0 {
				t.Errorf("%v after %v: no episode", step, when)
			}
		}
	}
}
