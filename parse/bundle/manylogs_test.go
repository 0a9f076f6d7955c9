package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/hostile"
)

// TestManyLogs measures the memory allocated for one more log in an archive of many
// small ones. It must be far below the cost of a parser and a scanner, which are
// reused, and must not grow with the number of files.
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

// TestMostMetrics: of the metrics files of a directory, loose or in archives, the
// first ones are read, whatever the timing of the walkers.
func TestMostMetrics(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		name, data := fmt.Sprintf("%02d.txt", i), fmt.Appendf(nil, "# TYPE kubelet_running_pods gauge\nkubelet_running_pods{n=\"%d\"} %d\n", i, i)
		if i%7 == 3 {
			name, data = fmt.Sprintf("%02d.tar", i), tarOf(t, entry{"a.txt", data}, entry{"b.txt", data})
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, 3, 11, 46} {
		want := ""
		for _, jobs := range []int{1, 2, 8, 8, 8} {
			b := load(t, Options{Jobs: jobs, Limits: Limits{Logs: 5 * most}}, dir)
			left := fmt.Sprintf("%d files of metrics are left out, those behind the first %d:", 46-most, most)
			if got := strings.Contains(fmt.Sprint(b.Warnings), left); got != (most < 46) {
				t.Errorf("at most %d, %d jobs: %v", most, jobs, b.Warnings)
			}
			got := dump(b, false) + fmt.Sprintf("%+v", b.Inputs)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("at most %d: %d jobs read something else than one", most, jobs)
			}
			if n := b.Inputs[0].FilesUsed; n != most {
				t.Errorf("at most %d, %d jobs: %d files are read", most, jobs, n)
			}
		}
	}
}
