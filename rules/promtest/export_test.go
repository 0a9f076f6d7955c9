package promtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/plegforensics/plegforensics/rules/alerts"
)

// TestExportedRules runs the exported unit tests over the exported rules, also with promtool if it
// is in PATH.
func TestExportedRules(t *testing.T) {
	for _, opt := range []alerts.ExportOptions{{}, {Warnings: true}, {Runbook: "https://example.com/page?id="}} {
		dir := t.TempDir()
		files := map[string][]byte{}
		for _, f := range alerts.Export(opt) {
			files[f.Kind] = f.Data
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		groups, errs := alerts.Parse("rules", files["rules"])
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		object, errs := alerts.Parse("object", files["prometheusrule"])
		if len(errs) > 0 || len(object) != len(groups) || len(object[0].Rules) != len(groups[0].Rules) {
			t.Errorf("the object holds other rules: %v", errs)
		}
		f, errs := Parse("tests", files["tests"])
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, o := range f.Run(context.Background(), groups) {
			for _, x := range o.Fails {
				t.Errorf("%s: line %d: %s %s %v", o.Test.Name, x.Line, x.What, x.Err, x.Diff)
			}
		}
		tool, err := exec.LookPath("promtool")
		if err != nil {
			continue
		}
		for _, args := range [][]string{{"check", "rules", "plegforensics.rules.yaml"}, {"test", "rules", "plegforensics.rules.test.yaml"}} {
			cmd := exec.Command(tool, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %v\n%s", args, err, out)
			}
		}
	}
}
