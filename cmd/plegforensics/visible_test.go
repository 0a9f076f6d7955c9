package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestStderr: whatever a name holds, a message on standard error stays a line of its
// own and moves no cursor; so those of errors and hints, of warnings and of flags.
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
