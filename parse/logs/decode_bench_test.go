package logs

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// quietMessages are messages of a busy kubelet that no signature picks, with
// their callers.
var quietMessages = [][2]string{
	{"kubelet_getters.go:182", `"Pod status updated" pod="kube-system/coredns-5d78c9869d-7rkhx" status="Running"`},
	{"operation_generator.go:722", `"MountVolume.SetUp succeeded for volume \"config\" (UniqueName: \"kubernetes.io/configmap/0d1c6d2e-7f0a-config\") pod \"api-6f9c\" (UID: \"0d1c6d2e-7f0a-4a55-9a53-6a3b8f0e1111\") " pod="prod/api-6f9c"`},
	{"reconciler_common.go:245", `"operationExecutor.VerifyControllerAttachedVolume started for volume \"data\" (UniqueName: \"kubernetes.io/csi/vol-1\") pod \"db-0\"" pod="prod/db-0"`},
	{"pod_startup_latency_tracker.go:102", `"Observed pod startup duration" pod="default/web-0" podStartSLOduration=2.107 pullDuration="0s"`},
}

// busyJournal returns a journal of about n bytes in which one line in hits matches.
func busyJournal(n, hits int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		s := i / 10
		hms := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
		stamp := "Nov 20 " + hms + " worker-21.example.com "
		switch q := quietMessages[i%len(quietMessages)]; {
		case i%hits == 0:
			fmt.Fprintf(&b, "%skubelet[812]: I1120 %s.%06d     812 kubelet.go:2453] \"SyncLoop (PLEG): event for pod\" pod=\"prod/db-0\" event={\"ID\":\"0d1c\",\"Type\":\"ContainerDied\",\"Data\":\"5f6c%08x\"}\n", stamp, hms, i%1000000, i)
		case i%10 < 7:
			fmt.Fprintf(&b, "%skubelet[812]: I1120 %s.%06d     812 %s] %s\n", stamp, hms, i%1000000, q[0], q[1])
		case i%10 == 7:
			fmt.Fprintf(&b, "%scontainerd[655]: time=\"2026-11-20T%s.%09dZ\" level=info msg=\"ImageUpdate event &ImageUpdate{Name:registry.example.com/app@sha256:5f6c3a2e,Labels:map[string]string{},}\"\n", stamp, hms, i)
		case i%10 == 8:
			fmt.Fprintf(&b, "%ssystemd[1]: run-runc-%08x-runc.mount: Deactivated successfully.\n", stamp, i)
		default:
			fmt.Fprintf(&b, "%saudit[%d]: CRYPTO_KEY_USER pid=%d uid=0 auid=4294967295 ses=4294967295 msg='op=destroy kind=server fp=SHA256:aa:bb:cc direction=? res=success'\n", stamp, i%500, i)
		}
	}
	return b.Bytes()
}

func benchmarkDecode(b *testing.B, data []byte) {
	f := &parse.File{Path: "a.log"}
	d := NewDecoder(f, data[:min(len(data), 256<<10)], decodeSet, Options{})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for off := 0; off < len(data); {
			end := min(off+512<<10, len(data))
			n := d.Cut(data[off:end], end == len(data))
			d.Decode(Run{Data: data[off : off+n], Offset: int64(off)})
			off += n
		}
	}
}

// BenchmarkDecode measures the hot path: one core, lines of a busy node in memory.
func BenchmarkDecode(b *testing.B) {
	for _, hits := range []int{1000, 20, 5} {
		b.Run(fmt.Sprintf("one-hit-in-%d", hits), func(b *testing.B) { benchmarkDecode(b, busyJournal(8<<20, hits)) })
	}
	if name := os.Getenv("PLEGFORENSICS_BENCH_LOG"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("file", func(b *testing.B) { benchmarkDecode(b, data) })
	}
}
