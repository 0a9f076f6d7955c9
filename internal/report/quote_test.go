package report

import (
	"testing"
	"time"
)

// TestSpan: durations have three significant figures and human units.
func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 999: "0.999 µs", 8172 * time.Microsecond: "8.17 ms", 20 * time.Millisecond: "20 ms", 999600 * time.Microsecond: "1s",
		5 * time.Second: "5s", 19131 * time.Millisecond: "19.1s", 59990 * time.Millisecond: "1m", 3*time.Minute + 8196*time.Millisecond: "3m8s",
		27 * time.Minute: "27m", 59*time.Minute + 59900*time.Millisecond: "1h", 125 * time.Minute: "2h5m", 76 * time.Hour: "3d4h", -time.Second: "-1s"} {
		if got := Span(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
