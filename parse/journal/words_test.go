package journal

import (
	"bytes"
	"testing"
)

// TestBegins changes every bit of texts of every length in turn.
func TestBegins(t *testing.T) {
	line := []byte("Nov 20 10:00:40 node-7.example.com kubelet[9]: I1120 10:00:40.123456     812 generic.go:77] and some more")
	for n := range len(line) - 8 {
		text := bytes.Clone(line[:n])
		if !begins(line, text) || !begins(line[:n], text) || n > 0 && begins(line[:n-1], text) {
			t.Errorf("%d bytes: wrong about the same text", n)
		}
		for i := range text {
			for bit := range 8 {
				text[i] ^= 1 << bit
				if begins(line, text) {
					t.Errorf("%d bytes: bit %d of byte %d is not seen", n, bit, i)
				}
				text[i] ^= 1 << bit
			}
		}
	}
}
