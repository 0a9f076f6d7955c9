package trial

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse/facts"
	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

var sigID = regexp.MustCompile(`^[a-z]+\.[a-z][a-z0-9-]*$`)

// literals returns the string literals in the Go files of a directory that look like
// signature IDs, with their positions.
func literals(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && sigID.MatchString(s) {
					out[s] = fset.Position(l.Pos()).String()
				}
			}
			return true
		})
	}
	return out
}

// goDirs returns the directories of the module that contain Go files other than tests.
func goDirs(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2) {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !slices.Contains(out, filepath.Dir(path)) {
			out = append(out, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSignaturesInCode tests that signature IDs in Go code exist.
func TestSignaturesInCode(t *testing.T) {
	set, areas := logs.Builtin(), map[string]bool{}
	for _, s := range set.Signatures() {
		area, _, _ := strings.Cut(s.ID, ".")
		areas[area] = true
	}
	n := 0
	for _, dir := range goDirs(t) {
		if strings.HasPrefix(dir, "../../parse") || strings.HasPrefix(dir, "../../internal/cmd") {
			continue // names of files and fields look alike; parse/logs tests the IDs used in parse
		}
		for id, at := range literals(t, dir) {
			area, _, _ := strings.Cut(id, ".")
			fact := slices.ContainsFunc(facts.Keys, func(k facts.Key) bool { return k.Name == id })
			switch {
			case set.Lookup(id) != nil:
				n++
			case areas[area] && !fact && !strings.HasSuffix(id, ".service"):
				t.Errorf("%s: no signature %q", at, id)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d ids were found", n)
	}
}

// TestSignaturesHaveEffect tests that each signature is used by a cause or by code, unless
// it is marked as context, and that none so marked is used.
func TestSignaturesHaveEffect(t *testing.T) {
	used := map[string]bool{}
	pack, probs := rules.Builtin()
	for _, p := range probs {
		t.Error(p)
	}
	for _, d := range pack.Causes {
		for _, c := range slices.Concat(d.For, d.Against) {
			for _, id := range append([]string{c.Args["first"], c.Args["then"]}, c.Sigs...) {
				used[id] = true
			}
		}
	}
	for _, dir := range goDirs(t) {
		for id := range literals(t, dir) {
			used[id] = true
		}
	}
	for _, s := range logs.Builtin().Signatures() {
		if !used[s.ID] && !s.Context {
			t.Errorf("%s:%d: nothing asks for %s", s.File, s.Line, s.ID)
		}
	}
}

// TestConditionArguments checks the arguments in the cause files against those of the
// conditions.
func TestConditionArguments(t *testing.T) {
	names, err := filepath.Glob("../causes/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, probs := rules.Read(name, data); len(probs) > 0 {
			t.Error(probs)
		}
	}
}
