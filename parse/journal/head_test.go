package journal

import (
	"bytes"
	"testing"
)

// TestHeads changes every bit of texts of every length in turn.
func TestHeads(t *testing.T) {
	line := []byte("Nov 20 10:00:40 node-7.example.com kubelet[9]: I1120 10:00:40.123456     812 generic.go:77] and some more")
	for n := range len(line) {
		var h head
		var s stampHead
		h.set(line[:n])
		s.set(line[:n])
		if (h.n > 0) != (n >= 16 && n <= maxHead) || (s.n > 0) != (n >= 8 && n <= maxStamp) {
			t.Errorf("%d bytes: heads of %d and %d", n, h.n, s.n)
		}
		if h.n > 0 && !h.begins((*[maxHead]byte)(line)) || s.n > 0 && !s.begins((*[maxStamp]byte)(line)) {
			t.Errorf("%d bytes: not seen", n)
		}
		for i := range n {
			for bit := range 8 {
				other := bytes.Clone(line)
				other[i] ^= 1 << bit
				if h.n > 0 && h.begins((*[maxHead]byte)(other)) || s.n > 0 && s.begins((*[maxStamp]byte)(other)) {
					t.Errorf("%d bytes: bit %d of byte %d is not seen", n, bit, i)
				}
			}
		}
	}
}
