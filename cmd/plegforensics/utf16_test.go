package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestRuleFilesInUTF16: PowerShell saves the output of kubectl as UTF-16.
func TestRuleFilesInUTF16(t *testing.T) {
	const object = "kind: PrometheusRule\r\nspec:\r\n  groups:\r\n  - name: g\r\n    rules:\r\n    - alert: A\r\n      expr: x{y=\"ü🚀\"} > 0\r\n"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var data []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + object)) {
			data = order.AppendUint16(data, u)
		}
		name := filepath.Join(t.TempDir(), "r.yaml")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(context.Background(), []string{"plegforensics", "rules", "check", name}, strings.NewReader(""), &out, &errs)
		if code != 0 || out.String() != "1 rule in 1 group, no mistakes\n" {
			t.Errorf("%v: exit %d %s%s", order, code, out.String(), errs.String())
		}
	}
}
