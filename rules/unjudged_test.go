package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// TestUnjudged tests that a cause is unjudged exactly if the input has no source that could
// show its core evidence, and that the sources are named.
func TestUnjudged(t *testing.T) {
	p, _ := Builtin()
	needs := func(n *replay.Node) map[string][]string {
		out := map[string][]string{}
		for _, u := range Eval(n, p).Unjudged {
			out[u.ID] = u.Needs
		}
		return out
	}
	of := needs(&replay.Node{Records: replay.Records{Have: map[parse.Source]bool{parse.SrcKubelet: true}}})
	if got := of["kernel-netdev-refcount-leak"]; !slices.Contains(got, "kernel log") {
		t.Errorf("without a kernel log it needs %q", got)
	}
	if got := of["kernel-epoll-pipe-regression"]; !slices.Contains(got, "kernel release and command line") {
		t.Errorf("without a kernel version it needs %q", got)
	}
	if got, ok := of["runtime-down"]; ok {
		t.Errorf("with a kubelet log it needs %q", got)
	}
	of = needs(&replay.Node{Records: replay.Records{Have: map[parse.Source]bool{parse.SrcKernel: true}}})
	if got, ok := of["kernel-netdev-refcount-leak"]; ok {
		t.Errorf("with a kernel log it needs %q", got)
	}
	for _, d := range p.Causes {
		for _, c := range d.For {
			if area, _, _ := strings.Cut(c.Fact, "."); area != "" && factWords[area] == "" {
				t.Errorf("%s: facts of %s have no words", d.ID, area)
			}
		}
	}
	for name := range conditionNeeds {
		if conditionByName(name) == nil {
			t.Errorf("no condition %s", name)
		}
	}
}

// TestManyNodesWithLittle limits the allocations for a node without events: asking about a
// signature that no event has is free, and the places of evidence are determined once for
// all nodes.
func TestManyNodesWithLittle(t *testing.T) {
	p, _ := Builtin()
	n := &replay.Node{Records: replay.Records{Have: map[parse.Source]bool{parse.SrcKubelet: true}}}
	got := testing.AllocsPerRun(20, func() { Eval(n, p) })
	if got > 600 {
		t.Errorf("%v allocations for a node without a line", got)
	}
}
