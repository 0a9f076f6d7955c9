package replay

import (
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// TestRecoveryInWholeSeconds checks that the bounds of a recovery include the second by which stamps are truncated, and
// that PLEG is called unhealthy only from the latest possible breach.
func TestRecoveryInWholeSeconds(t *testing.T) {
	text := skipLine("10:10:00.000000", 190*time.Second) + "\n" +
		`I1120 10:10:02.000000    4242 kubelet.go:2421] "SyncLoop (PLEG): event for pod" pod="a/b" event={"ID":"1","Type":"ContainerDied","Data":"ab"}`
	b := bundleOf(text)
	for _, e := range b.Events {
		e.Res = parse.ResolutionOf(time.Second)
	}
	n := Build(b, Options{})[0]
	e := &n.Episodes[0]
	if want := at2(t, "10:10:03.000"); e.Recovered.At != want || e.Recovered.Slack < 3*time.Second {
		t.Errorf("recovered at %s − %v, want up to %s", clock(e.Recovered.At), e.Recovered.Slack, clock(want))
	}
	for _, h := range n.Health {
		if h.State == Unhealthy && h.From < e.Breach+int64(e.LastStart.Slack) {
			t.Errorf("%v, and the breach is at %s ± %v", h, clock(e.Breach), e.LastStart.Slack)
		}
	}
}
