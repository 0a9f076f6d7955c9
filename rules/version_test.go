package rules

import (
	"testing"

	"github.com/plegforensics/plegforensics/replay"
)

// TestVersionOfEpisode tests that sentences about an episode state the version of the
// kubelet that ran then, and none if several versions ran and that one is not known.
func TestVersionOfEpisode(t *testing.T) {
	const old, upgraded = "v1.30.4", "v1.32.10"
	for _, c := range []struct {
		name, first, second, want string
		deadlines                 int
	}{
		{"upgraded afterwards", old, upgraded, old, 2},
		{"downgraded afterwards", upgraded, old, upgraded, 1},
		{"restarted", old, old, old, 2},
		{"the later states it", "", upgraded, upgraded, 1},
	} {
		n := node()
		n.Kubelet.Version = c.second
		n.Runs = []replay.Run{{First: base - 600*second, Last: base + 400*second, Version: c.first}, {First: base + 401*second, Last: base + 900*second, Version: c.second}}
		s := episodeSubject(newView(n), &n.Episodes[0])
		if got := s.vars()["kubelet"]; got != c.want || s.deadlines() != c.deadlines {
			t.Errorf("%s: %q, %d deadlines, want %q, %d", c.name, got, s.deadlines(), c.want, c.deadlines)
		}
	}
	n := node()
	n.Kubelet.Version = upgraded
	n.Runs = []replay.Run{{First: base - 600*second, Last: base + 400*second}, {First: base + 401*second, Last: base + 500*second, Version: old}, {First: base + 501*second, Last: base + 900*second, Version: upgraded}}
	if s := episodeSubject(newView(n), &n.Episodes[0]); s.vars()["kubelet"] != "" || s.deadlines() != 0 {
		t.Errorf("one of several: %q, %d deadlines", s.vars()["kubelet"], s.deadlines())
	}
}
