package logs

import (
	"strings"
	"testing"
)

// TestSecondHeader: what a second header dates on a line is not dated by the first; a
// quoted header dates nothing.
func TestSecondHeader(t *testing.T) {
	const (
		event = `I1120 23:40:35.447491    5203 kubelet.go:1933] SyncLoop (PLEG): "web_default(a6d3)", event: &pleg.PodLifecycleEvent{ID:"a6d3", Type:"ContainerStarted", Data:"9283f3703e4e"}`
		skip  = `I1120 23:45:02.178295    5203 kubelet.go:1826] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m0.073585047s ago; threshold is 3m0s`
		host  = "Nov 20 23:40:35 node-1 kubelet[5203]: "
		later = "Nov 20 23:45:02 node-1 kubelet[5203]: "
	)
	other := strings.Replace(skip, "5203", "5204", 1)
	for _, c := range []struct {
		name, in string
		records  int
		left     bool // a warning says what was left out
	}{
		{"a blank", event + " " + skip, 2, false},
		{"no blank", event + skip, 2, false},
		{"three", event + skip + " " + skip, 3, false},
		{"columns", event[:len(event)-8] + "       | " + skip, 2, false},
		{"framed", host + event + later + skip, 2, false},
		{"another process", event + " " + other, 1, true},
		{"framing is lost", host + event + " " + skip, 1, true},
		{"quoted", `E1120 23:40:35.447491    5203 kubelet.go:1] "PLEG is not healthy" output="` + skip + `" pod="default/web"`, 1, false},
		{"quoted, escaped", `E1120 23:40:35.447491    5203 kubelet.go:1] "PLEG is not healthy" err="said \"` + skip + `\"" pod="default/web"`, 1, false},
		{"one", event, 1, false},
	} {
		p := decodeString(c.in + "\n")
		at := map[int64]bool{}
		for _, e := range p.Events {
			at[e.Raw().Header.NS] = true
			if strings.Contains(e.Message(), "last seen") && c.records > 1 && !strings.HasPrefix(e.Quote(), "I1120 23:45") && !strings.HasPrefix(e.Quote(), later) {
				t.Errorf("%s: the age stands in %q", c.name, e.Quote())
			}
		}
		if n := len(p.Events); n != c.records || len(at) != min(n, 2) || len(p.Warnings) > 0 != c.left || p.Coverage[0].Lines != 1 {
			t.Errorf("%s: %d records at %d times, %d lines, warnings %v", c.name, n, len(at), p.Coverage[0].Lines, p.Warnings)
		}
	}
}
