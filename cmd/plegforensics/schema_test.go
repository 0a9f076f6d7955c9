package main

import (
	"path/filepath"
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/schemas"
)

// TestDocuments: what every command writes of every sample is what the schema
// of that kind says.
func TestDocuments(t *testing.T) {
	for _, sample := range sampleNames(t) {
		in := inputsOf(t, sample)
		for kind, args := range map[string][]string{
			"report":   {"analyze", "-o", "json"},
			"timeline": {"timeline", "-o", "json"},
			"events":   {"events", "-o", "json"},
			"inspect":  {"inspect", "-o", "json"},
			"replay":   {"replay", "--show-filtered", "-o", "json"},
			"compare":  {"compare", "-o", "json", filepath.Join(samples, "healthy", "kubelet.log")},
			"alerts":   {"query", "--alerts", "-o", "json"},
			"metrics":  {"query", "--list", "-o", "json"},
			"fleet":    {"batch", "-o", "json"},
		} {
			if kind == "replay" && sample != "hang-list" && sample != "stuck-pods" {
				continue // the log dates no relist
			}
			files := in
			if kind == "compare" {
				files = in[:1]
			}
			doc := printed(t, append(append(args, "--quiet", "--tz", "UTC", "--year", "2026"), files...)...)
			if err := schemas.JSON(model.Schema(kind), doc); err != nil {
				t.Errorf("%s of %s: %v", kind, sample, err)
			}
		}
	}
	for _, args := range [][]string{{"--expr", "plegforensics_node_ready"}, {"--expr", "1+1"}} {
		doc := printed(t, append(append([]string{"query", "--quiet", "--tz", "UTC", "--year", "2026", "-o", "json"}, args...), inputsOf(t, "hang-list")...)...)
		if err := schemas.JSON(model.Schema("query"), doc); err != nil {
			t.Errorf("query %v: %v", args, err)
		}
	}
}
