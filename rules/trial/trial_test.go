package trial

import (
	"regexp"
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
	for _, o := range Run(pack) {
		if o.Fail != "" {
			t.Error(o)
		}
	}
}

// TestNamesExist tests that every signature and fact key that a cause refers to exists.
func TestNamesExist(t *testing.T) {
	pack, _ := rules.Builtin()
	for _, p := range pack.Check(factKeys()) {
		t.Error(p)
	}
}

// TestFieldsExist tests that every field that a clause tests, or uses in its sentence, is
// extracted by a signature of the clause or is a variable of the subject.
func TestFieldsExist(t *testing.T) {
	fields := signatureFields(t)
	pack, _ := rules.Builtin()
	for _, d := range pack.Causes {
		for _, c := range append(append([]*rules.Clause{}, d.For...), d.Against...) {
			if len(c.Sigs) == 0 {
				continue
			}
			have := map[string]bool{}
			for _, v := range []string{"writer", "node", "timeout", "runtime", "kubelet", "start", "breach", "age", "threshold", "step"} {
				have[v] = true
			}
			for _, id := range c.Sigs {
				for f := range fields[id] {
					have[f] = true
				}
			}
			for _, w := range c.Where {
				if !have[w.Name] {
					t.Errorf("%s:%d: no signature of %v extracts field %q", c.Place.File, c.Place.Line, c.Sigs, w.Name)
				}
			}
			for _, m := range placeholder.FindAllStringSubmatch(c.Say, -1) {
				if !have[m[1]] {
					t.Errorf("%s:%d: {%s} in %q is a field of no signature of %v", c.Place.File, c.Place.Line, m[1], c.Say, c.Sigs)
				}
			}
		}
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// signatureFields returns the fields of each signature, according to its samples and
// regular expressions.
func signatureFields(t *testing.T) map[string]map[string]bool {
	t.Helper()
	sigs, err := logs.BuiltinSignatures()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for _, s := range sigs {
		if out[s.ID] == nil {
			out[s.ID] = map[string]bool{}
		}
		for _, sample := range s.Samples {
			for _, f := range sample.Fields {
				out[s.ID][f.Name] = true
			}
		}
		for _, re := range s.Regexps {
			for _, name := range re.SubexpNames() {
				out[s.ID][name] = true
			}
		}
	}
	return out
}

func factKeys() []string {
	var keys []string
	for _, k := range facts.Keys {
		keys = append(keys, k.Name)
	}
	return keys
}
