package health

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// TestReplaced checks that the gauge proves health after its snapshot only if the process continues; one that
// was replaced may have ended right after it.
func TestReplaced(t *testing.T) {
	const second = int64(time.Second)
	gauge := func(at int64) snapshots.Proof {
		return snapshots.Proof{Kind: snapshots.ProofStart, From: at, To: at, Start: host.Instant{At: at - second}}
	}
	restart := snapshots.Proof{Kind: snapshots.ProofRestart, From: 1000 * second, To: 1150 * second}
	for name, c := range map[string]struct {
		proofs []snapshots.Proof
		start  int64   // of the first process in the log, in seconds; 0 if unknown
		want   []int64 // ends of the claims, in seconds
	}{
		"one process":                           {[]snapshots.Proof{gauge(1000 * second), gauge(1150 * second)}, 0, []int64{1179, 1329}},
		"replaced":                              {[]snapshots.Proof{gauge(900 * second), gauge(1000 * second), restart, gauge(1150 * second)}, 0, []int64{1000, 1329}},
		"of a process before that of the lines": {[]snapshots.Proof{gauge(1000 * second), gauge(1150 * second)}, 1100, []int64{1329}},
	} {
		s := &kubelet.Log{}
		n := &relist.Known{Log: s, Kubelet: kubelet.Profile{Threshold: 3 * time.Minute}, Proofs: c.proofs}
		if c.start != 0 {
			s.Runs = []kubelet.Run{{First: c.start * second, Last: 2000 * second, Start: host.Instant{At: c.start * second}}}
		}
		h := claims{n: n, s: s, gone: snapshots.Replacements(n.Proofs)}
		h.metrics()
		if len(h.out) != len(c.want) {
			t.Fatalf("%s: %v", name, h.out)
		}
		for i, x := range h.out {
			if x.To != c.want[i]*second || x.State != Healthy {
				t.Errorf("%s: %v, want until %d", name, x, c.want[i])
			}
		}
	}
}
