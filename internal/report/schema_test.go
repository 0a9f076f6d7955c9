package report

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/plegforensics/plegforensics/internal/schemas"
)

var update = flag.Bool("update", false, "rewrite generated files")

// documents are the JSON documents that the schema describes.
var documents = []schemas.Document{
	{Name: "report", Type: reflect.TypeFor[jsonReport]()},
	{Name: "timeline", Type: reflect.TypeFor[jsonTimeline]()},
}

// TestSchema keeps schema.json equal to the types that write the documents.
func TestSchema(t *testing.T) {
	got := schemas.Derive("Documents of plegforensics", documents...)
	if *update {
		if err := os.WriteFile("schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("schema.json differs from the types; run go test ./internal/report -update and review the difference")
	}
}
