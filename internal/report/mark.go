package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/indent"
	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Every output says in its first lines that this program wrote it, so that a
// report left beside a log is not read as another log; parse/bundle/own.go knows
// the marks. Formats that have a place for it carry theirs inside; Mark is for
// those that have none.

// Mark is the line that goes before an output in a format of plain lines, ""
// for the other formats.
func Mark(format, version, command string) string {
	what := strings.TrimSpace("plegforensics " + version + " " + command)
	switch format {
	case "text", "ticket", "chart":
		return what + "\n"
	case "markdown", "github-summary":
		return "<!-- " + what + " -->\n"
	case "github":
		return "::debug::" + what + "\n"
	}
	return ""
}

// Encode writes one JSON document of the model.
func Encode(w io.Writer, v any) error { return indent.Encode(w, v) }

// MarkedLine writes an object as a line of JSON whose first key is the schema.
func MarkedLine(w io.Writer, name string, object any) error {
	line, err := model.Compact(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "{\"schema\":%q,%s\n", model.SchemaName(name), line[len("{"):])
	return err
}
