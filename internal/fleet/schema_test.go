package fleet

import (
	"testing"

	"github.com/plegforensics/plegforensics/internal/report/model"
	"github.com/plegforensics/plegforensics/internal/schemas"
)

// TestSchemaHolds: the JSON document conforms to its schema.
func TestSchemaHolds(t *testing.T) {
	for _, v := range []*View{viewOf(t), nfsView(t)} {
		if err := schemas.JSON(model.Written.Schema("fleet"), format(t, "json", v)); err != nil {
			t.Error(err)
		}
	}
	if schemas.JSON(model.Written.Schema("fleet"), []byte(`{"schema":"plegforensics/fleet/v1"}`)) == nil {
		t.Error("a report without its fields is taken for valid")
	}
}
