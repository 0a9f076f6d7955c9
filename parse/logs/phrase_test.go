package logs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// phraseLine returns a line of containerd about one of a few IDs.
func phraseLine(rnd *rand.Rand) string {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	digits := strings.Repeat("0123456789abcdef", 4)
	id := pick(digits, digits[1:]+"0", digits[2:]+"00", digits[2:]+"ag", digits[1:], digits+"0", strings.Repeat("17", 32), "c0ffee01")
	level := pick("info", "info", "info", "error", "warning")
	msg := pick("StartContainer", "StopContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox", "PortForward") +
		pick(" for ", " for ", " for ", " ") + `\"` + id + `\"` +
		pick(" returns successfully", " returns successfully", "", " with timeout 30 (s)", " with timeout 2 (s)", " failed", " context deadline exceeded")
	msg = fmt.Sprintf(`time="2026-03-09T00:00:%02d.1%dZ" level=%s msg="%s"`, rnd.IntN(60), rnd.IntN(200), level, msg)
	switch rnd.IntN(8) {
	case 0:
		msg += ` error="rpc error: code = DeadlineExceeded desc = context deadline exceeded"`
	case 1:
		msg = damage(rnd, msg)
	}
	return msg
}

// TestPhrases checks that the result for a message does not depend on earlier
// messages about other IDs.
func TestPhrases(t *testing.T) {
	set := builtin(t)
	known, plain := set.NewMatcher(), set.NewMatcher()
	known.recent = new(recentLines)
	rnd := rand.New(rand.NewPCG(7, 8))
	interned := parse.NewStringTable()
	again := 0
	for range 30000 {
		msg := []byte(phraseLine(rnd))
		sev := "IIIEW\x00"[rnd.IntN(6)]
		got, want := known.Match(parse.SrcContainerd, sev, msg), plain.Match(parse.SrcContainerd, sev, msg)
		if ids(got) != ids(want) || len(known.hits) > 0 && known.hits[0] != plain.hits[0] || known.directOf != plain.directOf {
			t.Fatalf("%s, want %s: %s", ids(got), ids(want), msg)
		}
		if want == nil || known.directOf == nil {
			continue
		}
		d, p := known.direct, plain.direct
		if d.n != p.n || d.form != p.form {
			t.Fatalf("%d fields of form %b, want %d of %b: %s", d.n, d.form, p.n, p.form, msg)
		}
		for i, v := range d.values[:d.n] {
			if d.names[i] != p.names[i] || !bytes.Equal(v, p.values[i]) {
				t.Fatalf("%s %q, want %s %q: %s", d.names[i], v, p.names[i], p.values[i], msg)
			}
		}
		if d.packed {
			again++
			if interned.OfHexID(&d.hexID) != interned.Of(d.values[d.id]) {
				t.Fatalf("%q is packed as %x: %s", d.values[d.id], d.hexID, msg)
			}
		}
	}
	if again < 500 || len(known.recent.phrases) < 6 {
		t.Errorf("%d phrases of %d kinds came up again", again, len(known.recent.phrases))
	}
}
