package bundle

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/plegforensics/plegforensics/internal/hostile"
)

// TestManyLogs holds what one more log costs where an archive holds very many small
// ones: memory that is taken is much less than that of a parser and a scanner, which
// the next file gets, and no more for many files than for few.
func TestManyLogs(t *testing.T) {
	if raceDetector {
		t.Skip("drops what is to be used again")
	}
	taken := func(logs int) uint64 {
		var b bytes.Buffer
		if err := hostile.SmallLogs(&b, logs); err != nil {
			t.Fatal(err)
		}
		name := file(t, "in.tar", b.Bytes())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		bundle := load(t, Options{}, name)
		runtime.ReadMemStats(&after)
		if n := bundle.Inputs[0].FilesUsed; n != logs+1 {
			t.Fatalf("%d files used, want %d", n, logs+1)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	taken(10) // compiles the signatures
	few, some, many := taken(100), taken(10_100), taken(20_100)
	first, second := (some-few)/10_000, (many-some)/10_000
	t.Logf("%d bytes a file, then %d", first, second)
	if first > 16<<10 || second > first+first/4 {
		t.Errorf("a file takes %d bytes, and of more files each %d", first, second)
	}
}
