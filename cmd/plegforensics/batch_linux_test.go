package main

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
)

// TestBatchMemory: memory use depends on the number of bundles open at a time, not on their total
// number.
func TestBatchMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of bundles")
	}
	peak := func(n int) int64 {
		cmd := process("batch", fleetOf(t, n), "-o", "json", "--quiet", "-j", "2")
		if out, err := cmd.Output(); err != nil || !bytes.Contains(out, fmt.Appendf(nil, `"analysed": %d`, n)) {
			t.Fatalf("%d bundles: %v", n, err)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // MiB
	}
	few, many := peak(40), peak(400)
	t.Logf("peak RSS: %d MiB for 40 bundles, %d MiB for 400", few, many)
	// The records of 360 more bundles take a few kilobytes each.
	if many > few+few/4+8 {
		t.Errorf("peak RSS grows with the bundles: %d MiB for 40, %d MiB for 400", few, many)
	}
}
