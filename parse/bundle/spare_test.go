package bundle

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/plegforensics/plegforensics/internal/hostile"
)

// TestSpareBuffers: buffers of one load serve the next.
func TestSpareBuffers(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector lets pools lose what they hold now and then")
	}
	least := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	for range 10 {
		runtime.ReadMemStats(&before)
		b, err := Load(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(hostile.Log()), Jobs: 1})
		if err != nil || len(b.Events) == 0 {
			t.Fatal(err, len(b.Events))
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > headroom+runSize {
		t.Errorf("a small log takes %d bytes", least)
	}
}
