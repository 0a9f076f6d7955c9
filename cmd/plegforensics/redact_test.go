package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/internal/redact"
	"github.com/plegforensics/plegforensics/internal/report"
)

// TestRedact: no name that was replaced anywhere is left in any format. The
// lines of the sample are real kubelet lines.
func TestRedact(t *testing.T) {
	mapping := filepath.Join(t.TempDir(), "map.json")
	for _, f := range report.Formats {
		out := output(t, "analyze", "-o", f.Name, "--verbose", "--redact", "--redact-map", mapping, filepath.Join(samples, "hang-list", "kubelet.log"))
		data, err := os.ReadFile(mapping)
		if err != nil {
			t.Fatal(err)
		}
		var replaced []redact.Replacement
		if err := json.Unmarshal(data, &replaced); err != nil {
			t.Fatal(err)
		}
		if len(replaced) < 5 {
			t.Errorf("%s: only %d names replaced", f.Name, len(replaced))
		}
		text := string(out) + islandOf(t, out)
		for _, r := range replaced {
			if left := regexp.MustCompile(`(^|[^A-Za-z0-9.-])` + regexp.QuoteMeta(r.Name) + `($|[^A-Za-z0-9.-])`).FindString(text); left != "" {
				t.Errorf("%s: %s %q is left", f.Name, r.Kind, r.Name)
			}
		}
		if strings.Contains(text, "ip-10-0-12-34") {
			t.Errorf("%s names the node", f.Name)
		}
	}
}

// islandOf unpacks the data of an HTML report.
func islandOf(t *testing.T, page []byte) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindSubmatch(page)
	if m == nil {
		return ""
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
