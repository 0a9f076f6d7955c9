package bundle

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// TestOwnReports: what this program wrote about a bundle, left beside it, is not
// read as another log.
func TestOwnReports(t *testing.T) {
	dir := t.TempDir()
	const line = `E0304 10:03:05.000000    2114 kubelet.go:2347] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"`
	for name, text := range map[string]string{
		"kubelet.log":    line + "\n",
		"report.json":    "{\n  \"schema\": \"plegforensics/report/v1\",\n  \"nodes\": [{\"evidence\":[{\"time\":\"2026-03-04T10:03:05Z\",\"text\":\"PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s\"}]}]}\n",
		"replay.json":    `{"schema":"plegforensics/replay/v1","relists":[]}` + "\n",
		"report.html":    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"plegforensics\">\n</head><body><pre>\n" + line + "\n</pre></body></html>\n",
		"snapshots.json": `{"schema":"plegforensics/snapshots/v1","time":"2026-03-04T10:00:00Z","pods":[]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Load(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Events) != 1 || b.Events[0].File.Path != "kubelet.log" {
		t.Errorf("events %v", b.Events)
	}
	unused := map[string]string{"report.json": whyOwn, "replay.json": whyOwn, "report.html": whyOwn}
	for _, f := range b.Files {
		if f.Unused != unused[f.Path] {
			t.Errorf("%s: unused: %q, want %q", f.Path, f.Unused, unused[f.Path])
		}
		if f.Path == "snapshots.json" && f.Role != parse.RoleSnapshots {
			t.Errorf("recorded listings are %q", f.Role)
		}
	}
}
