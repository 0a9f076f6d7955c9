package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var buildsProgram = regexp.MustCompile(`exec\.Command(?:Context)?\([^)]*"go", "(?:build|run|install)"|[^a-zA-Z.]run\("v`)

// TestNoBuilds: tests that build programs run only in CI (.ci/run), which sets the variable that
// they check: "go test ./..." must finish on a small machine with cold caches, and the go command
// gives each package ten minutes.
func TestNoBuilds(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "builds_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !buildsProgram.Match(data) {
			return err
		}
		seen++
		all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*_test.go"))
		if err != nil {
			return err
		}
		for _, name := range all {
			guard, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if strings.Contains(string(guard), `os.Getenv("PLEGFORENSICS_B`) { // …BUILDS, …BROWSER
				return nil
			}
		}
		t.Errorf("%s builds a program and asks for no variable of the gate", path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 3 {
		t.Errorf("only %d files that build programs were found: has the way changed?", seen)
	}
}
