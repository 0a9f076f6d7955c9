package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFullChannel checks that a full event channel of the evented PLEG makes PLEG unhealthy while lines report it, and
// says nothing about relists; an age beside it still does.
func TestFullChannel(t *testing.T) {
	const full = "EventedPLEG is not healthy: EventedPLEG: pleg event channel capacity is full with 1000 events"
	log := func(reason string) string {
		var out strings.Builder
		for at := time.Duration(0); at < 31*time.Second; at += 5 * time.Second {
			stamp := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(at).Format("E0102 15:04:05.000000")
			age := strings.ReplaceAll(reason, "AGE", (11*time.Minute + at).String())
			fmt.Fprintf(&out, "%s    4242 kubelet.go:2327] \"Skipping pod synchronization\" err=%q\n", stamp, age)
		}
		return out.String()
	}
	n := buildOne(t, log(full))
	if len(n.Episodes)+len(n.Relists) != 0 {
		t.Errorf("episodes %+v, relists %+v", n.Episodes, n.Relists)
	}
	if h := n.Health[0]; h.State != Unhealthy || h.Proof != ProofChannel || h.To-h.From < int64(30*time.Second) {
		t.Errorf("health %+v", n.Health)
	}
	n = buildOne(t, log("[PLEG is not healthy: pleg was last seen active AGE ago; threshold is 10m0s, "+full+"]"))
	if len(n.Episodes) != 1 || n.Episodes[0].LastStart.At/1e9 != at2(t, "09:49:00.000")/1e9 && n.Episodes[0].LastStart.At/1e9 != at2(t, "09:48:59.999")/1e9 || n.Health[0].Proof != "report" {
		t.Errorf("episodes %+v, health %+v", n.Episodes, n.Health)
	}
}
