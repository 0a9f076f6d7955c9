package replay

import "testing"

// What nothing tells of between two stretches of proven health is no health, also
// where the kubelet's lines do not reach.
func TestUnknownBetweenHealthIsNoHealth(t *testing.T) {
	const s = 1_000_000_000
	span := func(from, to int64, state HealthState) HealthSpan {
		return HealthSpan{Span: Span{From: from * s, To: to * s}, State: state}
	}
	for name, c := range map[string]struct {
		first, last int64 // of the kubelet's lines
		health      []HealthSpan
		well        bool
	}{
		"before the log":             {900, 1000, []HealthSpan{span(100, 300, Healthy), span(300, 400, HealthUnknown), span(400, 1000, Healthy)}, false},
		"after the log":              {100, 200, []HealthSpan{span(100, 300, Healthy), span(300, 400, HealthUnknown), span(400, 1000, Healthy)}, false},
		"before all proof of health": {300, 1000, []HealthSpan{span(100, 300, HealthUnknown), span(300, 1000, Healthy)}, true},
		"after all proof of health":  {100, 300, []HealthSpan{span(100, 300, Healthy), span(300, 1000, HealthUnknown)}, true},
	} {
		n := &Node{Health: c.health}
		n.Runs = []Run{{First: c.first * s, Last: c.last * s}}
		if span, well := n.WellThroughout(); well != c.well {
			t.Errorf("%s: %v, %v", name, span, well)
		}
	}
}
