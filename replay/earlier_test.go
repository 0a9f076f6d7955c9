package replay

import (
	"testing"
	"time"
)

// TestEarlier: a breach is exact only if PLEG is proven healthy until then. If the
// relist last seen listed pods late, PLEG was unhealthy before by the relist before it.
func TestEarlier(t *testing.T) {
	const s = int64(time.Second)
	e := Episode{LastStart: Instant{At: 1000 * s, Slack: time.Millisecond}, Breach: 1180 * s}
	ill := HealthSpan{Span: Span{From: 1180 * s, To: 1400 * s}, State: Unhealthy}
	span := func(state HealthState, from, to int64) HealthSpan {
		return HealthSpan{Span: Span{From: from * s, To: to * s}, State: state}
	}
	for name, c := range map[string]struct {
		health []HealthSpan
		want   time.Duration
	}{
		"healthy until then":          {[]HealthSpan{span(Healthy, 900, 1180), ill}, 0},
		"nothing known":               {[]HealthSpan{span(HealthUnknown, 900, 1180), ill}, -1},
		"no line before":              {[]HealthSpan{ill}, -1},
		"healthy long before":         {[]HealthSpan{span(Healthy, 900, 990), span(HealthUnknown, 990, 1180), ill}, -1},
		"healthy a minute before":     {[]HealthSpan{span(Healthy, 900, 1120), span(HealthUnknown, 1120, 1180), ill}, time.Minute},
		"the runtime was down before": {[]HealthSpan{span(RuntimeDown, 900, 1180), ill}, 0},
	} {
		n := &Node{Health: c.health}
		if got := n.Earlier(&e); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
