package genlog

import (
	"bytes"
	"testing"
)

// TestShares checks the mix of lines that benchmarks rely on.
func TestShares(t *testing.T) {
	var a, b bytes.Buffer
	opt := Options{Bytes: 24 << 20, Seed: 1, Errors: 2}
	if err := Write(&a, opt); err != nil {
		t.Fatal(err)
	}
	if err := Write(&b, opt); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same seed gives other bytes")
	}
	lines := bytes.Count(a.Bytes(), []byte("\n"))
	share := func(word string) int { return 1000 * bytes.Count(a.Bytes(), []byte(word)) / lines }
	if n := share("PLEG"); n < 40 || n > 90 {
		t.Errorf("%d of 1000 lines are about PLEG", n)
	}
	if n := share("kubelet[812]: "); n < 650 || n > 760 {
		t.Errorf("%d of 1000 lines are the kubelet's", n)
	}
	if n := a.Len() / lines; n < 200 || n > 320 {
		t.Errorf("lines are %d bytes long", n)
	}
	for _, word := range []string{"pleg was last seen active 3m", "DeadlineExceeded", "ContainerDied"} {
		if !bytes.Contains(a.Bytes(), []byte(word)) {
			t.Errorf("%q never comes", word)
		}
	}
}
