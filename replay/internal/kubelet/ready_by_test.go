package kubelet

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestBy checks that a timestamp in whole seconds, as in events, means any moment up to the end of the second,
// and that a finer one is kept.
func TestBy(t *testing.T) {
	const second = int64(1795218363e9)
	for at, want := range map[int64]int64{second: second + 1e9 - 1, second + 198_463_690: second + 198_463_690} {
		if got := (&ReadyLine{At: at}).By(); got != want {
			t.Errorf("%d: by %d, want %d", at, got, want)
		}
	}
	klog := &parse.Event{Stamp: parse.Stamp{At: second, Res: parse.ResolutionOf(time.Microsecond)}}
	if got := (&ReadyLine{At: second, Record: klog}).By(); got != second {
		t.Errorf("a header in microseconds: by %d", got)
	}
}
