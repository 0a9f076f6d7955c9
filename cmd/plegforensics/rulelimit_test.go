package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRuleLimits checks that a rule file of very many documents, or mistakes, is read and told of no further than a limit.
func TestRuleLimits(t *testing.T) {
	var keys strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for _, c := range []struct{ name, text string }{
		{"docs", strings.Repeat("---\nid: x\n", 200_000)},
		{"keys", "id: x\n" + keys.String()},
	} {
		path := filepath.Join(t.TempDir(), c.name+".yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, stderr bytes.Buffer
		code := run(context.Background(), []string{"plegforensics", "rules", "check", path}, nil, &out, &stderr)
		if lines := strings.Count(out.String(), "\n"); code != exitUsage || lines != mostMistakes+1 || !strings.Contains(out.String(), "\nand ") {
			t.Errorf("%s: exit %d, %d lines", c.name, code, lines)
		}
	}
}
