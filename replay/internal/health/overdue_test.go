package health

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
	"github.com/plegforensics/plegforensics/replay/internal/relist"
	"github.com/plegforensics/plegforensics/replay/internal/snapshots"
)

// TestOverdueOfMetrics checks that a measured relist longer than the threshold proves PLEG unhealthy once the
// counters show that generic PLEG relists, whether or not its list is known to have succeeded.
func TestOverdueOfMetrics(t *testing.T) {
	const second = int64(time.Second)
	count := func(from, to int64, n int) snapshots.Proof {
		return snapshots.Proof{Kind: snapshots.ProofCount, From: from * second, To: to * second, Count: n}
	}
	restart := snapshots.Proof{Kind: snapshots.ProofRestart, From: 1060 * second, To: 1080 * second}
	for name, c := range map[string]struct {
		proofs   []snapshots.Proof
		took     int64
		from, to int64 // of the claim, in seconds; 0: none
	}{
		"quick before":               {[]snapshots.Proof{count(1000, 1060, 58), count(1300, 1360, 10)}, 250, 1281, 1347},
		"quick in the step it began": {[]snapshots.Proof{count(1000, 1160, 70), count(1160, 1360, 1)}, 250, 1281, 1347},
		"only after it ended":        {[]snapshots.Proof{count(1000, 1060, 1), count(1300, 1360, 30)}, 250, 0, 0},
		"few":                        {[]snapshots.Proof{count(1000, 1060, 6), count(1300, 1360, 1)}, 250, 0, 0},
		"another process":            {[]snapshots.Proof{count(1000, 1060, 58), restart, count(1080, 1360, 1)}, 250, 0, 0},
		"within the threshold":       {[]snapshots.Proof{count(1000, 1060, 58)}, 182, 0, 0},
	} {
		n := &relist.Known{Log: &kubelet.Log{}, Kubelet: kubelet.Profile{Threshold: 3 * time.Minute, PLEG: kubelet.PLEGUnknown}, Proofs: c.proofs}
		r := relist.Relist{Run: -1, Start: host.Instant{At: 1100 * second, Slack: time.Second}, End: host.Instant{At: (1100 + c.took) * second, Slack: 3 * time.Second},
			Took: time.Duration(c.took * second), TookSlack: 2 * time.Second, Basis: []string{relist.BasisMetrics}}
		h := claims{n: n, past: &relist.Account{Relists: []relist.Relist{r}}, s: n.Log, gone: snapshots.Replacements(n.Proofs)}
		var from, to int64
		for _, x := range h.overdue() {
			from, to = x.From/second, x.To/second
		}
		if from != c.from || to != c.to {
			t.Errorf("%s: from %d to %d, want %d to %d", name, from, to, c.from, c.to)
		}
	}
}

// TestGaugeJudged checks that relists which may have ended before the start that the last-seen gauge states do not
// make its value a stale one, and that those which must have ended later do.
func TestGaugeJudged(t *testing.T) {
	const second = int64(time.Second)
	for name, c := range map[string]struct {
		from int64
		n    int
		ill  bool
	}{
		"as many as fit before": {1000, 42, true},
		"more than fit before":  {1000, 60, false},
		"all after the start":   {1050, 3, false},
		"one after the start":   {1050, 1, true},
	} {
		start := snapshots.Proof{Kind: snapshots.ProofStart, From: 1260 * second, To: 1260 * second, Start: host.Instant{At: 1041 * second}}
		n := &relist.Known{Log: &kubelet.Log{}, Kubelet: kubelet.Profile{Threshold: 3 * time.Minute},
			Proofs: []snapshots.Proof{start, {Kind: snapshots.ProofCount, From: c.from * second, To: 1260 * second, Count: c.n}}}
		h := claims{n: n, past: &relist.Account{}, s: n.Log}
		if ill := h.aged(&start); (ill.To > ill.From) != c.ill {
			t.Errorf("%s: unhealthy from %d to %d, want %v", name, ill.From/second, ill.To/second, c.ill)
		}
	}
}
