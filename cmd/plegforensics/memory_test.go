package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/internal/genmetrics"
)

// memoryArgs is the environment variable with the command line for the child process.
const memoryArgs = "PLEGFORENSICS_TEST_ARGS"

// TestMemoryOfMetrics bounds the memory for metrics: a process of its own reads snapshots, or a
// database of so many samples that holding them uncompressed would exceed the bound several times.
func TestMemoryOfMetrics(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("reads /proc, and takes a while")
	}
	tests := []struct {
		name  string
		write func(string, genmetrics.Options) error
		opt   genmetrics.Options
		mib   int64
	}{
		{"100 snapshots of 3,000 series", genmetrics.Snapshots, genmetrics.Options{Series: 3000, Scrapes: 100}, 96},
		{"a snapshot of 400,000 series", genmetrics.Snapshots, genmetrics.Options{Series: 400_000, Scrapes: 1}, 128},
		{"a database of 2,000,000 samples", genmetrics.Database, genmetrics.Options{Series: 1000, Scrapes: 2000}, 128},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		if err := tt.write(dir, tt.opt); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"analyze " + dir, "query " + dir + " --alerts", "query " + dir + " --step 1m --expr sum(rate(kubelet_pleg_relist_duration_seconds_sum[5m]))"} {
			rss, cpu := measured(t, args)
			t.Logf("%s, %s: %d MiB, %v", tt.name, strings.Fields(args)[0], rss>>10, cpu)
			if rss>>10 > tt.mib {
				t.Errorf("%s, %s: %d MiB resident, more than %d", tt.name, args, rss>>10, tt.mib)
			}
		}
	}
}

// measured runs the program in a process of its own and returns its resident memory in KiB and its
// processor time.
func measured(t *testing.T, args string) (rss int64, cpu time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryChild$")
	cmd.Env = append(os.Environ(), memoryArgs+"="+args)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, out)
	}
	_, after, _ := strings.Cut(string(out), "resident:")
	if _, err := fmt.Sscan(after, &rss); err != nil {
		t.Fatalf("%s: no result: %s", args, out)
	}
	return rss, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestMemoryChild is the child process of measured.
func TestMemoryChild(t *testing.T) {
	args := os.Getenv(memoryArgs)
	if args == "" {
		t.Skip("started by TestMemoryOfMetrics")
	}
	governHeap()
	if rc := run(context.Background(), append([]string{"plegforensics"}, strings.Fields(args)...), strings.NewReader(""), io.Discard, os.Stderr); rc != exitOK {
		t.Fatalf("status %d", rc)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println("resident:" + after)
}
