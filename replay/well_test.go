package replay

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestUnknownBetweenHealthIsNoHealth checks that time without evidence between two healthy intervals is not
// healthy, even if the kubelet's lines do not reach it.
func TestUnknownBetweenHealthIsNoHealth(t *testing.T) {
	const s = 1_000_000_000
	span := func(from, to int64, state HealthState) HealthSpan {
		return HealthSpan{Span: Span{From: from * s, To: to * s}, State: state}
	}
	for name, c := range map[string]struct {
		first, last int64 // of the kubelet's lines
		health      []HealthSpan
		snapshot    int64
		well        bool
	}{
		"before the log":             {900, 1000, []HealthSpan{span(100, 300, Healthy), span(300, 400, HealthUnknown), span(400, 1000, Healthy)}, 0, false},
		"after the log":              {100, 200, []HealthSpan{span(100, 300, Healthy), span(300, 400, HealthUnknown), span(400, 1000, Healthy)}, 0, false},
		"before all proof of health": {300, 1000, []HealthSpan{span(120, 300, HealthUnknown), span(300, 1000, Healthy)}, 0, true},
		"after all proof of health":  {100, 300, []HealthSpan{span(100, 300, Healthy), span(300, 480, HealthUnknown)}, 0, true},
		"long before all proof":      {300, 1000, []HealthSpan{span(100, 300, HealthUnknown), span(300, 1000, Healthy)}, 0, false},
		"long after all proof":       {100, 300, []HealthSpan{span(100, 300, Healthy), span(300, 481, HealthUnknown)}, 0, false},
		"after it, before the log":   {900, 1000, []HealthSpan{span(100, 300, Healthy), span(300, 901, HealthUnknown)}, 0, false},
		"with a snapshot after":      {100, 300, []HealthSpan{span(100, 300, Healthy), span(300, 1000, HealthUnknown)}, 1000, false},
		"with a snapshot soon after": {100, 300, []HealthSpan{span(100, 250, Healthy), span(250, 400, HealthUnknown)}, 400, true},
		"with a snapshot later":      {100, 300, []HealthSpan{span(100, 250, Healthy), span(250, 500, HealthUnknown)}, 500, false},
	} {
		n := &Node{Health: c.health, Kubelet: Kubelet{Threshold: 180 * s}, tail: 250 * s}
		if c.snapshot != 0 {
			n.Scrapes = []*parse.Scrape{{Stamp: parse.Stamp{At: c.snapshot * s}}}
		}
		n.Runs = []Run{{First: c.first * s, Last: c.last * s}}
		if span, well := n.WellThroughout(); well != c.well {
			t.Errorf("%s: %v, %v", name, span, well)
		}
	}
}

// TestIllsHoldWhatNoLineReports checks that unhealthiness proven by relists or metrics alone is returned in
// addition to the episodes, once.
func TestIllsHoldWhatNoLineReports(t *testing.T) {
	n := &Node{Health: []HealthSpan{{Span: Span{From: 10, To: 20}, State: Unhealthy}, {Span: Span{From: 20, To: 30}, State: Healthy}, {Span: Span{From: 30, To: 40}, State: Unhealthy}}}
	n.Episodes = []Episode{{Breach: 30, LastReport: 40, Recovered: Instant{At: 44, Slack: 4}}}
	if ills := n.Ills(); len(ills) != 2 || ills[0].Span != (Span{From: 10, To: 20}) || ills[1].Span != (Span{From: 30, To: 44}) {
		t.Errorf("%v", ills)
	}
	if d := n.UnhealthyTime(); d != 24 {
		t.Errorf("unhealthy for %d", d)
	}
}

// TestHoleInTheLastMargin checks that a log of two files is not healthy throughout if a hole lies in the time at its
// end that silence does not prove yet.
func TestHoleInTheLastMargin(t *testing.T) {
	start := []string{
		`I1120 09:50:00.000000    4242 server.go:415] "Kubelet version" kubeletVersion="v1.28.0"`,
		`I1120 09:50:00.500000    4242 kubelet.go:2303] "Starting kubelet main sync loop"`,
		`E1120 09:50:00.500100    4242 kubelet.go:2327] "Skipping pod synchronization" err="[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"`,
		`I1120 09:50:02.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ab"}`,
		`I1120 09:59:59.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerStarted","Data":"ac"}`,
	}
	for from, want := range map[string]bool{"10:00:00": true, "10:01:10": false} {
		d := newTestLog()
		n := Build(bundleOfParts(d.decode("kubelet.log.1", "", ticking(start, "09:50:00", "10:00:00")), d.decode("kubelet.log", "", ticking(nil, from, "10:01:40"))), Options{})
		if len(n) != 1 {
			t.Fatalf("%d nodes", len(n))
		}
		if _, well := n[0].WellThroughout(); well != want {
			t.Errorf("the second file begins at %s: healthy throughout %v, want %v", from, well, want)
		}
	}
}
