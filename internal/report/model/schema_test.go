package model_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegforensics/plegforensics/internal/report"
)

var update = flag.Bool("update", false, "rewrite the kept schemas")

// TestSchemas checks that each schema is valid under the metaschema of its draft and equal to the
// golden file, so that a change is reviewed: fields may be added, never renamed or removed.
func TestSchemas(t *testing.T) {
	for _, kind := range report.Documents.Kinds() {
		got := report.Documents.Schema(kind)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("urn:test", doc); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("urn:test"); err != nil { // validates against the metaschema
			t.Errorf("%s: %v", kind, err)
		}
		kept := filepath.Join("testdata", kind+".json")
		if *update {
			if err := os.WriteFile(kept, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(kept)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the schema of %s changed; run go test ./internal/report/model -update and review the difference", kind)
		}
	}
	if report.Documents.Schema("nothing") != nil {
		t.Error("a schema of nothing")
	}
}

// TestRequired: each name in "required" is that of a property and occurs once. Strict validators
// refuse to compile anything else.
func TestRequired(t *testing.T) {
	for _, kind := range report.Documents.Kinds() {
		var doc any
		if err := json.Unmarshal(report.Documents.Schema(kind), &doc); err != nil {
			t.Fatal(err)
		}
		requiredNames(t, kind, doc)
	}
}

func requiredNames(t *testing.T, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		props, _ := v["properties"].(map[string]any)
		names, _ := v["required"].([]any)
		seen := map[any]bool{}
		for _, n := range names {
			if seen[n] || props[n.(string)] == nil {
				t.Errorf("%s requires %q", at, n)
			}
			seen[n] = true
		}
		for k, x := range v {
			requiredNames(t, strings.Join([]string{at, k}, "."), x)
		}
	case []any:
		for _, x := range v {
			requiredNames(t, at, x)
		}
	}
}
