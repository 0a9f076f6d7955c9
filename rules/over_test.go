package rules

import (
	"testing"

	"github.com/plegforensics/plegforensics/replay"
)

// TestEndsWell: an episode that is over is no good news if PLEG was unhealthy again later.
func TestEndsWell(t *testing.T) {
	h := func(states ...int) *replay.Node {
		n := new(replay.Node)
		for i, s := range states {
			n.Health = append(n.Health, replay.HealthSpan{Span: replay.Span{From: int64(i) * minute, To: int64(i+1) * minute}})
			n.Health[i].State = replay.HealthUnknown
			switch s {
			case 1:
				n.Health[i].State = replay.Healthy
			case 2:
				n.Health[i].State = replay.Unhealthy
			case 3:
				n.Health[i].State = replay.RuntimeDown
			}
		}
		return n
	}
	for _, tt := range []struct {
		states []int
		want   bool
	}{{nil, false}, {[]int{2, 1}, true}, {[]int{2, 1, 0}, true}, {[]int{2, 1, 0, 2}, false}, {[]int{2, 1, 2, 0}, false}, {[]int{0}, false}, {[]int{2, 1, 3}, false}} {
		if got := endsWell(h(tt.states...)); got != tt.want {
			t.Errorf("%v: %v", tt.states, got)
		}
	}
}
