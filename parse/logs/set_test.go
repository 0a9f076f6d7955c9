package logs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegforensics/plegforensics/parse"
)

func builtin(t testing.TB) *Set {
	t.Helper()
	sigs, err := BuiltinSignatures()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Build(sigs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSamples checks every sample and every "not" line of the built-in signatures
// with both ways of matching.
func TestSamples(t *testing.T) {
	set := builtin(t)
	for _, e := range set.entries {
		for i, sample := range e.Samples {
			msg := []byte(sample.Msg)
			fast, slow := set.Match(sample.Source, 0, msg), set.MatchBrute(sample.Source, 0, msg)
			if d := cmp.Diff(ids(slow), ids(fast)); d != "" {
				t.Errorf("%s:%d: %s sample %d: Match and MatchBrute differ (-brute +match):\n%s", e.File, e.Line, e.ID, i, d)
			}
		}
		for _, msg := range set.untrue(e) {
			t.Errorf("%s:%d: %s", e.File, e.Line, msg)
		}
	}
}

func ids(s *parse.SigSet) string {
	if s == nil {
		return ""
	}
	var out []string
	for _, g := range s.Sigs {
		out = append(out, g.ID)
	}
	return strings.Join(out, " ")
}
