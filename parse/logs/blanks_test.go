package logs

import (
	"strings"
	"testing"
	"time"
)

// TestNewlines checks that millions of empty lines are counted and that each is
// much cheaper than a line with content.
func TestNewlines(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	const lines = 1 << 17
	const line = "E1120 23:44:30.100000    5203 kubelet.go:1823] skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m1.5s ago; threshold is 3m0s]\n"
	least := func(between string) time.Duration {
		text := line + strings.Repeat(between, lines) + line
		best := time.Hour
		for range 10 {
			begin := time.Now()
			p := decodeString(text)
			best = min(best, time.Since(begin))
			if n := len(p.Events); n != 2 || p.Lines != lines+2 || p.Events[1].Line != lines+2 {
				t.Fatalf("%d events, %d lines", n, p.Lines)
			}
		}
		return best
	}
	empty, other := least("\n"), least("x\n")
	t.Logf("%d empty lines take %v, others %v", lines, empty, other)
	if empty > other/5 {
		t.Errorf("%d empty lines take %v, others %v", lines, empty, other)
	}
}
