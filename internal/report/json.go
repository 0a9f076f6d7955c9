package report

import (
	"encoding/json"
	"io"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

func writeJSON(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r) }

func writeTimelineJSON(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r.Timeline()) }

func writeInspectJSON(w io.Writer, r *model.Report, _ Options) error { return Encode(w, r.Inspect()) }

// Encode writes one JSON document of the model.
func Encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
