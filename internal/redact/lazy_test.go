package redact

import (
	"regexp"
	"testing"
)

// TestExpressions compiles each lazy expression, since a run may need it.
func TestExpressions(t *testing.T) {
	all := []func() *regexp.Regexp{letters, figures, goField, visited, replica, lists, attribute, property, option, goLabels, sample, reference, account, process, stamped}
	for _, list := range [][]shape{shapes, elsewhere, sentences, places} {
		for _, s := range list {
			all = append(all, s.re)
		}
	}
	for _, f := range credentials {
		all = append(all, f.re)
	}
	for _, re := range all {
		if re().String() == "" {
			t.Error("an expression is empty")
		}
	}
}
