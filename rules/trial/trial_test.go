package trial

import (
	"testing"

	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// TestBuiltinCases runs the test cases of every built-in cause.
func TestBuiltinCases(t *testing.T) {
	pack, probs := rules.Builtin()
	for _, p := range probs {
		t.Error(p)
	}
	for _, o := range Run(pack, logs.Builtin()) {
		if o.Fail != "" {
			t.Error(o)
		}
	}
}

// TestNamesExist: every signature and fact key that a cause cites exists.
func TestNamesExist(t *testing.T) {
	pack, _ := rules.Builtin()
	for _, p := range pack.Check(signatures(t), factKeys()) {
		t.Error(p)
	}
}

func signatures(t *testing.T) []string {
	t.Helper()
	sigs, err := logs.BuiltinSignatures()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range sigs {
		ids = append(ids, s.ID)
	}
	return ids
}

func factKeys() []string {
	var keys []string
	for _, k := range facts.Keys {
		keys = append(keys, k.Name)
	}
	return keys
}
