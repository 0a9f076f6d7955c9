package logs

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestManyLogs: an archive may contain a hundred thousand small logs. The head of
// each is searched for sentences only once, and content that is not prose is not
// searched for source code.
func TestManyLogs(t *testing.T) {
	export := []byte("__REALTIME_TIMESTAMP=1710000000000001\n_HOSTNAME=node-1\nSYSLOG_IDENTIFIER=kubelet\nMESSAGE=func main() {\n\n")
	line := []byte("2024-03-13T15:30:00Z stderr F if err != nil {\n")
	for _, head := range [][]byte{export, line} {
		most := float64(7 + 3*bytes.Count(head, []byte("\n")))
		least := math.Inf(1) // the race detector lets pools lose what they hold now and then
		for range 20 {
			least = min(least, testing.AllocsPerRun(1, func() { NewDecoder(&parse.File{Path: "x"}, head, Builtin(), Options{}) }))
		}
		if least > most {
			t.Errorf("%.40q: %v allocations, more than %v", head, least, most)
		}
	}
	code := ""
	for i := range 3 {
		code += fmt.Sprintf("if err := run(%d); err != nil {\n", i)
	}
	if !IsGuide([]byte(code)) || !IsGuide([]byte(code[:len(code)-1])) || IsGuide([]byte(code[len(code)/3:])) {
		t.Error("three lines of code are source code, two are not")
	}
}

// TestMayBeCode: no line of code is left out by the quick look at how lines begin.
func TestMayBeCode(t *testing.T) {
	paths, err := filepath.Glob("../../*/*/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	paths = append(paths, "guide.go", "many_test.go")
	code := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 1<<20 {
			continue
		}
		for _, at := range codeRE().FindAllIndex(text, -1) {
			code++
			if line, _, _ := bytes.Cut(text[at[0]:], []byte("\n")); !mayBeCode(line) {
				t.Fatalf("%s: %q", path, line)
			}
		}
	}
	for _, line := range []string{"+\tx", "{ a: [x,", "a: b, c: d", "x.y(", "f(a,\n\"x\"", " /* x", "@@ -1", "a, b :=", "a[b] += c;", "default_x = {"} {
		if codeRE().MatchString(line) != mayBeCode([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
	for _, line := range []string{"Mar 13 15:30:00 node-1 kubelet[812]: x", `{"msg":"x"}`, "2024-03-13T15:30:00Z stderr F if x {"} {
		if mayBeCode([]byte(line)) {
			t.Errorf("%q begins as code does", line)
		}
	}
	if code < 10000 {
		t.Errorf("only %d lines of code", code)
	}
}
