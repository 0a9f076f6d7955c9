package replay

import (
	"slices"
	"strings"
	"testing"
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
