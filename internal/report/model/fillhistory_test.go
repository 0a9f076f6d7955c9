package model

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestAgesOnce: the bounds of the age are derived once, whatever asks for them.
func TestAgesOnce(t *testing.T) {
	const second = 1e9
	n := &Analyzed{Node: &replay.Node{Window: replay.Window{Start: second, End: 400 * second}}}
	n.Kubelet.Threshold, n.Episodes = 180*second, []replay.Episode{{ID: 1}}
	n.Health = []replay.HealthSpan{{Span: replay.Span{From: second, To: 400 * second}, State: replay.Healthy}}
	h := Fill(&Analysis{Nodes: []Analyzed{*n}, Inputs: []parse.Input{{Path: "a"}}}, nil).Nodes[0].History
	a, b := h.Ages(), h.Ages()
	if len(a) == 0 || len(b) == 0 || &a[0] != &b[0] {
		t.Errorf("two calls gave %v and %v", a, b)
	}
}
