package pleg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The complete transition table. A cell holds the initials of the events: Started,
// Died, Removed, Changed.
const wantTable = `
old \ new    | non-existent running exited unknown
non-existent | -            S       D      C
running      | DR           -       D      C
exited       | R            S       -      C
unknown      | DR           S       D      -
`

func TestTransitionTable(t *testing.T) {
	initials := map[EventType]string{ContainerStarted: "S", ContainerDied: "D", ContainerRemoved: "R", ContainerChanged: "C"}
	var b strings.Builder
	b.WriteString("\nold \\ new    | non-existent running exited unknown\n")
	for old := range State(numStates) {
		fmt.Fprintf(&b, "%-12s |", old)
		for cur := range State(numStates) {
			cell := ""
			for _, e := range Transition(old, cur) {
				cell += initials[e]
			}
			if cell == "" {
				cell = "-"
			}
			if width := len(cur.String()); cur != numStates-1 {
				cell = fmt.Sprintf("%-*s", width, cell)
			}
			b.WriteString(" " + cell)
		}
		b.WriteString("\n")
	}
	if got := b.String(); got != wantTable {
		t.Errorf("got\n%s\nwant\n%s", got, wantTable)
	}
}

// The behaviors of each release. A change here changes what we claim about a
// kubelet version.
const wantSwitches = `
                                                 11 13 14 16 17 18 19 22 23 26 31 32 35 36 37
family                                           A1 A1 A1 A1 A1 A2 A2 A2 A2 A2 A2  B  B  C  C
blocking event channel                            x  x  .  .  .  .  .  .  .  .  .  .  .  .  .
"yet to be successful" before the first relist    .  x  x  x  x  x  x  x  x  x  x  x  x  x  x
discards when the channel is full                 .  .  x  x  x  x  x  x  x  x  x  x  x  x  x
relist sets running_* gauges                      .  .  .  x  x  x  x  x  x  x  x  x  x  x  x
no IP reuse without sandbox statuses              x  x  x  x  x  .  .  .  .  .  .  .  .  .  .
kubelet_pleg_last_seen_seconds                    .  .  .  .  .  x  x  x  x  x  x  x  x  x  x
pod gauge counts running sandboxes                .  .  .  .  .  .  x  x  x  x  x  x  x  x  x
"container finished" line                         .  .  .  .  .  .  .  x  x  x  x  x  x  x  x
NotFound on status calls skipped                  .  .  .  .  .  .  .  .  x  x  x  x  x  x  x
EventedPLEG gate                                  .  .  .  .  .  .  .  .  .  x  x  x  x  x  x
evented PLEG sends events, relists every 5m       .  .  .  .  .  .  .  .  .  x  x  x  x  x  .
evented PLEG only asks for pod relists            .  .  .  .  .  .  .  .  .  .  .  .  .  .  x
failed pods inspected twice per relist            x  x  x  x  x  x  x  x  x  x  x  .  .  .  .
each inspection lists by pod uid again            x  x  x  x  x  x  x  x  x  x  x  x  x  .  .
watch conditions                                  .  .  .  .  .  .  .  .  .  .  .  x  x  .  .
reinspection requests and PodSync                 .  .  .  .  .  .  .  .  .  .  .  .  .  x  x
on-demand pod relists                             .  .  .  .  .  .  .  .  .  .  .  .  .  x  x
on-demand relists cannot be switched off          .  .  .  .  .  .  .  .  .  .  .  .  .  .  x
`

// columns returns the releases at which any switch changes, and the oldest and
// newest known one. A new rule adds its own columns.
func columns() []int {
	at := []int{OldestMinor, NewestMinor}
	for _, r := range rules {
		if r.From > OldestMinor {
			at = append(at, r.From)
		}
		if r.To != 0 {
			at = append(at, r.To)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

func TestProfiles(t *testing.T) {
	minors := columns()
	if last := minors[len(minors)-1]; last != NewestMinor {
		t.Errorf("the table speaks of 1.%d, the newest known is 1.%d", last, NewestMinor)
	}
	profiles := make([]Profile, len(minors))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%48s", "")
	for i, n := range minors {
		profiles[i] = profileOf(t, n)
		fmt.Fprintf(&b, "%3d", n)
	}
	fmt.Fprintf(&b, "\n%-48s", "family")
	for _, p := range profiles {
		fmt.Fprintf(&b, "%3s", p.Family)
	}
	for _, s := range rules {
		fmt.Fprintf(&b, "\n%-48s", s.Switch)
		for _, p := range profiles {
			fmt.Fprintf(&b, "%3s", map[bool]string{true: "x", false: "."}[p.Has(s.Switch)])
		}
	}
	b.WriteString("\n")
	if got := b.String(); got != wantSwitches {
		t.Errorf("got\n%s\nwant\n%s", got, wantSwitches)
	}
	t.Logf("kubelet versions covered: v1.%d to v1.%d", OldestMinor, NewestMinor)
}

func profileOf(t *testing.T, minor int) Profile {
	t.Helper()
	p, err := New(fmt.Sprintf("v1.%d.0", minor))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRulesHaveSources: each rule states its source.
func TestRulesHaveSources(t *testing.T) {
	for _, r := range rules {
		if !strings.Contains(r.Source, "kubernetes#") && !strings.Contains(r.Source, "seen in v1.") {
			t.Errorf("%s: source %q names no pull request and no tree", r.Switch, r.Source)
		}
		if strings.HasPrefix(r.Source, "seen in") && r.Doubt == "" {
			t.Errorf("%s: no pull request, and no word of it", r.Switch)
		}
	}
}

func TestBeyond(t *testing.T) {
	for version, want := range map[string]string{
		"v1.37.0": "", "1.37": "", "": "", "banana": "",
		"v1.38.0": "newest known rules (v1.37) used", "v1.99.0": "newest known rules (v1.37) used",
	} {
		if got := Beyond(version); got != want {
			t.Errorf("Beyond(%q) = %q, want %q", version, got, want)
		}
	}
	newest, beyond := profileOf(t, NewestMinor), profileOf(t, 99)
	if !slices.Equal(newest.Switches(), beyond.Switches()) || newest.Family != beyond.Family {
		t.Error("1.99 does not behave like the newest known release")
	}
}

func TestVersionSpellings(t *testing.T) {
	for version, want := range map[string]int{
		"v1.28.0": 28, "1.28": 28, "v1.27.6+k3s1": 27, "v1.25.16-gke.1497000": 25, "v1.36.0-alpha.1": 36,
		"v1.31.4-dirty": 31, "": DefaultMinor, "1.99.0": 99,
	} {
		if p, err := New(version); err != nil || p.Minor != want {
			t.Errorf("New(%q) = 1.%d, %v; want 1.%d", version, p.Minor, err, want)
		}
	}
	for _, version := range []string{"2.0.0", "v1", "v1.", "banana", "v1.-3", "v1.99999999999999999999"} {
		if _, err := New(version); err == nil {
			t.Errorf("New(%q) succeeded", version)
		}
	}
}

func TestStuckArithmetic(t *testing.T) {
	for _, c := range []struct {
		version string
		n       int
		first   string
		later   string
		breach  int
	}{
		{"v1.15.5", 1, "2m0s", "4m0s", 1},
		{"v1.31.14", 2, "4m0s", "8m0s", 1},
		{"v1.32.0", 1, "2m0s", "2m0s", 2},
		{"v1.36.3", 2, "4m0s", "4m0s", 2},
		{"v1.37.0", 1, "2m0s", "2m0s", 2},
	} {
		p, err := New(c.version)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(p.StuckRelist(c.n, true), p.StuckRelist(c.n, false), p.StuckPodsToBreach())
		if want := fmt.Sprint(c.first, " ", c.later, " ", c.breach); got != want {
			t.Errorf("%s, %d stuck: %s, want %s", c.version, c.n, got, want)
		}
	}
}

// TestIn: the profile of another version keeps settings made by hand and otherwise
// has its own periods.
func TestIn(t *testing.T) {
	p := profileOf(t, 28).UseEvented()
	p.RPCTimeout = time.Minute
	if q, err := p.In("v1.37.0"); err != nil || q.Period != Period || q.Threshold != Threshold || !q.Evented || q.RPCTimeout != time.Minute {
		t.Errorf("evented 1.28 in 1.37: %+v, %v", q, err)
	}
	p = profileOf(t, 37).UseEvented()
	p.Threshold = 4 * time.Minute
	if q, err := p.In("v1.36.0"); err != nil || q.Period != EventedPeriod || q.Threshold != 4*time.Minute {
		t.Errorf("evented 1.37 in 1.36: %+v, %v", q, err)
	}
	if q, err := p.In("v1.20.0"); err != nil || q.Evented || q.Period != Period {
		t.Errorf("evented 1.37 in 1.20: %+v, %v", q, err)
	}
}

func TestDeadlines(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{
		{"v1.28.0", "v1.28.0", 2}, {"v1.36.3", "v1.36.3", 1}, {"v1.99.0", "v1.99.0", 1}, {"", "v1.20", 2}, {"v1.21", "", 0},
		{"v1.32", "", 1}, {"v1.28", "v1.33", 0}, {"", "", 0}, {"banana", "", 0},
	} {
		if got := Deadlines(c.from, c.to); got != c.want {
			t.Errorf("Deadlines(%q, %q) = %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

func TestCalls(t *testing.T) {
	pods := []*Pod{{UID: "a", Containers: make([]Item, 3), Sandboxes: make([]Item, 1)}, {UID: "b", Containers: make([]Item, 2), Sandboxes: make([]Item, 1)}}
	for version, want := range map[string][2]int{"v1.31.0": {6, 7}, "v1.35.0": {6, 7}, "v1.36.0": {2, 7}} {
		p, err := New(version)
		if err != nil {
			t.Fatal(err)
		}
		if list, status := p.Calls(pods); list != want[0] || status != want[1] {
			t.Errorf("%s: %d list and %d status calls, want %v", version, list, status, want)
		}
	}
}
