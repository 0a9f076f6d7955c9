package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// printed runs the command and returns what it printed, paths of this machine
// cut to the sample's own.
func printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(samples+string(filepath.Separator)), []byte("samples/"))
}
