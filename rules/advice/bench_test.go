package advice

import (
	"testing"

	"github.com/plegforensics/plegforensics/replay"
)

// BenchmarkOfNode advises on a node of which nothing but a kubelet's lines is known. A log may name
// thousands.
func BenchmarkOfNode(b *testing.B) {
	n := new(replay.Node)
	n.Name, n.Window.Start, n.Window.End = "n1", 1e18, 1e18+1e12
	b.ReportAllocs()
	for b.Loop() {
		OfNode(n, nil, CommandsFor(n, nil))
	}
}
