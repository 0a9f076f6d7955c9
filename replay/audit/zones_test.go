package audit

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestAssumedZone: where the zone of the kubelet's log is only assumed, no event of it is
// late or unexpected, unless the events show that the assumption holds.
func TestAssumedZone(t *testing.T) {
	for _, c := range []struct {
		name  string
		basis parse.Basis
		lag   float64 // of the events, s
		want  string
	}{
		{"stated, in time", parse.Stated, 1, "matched"},
		{"stated, late", parse.Stated, 3600, "late"},
		{"stated, before the cause", parse.Stated, -3600, "observed"},
		{"assumed, in time", parse.ZoneGuessed, 1, "matched"},
		{"assumed, late", parse.ZoneGuessed, 3600, "observed"},
		{"assumed, before the cause", parse.YearInferred, -3600, "observed"},
	} {
		var lines []*parse.Event
		for i, id := range []string{"c0", "c1", "c2", "c3"} {
			at := 10 + 10*float64(i)
			event := plegLine(at+c.lag, "ContainerStarted", id)
			event.Basis = c.basis
			lines = append(lines, lifeLine(at, "started", id), event)
		}
		n := auditNode(lines...)
		n.Clocks = []parse.FileClock{{File: auditFile, Header: parse.ZoneInfo{Basis: "assumed: no zone recognized for lines without one"}}}
		n.read()
		for _, v := range strings.Split(verdicts(n), ", ") {
			if !strings.HasSuffix(v, " "+c.want) {
				t.Errorf("%s: %s", c.name, v)
			}
		}
		if known := c.want != "observed" || c.basis == parse.Stated; n.Audit.Audited != known {
			t.Errorf("%s: audited %v, notes %q", c.name, n.Audit.Audited, n.Audit.Notes)
		}
	}
}
