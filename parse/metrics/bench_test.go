package metrics

import (
	"bytes"
	"fmt"
	"testing"
)

// snapshotText returns a snapshot of n series in the form that a kubelet writes.
func snapshotText(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		if i%20 == 0 {
			fmt.Fprintf(&b, "# HELP m_%d_total help\n# TYPE m_%d_total counter\n", i/20, i/20)
		}
		fmt.Fprintf(&b, "m_%d_total{operation_type=\"op_%d\",container=\"c\",namespace=\"kube-system\"} %g\n", i/20, i%20, float64(i)*1.25)
	}
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	text := snapshotText(3000)
	f := metricsFile("m/20261120T233100Z.prom")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Decode(f, text, Want{})
	}
}

// BenchmarkSet decodes and merges the same snapshot repeatedly, as for a directory
// of snapshots.
func BenchmarkSet(b *testing.B) {
	text := snapshotText(3000)
	f := metricsFile("m/20261120T233100Z.prom")
	set := NewSet()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		set.Add(Decode(f, text, Want{}))
	}
}
