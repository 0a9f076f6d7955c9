package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCaptures replays the captures in testdata, or in the directory PLEG_CAPTURES, and compares
// the events with those sent by the real kubelets. With the event stream in use, the generic relist
// depends on timestamps that are not recorded; those captures are only counted.
func TestCaptures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("PLEG_CAPTURES"), "testdata"), "v1.*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	var sum score
	for _, dir := range dirs {
		c, err := readCapture(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := compare(c)
		t.Logf("%-40s %s", filepath.Base(dir), s)
		if s.events == 0 {
			t.Errorf("%s: no events to compare", dir)
		}
		if c.stream > 0 {
			continue
		}
		sum.add(s)
		if s.equal != s.relists {
			t.Errorf("%s: %s\n%s", dir, s, strings.Join(s.differ, "\n"))
		}
	}
	t.Logf("%-40s %s", "all", &sum)
}

// TestFlawShows: the comparison is able to fail, for an extra event, a missing one, and a missing
// state change or failure.
func TestFlawShows(t *testing.T) {
	const dir = "testdata/v1.28.0-04-stuck-pod"
	for name, spoil := range map[string]func(*capture){
		"event more": func(c *capture) {
			c.relists[1].events = append(c.relists[1].events, event{"p", "ContainerDied", "x", true})
		},
		"event less":  func(c *capture) { c.relists[1].events = c.relists[1].events[1:] },
		"no change":   func(c *capture) { c.changes = c.changes[1:] },
		"no failures": func(c *capture) { c.calls = nil },
	} {
		c, err := readCapture(dir)
		if err != nil {
			t.Fatal(err)
		}
		spoil(c)
		if s := compare(c); s.equal == s.relists {
			t.Errorf("%s: not noticed", name)
		}
	}
}
