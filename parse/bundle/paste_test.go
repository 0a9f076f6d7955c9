package bundle

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// An excerpt that combines an event row and a goroutine dump gives both: the PLEG
// line and the waiting goroutine.
func TestPastedStackKeepsItsLogLines(t *testing.T) {
	text := "Ready False KubeletNotReady PLEG is not healthy: pleg was last seen active 3m1.25s ago; threshold is 3m0s\n" +
		"goroutine 17 [semacquire, 528 minutes]:\nsync.runtime_SemacquireMutex(0xc00103f204, 0x0, 0x1)\n" +
		"        /usr/lib/golang/src/runtime/sema.go:71 +0x49\nsync.(*Mutex).Lock(...)\n        /usr/lib/golang/src/sync/mutex.go:81\n"
	path := filepath.Join(t.TempDir(), "excerpt.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Load(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ages := 0
	for _, e := range b.Events {
		if e.Is(parse.SigAge) && e.Line == 1 {
			ages++
		}
	}
	if ages != 1 || len(b.Facts) == 0 {
		t.Errorf("%d lines about PLEG and %d facts, want 1 and some", ages, len(b.Facts))
	}
}

// A klog line above a goroutine dump dates it, though nothing is known of its message.
func TestPastedStackIsDated(t *testing.T) {
	text := "E0516 21:38:17.999084    8210 runtime.go:76] Observed a panic: something\n" +
		"goroutine 324 [running]:\nk8s.io/kubernetes/pkg/kubelet/cm.(*cgroupManagerImpl).Create(0xc0003cbb40)\n        /go/src/cgroup_manager_linux.go:154 +0x367\n"
	path := filepath.Join(t.TempDir(), "excerpt.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Load(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	dated := slices.ContainsFunc(b.Coverage, func(c *parse.Coverage) bool { return c.FirstLine.Raw.Set })
	if !dated || len(b.Facts) == 0 {
		t.Errorf("dated: %t, %d facts", dated, len(b.Facts))
	}
}

// A prompt ends the table of containers above it; the log lines below are read.
func TestPastedBehindTable(t *testing.T) {
	const columns = "CONTAINER           IMAGE               CREATED             STATE               NAME\n"
	for _, table := range []string{columns, columns + "c0ffee0123456       a                   2 days ago          Running             b\n"} {
		text := "root@n1:/# crictl ps -a\n" + table + "root@n1:/# crictl runp pod.json\n" +
			`E0516 21:38:17.999084    8210 remote_runtime.go:176] "RunPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = ` +
			`failed to setup network for sandbox \"5a11cafe0123\": cni plugin not initialized"` + "\nFATA[0000] run pod sandbox: rpc er\n"
		path := filepath.Join(t.TempDir(), "console.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Load(context.Background(), []string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Events) != 1 || len(b.Warnings) != 0 {
			t.Errorf("%d events, warnings %v; want 1 and none of\n%s", len(b.Events), b.Warnings, text)
		}
	}
}
