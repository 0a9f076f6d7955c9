package fleet

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/plegforensics/plegforensics/internal/schemas"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestSchema keeps schema.json equal to the types that write the documents.
func TestSchema(t *testing.T) {
	got := schemas.Derive("Fleet report of plegforensics", schemas.Document{Name: "fleet", Type: reflect.TypeFor[jsonFleet]()})
	if *update {
		if err := os.WriteFile("schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, []byte(SchemaJSON)) && !*update {
		t.Error("schema.json differs from the types; run go test ./internal/fleet -run TestSchema -update and review the difference")
	}
}

// TestSchemaHolds: what is written is what the schema says.
func TestSchemaHolds(t *testing.T) {
	for _, v := range []*View{viewOf(t), nfsView(t)} {
		if err := schemas.JSON([]byte(SchemaJSON), format(t, "json", v)); err != nil {
			t.Error(err)
		}
	}
	if schemas.JSON([]byte(SchemaJSON), []byte(`{"schema":"plegforensics/fleet/v1"}`)) == nil {
		t.Error("a report without its fields is taken for valid")
	}
}
