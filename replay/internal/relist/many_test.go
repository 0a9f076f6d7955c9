package relist

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay/internal/kubelet"
)

// TestManySteps checks that of very many steps of the clock between two reports of one relist the first are kept and
// all are counted.
func TestManySteps(t *testing.T) {
	l := &ledger{s: new(kubelet.Log)}
	for i := range int64(parse.Many + 5) {
		l.stepped(kubelet.Age{At: i}, kubelet.Age{At: i + 1, Age: 9})
	}
	if len(l.against) != parse.Many || l.steps != parse.Many+5 {
		t.Errorf("%d kept of %d", len(l.against), l.steps)
	}
}
