package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestCollectNext: what the cause asks for and the node lacks is said once, with the
// command.
func TestCollectNext(t *testing.T) {
	n := &model.Node{Collect: []model.Need{
		{What: "the log of the container runtime", Why: "it tells", Command: "get runtime"},
		{What: "the kernel log", Why: "it tells more", Command: "get kernel"},
	}}
	var b bytes.Buffer
	p := newPrinter(&b, Options{Width: 100})
	p.collectNext(n, &model.Cause{Missing: []string{"the log of the container runtime for the time of the stall"}})
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `
Collect next
  - The log of the container runtime for the time of the stall
    $ get runtime
  - The kernel log: it tells more
    $ get kernel
`
	if got := b.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s", got)
	}
}
