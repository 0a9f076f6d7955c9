package report

import (
	"encoding/json"
	"io"
)

// Encode writes one JSON document of the model.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
