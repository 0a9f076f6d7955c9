package report

import (
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/rules"
)

// TestWorstNode: the screen shows the node in the worst state, and of nodes of which little is known the
// first one with something to tell.
func TestWorstNode(t *testing.T) {
	node := func(name, status, summary string, causes int) *model.Node {
		return &model.Node{Name: name, Status: status, Summary: name + ": " + summary, Causes: make([]model.Cause, causes)}
	}
	silent := node("a", "unknown", rules.NotEnough+". Collect the log", 0)
	guess := node("b", "unknown", rules.NotEnough+"; cause unknown, x is possible", 1)
	listed := node("c", "unknown", "a table of nodes lists it as NotReady", 0)
	bad := node("d", "unhealthy", "PLEG unhealthy", 0)
	for _, tt := range []struct {
		nodes []*model.Node
		want  *model.Node
	}{
		{nil, nil},
		{[]*model.Node{silent, guess}, guess},
		{[]*model.Node{silent, guess, listed}, listed},
		{[]*model.Node{listed, node("e", "unknown", "a table of nodes lists it as NotReady", 0)}, listed},
		{[]*model.Node{silent, listed, bad, guess}, bad},
	} {
		if got := worstNode(tt.nodes); got != tt.want {
			t.Errorf("%v leads, want %v", got, tt.want)
		}
	}
}
