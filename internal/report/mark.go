package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plegforensics/plegforensics/internal/report/model"
)

// Every output says in its first lines that this program wrote it, so that a report left next to a
// log is not read as another log; parse/bundle/own.go recognizes the marks. Most formats have a
// place for it inside; Mark is for those that do not.

// Mark returns the line to write before an output in a line-based text format, "" for other
// formats.
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

// Encode writes v as an indented JSON document.
func Encode(w io.Writer, v any) error { return model.Encode(w, v) }

// MarkedLine writes object as a line of JSON whose first key is the schema. The object must have
// fields.
func MarkedLine(w io.Writer, name string, object any) error {
	line, err := model.Compact(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "{\"schema\":%q,%s\n", model.SchemaName(name), line[len("{"):])
	return err
}
