package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStderr: whatever a name contains, a message on standard error stays on its own line and does
// not move the cursor; this includes errors, hints, warnings and flags.
func TestStderr(t *testing.T) {
	hostile := "a\nplegforensics: error: made up\r\x1b[31m\u202e"
	for _, args := range [][]string{
		{"analyze", filepath.Join(t.TempDir(), hostile)}, {"analyze", "--" + hostile, "x"}, {hostile},
		{"query", "-e", "up", "--time", hostile, filepath.Join(samples, "healthy")}, {"explain", hostile},
		{"analyze", "--kubelet-version", "v1.99.0" + hostile, filepath.Join(samples, "healthy")},
		{"batch", filepath.Join(t.TempDir(), hostile)}, {"rules", "check", hostile},
	} {
		var out, errs bytes.Buffer
		run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs)
		if strings.ContainsAny(errs.String(), "\r\x1b\u202e") || strings.Contains(errs.String(), "\nplegforensics: error: made up") || errs.Len() == 0 {
			t.Errorf("%q: %q", args, errs.String())
		}
	}
}

// TestRuleWords: text of rule files does not move the cursor either, whichever command prints it.
func TestRuleWords(t *testing.T) {
	builtin, err := os.ReadFile(filepath.Join(repository, "rules", "causes", "api-server-unreachable.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "own.yaml")
	for _, change := range [][2]string{
		{"title: ", "title: \"made \\e[31mup\\u202e\" #"}, {"id: ", "id: \"made \\e[31mup\\u202e\" #"}, {"  - name: leases fail", "  - name: \"made \\e[31mup\\u202e\"\n    at-most: possible"},
	} {
		own := strings.Replace(strings.Replace(string(builtin), "id: api-server-unreachable", "id: made-up", 1), change[0], change[1], 1)
		if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"rules", "list", "--rules", path}, {"rules", "check", path}, {"rules", "test", path}, {"explain", "--rules", path, "made-up"}} {
			var out, errs bytes.Buffer
			run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs)
			if said := out.String() + errs.String(); strings.ContainsAny(said, "\r\x1b\u202e") || said == "" {
				t.Errorf("%q: %q", args, said)
			}
		}
	}
}
