package parse

import (
	"testing"
	"time"
)

// TestAround checks that the printed range contains the duration: the uncertainty
// has the same last digit as the value and covers the rounding of both.
func TestAround(t *testing.T) {
	for _, c := range []struct {
		d, slack time.Duration
		want     string
	}{
		{2*time.Minute + 300*time.Millisecond, 46100 * time.Millisecond, "2m ±47s"},
		{19 * time.Second, 18 * time.Second, "19s ±18s"},
		{19040 * time.Millisecond, 740 * time.Millisecond, "19s ±800 ms"},
		{65 * time.Minute, 20 * time.Second, "1h5m ±1m"},
		{5 * time.Second, 400 * time.Microsecond, "5s ±10 ms"},
		{3 * time.Second, 90 * time.Second, "3s ±1m30s"},
		{0, 0, "0s ±0s"},
	} {
		if got := Around(c.d, c.slack); got != c.want {
			t.Errorf("%v ±%v: %s, want %s", c.d, c.slack, got, c.want)
		}
	}
	// A bound must hold after rounding: a lower bound is rounded down, an upper one
	// up.
	for _, c := range []struct{ got, want string }{
		{Least(240600 * time.Millisecond), "4m"}, {Least(183917895079), "3m3s"}, {Least(19060 * time.Millisecond), "19s"}, {Least(0), "0s"},
		{Most(240100 * time.Millisecond), "4m1s"}, {Most(8121 * time.Microsecond), "8.13 ms"}, {Most(0), "0s"},
		{OrLess(312400*time.Millisecond, 4500*time.Millisecond), "5m7s to 5m13s"}, {OrLess(312400*time.Millisecond, time.Millisecond), "5m12s"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	if got := Slack(501*time.Millisecond, time.Second); got != "1s" {
		t.Errorf("half a second of a moment printed to the second: %s", got)
	}
}
