package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// printed runs a command and returns its output, with local paths of samples shortened.
func printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(samples+string(filepath.Separator)), []byte("samples/"))
}
