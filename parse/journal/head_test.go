package journal

import (
	"bytes"
	"testing"
)

// TestHead flips every bit of texts of every length.
func TestHead(t *testing.T) {
	line := []byte("Nov 20 10:00:40 node-7.example.com kubelet[9]: I1120 10:00:40.123456     812 generic.go:77] and some more")
	for n := range len(line) {
		var h head
		h.set(line[:n])
		if (h.n > 0) != (n >= 16 && n <= maxHead) {
			t.Errorf("%d bytes: a head of %d", n, h.n)
		}
		if h.n == 0 {
			continue
		}
		if !h.begins((*[maxHead]byte)(line)) {
			t.Errorf("%d bytes: not seen", n)
		}
		for i := range n {
			for bit := range 8 {
				other := bytes.Clone(line)
				other[i] ^= 1 << bit
				if h.begins((*[maxHead]byte)(other)) {
					t.Errorf("%d bytes: bit %d of byte %d is not seen", n, bit, i)
				}
			}
		}
	}
}
