package redact

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestSaid: no word of the program's own messages is taken for a name. They pass through the
// redactor when they are about an input or go to standard error.
func TestSaid(t *testing.T) {
	for _, dir := range []string{"cmd/plegforensics", "internal/report", "internal/fleet", "internal/compare", "parse", "replay", "rules"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "signatures"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil && strings.Count(s, " ") > 1 && !strings.ContainsAny(s, `\|<{[`) {
						said(t, path, s)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func said(t *testing.T, path, s string) {
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) {
			i++
			continue
		}
		j := wordEnd(s, i)
		if i > 0 && s[i-1] == '%' { // a formatting verb
			i++
		}
		if w := s[i:j]; isStrange(w) && w != "kipping" && w != "onnect" { // searched for without their first letter, which may be of either case
			t.Errorf("%s: %q in %.100q", path, w, s)
		}
		i = j
	}
}
