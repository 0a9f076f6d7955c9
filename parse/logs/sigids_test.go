package logs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestSigIDs checks the IDs that code relies on (parse/sigids.go) against the
// signatures: each exists, and some sample yields each field that the ID's comment
// names before its first colon.
func TestSigIDs(t *testing.T) {
	set := builtin(t)
	f, err := parser.ParseFile(token.NewFileSet(), "../sigids.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		v, ok := node.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		id := strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
		n++
		if set.Lookup(id) == nil {
			t.Errorf("%s = %q has no signature", v.Names[0].Name, id)
			return true
		}
		for _, name := range namedFields(v.Comment.Text()) {
			if !yields(set, id, name) {
				t.Errorf("no sample of %s yields field %s", id, name)
			}
		}
		return true
	})
	if n < 30 {
		t.Errorf("found only %d ids", n)
	}
}

var (
	parenRE     = regexp.MustCompile(`\([^)]*\)`)
	fieldListRE = regexp.MustCompile(`^[a-z_]+(, [a-z_]+)*$`)
)

// namedFields reads the comma-separated list that a comment begins with.
func namedFields(comment string) []string {
	list, _, found := strings.Cut(strings.TrimSpace(parenRE.ReplaceAllString(comment, "")), ":")
	list = strings.Join(strings.Fields(strings.ReplaceAll(list, " ,", ",")), " ")
	if !found && strings.Contains(list, `"`) || !fieldListRE.MatchString(list) {
		return nil
	}
	return strings.Split(list, ", ")
}

func yields(set *Set, id, field string) bool {
	for _, e := range set.entries {
		if e.ID != id {
			continue
		}
		for _, s := range e.Samples {
			for _, f := range e.fields(s.Msg, nil) {
				if f.Name == field {
					return true
				}
			}
		}
	}
	return false
}

// TestBuiltinDocs checks that every built-in entry has a doc sentence, literals
// that do not contain one another, and lines that no other entry finds.
func TestBuiltinDocs(t *testing.T) {
	for _, m := range doubles(builtin(t).Signatures(), 0) {
		if strings.Contains(m.Msg, "finds the same lines") {
			t.Error(m)
		}
	}
	for _, e := range builtin(t).entries {
		if !strings.HasSuffix(e.Doc, ".") {
			t.Errorf("%s:%d: %s has no doc sentence", e.File, e.Line, e.ID)
		}
		for i, a := range e.Literals {
			if slices.ContainsFunc(e.Literals[i+1:], func(b string) bool { return strings.Contains(a, b) || strings.Contains(b, a) }) {
				t.Errorf("%s:%d: %s: literal %q overlaps another one", e.File, e.Line, e.ID, a)
			}
		}
	}
}

// TestDoubles checks that a user signature is refused if it finds only lines of
// another one with the same or more writers, and accepted if it has additional
// writers.
func TestDoubles(t *testing.T) {
	copied := func(of string, sources ...parse.Source) *Signature {
		all := builtin(t).Signatures()
		s := *all[slices.IndexFunc(all, func(s *Signature) bool { return s.ID == of })]
		s.ID, s.File, s.Sources = "acme.copy", "acme.yaml", sources
		return &s
	}
	for _, tt := range []struct {
		sources []parse.Source
		refused bool
	}{
		{[]parse.Source{parse.SrcKernel, parse.SrcKubeEvents}, true},
		{[]parse.Source{parse.SrcKernel}, true},
		{[]parse.Source{parse.SrcKernel, parse.SrcSystem}, false},
		{nil, false},
	} {
		s := copied("k.oom", tt.sources...)
		_, bad := Extend([]*Signature{s})
		if refused := len(bad) > 0 && strings.Contains(bad[0].Msg, "finds the same lines as k.oom"); refused != tt.refused {
			t.Errorf("of %q: %v", tt.sources, bad)
		}
	}
}
