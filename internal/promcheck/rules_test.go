package promcheck

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules/alerts"
	"github.com/plegforensics/plegforensics/rules/promtest"
	"github.com/plegforensics/plegforensics/rules/query"
)

// verdict reports whether all tests of a test file pass, according to us.
func verdict(t *testing.T, name string) bool {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, errs := promtest.Parse(name, data)
	if len(errs) > 0 {
		t.Log(errs[0])
		return false
	}
	var groups []alerts.Group
	for _, r := range f.RuleFiles {
		path := filepath.Join(filepath.Dir(name), r.Text)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		gs, errs := alerts.Parse(path, data)
		if len(errs) > 0 {
			t.Log(errs[0])
			return false
		}
		groups = append(groups, gs...)
	}
	ok := true
	for _, o := range f.Run(context.Background(), groups) {
		for _, x := range o.Fails {
			t.Log(x)
			ok = false
		}
	}
	return ok
}

// TestRuleTests compares our verdicts on test files, those that pass and those that fail for one
// reason each, with their names, and with promtool if it is in PATH.
func TestRuleTests(t *testing.T) {
	files, err := filepath.Glob("testdata/rules/*.test.yaml")
	if err != nil || len(files) < 8 {
		t.Fatal(err, files)
	}
	tool, toolErr := exec.LookPath("promtool")
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := verdict(t, name)
			if want := strings.HasPrefix(filepath.Base(name), "passing"); got != want {
				t.Errorf("passes: %v", got)
			}
			if toolErr != nil {
				return
			}
			out, err := exec.Command(tool, "test", "rules", name).CombinedOutput()
			if (err == nil) != got {
				t.Errorf("passes: %v, promtool: %v\n%s", got, err == nil, out)
			}
		})
	}
}

// TestRuleFiles compares our verdicts on rule files with promtool's.
func TestRuleFiles(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip(err)
	}
	files, _ := filepath.Glob("testdata/rules/*.rules.yaml")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, errs := alerts.Parse(name, data)
		out, err := exec.Command(tool, "check", "rules", name).CombinedOutput()
		if (err == nil) != (len(errs) == 0) {
			t.Errorf("%s: %v, promtool: %v\n%s", name, errs, err, out)
		}
	}
}

// TestExportedAlertsOverCaptures checks the exported alerts on recorded kubelets: they report
// unhealthy PLEG within a minute, and nothing else.
func TestExportedAlertsOverCaptures(t *testing.T) {
	known, err := filepath.Glob("../../../shared/data/kubelets/*/truth.json")
	if err != nil || len(known) == 0 {
		t.Skip("no captures")
	}
	groups, errs := alerts.Parse("rules", alerts.Export(alerts.ExportOptions{})[0].Data)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	told, unhealthy, metrics := 0, 0, 0
	for _, name := range known {
		var truth struct {
			Episodes []struct{ Breach time.Time }
		}
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &truth)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		capture := filepath.Dir(name)
		b, err := bundle.Load(context.Background(), []string{filepath.Join(capture, "metrics.tar.xz")}, bundle.Options{})
		if err != nil {
			continue // no metrics
		}
		metrics++
		unhealthy += min(len(truth.Episodes), 1)
		n := &replay.Node{Records: replay.Records{Series: b.Series, Scrapes: b.Scrapes}}
		first := time.Time{}
		for _, a := range alerts.Evaluate(context.Background(), query.Open(query.NewStore([]*replay.Node{n})), groups, nil) {
			for _, f := range a.Firings {
				if first.IsZero() || f.From.Before(first) {
					first = f.From
				}
			}
		}
		switch {
		case len(truth.Episodes) == 0 && !first.IsZero():
			t.Errorf("%s: an alert fired at %s", capture, first)
		case len(truth.Episodes) == 0:
		case first.IsZero() || first.Sub(truth.Episodes[0].Breach) > time.Minute || truth.Episodes[0].Breach.Sub(first) > 20*time.Second:
			t.Errorf("%s: unhealthy at %s, an alert fired at %s", capture, truth.Episodes[0].Breach, first)
		default:
			told++
		}
	}
	if told < min(unhealthy, 18) {
		t.Errorf("only %d captures are told of", told)
	}
	t.Logf("%d of %d unhealthy captures told within a minute; %d of %d others silent", told, unhealthy, metrics-unhealthy, metrics-unhealthy)
}

// TestExportedRulesPassPromtool lets promtool check the exported rules and run their exported
// tests.
func TestExportedRulesPassPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip(err)
	}
	for _, opt := range []alerts.ExportOptions{{}, {Warnings: true}} {
		dir, ran := t.TempDir(), 0
		for _, f := range alerts.Export(opt) {
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range alerts.Export(opt) {
			verb := map[string]string{"rules": "check", "tests": "test"}[f.Kind]
			if verb == "" {
				continue
			}
			ran++
			if out, err := exec.Command(tool, verb, "rules", filepath.Join(dir, f.Name)).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", f.Name, err, out)
			}
		}
		if ran != 2 {
			t.Errorf("%d files for promtool", ran)
		}
	}
}
