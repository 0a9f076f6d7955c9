package rules

import (
	"slices"
	"strings"
	"testing"
)

func TestBuiltinReads(t *testing.T) {
	p, probs := Builtin()
	for _, x := range probs {
		t.Error(x)
	}
	for _, x := range p.Check(nil) {
		t.Error(x)
	}
	if len(p.Causes) < 70 {
		t.Errorf("only %d causes", len(p.Causes))
	}
}

// TestLeadsReads tests that a clause with leads has no weight, is evidence against, and
// names a defined cause.
func TestLeadsReads(t *testing.T) {
	for clause, want := range map[string]string{
		"leads: [b]\n    weight: weak": "not both",
		"say: x":                       "needs a weight",
	} {
		_, probs := Read("x.yaml", []byte("id: a\nagainst:\n  - cond: hung-first\n    "+clause+"\n"))
		if !slices.ContainsFunc(probs, func(p Problem) bool { return strings.Contains(p.Msg, want) }) {
			t.Errorf("%q: %v", clause, probs)
		}
	}
	lead := &Clause{Cond: "hung-first", Leads: []string{"nobody"}}
	p := &Pack{Causes: []*Def{{ID: "a", For: []*Clause{lead}}}}
	got := p.Check(nil)
	for _, want := range []string{`stands behind "nobody"`, "speaks for it"} {
		if !slices.ContainsFunc(got, func(p Problem) bool { return strings.Contains(p.Msg, want) }) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}
