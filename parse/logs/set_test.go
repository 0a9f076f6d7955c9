package logs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// TestSamples holds every sample and every "not" line of the built-in
// signatures against both ways of matching.
func TestSamples(t *testing.T) {
	set := builtin(t)
	for _, e := range set.entries {
		for i, sample := range e.Samples {
			msg := []byte(sample.Msg)
			fast, slow := set.Match(sample.Source, 0, msg), set.MatchBrute(sample.Source, 0, msg)
			if d := cmp.Diff(ids(slow), ids(fast)); d != "" {
				t.Errorf("%s:%d: %s sample %d: Match and MatchBrute differ (-brute +match):\n%s", e.File, e.Line, e.ID, i, d)
			}
			sig := matched(fast, e)
			if sig == nil {
				t.Errorf("%s:%d: %s sample %d does not match; it matches %v:\n%s", e.File, e.Line, e.ID, i, ids(fast), sample.Msg)
				continue
			}
			want, got := append(slices.Clone(sample.Fields), missing(sample.Fields, e.Set)...), sig.Extract(sample.Msg, nil)
			if d := cmp.Diff(want, got, byName, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s:%d: %s sample %d: fields (-want +got):\n%s", e.File, e.Line, e.ID, i, d)
			}
		}
		for _, line := range e.Not {
			src := parse.SrcUnknown
			if len(e.Sources) > 0 {
				src = e.Sources[0]
			}
			if s := set.Match(src, 0, []byte(line)); matched(s, e) != nil {
				t.Errorf("%s:%d: %s must not match: %s", e.File, e.Line, e.ID, line)
			}
		}
	}
}

var byName = cmpopts.SortSlices(func(a, b parse.Field) bool { return a.Name < b.Name })

// missing returns the constant fields that a sample leaves out.
func missing(have, set []parse.Field) []parse.Field {
	return slices.DeleteFunc(slices.Clone(set), func(f parse.Field) bool {
		return slices.ContainsFunc(have, func(g parse.Field) bool { return g.Name == f.Name })
	})
}

func matched(s *parse.SigSet, e *entry) *parse.Sig {
	if s == nil {
		return nil
	}
	for _, g := range s.Sigs {
		if g == e.sig {
			return g
		}
	}
	return nil
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
