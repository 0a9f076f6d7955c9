package report

import (
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// TestWorstNode: the screen shows the node in the worst state, and of nodes of which little is known the
// first one with something to tell.
func TestWorstNode(t *testing.T) {
	node := func(status string, silent bool, causes int) *model.Node {
		return &model.Node{Status: status, Silent: silent, Causes: make([]model.Cause, causes)}
	}
	silent, guess := node("unknown", true, 0), node("unknown", true, 1)
	listed, bad := node("unknown", false, 0), node("unhealthy", false, 0)
	for _, tt := range []struct {
		nodes []*model.Node
		want  *model.Node
	}{
		{nil, nil},
		{[]*model.Node{silent, guess}, guess},
		{[]*model.Node{silent, guess, listed}, listed},
		{[]*model.Node{listed, node("unknown", false, 0)}, listed},
		{[]*model.Node{silent, listed, bad, guess}, bad},
	} {
		if got := worstNode(tt.nodes); got != tt.want {
			t.Errorf("%v leads, want %v", got, tt.want)
		}
	}
}
