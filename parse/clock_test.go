package parse

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestResolution checks that a resolution is never finer than what it was made
// from, and less than one part in 2^20 coarser.
func TestResolution(t *testing.T) {
	for _, d := range []time.Duration{0, 1, time.Microsecond, time.Millisecond, time.Second, time.Minute, 15 * time.Minute} {
		if got := ResolutionOf(d).Duration(); got != d {
			t.Errorf("%v became %v", d, got)
		}
	}
	if got := ResolutionOf(-5).Duration(); got != 0 {
		t.Errorf("-5 ns became %v", got)
	}
	if got := ResolutionOf(1<<63 - 1).Duration(); got < 30*365*24*time.Hour {
		t.Errorf("the longest became %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(20*365*24*time.Hour)).Draw(t, "d"))
		if got := ResolutionOf(d).Duration(); got < d || got > d+d>>20+1 {
			t.Fatalf("%v became %v", d, got)
		}
	})
}
