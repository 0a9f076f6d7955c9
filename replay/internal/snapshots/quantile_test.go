package snapshots

import (
	"math"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	bs := []bucket{{1, 50}, {2, 100}}
	if got, lo, hi := quantile(bs, 0.5, 0); got != time.Second || lo != 0 || hi != time.Second {
		t.Errorf("median %v in %v…%v, want 1s", got, lo, hi)
	}
	if got, _, _ := quantile(nil, 0.5, 0); got != -1 {
		t.Errorf("quantile of nothing is %v", got)
	}
	// Five calls of two minutes among fast ones: their bucket reaches up to 298 s, but
	// the sum shows that they took 120 s.
	bs = []bucket{{0.005, 95}, {119.2, 95}, {298, 100}, {math.Inf(1), 100}}
	if got, lo, hi := quantile(bs, 0.99, 600*time.Second); got < 119*time.Second || got > 121*time.Second || hi != 298*time.Second || lo >= got {
		t.Errorf("99%% %v in %v…%v, want about 2m", got, lo, hi)
	}
	bs = []bucket{{10, 99}, {math.Inf(1), 100}}
	if got, lo, hi := quantile(bs, 0.999, 0); got != -1 || lo != 10*time.Second || hi != -1 {
		t.Errorf("beyond the last bound %v in %v…%v, want unknown over 10s", got, lo, hi)
	}
}
