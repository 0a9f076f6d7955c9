package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/internal/schemas"
)

// TestDocuments: the output of every command for every sample conforms to its schema, and exports
// conform to what their consumers require. So does that for each log, with the metrics next to it,
// that matches a pattern in PLEGFORENSICS_CAPTURES.
func TestDocuments(t *testing.T) {
	for _, sample := range sampleNames(t) {
		t.Run(sample, func(t *testing.T) {
			consumers(t, sample == "hang-list" || sample == "stuck-pods", inputsOf(t, sample)...)
		})
	}
	for _, pattern := range strings.Fields(os.Getenv("PLEGFORENSICS_CAPTURES")) {
		captures, err := filepath.Glob(pattern)
		if err != nil || len(captures) == 0 {
			t.Errorf("%s: no captures, %v", pattern, err)
		}
		for _, log := range captures {
			metrics, _ := filepath.Glob(filepath.Dir(log) + "/metrics.tar*")
			t.Run(filepath.Base(filepath.Dir(log))+"/"+filepath.Base(log), func(t *testing.T) { consumers(t, false, append(metrics, log)...) })
		}
	}
	if err := schemas.JSON(report.Documents.Schema("replay"), printed(t, "replay", "-o", "json", "--scenario", "pods=30")); err != nil {
		t.Errorf("replay --scenario: %v", err)
	}
	for _, args := range [][]string{{"--expr", "plegforensics_node_ready"}, {"--expr", "1+1"}} {
		doc := printed(t, append(append([]string{"query", "--quiet", "--tz", "UTC", "--year", "2026", "-o", "json"}, args...), inputsOf(t, "hang-list")...)...)
		if err := schemas.JSON(report.Documents.Schema("query"), doc); err != nil {
			t.Errorf("query %v: %v", args, err)
		}
	}
}

// consumers checks all outputs about some inputs as their consumers would.
func consumers(t *testing.T, replays bool, in ...string) {
	got := map[string][]byte{}
	for kind, args := range map[string][]string{
		"report":     {"analyze", "-o", "json"},
		"timeline":   {"timeline", "-o", "json"},
		"events":     {"events", "-o", "json"},
		"inspect":    {"inspect", "-o", "json"},
		"replay":     {"replay", "--show-filtered", "-o", "json"},
		"compare":    {"compare", "-o", "json", filepath.Join(samples, "healthy", "kubelet.log")},
		"alerts":     {"query", "--alerts", "-o", "json"},
		"metrics":    {"query", "--list", "-o", "json"},
		"query":      {"query", "--expr", "plegforensics_node_ready", "-o", "json"},
		"fleet":      {"batch", "-o", "json"},
		"intervals":  {"analyze", "-o", "intervals"},
		"finding":    {"analyze", "-o", "ndjson"},
		"event":      {"events", "-o", "ndjson"},
		"fleet-line": {"batch", "-o", "ndjson"},
		"prom":       {"analyze", "-o", "prom"},
		"sarif":      {"analyze", "-o", "sarif"},
		"junit":      {"analyze", "-o", "junit"},
	} {
		files := in
		if kind == "compare" {
			files = in[:1]
		}
		var out, errs bytes.Buffer
		args = append(append(args, "--quiet", "--tz", "UTC", "--year", "2026"), files...)
		code := run(context.Background(), append([]string{"plegforensics"}, args...), strings.NewReader(""), &out, &errs)
		got[kind] = out.Bytes()
		if code == exitNothing && !replays && slices.Contains([]string{"replay", "query", "metrics", "alerts"}, kind) {
			continue // the log dates no relist, or there is no metric
		}
		if code != exitOK {
			t.Errorf("%s: exit status %d: %s", strings.Join(args, " "), code, errs.String())
			continue
		}
		docs := [][]byte{out.Bytes()}
		if slices.Contains([]string{"finding", "event", "fleet-line"}, kind) {
			docs = bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		}
		for _, doc := range docs {
			if strings.Contains(string(doc), `"kind":"note"`) {
				kind = "finding" // also among events
			}
			if s := report.Documents.Schema(kind); s != nil && len(doc) > 0 {
				if err := schemas.JSON(s, doc); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
			}
		}
	}
	if err := schemas.SARIF(got["sarif"]); err != nil {
		t.Errorf("sarif: %v", err)
	}
	if err := schemas.JUnit(got["junit"]); err != nil {
		t.Errorf("junit: %v", err)
	}
	checkMetrics(t, got["prom"])
}

// checkMetrics is "promtool check metrics": it uses promtool's linter and, if it is in PATH,
// promtool itself.
func checkMetrics(t *testing.T, text []byte) {
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("metrics: %v %v", problems, err)
	}
	tool, err := exec.LookPath("promtool")
	if err != nil {
		return
	}
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}
