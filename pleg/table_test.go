package pleg

import (
	"fmt"
	"strings"
	"testing"
)

// The whole table, printed. A cell holds the initials of the events:
// Started, Died, Removed, Changed.
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

// Which behaviours each release has, printed. A change here is a change of
// what we claim about a kubelet version.
const wantSwitches = `
                                                 11 13 14 15 16 17 18 21 22 23 25 26 31 32 35 36
family                                           A1 A1 A1 A1 A1 A1 A2 A2 A2 A2 A2 A2 A2  B  B  C
blocking event channel                            x  x  .  .  .  .  .  .  .  .  .  .  .  .  .  .
"yet to be successful" before the first relist    .  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x
discards when the channel is full                 .  .  x  x  x  x  x  x  x  x  x  x  x  x  x  x
relist sets running_* gauges                      .  .  .  .  x  x  x  x  x  x  x  x  x  x  x  x
no IP reuse without sandbox statuses              x  x  x  x  x  x  .  .  .  .  .  .  .  .  .  .
kubelet_pleg_last_seen_seconds                    .  .  .  .  .  .  x  x  x  x  x  x  x  x  x  x
"container finished" line                         .  .  .  .  .  .  .  .  x  x  x  x  x  x  x  x
NotFound on status calls skipped                  .  .  .  .  .  .  .  .  .  x  x  x  x  x  x  x
EventedPLEG gate                                  .  .  .  .  .  .  .  .  .  .  .  x  x  x  x  x
failed pods inspected twice per relist            x  x  x  x  x  x  x  x  x  x  x  x  x  .  .  .
each inspection lists by pod uid again            x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  .
watch conditions                                  .  .  .  .  .  .  .  .  .  .  .  .  .  x  x  .
reinspection requests and PodSync                 .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  x
on-demand pod relists                             .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  x
`

func TestProfiles(t *testing.T) {
	minors := []int{11, 13, 14, 15, 16, 17, 18, 21, 22, 23, 25, 26, 31, 32, 35, 36}
	profiles := make([]Profile, len(minors))
	var b strings.Builder
	fmt.Fprintf(&b, "\n%48s", "")
	for i, n := range minors {
		p, err := New(fmt.Sprintf("v1.%d.0", n))
		if err != nil {
			t.Fatal(err)
		}
		profiles[i] = p
		fmt.Fprintf(&b, "%3d", n)
	}
	fmt.Fprintf(&b, "\n%-48s", "family")
	for _, p := range profiles {
		fmt.Fprintf(&b, "%3s", p.Family)
	}
	for _, s := range switches {
		fmt.Fprintf(&b, "\n%-48s", s.Switch)
		for _, p := range profiles {
			fmt.Fprintf(&b, "%3s", map[bool]string{true: "x", false: "."}[p.Has(s.Switch)])
		}
	}
	b.WriteString("\n")
	if got := b.String(); got != wantSwitches {
		t.Errorf("got\n%s\nwant\n%s", got, wantSwitches)
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
