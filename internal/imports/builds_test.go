package imports

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

// TestNightly: the nightly script runs every fuzz target, wherever it is.
func TestNightly(t *testing.T) {
	var want []string
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range fuzzTarget.FindAllSubmatch(data, -1) {
			want = append(want, strings.Replace(filepath.Dir(path), "../..", ".", 1)+" "+string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	script := filepath.Join("..", "..", "scripts", "fuzz-nightly.sh")
	out, err := exec.Command("bash", script, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 29 {
		t.Errorf("%s runs %q, want %q", script, got, want)
	}
}
