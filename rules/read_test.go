package rules

import "testing"

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
