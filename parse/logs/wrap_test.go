package logs

import (
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestWrappedLines checks that a line about PLEG that a terminal wrapped becomes
// one line again, at whatever column it was wrapped, with or without a framing
// header.
func TestWrappedLines(t *testing.T) {
	const age = "E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 10m18.040734348s ago; threshold is 3m0s"
	for _, framing := range []string{"", "Dec 06 18:56:49 worker-7 kubelet[1234]: "} {
		line := framing + age
		first := strings.Index(line, "skipping") + 4
		for at := first; at < len(line)-len("is 3m0s"); at++ {
			for _, broken := range []string{line[:at] + "\n" + line[at:], strings.TrimRight(line[:at], " ") + "\n" + strings.TrimLeft(line[at:], " ")} {
				part := decodeString(line + "\n" + broken + "\n")
				if len(part.Events) != 2 {
					t.Fatalf("broken at %q: %d events, want 2", line[at:], len(part.Events))
				}
				e := part.Events[1]
				if e.Field("age") != "10m18.040734348s" || e.Field("threshold") != "3m0s" || !e.Is(parse.SigSkip) || !e.Headed {
					t.Errorf("broken at %q: %q, fields %v", line[at:], e.Message(), e.Fields())
				}
			}
		}
	}
}

// TestLinesThatAreNotWrapped checks that what follows a line about PLEG without
// being part of it stays separate.
func TestLinesThatAreNotWrapped(t *testing.T) {
	const cut = "Dec 06 18:56:49 worker-7 kubelet[1234]: E1206 18:56:49.123456    1234 kubelet.go:1847] skipping pod synchronization - PLEG is not healthy: pleg was last s>"
	for _, next := range []string{"active 3m0s ago", "the node went away 10m ago", "of PLEG that is all", "een"} {
		part := decodeString(cut + "\n" + next + "\n")
		if got := part.Events[0].Message(); strings.Contains(got, "\n") || strings.HasSuffix(got, next) {
			t.Errorf("%q was joined: %q", next, got)
		}
	}
}
